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
    Stage,
    Toy,
    Tree,
    below,
    is_hidden,
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
    with runner(folder / "runner") as run:
        toy = Toy(run, folder / "place")
        write_params(folder / "again", 1, folder / "words.txt")
        for stage in STAGES:
            assert run.run([stage.name], folder / "again").code == 0
        write_params(folder / "again", 2, folder / "words.txt")
        toy.run_all(folder / "again", over=True)
        write_params(folder / "first", 2, folder / "words.txt")
        toy.run_all(folder / "first", over=False)
        yield toy


def test_outputs_do_not_depend_on_what_was_there(toy: Toy) -> None:
    paths = [path for stage in STAGES for path in stage.outputs if path != "data/embeddings"]
    first, again = (below(tree(toy.place.with_name(name)), paths) for name in ("first", "again"))
    assert_equal(first, again, "over others")


@every_stage
def test_a_stage_needs_its_dependencies_alone(toy: Toy, stage: Stage) -> None:
    """Those of dvc.yaml: no memory, and no other file of the run.

    Vectors stand for the datasets that they are of, as they hold the digests of all.
    """
    state = toy.start(stage, over=False).rename(toy.place.with_name("state"))
    deps = [*stage.deps, *(["dist/hub"] if "data/embeddings" in stage.deps else [])]
    for name in below(tree(state), deps):
        (toy.place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(state / name, toy.place / name)
    shutil.rmtree(state)
    alone = toy.runner.run([stage.name], toy.place)
    assert alone.code == 0, alone.said
    _, end = toy.ended[stage.name, False]
    assert_equal(below(tree(toy.place), stage.outputs), below(end, stage.outputs), "alone")


def numbers(events: list[str], count: int) -> list[int]:
    """Return some numbers of events from 1 on, evenly; one is where the first output comes."""
    move = 2 + events.index("os.rename")
    step = max(1, len(events) / max(1, count))
    return sorted({move, *(1 + int(step * place) for place in range(min(count, len(events))))})


@every_stage
@pytest.mark.parametrize("over", both_ways.values(), ids=both_ways)
def test_killed(toy: Toy, stage: Stage, over: bool) -> None:
    ended, end = toy.ended[stage.name, over]
    for number in numbers(ended.events, POINTS):
        place = toy.start(stage, over=over)
        before = tree(place)
        killed = toy.runner.run([stage.name], place, kind="kill", number=number)
        assert killed.code == -signal.SIGKILL, killed.said
        check_outputs(tree(place), stage, before, end)
        again = toy.runner.run([stage.name], place)
        assert again.code == 0, again.said
        assert_equal(tree(place), end, f"killed at event {number}, {killed.events[-1]}")


@every_stage
def test_refused(toy: Toy, stage: Stage) -> None:
    ended, end = toy.ended[stage.name, True]
    written = below(end, stage.outputs).values()
    largest = max(len(content) for content in written if isinstance(content, bytes))
    events = numbers(ended.events, POINTS)
    faults = [(kind, number, 0) for kind in ("full", "broken", "memory") for number in events]
    faults += [("count", 0, 1 + largest * part // (POINTS + 1)) for part in range(1, POINTS + 1)]
    if not POINTS:
        full, count = ("full", 1 + len(ended.events) // 2, 0), ("count", 0, 1 + largest // 2)
        in_turn = [full, *faults[1:], count]
        faults = [in_turn[STAGES.index(stage) % len(in_turn)]]
    for kind, number, size in faults:
        what = f"{kind} at {number}, {size}"
        place = toy.start(stage, over=True)
        before = tree(place)
        refused = toy.runner.run([stage.name], place, kind=kind, number=number, file=size)
        assert "Traceback" not in refused.said, f"{what}\n{refused.said}"
        assert refused.code in (0, 1), f"{what}\n{refused.said}"
        now = tree(place)
        if refused.code:
            assert FOUR_PARTS.search(refused.said), f"{what}\n{refused.said}"
        elif "\n  skipped by " not in refused.said:
            assert_equal(below(now, stage.outputs), below(end, stage.outputs), what)
        else:
            # These always run, so that the next run mends it.
            assert stage.name in ("read", "embed"), f"{what}\n{refused.said}"
        check_outputs(now, stage, before, end)
        again = toy.runner.run([stage.name], place)
        assert again.code == 0, again.said
        assert_equal(tree(place), end, f"after {what}")


def check_outputs(now: Tree, stage: Stage, before: Tree, end: Tree) -> None:
    """Check that files are whole, and of each output old ones or new ones; vectors aside."""
    now = {
        name: content
        for name, content in below(now, stage.outputs).items()
        if not is_hidden(name) and not name.startswith(("data/embeddings/", "data/left_out/"))
    }
    for unit in {unit_of(name) for name in now}:
        there = {name: content for name, content in now.items() if unit_of(name) == unit}
        assert there.items() <= before.items() or there.items() <= end.items(), f"{stage}: {unit}"


def assert_equal(one: Tree, other: Tree, what: str) -> None:
    """Compare two trees, and name the files that differ."""
    differing = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    assert not differing, f"{what}: {sorted(differing)}"


def test_a_killed_read_goes_on(toy: Toy) -> None:
    """With shards of a block each, which are gone in the end."""
    (stage,) = (stage for stage in STAGES if stage.name == "read")
    _, end = toy.ended["read", True]
    shards = {"corpora_recipes.reading:SHARD_SECONDS": 0}
    ended = toy.runner.run(["read"], toy.start(stage, over=True), changed=shards)
    assert_equal(tree(toy.place), end, "with shards")
    for number in numbers(ended.events, POINTS or 3):
        place = toy.start(stage, over=True)
        killed = toy.runner.run(["read"], place, kind="kill", number=number, changed=shards)
        assert killed.code == -signal.SIGKILL, killed.said
        again = toy.runner.run(["read"], place)
        assert again.code == 0, again.said
        assert_equal(tree(place), end, f"killed at event {number}, {killed.events[-1]}")


# What lets a verb use two workers for so little work.
MANY: dict[str, dict[str, int]] = {
    "read": {"corpora_recipes.reading:SMALL": 1},
    "audit": {"builders.auditing.auditing:_BYTES_PER_WORKER": 1},
    "embed": {
        "evaluation.embedding.embedding:CHUNK_TEXTS": 64,
        "evaluation.encoders.static:StaticVectors.parallel": True,
    },
    "probe": {"evaluation.probing.probing:WORK_OF_A_PROCESS": 1},
    "rank": {"evaluation.ranking:TEXTS_PER_WORKER": 1},
}
if not POINTS:
    del MANY["audit"], MANY["probe"]


@pytest.mark.parametrize("verb", MANY)
def test_a_lost_worker(toy: Toy, verb: str) -> None:
    """It costs time alone."""
    stage = next(stage for stage in STAGES if stage.name == verb)
    place = toy.start(stage, over=False)
    # Smaller chunks of vectors are other files.
    whole = toy.runner.run([stage.name], place, changed=MANY[verb])
    assert whole.code == 0, whole.said
    end = tree(place)
    place = toy.start(stage, over=False)
    ended = toy.runner.run([stage.name], place, kind="worker", cpus=2, changed=MANY[verb])
    assert ended.code == 0, ended.said
    assert "a worker was lost (signal 9); continuing with a new one" in ended.said
    assert_equal(below(tree(place), stage.outputs), below(end, stage.outputs), verb)
