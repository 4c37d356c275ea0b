"""Executors: processes of this machine, or a Dask cluster. A lost worker costs time, no results."""

import asyncio
import os
import pickle
import re
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.running.errors import LostWorkers, NoWorkers

if TYPE_CHECKING:
    from distributed import Future as DaskFuture

PROJECT = "probeta"
# Seconds to wait for a Dask scheduler, or for a connection to one of its workers.
ANSWER = 20
# Seconds that a Dask cluster may be without workers, for a small queue or a restart.
PATIENCE = 300
# Seconds between checks that a Dask cluster has workers, while no result arrives.
POLL = 2
# Lost processes after which a call fails.
ATTEMPTS = 3
# Seconds for processes to clean up before they are killed.
GRACE = 5
# The processes of this machine, unless somebody says how many.
CPUS = os.cpu_count() or 1

_ADDRESS = re.compile(r"inproc://.+|(?:tcp|tls|wss?)://.+:\d{1,5}")

Result = TypeVar("Result")


class Processes(ThreadPoolExecutor):
    """Worker processes of this machine, with one thread and one pipe each.

    The call of a killed process is repeated in a new process. Pipes are not shared, as they are in
    ProcessPoolExecutor: a process that dies while it sends would leave half a message, and the
    reader would wait for ever.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self.at_once = workers
        self._own = threading.local()
        self._lock = threading.Lock()
        self._processes: list[BaseProcess] = []
        self._ended = False

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **named: Any
    ) -> Future[Result]:
        """Call a function, which workers can import by its name, in a worker process.

        The future raises InputError if ``ATTEMPTS`` processes in a row were lost in the call.
        """
        return super().submit(self._call, function, arguments, named)

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait until one of the calls is done."""
        wait(futures, return_when=FIRST_COMPLETED)

    def result(self, future: Future[Result]) -> Result:
        """Return the result of a call, once it is done; see ``submit``."""
        return future.result()

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
        self.shutdown(cancel_futures=True)
        for process in self._processes:
            process.join()

    def _call(
        self,
        function: Callable[..., Result],
        arguments: tuple[Any, ...],
        named: dict[str, Any],
    ) -> Result:
        for _ in range(ATTEMPTS):
            process, connection = getattr(self._own, "worker", None) or self._start()
            try:
                connection.send((function, arguments, named))
                reply = connection.recv_bytes()
            except (EOFError, OSError):
                connection.close()
                self._own.worker = None
                process.join()
                if self._ended:
                    raise CancelledError from None
                print(
                    f"a worker was lost ({_end_of(process)}); continuing with a new one",
                    file=sys.stderr,
                )
                continue
            result, error = pickle.loads(reply)
            if error is not None:
                raise error
            return result  # type: ignore[no-any-return]
        raise LostWorkers(
            f"--workers {self.at_once}",
            expected="workers that run until they are done",
            found=f"{ATTEMPTS} were lost in the same work, the last by {_end_of(process)}: "
            "most likely for lack of memory",
            todo="run it again with fewer workers",
        )

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
        self._own.worker = process, ours
        return process, ours


