"""Executors: lost workers and schedulers, errors that travel, and what passes the scheduler."""

import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing import active_children
from pathlib import Path

import pytest

from corpora_recipes.running import cluster as clusters
from corpora_recipes.running import executors
from corpora_recipes.running.cluster import Cluster
from corpora_recipes.running.errors import InputError, LostWorkers
from corpora_recipes.running.executors import Processes, as_completed, open_executor


def fail() -> None:
    raise InputError(Path("a.xml"), expected="one", found="two", todo="three")


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


def repeated(count: int) -> bytes:
    return b"x" * count


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


def test_results_come_in_the_order_of_the_calls(pool: Processes) -> None:
    assert list(pool.map(len, ["a" * n for n in range(20)])) == list(range(20))
    assert len(active_children()) == 2


def test_an_error_in_a_process_is_the_same_error_here(pool: Processes) -> None:
    with pytest.raises(InputError) as caught:
        pool.submit(fail).result()
    error = caught.value
    assert (error.where, error.expected, error.found) == ("a.xml", "one", "two")
    assert error.todo == "three"
    with pytest.raises(KeyError, match="nothing") as other:
        pool.submit(fail_otherwise).result()
    assert "in fail_otherwise\n" in other.value.__notes__[0]
    assert pool.submit(len, "abc").result() == 3


def test_a_result_that_cannot_be_sent_is_no_lost_worker(pool: Processes, capsys) -> None:
    # Type and wording of the error vary with Python's version; it names what cannot be sent.
    with pytest.raises((AttributeError, pickle.PicklingError), match="unsendable"):
        pool.submit(unsendable).result()
    assert pool.submit(len, "abc").result() == 3
    assert capsys.readouterr().err == ""


def test_a_killed_process_costs_no_result(pool: Processes, tmp_path: Path, capsys) -> None:
    calls = [pool.submit(count_and_die, tmp_path / "marks", 2)]
    calls += [pool.submit(str, n) for n in range(5)]
    assert [call.result() for call in calls] == ["alive", *"01234"]
    assert (
        capsys.readouterr().err == "a worker was lost (signal 9); continuing with a new one\n" * 2
    )


def test_a_process_killed_while_it_sends_costs_no_result(pool: Processes, tmp_path: Path) -> None:
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


def test_one_worker_is_this_process() -> None:
    with open_executor("local", 1) as executor:
        assert executor is None


def test_what_is_done_first_comes_first(pool: Processes) -> None:
    found = as_completed(pool, sleep, [(1,), (0,), (0.1,)])
    assert list(found) == [(1, 0), (2, 0.1), (0, 1)]
    assert list(as_completed(None, len, [("abc",), ("a",)])) == [(0, 3), (1, 1)]


def test_calls_are_sent_as_others_are_done(pool: Processes) -> None:
    sent = []

    def calls() -> Iterator[tuple[int]]:
        for number in range(9):
            sent.append(number)
            yield (number,)

    found = as_completed(pool, str, calls())
    taken = [next(found)]
    for others in (5, 6, 7):
        assert len(sent) == others - 1
        taken.append(next(found))
    assert sorted([*taken, *found]) == [(number, str(number)) for number in range(9)]
    with pytest.raises(KeyError, match="nothing"):
        list(as_completed(pool, fail_otherwise, [(), ()]))


@pytest.fixture
def empty_cluster():
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, dashboard_address=":0") as found:
        yield found


