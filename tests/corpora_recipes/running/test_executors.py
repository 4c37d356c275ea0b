"""Executors: processes of this machine, lost workers, and a Dask cluster."""

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import active_children
from pathlib import Path

import pytest
from case_tables import read_tables
from recipe_reading import refused

from corpora_recipes.running import cluster as dask_cluster
from corpora_recipes.running import executors
from corpora_recipes.running.cluster import Cluster, call_alike, releases_of
from corpora_recipes.running.errors import InputError, LostWorkers
from corpora_recipes.running.executors import Processes, as_completed, open_executor

TABLES = read_tables(__file__)

# --- executors -----------------------------------------------------------------------------------


def fail() -> None:
    raise InputError(Path("a.xml"), "one", "two", "three")


def fail_otherwise() -> None:
    raise KeyError("nothing")


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def unsendable() -> object:
    return lambda: 1


def shrug_off_sigterm() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def count_and_die(marks: Path, times: int) -> str:
    """Kill the process that this is called in, the first ``times`` times."""
    with marks.open("a") as file:
        file.write("x")
    if len(marks.read_text()) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def die_sending(marks: Path) -> str:
    """Die with half a result in the pipe, the first time."""
    if not marks.exists():
        marks.touch()
        pipe = sys._getframe(1).f_locals["connection"]
        os.write(pipe.fileno(), struct.pack("!i", 1000) + b"half of it")
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def sleep_in_a_folder(parent: Path) -> None:
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        # Only now is it certain to be removed.
        (Path(folder) / "there").touch()
        time.sleep(60)


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def pool() -> Iterator[Processes]:
    with open_executor("local", 2) as executor:
        assert isinstance(executor, Processes)
        yield executor


def test_an_error_in_a_process_is_the_same_error_here(pool: Processes, capsys) -> None:
    with pytest.raises(InputError) as caught:
        pool.submit(fail).result()
    assert caught.value.args == ("a.xml", "one", "two", "three")
    with pytest.raises(KeyError, match="nothing") as other:
        pool.submit(fail_otherwise).result()
    assert "in fail_otherwise\n" in other.value.__notes__[0]
    # A result that cannot be sent. The error varies with Python's version; it names the result.
    with pytest.raises((AttributeError, pickle.PicklingError), match="unsendable"):
        pool.submit(unsendable).result()
    assert pool.submit(len, "abc").result() == 3
    assert capsys.readouterr().err == ""


def test_a_killed_process_costs_no_result(pool: Processes, tmp_path: Path, capsys) -> None:
    calls = [pool.submit(count_and_die, tmp_path / "marks", 2)]
    calls += [pool.submit(str, n) for n in range(5)]
    assert [call.result() for call in calls] == ["alive", *"01234"]
    assert capsys.readouterr().err.count("a worker was lost (signal 9); continuing") == 2
    assert pool.submit(die_sending, tmp_path / "mark").result(timeout=20) == "alive"
    assert (tmp_path / "mark").exists()


def test_a_call_that_always_loses_its_process_is_given_up(pool: Processes, tmp_path: Path) -> None:
    with pytest.raises(LostWorkers, match="3 were lost in the same work, the last by signal 9"):
        pool.submit(count_and_die, tmp_path / "marks", 99).result()
    assert (tmp_path / "marks").read_text() == "xxx"
    assert pool.submit(len, "abc").result() == 3


def test_the_end_does_not_wait_for_what_is_under_way(tmp_path: Path) -> None:
    started = time.monotonic()
    with open_executor("local", 2) as pool:
        assert pool
        for _ in range(4):
            pool.submit(sleep_in_a_folder, tmp_path)
        until(lambda: len(list(tmp_path.glob("*/there"))) == 2)
    assert time.monotonic() - started < 15
    assert not active_children()
    assert not list(tmp_path.iterdir())


def test_a_process_that_does_not_end_is_killed(monkeypatch) -> None:
    monkeypatch.setattr(executors, "GRACE", 0.2)
    started = time.monotonic()
    with open_executor("local", 2) as pool:
        assert pool
        call = pool.submit(shrug_off_sigterm)
        until(call.running)
        time.sleep(0.5)
    assert time.monotonic() - started < 15
    assert not active_children()


@pytest.mark.slow
def test_processes_end_with_a_driver_that_is_killed(tmp_path: Path) -> None:
    code = """if __name__ == "__main__":
        import os, time
        from corpora_recipes.running.executors import open_executor
        with open_executor("local", 2) as pool:
            print(pool.submit(os.getpid).result(), flush=True)
            pool.submit(time.sleep, 60).result()
    """
    script = tmp_path / "driver.py"
    script.write_text(code)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, script], env=environment, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout
        worker = int(driver.stdout.readline())
        assert is_alive(worker)
        driver.kill()
        until(lambda: not is_alive(worker))


def test_what_is_done_first_comes_first(pool: Processes) -> None:
    assert list(as_completed(pool, sleep, [(1,), (0,), (0.1,)])) == [(1, 0), (2, 0.1), (0, 1)]
    assert list(as_completed(None, len, [("abc",), ("a",)])) == [(0, 3), (1, 1)]


def test_calls_are_sent_as_others_are_done(pool: Processes) -> None:
    sent = []

    def calls() -> Iterator[tuple[int]]:
        for number in range(9):
            sent.append(number)
            yield (number,)

    results = as_completed(pool, str, calls())
    taken = [next(results)]
    for others in (5, 6, 7):
        assert len(sent) == others - 1
        taken.append(next(results))
    assert sorted([*taken, *results]) == [(number, str(number)) for number in range(9)]
    with pytest.raises(KeyError, match="nothing"):
        list(as_completed(pool, fail_otherwise, [(), ()]))


# --- cluster -------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(("driver", "where", "word"), TABLES["machines"])
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
