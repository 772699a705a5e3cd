"""Files mapped on a Dask cluster of processes: the bits of one process, also where workers are lost."""

import os
import pickle
import signal
import threading
import time

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from many_files import write_parts

pytest.importorskip("distributed", reason="needs the extra 'scale'")

from distributed import LocalCluster

from isentropic import scale
from isentropic._core.errors import FileFormatError, InvalidInputError, IsentropicError
from isentropic._core.runtime import worker_threads
from isentropic.scale.batch_mapping import ModelFile
from isentropic.scale.cluster import cluster_client, run_tasks, warm_worker
from isentropic.scale.partition_maps import MapTask, map_partition
from isentropic.tables.partitions import partitions_of

LOOPBACK = {
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",
    "scheduler_kwargs": {"dashboard": False},
    "processes": False,
    "protocol": "tcp://",
    "silence_logs": 50,
}


@pytest.fixture(scope="module", params=[1, 2, 3])
def client(request):
    with cluster_client(f"local:{request.param}") as client:
        yield client


@pytest.fixture(scope="module")
def two():
    with cluster_client("local:2") as client:
        yield client


def coordinates(found):
    return pd.concat([pd.read_parquet(path) for path in found.files])[["isomap0", "isomap1"]].to_numpy()


@pytest.mark.parametrize("n", [2, 5, 12])
def test_workers_and_files_do_not_change_a_bit(client, frame, model, tmp_path, n):
    cuts = [round(i * 1000 / n) for i in range(n + 1)]
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(n):
        frame.iloc[cuts[i] : cuts[i + 1]].to_parquet(folder / f"{i:02}.parquet", index=False)
    found = scale.map_rows(model, folder, tmp_path / "map", client=client)
    found.raise_failed()
    assert_array_equal(coordinates(found), scale.map_batch(model, frame).to_numpy())


def _slowly(task):
    time.sleep(0.3)
    return map_partition(task)


def test_a_killed_worker_is_one_line_and_no_other_bits(frame, model, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("isentropic.scale.partition_maps.map_partition", _slowly)
    parts = write_parts(frame, tmp_path / "parts", tuple(range(0, 1001, 100)))
    out = tmp_path / "map"
    with cluster_client("local:2") as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill():
            while not list(out.glob("*.parquet")):
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        found = scale.map_rows(model, parts, out, client=client)
        killer.join()
    found.raise_failed()
    by_number = sorted(found.files, key=lambda path: int(path.stem.split("-")[1]))
    Z = pd.concat([pd.read_parquet(path) for path in by_number])[["isomap0", "isomap1"]].to_numpy()
    assert_array_equal(Z, scale.map_batch(model, frame).to_numpy())
    lines = [record.message for record in caplog.records if "lost" in record.message]
    assert lines == ["1 worker lost: what was under way there is done again."]


def _die(task):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_file_that_kills_its_workers_is_named(model, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("isentropic.scale.partition_maps.map_partition", _die)
    with cluster_client("local:1") as client:
        found = scale.map_rows(model, [parts / "part-0.parquet"], tmp_path / "map", client=client)
    assert "part-0.parquet: every worker that took it died" in found.failed[0].error


def test_a_bad_row_on_a_worker_is_named(two, model, parts, tmp_path):
    bad = pd.read_parquet(parts / "part-3.parquet")
    bad.loc[7, "c"] = None
    bad.to_parquet(parts / "part-3.parquet", index=False)
    found = scale.map_rows(model, parts, tmp_path / "map", client=two)
    assert [one.error[:24] for one in found.failed] == ["part-3.parquet: row 7 is"]
    assert found.n_rows == 661


def test_a_task_is_small_however_large_the_model(model, parts):
    (first, *_) = partitions_of(parts)
    task = MapTask(ModelFile.of(model), first, "/out", "raise", 1)
    assert len(pickle.dumps(task)) < 1000


def test_a_task_has_one_thread_unless_told_otherwise(two):
    assert two.submit(worker_threads, None).result() == 1
    assert worker_threads(None) >= 1


def test_workers_have_their_share_of_the_memory(two):
    budgets = two.run(lambda: float(os.environ["ISENTROPIC_MEMORY"]))
    assert len(budgets) == 2
    assert all(0 < budget < 1024 for budget in budgets.values())


def test_nothing_listens_beyond_the_loopback(two):
    addresses = [two.scheduler.address, *two.scheduler_info(n_workers=-1)["workers"]]
    assert all(address.startswith("tcp://127.0.0.1:") for address in addresses)
    assert not two.dashboard_link or "127.0.0.1" in two.dashboard_link


def test_the_plug_in_loads_the_model(two, model):
    two.register_plugin(warm_worker(ModelFile.of(model)), name="again")
    assert all(two.run(_models_held).values())


def _models_held():
    from isentropic.scale.batch_mapping import read_once

    return read_once.cache_info().currsize > 0


@pytest.mark.parametrize("cluster", ["local", "local:0", "two", "tcp:/x", "http://x:1"])
def test_a_cluster_is_a_number_of_processes_or_an_address(cluster):
    with pytest.raises(InvalidInputError, match="cluster must be local:N"), cluster_client(cluster):
        pass


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr("isentropic.scale.cluster._PATIENCE", 1.0)
    with pytest.raises(IsentropicError, match="cannot be reached"), cluster_client("tcp://127.0.0.1:9"):
        pass


def test_an_error_of_the_work_is_not_one_of_the_scheduler(two):
    """Though one about a file is an OSError, as those of a connection are."""
    sentence = "x.parquet must be whole, got half of it."
    with (
        pytest.raises(FileFormatError, match=sentence) as caught,
        cluster_client(two.scheduler.address),
    ):
        raise FileFormatError(sentence)
    assert str(caught.value) == sentence


def test_a_scheduler_without_workers_is_not_waited_for_long(monkeypatch):
    monkeypatch.setattr("isentropic.scale.cluster._PATIENCE", 0.5)
    with (
        LocalCluster(n_workers=0, **LOOPBACK) as empty,
        pytest.raises(IsentropicError, match=r"must have a worker, got none in 0\.5 seconds"),
        cluster_client(empty.scheduler_address),
    ):
        pass


def test_work_ends_when_all_workers_are_lost(monkeypatch):
    monkeypatch.setattr("isentropic.scale.cluster._PATIENCE", 1.0)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, **LOOPBACK) as small,
        cluster_client(small.scheduler_address) as client,
    ):
        results = run_tasks(client, _half_a_second, range(20), lambda task, reason: pytest.fail(reason))
        assert next(results) in range(20)
        small.scale(0)
        with pytest.raises(IsentropicError, match=r"All workers are lost, and none came for 1 seconds"):
            list(results)


def _half_a_second(number):
    time.sleep(0.5)
    return number


def test_the_scheduler_holds_few_tasks_of_many(two):
    held, left = [], set(range(100))

    def double(number):
        return 2 * number

    for result in run_tasks(two, double, range(100), lambda task, reason: pytest.fail(reason)):
        held.append(two.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))
        left.remove(result // 2)
    assert not left
    assert max(held) <= 3 * 2 + 1
