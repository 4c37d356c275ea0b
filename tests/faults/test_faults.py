"""Every stage of dvc.yaml, killed, or refused the disk or memory, in the middle of its work.

What it leaves is the old output or the new one, whole, or nothing; what can be continued, such as
downloads, its readers refuse or read as if it were whole. The next run ends it, with the bytes of a
run that nothing has disturbed.
"""

import os
import re
import signal
from collections.abc import Iterator

import pytest
import yaml
from faults import (
    PARAMS,
    Ended,
    Stage,
    Toy,
    Tree,
    below,
    copy,
    runner,
    stages,
    tree,
    write_params,
    write_vectors,
)

pytest.importorskip("fcntl")
# Faults of each kind that a stage meets; `make faults` asks for them. By default a stage is killed
# once, where an output comes over an old one, and refused one thing, in turn.
POINTS = int(os.environ.get("PROBETA_FAULTS", "0"))
STAGES = stages(yaml.safe_load(PARAMS))
if not POINTS:
    # Of the items of a stage, one is enough for a first look.
    STAGES = list({stage.name: stage for stage in reversed(STAGES)}.values())[::-1]
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
            params = write_params(folder / name, seed, folder / "words.txt")
            for stage in stages(params):
                ended[str(stage)] = run.run(stage.command, folder / name)
                assert ended[str(stage)].code == 0, f"{stage}\n{ended[str(stage)].said}"
        toy = Toy(run, stages(params), folder / "old", folder / "new", folder / "place")
        whole = tree(toy.new)
        toy.undisturbed = {(name, False): (one, whole) for name, one in ended.items()}
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
        killed = toy.runner.run(stage.command, place, kind="kill", number=number)
        assert killed.code == -signal.SIGKILL, killed.said
        check_outputs(toy, stage, before, end)
        again = toy.runner.run(stage.command, place)
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
        refused = toy.runner.run(stage.command, place, kind=kind, number=number, file=size)
        check_said(refused)
        check_outputs(toy, stage, before, end)
        if refused.code == 0:
            place = toy.start(stage, over=True)
    again = toy.runner.run(stage.command, place)
    assert again.code == 0, again.said
    assert_equal(tree(place), end, "after all")


def check_said(ended: Ended) -> None:
    """Check that a command has succeeded all the same, or said in four parts why not."""
    assert "Traceback" not in ended.said, ended.said
    assert ended.code in (0, 1), ended.said
    assert ended.code == 0 or FOUR_PARTS.search(ended.said), ended.said


def check_outputs(toy: Toy, stage: Stage, before: Tree, end: Tree) -> None:
    """Check that outputs are whole, of one run, or absent; and readers of what is continued."""
    now = tree(toy.place)
    there = [
        output for output in stage.outputs if output not in stage.continued and below(now, [output])
    ]
    if below(now, there) not in (below(before, there), below(end, there)):
        assert_equal(below(now, there), below(end, there), f"half of {stage}")
    for output in stage.continued:
        if below(now, [output]) not in ({}, below(before, [output]), below(end, [output])):
            check_readers(toy, output)


def check_readers(toy: Toy, output: str) -> None:
    """Check that stages refuse what is half there, or read it as if it were whole."""
    for reader in toy.stages:
        if output not in (*reader.deps, *reader.continued):
            continue
        made = [own for own in reader.outputs if own not in reader.continued]
        place = copy(toy.place, toy.place.with_name("reader"), None, made)
        ended = toy.runner.run([word for word in reader.command if word != "--fetch"], place)
        check_said(ended)
        if ended.code == 0:
            assert_equal(
                below(tree(place), made), below(tree(toy.new), made), f"{reader} of half a {output}"
            )


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
    stage = next(stage for stage in toy.stages if stage.name == verb)
    place = toy.start(stage, over=False)
    if verb == "embed":
        # Smaller chunks are other files.
        whole = toy.runner.run(stage.command, place, changed=MANY[verb])
        assert whole.code == 0, whole.said
        end = tree(place)
        place = toy.start(stage, over=False)
    else:
        _, end = toy.end(stage, over=False)
    ended = toy.runner.run(stage.command, place, kind="worker", cpus=2, changed=MANY[verb])
    assert ended.code == 0, ended.said
    assert "a worker was lost (signal 9); continuing with a new one" in ended.said
    assert_equal(tree(place), end, verb)
