"""Tasks on a Dask cluster: a local one or a given one, few tasks at a time, workers that may be lost.

Only paths, hashes and names travel. The scheduler never holds more than a few tasks for each worker, however
many files there are.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from .._core.errors import InvalidInputError, IsentropicError, message, plural, require_extra
from .._core.runtime import logger, memory_budget
from .batch_mapping import ModelFile, read_once

Task = TypeVar("Task")
Result = TypeVar("Result")

_WAITING = 3  # tasks for each worker that the scheduler holds
_RETRIES = 2  # of a task that fails without a result, as when a connection breaks
_LOCAL = re.compile(r"local:(\d{1,4})")
_ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+")
_GIB = 2**30
_PATIENCE = 20.0  # seconds, with a scheduler that does not answer, and with one that has no workers
_PAUSE = 0.01  # seconds, until it is asked again for a result


@contextmanager
def cluster_client(cluster: str) -> Iterator[Any]:
    """A client of ``local:N``, N processes on this machine that end with the block, or of an address.

    A local cluster listens on the loopback alone and has no dashboard; each process has one thread, and its
    share of the memory. For ``tls://`` the certificates are those of Dask's configuration.
    """
    n_workers = require_cluster(cluster)
    if n_workers is None:
        with _client_of(cluster) as client:
            _require_workers(client, cluster)
            _require_same_versions(client)
            yield client
        return
    from distributed import Client

    with _local_cluster(n_workers) as started, Client(started) as client:
        yield client


def _client_of(address: str) -> Any:
    from distributed import Client

    try:
        return Client(address, timeout=_PATIENCE)
    except OSError as error:
        raise IsentropicError(
            f"The scheduler {address} cannot be reached: {str(error) or type(error).__name__}. Check the "
            "address, and that 'dask scheduler' runs there."
        ) from error


def _require_workers(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, _PATIENCE)
    except TimeoutError as error:
        raise IsentropicError(
            f"The scheduler {address} must have a worker, got none in {_PATIENCE:g} seconds. Start some with "
            f"'dask worker {address}'."
        ) from error


def require_cluster(cluster: str) -> int | None:
    """The number of local processes, or None for an address; raises for anything else."""
    local = _LOCAL.fullmatch(cluster)
    if not (_ADDRESS.fullmatch(cluster) or (local and int(local[1]) > 0)):
        must_be = "local:N with N worker processes, or the address of a scheduler"
        hint = "For instance: local:4, tcp://10.0.0.1:8786 or tls://scheduler:8786."
        raise InvalidInputError(message("cluster", must_be, cluster, hint))
    require_extra("scale", "A cluster")
    return None if local is None else int(local[1])


def _local_cluster(n_workers: int) -> Any:
    from distributed import LocalCluster

    budget = memory_budget()
    share = None if budget is None else budget // n_workers
    environment = {"DASK_LOGGING__DISTRIBUTED": "critical"}  # a lost worker is a line of ours, no traceback
    if share is not None:
        environment["ISENTROPIC_MEMORY"] = str(max(share, 2**26) / _GIB)
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",  # which a scheduler without a dashboard listens on as well
        scheduler_kwargs={"dashboard": False},
        memory_limit=0,  # ours are refused before they allocate; Dask's would pause and kill
        env=environment,
        silence_logs=50,
    )


def _require_same_versions(client: Any) -> None:
    """Refuse workers that lack isentropic, or have another version of it."""
    from .. import __version__

    found = client.run(_version_here)
    others = sorted({version or "none" for version in found.values()} - {__version__})
    if others:
        raise IsentropicError(
            f"All workers must have isentropic {__version__}, got {', '.join(others)}. Install the same "
            "version on every machine."
        )


def _version_here() -> str | None:
    with suppress(ImportError):
        from isentropic import __version__

        return __version__
    return None


def run_tasks(
    client: Any,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    lost: Callable[[Task, str], Result],
    *,
    model: ModelFile | None = None,
) -> Iterator[Result]:
    """Results of ``function`` for each task, in the order in which they are done.

    A task whose worker is lost is done again by another one. ``lost`` makes the result of a task that no
    worker survived. A ``model`` is loaded by each worker as it starts. Raises where no worker is left, and
    none comes for 20 seconds.
    """
    from distributed import as_completed

    if model is not None:
        client.register_plugin(warm_worker(model))
    workers, waiting = _Workers(client), iter(tasks)
    first = list(islice(waiting, _WAITING * workers.count()))
    asked = {_submit(client, function, task): task for task in first}
    found = as_completed(list(asked))
    for future in workers.waited_for(found):
        task = asked.pop(future)
        yield future.result() if future.status == "finished" else lost(task, _reason(future))
        future.release()
        workers.name_lost()
        for more in islice(waiting, 1):
            asked[(new := _submit(client, function, more))] = more
            found.add(new)


def _submit(client: Any, function: Callable[[Task], Result], task: Task) -> Any:
    return client.submit(function, task, pure=False, retries=_RETRIES)


def _reason(future: Any) -> str:
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return "every worker that took it died, probably for want of memory. Give each worker more."
    return f"{type(error).__name__}: {error}"


class _Workers:
    """Names lost workers, one line each."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._known = self._running()

    def count(self) -> int:
        return max(len(self._known), 1)

    def name_lost(self) -> None:
        now = self._running()
        gone = self._known - now
        if gone:
            logger.warning("%s lost: what was under way there is done again.", plural(len(gone), "worker"))
        self._known = now

    def waited_for(self, found: Any) -> Iterator[Any]:
        """Futures of ``as_completed`` as they are done; raises where nobody is there to do them."""
        heard = asked = time.monotonic()
        while not found.is_empty():
            if found.has_ready():
                yield next(found)
                heard = time.monotonic()
                continue
            now = time.monotonic()
            if now - asked > _PATIENCE / 20:
                asked = now
                self.name_lost()
                heard = now if self._known else heard
            if now - heard > _PATIENCE:
                raise IsentropicError(
                    f"All workers are lost, and none came for {_PATIENCE:g} seconds. Start workers, and say "
                    "the same again: what is done is kept."
                )
            time.sleep(_PAUSE)

    def _running(self) -> set[str]:
        try:
            return set(self._client.scheduler_info(n_workers=-1)["workers"])
        except OSError as error:
            raise IsentropicError(
                f"The scheduler is lost: {str(error) or type(error).__name__}. Start it, and say the same "
                "again: what is done is kept."
            ) from error


def warm_worker(model: ModelFile) -> Any:
    """A plug-in of Dask that loads a model as a worker starts, so that its first file does not wait.

    ``client.register_plugin(warm_worker(ModelFile.of("map.isentropic")))``. It compiles or loads the kernels
    by mapping rows that the model was saved with.
    """
    from distributed import WorkerPlugin

    class WarmWorker(WorkerPlugin):
        name = "isentropic-warm"

        def setup(self, worker: Any) -> None:
            warm_up(model)

    return WarmWorker()


def warm_up(model: ModelFile) -> None:
    """Read a model in this process, and map two rows."""
    saved = read_once(model, 1)
    if saved.reference_outputs is not None:
        with suppress(ValueError):
            saved.estimator.transform(saved.reference_outputs.rows[:2])
