"""A Dask cluster: what passes the scheduler, lost workers, and workers that are not alike."""

import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from recipe_reading import refused

from corpora_recipes.running import cluster as dask_cluster
from corpora_recipes.running.cluster import Cluster, call_alike, releases_of
from corpora_recipes.running.errors import InputError, LostWorkers
from corpora_recipes.running.executors import open_executor


def fail() -> None:
    raise InputError(Path("a.xml"), "one", "two", "three")


def die() -> None:
    os._exit(1)


@pytest.fixture
def executor(cluster) -> Iterator[Cluster]:
    with open_executor(cluster.scheduler_address, None) as opened:
        assert isinstance(opened, Cluster)
        yield opened


@pytest.fixture
def gathered(cluster, monkeypatch) -> list[int]:
    """Return a list that grows whenever the scheduler is asked to pass on results."""
    calls = []
    gather = cluster.scheduler.handlers["gather"]

    async def count(*args, **named):
        calls.append(1)
        return await gather(*args, **named)

    monkeypatch.setitem(cluster.scheduler.handlers, "gather", count)
    return calls


def test_results_do_not_pass_through_the_scheduler(executor, gathered) -> None:
    assert executor.at_once == 2
    assert len(executor.result(executor.submit(bytes, 1_000_000))) == 1_000_000
    assert gathered == []
    # An error in the cluster is the same error here.
    with pytest.raises(InputError) as caught:
        executor.result(executor.submit(fail))
    assert caught.value.args == ("a.xml", "one", "two", "three")


def test_they_do_if_workers_cannot_be_reached(cluster, gathered, monkeypatch, capsys) -> None:
    assert not dask_cluster._is_reachable("tcp://127.0.0.1:9")
    monkeypatch.setattr(dask_cluster, "_is_reachable", lambda worker: False)
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        call = executor.submit(bytes, 1_000_000)
        executor.wait([call])
        # It stays with its worker until it is asked for.
        assert gathered == []
        assert len(executor.result(call)) == 1_000_000
    assert gathered == [1]
    assert "all results pass through the scheduler" in capsys.readouterr().err


def test_a_result_that_is_lost_once_it_is_here_costs_nothing(executor, monkeypatch) -> None:
    client = executor._client
    gather = client._gather_remote

    async def gather_and_lose(*arguments):
        response = await gather(*arguments)
        # What the scheduler says of results whose worker has just died.
        for key in response["data"]:
            client._handle_lost_data(key)
        return response

    monkeypatch.setattr(client, "_gather_remote", gather_and_lose)
    assert executor.result(executor.submit(bytes, 3)) == bytes(3)


def test_a_call_that_kills_every_worker_is_given_up(executor, cluster, monkeypatch) -> None:
    # Of Dask's default, 3, each costs the two seconds of a worker's start.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    with refused(kind=LostWorkers, match="1 were lost in the same work", todo="more memory"):
        executor.result(executor.submit(die))
    assert executor.result(executor.submit(bytes, 3)) == bytes(3)


def test_another_version_in_the_cluster_is_refused(cluster, monkeypatch) -> None:
    monkeypatch.setattr(dask_cluster, "version", lambda project: str(os.getpid()))
    with (
        pytest.raises(InputError, match=rf"probeta {os.getpid()}, as on this machine"),
        open_executor(cluster.scheduler_address, None),
    ):
        pass
    monkeypatch.undo()
    # A folder that is not installed has no version.
    monkeypatch.setattr(dask_cluster, "PROJECT", "a-project-that-nobody-has")
    with open_executor(cluster.scheduler_address, None) as executor:
        assert executor


def call_and_close(local) -> None:
    with open_executor(local.scheduler_address, None) as executor:
        call = executor.submit(time.sleep, 1)
        local.close()
        executor.result(call)


def test_a_scheduler_that_goes_ends_the_run() -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(1, processes=False, dashboard_address=":0", protocol="tcp") as local,
        pytest.raises(LostWorkers, match="scheduler that runs"),
    ):
        call_and_close(local)


def test_a_cluster_without_workers_is_given_up(monkeypatch, capsys) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.1)
    with (
        LocalCluster(n_workers=0, dashboard_address=":0") as local,
        pytest.raises(LostWorkers, match=r"none for 0\.1 seconds"),
    ):
        call_and_close(local)
    assert "no workers yet; waiting" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    ("driver", "where", "word"),
    [
        ({"options": {"batch": 16}}, "a worker", "options: {'batch': 16}, as"),
        ({"torch": "2.13.0"}, "a worker", "nothing of this name"),
        ({}, "a.xml", "two"),
    ],
)
def test_an_error_names_the_machine(driver: dict[str, object], where: str, word: str) -> None:
    assert call_alike({"revision": "2", "options": {"batch": 32}}, facts, len, "abc") == 3
    with refused(match=word, where_is=f"{where}, on {socket.gethostname()}"):
        call_alike(driver, facts, fail)


def test_threads_of_a_worker_take_turns() -> None:
    with ThreadPoolExecutor(4) as threads:
        counts = threads.map(lambda number: call_alike({}, facts, overlapping, number), range(8))
        assert list(counts) == [1] * 8


def test_builds_of_a_version_are_not_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corpora_recipes.running.code.version", lambda name: "2.13.0+cu126")
    assert releases_of(["torch"])["torch"] == "2.13.0"
    monkeypatch.undo()
    assert releases_of(["a-package-that-nobody-has"]).keys() == {"python"}
