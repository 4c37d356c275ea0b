"""What a worker must have in common with the driver, and one call at a time."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from corpora_recipes.running.cluster import call_alike, releases_of
from corpora_recipes.running.errors import InputError

_at_work: list[int] = []


def facts() -> dict[str, object]:
    return {"revision": "2", "options": {"batch": 32}, "more": True}


def overlapping(number: int) -> int:
    """Return how many calls are at work now."""
    _at_work.append(number)
    time.sleep(0.02)
    count = len(_at_work)
    _at_work.remove(number)
    return count


def refuse() -> None:
    raise InputError("model mine", expected="a folder", found="no such folder", todo="correct it")


def test_a_worker_like_the_driver_is_called() -> None:
    assert call_alike({"revision": "2", "options": {"batch": 32}}, facts, len, "abc") == 3


@pytest.mark.parametrize(
    ("wanted", "expected", "found"),
    [
        ({"options": {"batch": 16}}, "options: {'batch': 16}, as", "{'batch': 32}"),
        ({"torch": "2.13.0"}, "torch: 2.13.0, as the driver has", "nothing of this name"),
    ],
)
def test_another_worker_is_refused(wanted: dict[str, object], expected: str, found: str) -> None:
    with pytest.raises(InputError, match=f"a worker, on {socket.gethostname()}\n") as caught:
        call_alike(wanted, facts, len, "abc")
    assert expected in caught.value.expected
    assert caught.value.found == found


def test_an_error_names_the_machine() -> None:
    with pytest.raises(InputError) as caught:
        call_alike({}, facts, refuse)
    assert caught.value.where == f"model mine, on {socket.gethostname()}"
    assert caught.value.todo == "correct it"


def test_threads_of_a_worker_take_turns() -> None:
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda number: call_alike({}, facts, overlapping, number), range(8))
        assert list(found) == [1] * 8


def test_builds_of_a_version_are_not_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora_recipes.running.environment.version", lambda name: "2.13.0+cu126")
    assert releases_of(["torch"])["torch"] == "2.13.0"
    monkeypatch.undo()
    assert releases_of(["a-package-that-nobody-has"]).keys() == {"python"}
