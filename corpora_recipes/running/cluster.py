"""A Dask cluster: its workers as an executor, and calls that need a worker like the driver."""

import asyncio
import socket
import sys
import time
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from corpora_recipes.running.code import versions_of
from corpora_recipes.running.errors import InputError, LostWorkers, NoWorkers, not_installed

if TYPE_CHECKING:
    from distributed import Future as DaskFuture

PROJECT = "probeta"
# Seconds to wait for a scheduler, or for a connection to one of its workers.
ANSWER = 20
# Seconds that a cluster may be without workers, for a small queue or a restart.
PATIENCE = 300
# Seconds between checks that a cluster has workers, while no result arrives.
POLL = 2

# The number of threads of a library is the same in the whole process, and so is a loaded model.
_one_at_a_time = Lock()

Result = TypeVar("Result")
Facts = Mapping[str, Any]


def call_alike(
    driver: Facts, find: Callable[[], Facts], function: Callable[..., Result], *arguments: Any
) -> Result:
    """Call a function in a worker of a cluster, if it has what the driver has.

    One call after the other, if the worker has several threads.

    Args:
        driver: what ``find`` returned to the driver, name to value.
        find: finds the same in the worker.
        function: what is called then.
        arguments: its arguments.
    """
    with _one_at_a_time:
        try:
            worker = find()
            for name, value in driver.items():
                if worker.get(name) != value:
                    found = str(worker.get(name, "nothing of this name"))
                    todo = "let all machines have the same packages, and see the same files under "
                    todo += "the same paths; then start the workers again"
                    raise NoWorkers("a worker", f"{name}: {value}, as the driver has", found, todo)
            return function(*arguments)
        except InputError as error:
            where = f"{error.where}, on {socket.gethostname()}"
            raise type(error)(where, error.expected, error.found, error.todo) from None


def releases_of(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed, but not their builds.

    Such as those of torch for different GPUs.
    """
    return {name: release.partition("+")[0] for name, release in versions_of(packages).items()}


class Cluster(Executor):
    """The workers of a Dask cluster; ``at_once`` is the number of calls at once.

    A result stays with its worker until it is asked for. Then it comes directly from there, not
    through the scheduler, if workers can be reached.
    """

    def __init__(self, address: str, workers: int | None) -> None:
        """Connect to the scheduler, and wait until it has a worker.

        ``workers`` is the number of calls at once; None for that of the threads of the cluster,
        which may get more workers.
        """
        self._where = f"--executor {address}"
        self._workers = workers
        try:
            from distributed import Client
        except ImportError as error:
            missing = not_installed(self._where, ["distributed"], str(error))
            raise NoWorkers(*missing.args) from None
        try:
            self._client = Client(
                address, timeout=ANSWER, set_as_default=False, direct_to_workers=True
            )
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            # It raises TypeError if nothing is configured for tls://.
            todo = "check the address, and that the scheduler runs"
            if address.startswith("tls:"):
                todo += "; TLS must be configured: https://distributed.dask.org/en/stable/tls.html"
            raise NoWorkers(
                self._where, "a Dask scheduler that answers", str(error), todo
            ) from None
        try:
            worker = min(self._await_workers())
            self._check_versions()
            if not _is_reachable(worker):
                self._client.direct_to_workers = False
                note = f"no connection to {worker}: all results pass through the scheduler"
                print(f"{self._where}: {note}", file=sys.stderr)
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
        """Wait until one of the calls is done."""
        while not wait(futures, POLL, FIRST_COMPLETED).done:
            # The scheduler may not answer; if it is gone, the calls are cancelled soon.
            with suppress(OSError):
                self._await_workers()

    def result(self, future: Future[Result]) -> Result:
        """Return the result of a call, once it is done; LostWorkers if the cluster cannot do it."""
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
        raise LostWorkers(self._where, expected, found, todo)

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

    def _check_versions(self) -> None:
        """Check that the scheduler and all workers have our version of the project."""
        try:
            ours = version(PROJECT)
        except PackageNotFoundError:
            # Run from a folder that is not installed: its version is unknown.
            return
        versions = self._client.run(version, PROJECT, on_error="return")
        try:
            versions["the scheduler"] = self._client.run_on_scheduler(version, PROJECT)
        except PackageNotFoundError as error:
            versions["the scheduler"] = error
        for name, theirs in versions.items():
            if theirs != ours:
                is_missing = isinstance(theirs, PackageNotFoundError)
                found = "it is not installed" if is_missing else str(theirs)
                todo = f"run scheduler and workers where {PROJECT}[cluster] {ours} is installed"
                where, expected = f"{self._where}, {name}", f"{PROJECT} {ours}, as on this machine"
                raise NoWorkers(where, expected, found, todo)

    def _await_workers(self) -> dict[str, int]:
        """Return the workers' addresses with their numbers of threads, once there are any."""
        deadline = time.monotonic() + PATIENCE
        is_told = False
        while not (threads := self._client.nthreads()):
            if time.monotonic() > deadline:
                todo = "start workers (`dask worker ADDRESS`), or read their logs"
                raise LostWorkers(self._where, "workers", f"none for {PATIENCE} seconds", todo)
            if not is_told:
                print(f"{self._where}: no workers yet; waiting", file=sys.stderr)
                is_told = True
            time.sleep(min(1, PATIENCE))
        self.at_once = self._workers or sum(threads.values())
        return dict(threads)


def _is_reachable(worker: str) -> bool:
    from distributed.comm.addressing import get_address_host_port

    try:
        socket.create_connection(get_address_host_port(worker), ANSWER).close()
    except (OSError, ValueError):
        return False
    return True
