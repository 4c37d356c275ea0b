"""Calls in workers of a cluster, each of which must have what the driver has."""

from collections.abc import Callable, Mapping
from socket import gethostname
from threading import Lock
from typing import Any, TypeVar

from corpora_recipes.running.errors import InputError

Result = TypeVar("Result")
Facts = Mapping[str, Any]

# The number of threads of a library is the same in the whole process, and so is a loaded model.
_one_at_a_time = Lock()


def call_alike(
    wanted: Facts, find: Callable[[], Facts], function: Callable[..., Result], *arguments: Any
) -> Result:
    """Call a function in a worker of a cluster, if it has what the driver has.

    One call after the other, if the worker has several threads.

    Args:
        wanted: what ``find`` returned to the driver, name to value.
        find: finds the same in the worker.
        function: what is called then.
        arguments: its arguments.

    Raises:
        InputError: one of the values is another one; or that of ``find`` or ``function``, with the
            name of the worker's machine.
    """
    with _one_at_a_time:
        try:
            found = find()
            for name, value in wanted.items():
                if found.get(name) != value:
                    raise InputError(
                        "a worker",
                        expected=f"{name}: {value}, as the driver has",
                        found=str(found.get(name, "nothing of this name")),
                        todo="let all machines have the same packages, and see the same files "
                        "under the same paths; then start the workers again",
                    )
            return function(*arguments)
        except InputError as error:
            raise InputError(
                f"{error.where}, on {gethostname()}",
                expected=error.expected,
                found=error.found,
                todo=error.todo,
            ) from None