@pytest.fixture
def worker_process(empty_cluster) -> Iterator[Callable[[], "subprocess.Popen[bytes]"]]:
    """Return a function that starts a worker that nobody starts again."""
    started = []

    def start() -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "dask", "worker", empty_cluster.scheduler_address]
        command += ["--nworkers", "1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        started.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


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


def test_results_do_not_pass_through_the_scheduler(cluster, gathered) -> None:
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        assert executor.at_once == 2
        assert len(executor.result(executor.submit(repeated, 1_000_000))) == 1_000_000
    assert gathered == []


def test_they_do_if_workers_cannot_be_reached(cluster, gathered, monkeypatch, capsys) -> None:
    monkeypatch.setattr(clusters, "_is_reachable", lambda worker: False)
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        call = executor.submit(repeated, 1_000_000)
        executor.wait([call])
        # It stays with its worker until it is asked for.
        assert gathered == []
        assert len(executor.result(call)) == 1_000_000
    assert gathered == [1]
    assert "all results pass through the scheduler" in capsys.readouterr().err


def test_whether_a_worker_can_be_reached(cluster) -> None:
    assert clusters._is_reachable(next(iter(cluster.scheduler.workers)))
    assert not clusters._is_reachable("tcp://127.0.0.1:9")


def test_an_error_in_the_cluster_is_the_same_error_here(cluster) -> None:
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        with pytest.raises(InputError) as caught:
            executor.result(executor.submit(fail))
        assert str(caught.value) == str(
            InputError("a.xml", expected="one", found="two", todo="three")
        )
        with pytest.raises(KeyError, match="nothing"):
            executor.result(executor.submit(fail_otherwise))


def test_a_result_that_is_lost_once_it_is_here_costs_nothing(cluster, monkeypatch) -> None:
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        client = executor._client
        gather = client._gather_remote

        async def gather_and_lose(*arguments):
            response = await gather(*arguments)
            # What the scheduler says of results whose worker has just died.
            for key in response["data"]:
                client._handle_lost_data(key)
            return response

        monkeypatch.setattr(client, "_gather_remote", gather_and_lose)
        assert executor.result(executor.submit(repeated, 3)) == b"xxx"


def test_a_call_that_kills_every_worker_is_given_up(cluster, tmp_path: Path, monkeypatch) -> None:
    # Of Dask's default, 3, each costs the two seconds of a worker's start.
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 1)
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        with pytest.raises(LostWorkers, match="2 were lost in the same work") as caught:
            executor.result(executor.submit(count_and_die, tmp_path / "marks", 99))
        assert "more memory" in caught.value.todo
        assert executor.result(executor.submit(repeated, 3)) == b"xxx"


def test_another_version_in_the_cluster_is_refused(cluster, monkeypatch) -> None:
    monkeypatch.setattr(clusters, "version", lambda project: str(os.getpid()))
    with (
        pytest.raises(InputError, match=rf"probeta {os.getpid()}, as on this machine"),
        open_executor(cluster.scheduler_address, None),
    ):
        pass
    monkeypatch.undo()
    # A folder that is not installed has no version.
    monkeypatch.setattr(clusters, "PROJECT", "a-project-that-nobody-has")
    with open_executor(cluster.scheduler_address, None) as executor:
        assert executor


def test_workers_lost_one_after_the_other(
    empty_cluster, worker_process, monkeypatch, capsys
) -> None:
    workers = empty_cluster.scheduler.workers
    first, second = worker_process(), worker_process()
    until(lambda: len(workers) == 2)
    monkeypatch.setattr(clusters, "POLL", 0.1)
    monkeypatch.setattr(clusters, "PATIENCE", 0.5)
    with open_executor(empty_cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        calls = [executor.submit(sleep, seconds) for seconds in (0.9, 1.0)]
        until(lambda: all(worker.processing for worker in workers.values()))
        first.kill()
        assert [executor.result(call) for call in calls] == [0.9, 1.0]
        assert len(workers) == executor.at_once == 1
        call = executor.submit(sleep, 30)
        until(lambda: all(worker.processing for worker in workers.values()))
        second.kill()
        with pytest.raises(LostWorkers, match=r"expected: workers\n.*none for 0.5 seconds"):
            executor.result(call)
    assert "no workers yet; waiting" in capsys.readouterr().err


def test_a_cluster_without_workers_is_waited_for_and_given_up(empty_cluster, monkeypatch) -> None:
    monkeypatch.setattr(clusters, "PATIENCE", 0.1)
    with (
        pytest.raises(LostWorkers, match=r"none for 0.1 seconds"),
        open_executor(empty_cluster.scheduler_address, None),
    ):
        pass


def test_a_scheduler_that_goes_ends_the_run(monkeypatch) -> None:
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp"
    )
    with open_executor(cluster.scheduler_address, None) as executor:
        assert isinstance(executor, Cluster)
        call = executor.submit(sleep, 1)
        cluster.close()
        with pytest.raises(LostWorkers, match="scheduler that runs"):
            executor.result(call)