class Cluster(Executor):
    """The workers of a Dask cluster.

    A result stays with its worker until it is asked for. Then it comes directly from there, not
    through the scheduler, if workers can be reached.

    Attributes:
        at_once: number of calls at once: as asked for, or one for each thread of the cluster, which
            may get more workers.
    """

    def __init__(self, address: str, workers: int | None) -> None:
        """Connect to the scheduler, and wait until it has a worker.

        Args:
            address: of the scheduler.
            workers: number of calls at once; None for the number of threads of the cluster.

        Raises:
            InputError: ``distributed`` is missing, no scheduler answers, it has no workers,
                or has another version of the project.
        """
        where = f"--executor {address}"
        try:
            from distributed import Client
        except ImportError:
            raise NoWorkers(
                where,
                expected="the package distributed",
                found="it is not installed",
                todo="pip install 'probeta[cluster]' (in a checkout: uv sync --extra cluster)",
            ) from None
        if not _ADDRESS.fullmatch(address):
            # Client would wait for it, with a less clear message.
            raise NoWorkers(
                where,
                expected="the address of a Dask scheduler with its port, such as tcp://host:8786",
                found=repr(address),
                todo="correct the address: `dask scheduler` prints it",
            )
        try:
            self._client = Client(
                address, timeout=ANSWER, set_as_default=False, direct_to_workers=True
            )
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            # It raises TypeError if nothing is configured for tls://.
            todo = "check the address, and that the scheduler runs"
            if address.startswith("tls:"):
                todo += "; TLS must be configured: https://distributed.dask.org/en/stable/tls.html"
            expected = "a Dask scheduler that answers"
            raise NoWorkers(where, expected=expected, found=str(error), todo=todo) from None
        self._where = where
        self._asked = workers
        try:
            self._prepare()
        except BaseException:
            self.end()
            raise

    def submit(
        self, function: Callable[..., Result], /, *arguments: Any, **named: Any
    ) -> Future[Result]:
        """Call a function, which workers can import by its name, in a worker.

        Not with ``Client.get_executor()``: if a worker dies just after its result has arrived, and
        before that is recorded, the future of that executor fails, and so would the run.

        Returns:
            A future that is done when the call is done; ``result`` has what it returned.
        """
        call = self._client.submit(function, *arguments, pure=False, **named)
        return self._start(self._done(call))

    def wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait until one of the calls is done.

        Raises:
            InputError: there was no worker for ``PATIENCE`` seconds.
        """
        while not wait(futures, POLL, FIRST_COMPLETED).done:
            # The scheduler may not answer; if it is gone, the calls are cancelled soon.
            with suppress(OSError):
                self._await_workers()

    def result(self, future: Future[Result]) -> Result:
        """Return the result of a call, once it is done.

        Raises:
            InputError: there was no worker for ``PATIENCE`` seconds, the scheduler has ended, or
                the call killed several workers in a row.
            Exception: the exception of the call.
        """
        from distributed import KilledWorker

        self.wait([future])
        try:
            call: Any = future.result()
            gathered: Future[Result] = self._start(self._gather(call))
            self.wait([gathered])
            return gathered.result()
        except CancelledError:
            expected, found = "a scheduler that runs until the end", "the scheduler has ended"
            todo = "start the scheduler and its workers again, then run this command again"
        except KilledWorker as error:
            expected = "workers that run until they are done"
            found = f"{error.allowed_failures + 1} were lost in the same work, most likely for "
            found += f"lack of memory; the last was {error.last_worker.address}"
            todo = "give each worker more memory or fewer threads"
        raise LostWorkers(self._where, expected=expected, found=found, todo=todo)

    def _start(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        loop: asyncio.AbstractEventLoop = self._client.loop.asyncio_loop  # type: ignore[union-attr]
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    async def _done(self, call: "DaskFuture[Result]") -> "DaskFuture[Result]":
        await call.exception(asynchronous=True)
        return call

    async def _gather(self, call: "DaskFuture[Result]") -> Result:
        (result,) = await self._client.gather([call], asynchronous=True)
        return result  # type: ignore[no-any-return]

    def end(self) -> None:
        """Disconnect from the cluster, which then drops our data."""
        self._client.close()

    def _prepare(self) -> None:
        worker = min(self._await_workers())
        self._check_versions()
        if not _is_reachable(worker):
            self._client.direct_to_workers = False
            note = f"no connection from here to {worker}: all results pass through the scheduler"
            print(f"{self._where}: {note}", file=sys.stderr)

    def _check_versions(self) -> None:
        """Check that the scheduler and all workers have our version of the project."""
        try:
            ours = version(PROJECT)
        except PackageNotFoundError:
            # Run from a folder that is not installed: its version is unknown.
            return
        found = self._client.run(version, PROJECT, on_error="return")
        try:
            found["the scheduler"] = self._client.run_on_scheduler(version, PROJECT)
        except PackageNotFoundError as error:
            found["the scheduler"] = error
        for name, theirs in found.items():
            if theirs != ours:
                missing = isinstance(theirs, PackageNotFoundError)
                raise NoWorkers(
                    f"{self._where}, {name}",
                    expected=f"{PROJECT} {ours}, as on this machine",
                    found="it is not installed" if missing else str(theirs),
                    todo=f"run scheduler and workers where {PROJECT}[cluster] {ours} is installed",
                )

    def _await_workers(self) -> dict[str, int]:
        """Return the workers' addresses with their numbers of threads, once there are any."""
        deadline = time.monotonic() + PATIENCE
        warned = False
        while not (threads := self._client.nthreads()):
            if time.monotonic() > deadline:
                raise LostWorkers(
                    self._where,
                    expected="workers",
                    found=f"none for {PATIENCE} seconds",
                    todo="start workers (`dask worker ADDRESS`), or read their logs",
                )
            if not warned:
                print(f"{self._where}: no workers yet; waiting", file=sys.stderr)
                warned = True
            time.sleep(min(1, PATIENCE))
        self.at_once = self._asked or sum(threads.values())
        return dict(threads)


