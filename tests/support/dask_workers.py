"""What tests do to the workers of a Dask cluster on this machine."""

import os
import signal
from typing import Any


def kill_busy_worker(cluster: Any) -> None:
    """Kill a worker that is at work, if any is at this moment; its nanny starts another one."""
    worker = max(cluster.scheduler.workers.values(), key=lambda found: len(found.processing))
    with cluster.get_client() as client:
        process = client.run(os.getpid, workers=[worker.address])[worker.address]
    os.kill(process, signal.SIGKILL)
