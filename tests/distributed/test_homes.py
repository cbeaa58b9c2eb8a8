"""Homes of blocks: wishes that are kept, and that end where workers do."""

import dask
import numpy as np

from graphfold.distributed.blocks import Tall
from graphfold.distributed.homes import _in_a_row
from graphfold.distributed.tasks import task


def test_blocks_are_made_at_home_and_stay_there(workers):
    """A run of blocks for each worker, whatever other tables have as many."""
    made = [task(np.full, 50_000, float(i)) for i in range(20)]
    table = Tall(tuple(made), (50_000,) * 20).held("")
    for one in (table, table.map(np.negative).held("")):
        where = [workers.who_has()[block.key][0] for block in one.blocks]
        first, second = sorted(workers.nthreads())
        away = where[:10].count(second) + where[10:].count(first)
        assert away <= 4  # who is idle may take what another has not begun


def test_homes_that_a_user_has_named_are_kept(workers):
    _, chosen = sorted(workers.nthreads())
    made = [task(np.full, 50_000, float(i)) for i in range(8)]
    with dask.annotate(workers=[chosen]):
        table = Tall(tuple(made), (50_000,) * 8).held("")
    assert {workers.who_has()[block.key][0] for block in table.blocks} == {chosen}


def test_workers_keep_their_order_when_others_come_and_go():
    class Client:
        pass

    client = Client()
    assert _in_a_row(client, {"b", "a", "d"}) == ["a", "b", "d"]
    assert _in_a_row(client, {"a", "d", "c"}) == ["a", "c", "d"]
    assert _in_a_row(client, {"d", "c"}) == ["c", "d"]
    assert _in_a_row(client, {"d", "c", "a"}) == ["c", "d", "a"]


def test_a_scheduler_that_unpickles_nothing_is_told_no_wishes(workers, monkeypatch):
    """It could not be told to forget them."""

    def refused(plugin, name):
        raise ValueError("disallowed from deserializing")

    told = []
    monkeypatch.setattr(workers, "register_plugin", refused)
    monkeypatch.setattr(
        workers,
        "persist",
        lambda found, persist=workers.persist: persisted(found, persist),
    )

    def persisted(found, persist):
        told.append(dask.get_annotations())
        return persist(found)

    made = [task(np.full, 10, float(i)) for i in range(4)]
    assert len(Tall(tuple(made), (10,) * 4).held("").blocks) == 4
    assert told == [{}]