@contextmanager
def open_executor(address: str, workers: int | None) -> Iterator[Processes | Cluster | None]:
    """Open an executor.

    Args:
        address: "local" for processes of this machine, or the ``tcp://host:port`` of a Dask
            scheduler.
        workers: number of calls at once; None for one per CPU, or one per thread of the cluster.
            With one local worker the driver does the work itself.

    Yields:
        An executor, or None to work in this process.

    Raises:
        InputError: the address is invalid, the cluster cannot be used, or workers are lost
            repeatedly.
    """
    executor: Processes | Cluster
    if address == "local":
        workers = workers or CPUS
        if workers == 1:
            yield None
            return
        executor = Processes(workers)
    elif address.startswith(("tcp://", "tls://", "ws://", "wss://", "inproc://")):
        executor = Cluster(address, workers)
    else:
        raise NoWorkers(
            f"--executor {address}",
            expected="local, or the address of a Dask scheduler such as tcp://host:8786",
            found=repr(address),
            todo="start a scheduler with `dask scheduler` and pass the address that it prints",
        )
    try:
        yield executor
    finally:
        executor.end()


def as_completed(
    executor: Processes | Cluster | None,
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
) -> Iterator[tuple[int, Result]]:
    """Call a function many times, with at most two calls under way for each of an executor.

    Args:
        executor: where; None for this process.
        function: workers can import it by its name.
        calls: the arguments of each call; taken from it only when the call can be sent.

    Yields:
        The number of a call, from 0, and its result: those that are done first come first.

    Raises:
        Exception: the exception of a call; those that were not begun are then cancelled.
    """
    if executor is None:
        yield from ((number, function(*arguments)) for number, arguments in enumerate(calls))
        return
    under_way: dict[Future[Result], int] = {}
    todo = enumerate(calls)
    try:
        while True:
            # A cluster may have fewer workers than before.
            more = max(0, 2 * executor.at_once - len(under_way))
            for number, arguments in islice(todo, more):
                under_way[executor.submit(function, *arguments)] = number
            if not under_way:
                return
            executor.wait(under_way)
            future = next(future for future in under_way if future.done())
            yield under_way.pop(future), executor.result(future)
    finally:
        for future in under_way:
            future.cancel()


def _serve(connection: "Connection[Any, Any]") -> None:
    """Run the calls of the driver, until it ends this process or is killed."""
    threading.Thread(target=_end_with_driver, daemon=True).start()
    # Ctrl-C reaches the driver too, which ends its workers by SIGTERM, and lets them clean up.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with suppress(EOFError, OSError):
        while True:
            function, arguments, named = connection.recv()
            try:
                reply = pickle.dumps((function(*arguments, **named), None))
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


def _is_reachable(worker: str) -> bool:
    from distributed.comm.addressing import get_address_host_port

    try:
        socket.create_connection(get_address_host_port(worker), ANSWER).close()
    except (OSError, ValueError):
        return False
    return True
