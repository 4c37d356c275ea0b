"""Every stage, killed, or refused the disk or memory, in the middle of its work.

What it leaves of each output is the old one or the new one, whole, or nothing. The next run ends
it, with the bytes of a run that nothing has disturbed.
"""

import os
import re
import shutil
import signal
from collections.abc import Iterator

import pytest
from faults import (
    STAGES,
    Ended,
    Stage,
    Toy,
    Tree,
    below,
    runner,
    tree,
    unit_of,
    write_params,
    write_vectors,
)

pytest.importorskip("fcntl")
# Faults of each kind that a stage meets; `make faults` asks for them. By default a stage is killed
# once, where an output comes over an old one, and refused one thing, in turn.
POINTS = int(os.environ.get("PROBETA_FAULTS", "0"))
FOUR_PARTS = re.compile(r"^error: .+\n  expected: .+\n  found:   .*\n(?s:.*)  to do:    .+", re.M)
every_stage = pytest.mark.parametrize("stage", STAGES, ids=str)
both_ways = {"first": False, "again": True} if POINTS else {"again": True}


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toy]:
    folder = tmp_path_factory.mktemp("faults")
    write_vectors(folder / "words.txt")
    ended: dict[str, Ended] = {}
    with runner(folder / "runner") as run:
        for seed, name in ((1, "old"), (2, "new")):
            write_params(folder / name, seed, folder / "words.txt")
            for stage in STAGES:
                ended[stage.name] = run.run([stage.name], folder / name)
                assert ended[stage.name].code == 0, f"{stage}\n{ended[stage.name].said}"
        toy = Toy(run, folder / "old", folder / "new", folder / "place")
        yield toy


def numbers(events: list[str], count: int) -> list[int]:
    """Return some numbers of events from 1 on, evenly; the last one is where an output comes."""
    last_move = len(events) - events[::-1].index("os.rename")
    step = max(1, len(events) / max(1, count))
    return sorted({last_move, *(1 + int(step * place) for place in range(min(count, len(events))))})


@every_stage
@pytest.mark.parametrize("over", both_ways.values(), ids=both_ways)
def test_killed(toy: Toy, stage: Stage, over: bool) -> None:
    ended, end = toy.end(stage, over=over)
    for number in numbers(ended.events, POINTS):
        place = toy.start(stage, over=over)
        before = tree(place)
        killed = toy.runner.run([stage.name], place, kind="kill", number=number)
        assert killed.code == -signal.SIGKILL, killed.said
        check_outputs(toy, stage, before, end)
        again = toy.runner.run([stage.name], place)
        assert again.code == 0, again.said
        assert_equal(tree(place), end, f"killed at event {number}, {killed.events[-1]}")


@every_stage
def test_refused(toy: Toy, stage: Stage) -> None:
    ended, end = toy.end(stage, over=True)
    written = below(tree(toy.new), stage.outputs).values()
    largest = max(len(content) for content in written if isinstance(content, bytes))
    events = numbers(ended.events, POINTS)
    faults = [(kind, number, 0) for kind in ("full", "broken", "memory") for number in events]
    faults += [("count", 0, 1 + largest * part // (POINTS + 1)) for part in range(1, POINTS + 1)]
    if not POINTS:
        full, count = ("full", 1 + len(ended.events) // 2, 0), ("count", 0, 1 + largest // 2)
        in_turn = [full, *faults[1:], count]
        faults = [in_turn[STAGES.index(stage) % len(in_turn)]]
    place = toy.start(stage, over=True)
    before = tree(place)
    for kind, number, size in faults:
        refused = toy.runner.run([stage.name], place, kind=kind, number=number, file=size)
        check_said(refused)
        check_outputs(toy, stage, before, end)
        if refused.code == 0:
            place = toy.start(stage, over=True)
    again = toy.runner.run([stage.name], place)
    assert again.code == 0, again.said
    assert_equal(tree(place), end, "after all")


def check_said(ended: Ended) -> None:
    """Check that a command has succeeded all the same, or said in four parts why not."""
    assert "Traceback" not in ended.said, ended.said
    assert ended.code in (0, 1), ended.said
    left_out = "left out" in ended.said
    assert ended.code == 0 or left_out or FOUR_PARTS.search(ended.said), ended.said


def check_outputs(toy: Toy, stage: Stage, before: Tree, end: Tree) -> None:
    """Check that each output is whole, of one run, or absent; vectors come chunk by chunk."""
    now, before, end = (below(own, stage.outputs) for own in (tree(toy.place), before, end))
    for unit in {unit_of(name) for name in now if not name.startswith("data/embeddings/")}:
        there, old, new = (
            {name: content for name, content in own.items() if unit_of(name) == unit}
            for own in (now, before, end)
        )
        if there not in (old, new):
            assert_equal(there, new, f"half of {unit}, {stage}")


def assert_equal(one: Tree, other: Tree, what: str) -> None:
    """Compare two trees, and name the files that differ."""
    differing = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    assert not differing, f"{what}: {sorted(differing)}"


# What lets a verb use two workers for so little work.
MANY: dict[str, dict[str, int]] = {
    "read": {"corpora_recipes.reading.reading:SMALL": 1},
    "audit": {"builders.auditing.auditing:BYTES_A_WORKER": 1},
    "embed": {
        "evaluation.embedding.embedding:CHUNK_TEXTS": 64,
        "evaluation.encoders.static:StaticVectors.parallel": True,
    },
    "probe": {"evaluation.probing.probing:WORK_OF_A_PROCESS": 1},
    "rank": {},
}
if not POINTS:
    del MANY["audit"], MANY["probe"]


@pytest.mark.parametrize("verb", MANY)
def test_a_lost_worker(toy: Toy, verb: str) -> None:
    """It costs time alone."""
    stage = next(stage for stage in STAGES if stage.name == verb)
    place = toy.start(stage, over=False)
    if verb == "embed":
        # Smaller chunks are other files.
        whole = toy.runner.run([stage.name], place, changed=MANY[verb])
        assert whole.code == 0, whole.said
        end = tree(place)
        place = toy.start(stage, over=False)
    else:
        _, end = toy.end(stage, over=False)
        place = toy.start(stage, over=False)
    # Otherwise there is too little to do for two.
    shutil.rmtree(place / "data" / "memory")
    ended = toy.runner.run([stage.name], place, kind="worker", cpus=2, changed=MANY[verb])
    assert ended.code == 0, ended.said
    assert "a worker was lost (signal 9); continuing with a new one" in ended.said
    assert_equal(below(tree(place), stage.outputs), below(end, stage.outputs), verb)
