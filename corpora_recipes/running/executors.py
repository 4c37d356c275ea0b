"""Executors: processes of this machine, or a Dask cluster; a lost worker costs time, no results."""

import os
import pickle
import re
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.parquet import convert_without_pandas
from corpora_recipes.running.errors import LostWorkers, NoWorkers

if TYPE_CHECKING:
    from corpora_recipes.running.cluster import Cluster

# Lost processes after which a call fails.
ATTEMPTS = 3
# Seconds for processes to clean up before they are killed.
GRACE = 5
# The processes of this machine, unless somebody says how many.
CPUS = os.cpu_count() or 1
_ADDRESS = re.compile(r"inproc://.+|(?:tcp|tls|wss?)://.+:\d{1,5}")

Result = TypeVar("Result")


class Threads(ThreadPoolExecutor):
    """Threads of this process, for calls that wait for others."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.at_once = workers

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait until one of the calls is done."""
        wait(futures, None, FIRST_COMPLETED)

    def result(self, future: Future[Result]) -> Result:
        """Return the result of a call, once it is done."""
        return future.result()

    def end(self) -> None:
        """Wait for the calls that have begun."""
        self.shutdown(cancel_futures=True)


class Processes(Threads):
    """Worker processes of this machine, with one thread and one pipe each.

    The call of a killed process is repeated in a new process. Pipes are not shared, as they are in
    ProcessPoolExecutor: a process that dies while it sends would leave half a message, and the
    reader would wait for ever.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._of_thread = threading.local()
        self._lock = threading.Lock()
        self._processes: list[BaseProcess] = []
        self._ended = False

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **named: Any
    ) -> Future[Result]:
        """Call a function, which workers can import by its name, in a worker process.

        The future raises InputError if ``ATTEMPTS`` processes in a row were lost in the call.
        """
        return super().submit(self._call, partial(function, *arguments, **named))

    def end(self) -> None:
        """End the processes, even during a call."""
        with self._lock:
            self._ended = True
            for process in self._processes:
                process.terminate()
        deadline = time.monotonic() + GRACE
        for process in self._processes:
            process.join(max(0, deadline - time.monotonic()))
            process.kill()
        # Not before: the threads wait for their processes.
        super().end()
        for process in self._processes:
            process.join()

    def _call(self, call: Callable[[], Result]) -> Result:
        for _ in range(ATTEMPTS):
            process, connection = getattr(self._of_thread, "worker", None) or self._start()
            try:
                connection.send(call)
                reply = connection.recv_bytes()
            except (EOFError, OSError):
                connection.close()
                self._of_thread.worker = None
                process.join()
                if self._ended:
                    raise CancelledError from None
                lost = f"a worker was lost ({_end_of(process)})"
                print(f"{lost}; continuing with a new one", file=sys.stderr)
                continue
            result, error = pickle.loads(reply)
            if error is not None:
                raise error
            return result  # type: ignore[no-any-return]
        where, expected = f"--workers {self.at_once}", "workers that run until they are done"
        found = f"{ATTEMPTS} were lost in the same work, the last by {_end_of(process)}: "
        found += "most likely for lack of memory"
        raise LostWorkers(where, expected, found, "run it again with fewer workers")

    def _start(self) -> tuple[BaseProcess, "Connection[Any, Any]"]:
        # "spawn" starts a worker without the driver's memory, on every platform.
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,))
        with self._lock:
            if self._ended:
                raise CancelledError
            process.start()
            self._processes.append(process)
        # Otherwise the pipe would stay open after the end of the process.
        theirs.close()
        self._of_thread.worker = process, ours
        return process, ours


def limit_threads(limit: int, kind: str | None = None) -> Any:
    """Return a context in which the loaded libraries compute on so many threads.

    ``kind`` is "blas" or "openmp", None for both. threadpoolctl takes milliseconds to find the
    libraries; a library is loaded by the import of a module.
    """
    return _find_libraries(len(sys.modules)).limit(limits=limit, user_api=kind)


@cache
def _find_libraries(n_modules: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def is_address(text: str) -> bool:
    """Return whether a text is the address of a Dask scheduler, with its port."""
    return _ADDRESS.fullmatch(text) is not None


@contextmanager
def open_executor(address: str, workers: int | None) -> "Iterator[Processes | Cluster | None]":
    """Open an executor; None to work in this process.

    Args:
        address: "local" for processes of this machine, or the ``tcp://host:port`` of a Dask
            scheduler.
        workers: number of calls at once; None for one per CPU, or one per thread of the cluster.
            With one local worker the driver does the work itself.
    """
    if is_address(address):
        from corpora_recipes.running import cluster

        executor: Processes | Cluster = cluster.Cluster(address, workers)
    elif address == "local":
        workers = workers or CPUS
        if workers == 1:
            yield None
            return
        executor = Processes(workers)
    else:
        expected = "local, or the address of a Dask scheduler with its port: tcp://host:8786"
        todo = "correct the address: `dask scheduler` prints it"
        raise NoWorkers(f"--executor {address}", expected, repr(address), todo)
    try:
        yield executor
    finally:
        executor.end()


def as_completed(
    executor: "Threads | Cluster | None",
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
) -> Iterator[tuple[int, Result]]:
    """Call a function many times, with at most two calls in flight for each worker.

    Args:
        executor: where; None for this process.
        function: workers import it by its name.
        calls: the arguments of each call; an item is taken only when the call can be sent.

    Yields:
        The number of a call, from 0, and its result, in the order in which calls are done.
    """
    if executor is None:
        yield from ((number, function(*arguments)) for number, arguments in enumerate(calls))
        return
    in_flight: dict[Future[Result], int] = {}
    queued = enumerate(calls)
    try:
        while True:
            # A cluster may have fewer workers than before.
            n_more = max(0, 2 * executor.at_once - len(in_flight))
            for number, arguments in islice(queued, n_more):
                in_flight[executor.submit(function, *arguments)] = number
            if not in_flight:
                return
            executor.wait(in_flight)
            future = next(future for future in in_flight if future.done())
            yield in_flight.pop(future), executor.result(future)
    finally:
        for future in in_flight:
            future.cancel()


def _serve(connection: "Connection[Any, Any]") -> None:
    """Run the calls of the driver, until it ends this process or is killed."""
    convert_without_pandas()
    threading.Thread(target=_end_with_driver, daemon=True).start()
    # Ctrl-C reaches the driver too, which ends its workers by SIGTERM, and lets them clean up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with suppress(EOFError, OSError):
        while True:
            call = connection.recv()
            try:
                reply = pickle.dumps((call(), None))
            except Exception as error:
                # The traceback stays here.
                error.add_note("".join(traceback.format_exception(error)))
                reply = pickle.dumps((None, error))
            connection.send_bytes(reply)


def _end_with_driver() -> None:
    driver = parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)


def _end_of(process: BaseProcess) -> str:
    code = process.exitcode or 0
    return f"signal {-code}" if code < 0 else f"exit code {code}"
