"""IRC: messages and the conversations that links make of them."""

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from conftest import corpus_of
from hypothesis import given
from hypothesis import strategies as st
from recipe_reading import read_all, refused, write_files

from corpora_recipes.corpora.irc_disentanglement import recipe
from corpora_recipes.corpora.irc_disentanglement.recipe import Message, Nicknames, parse_message
from corpora_recipes.records import Dialogue, Drops

TABLES = read_tables(__file__)

# --- irc recipe ----------------------------------------------------------------------------------

CORPUS = corpus_of("irc_disentanglement", "en")
NAME = "data/train/2004-12-25.train-c"
LOG = TABLES["log"]
# Message 3 is not annotated; 0 is context that 2 answers.
LINKS = "0 2 -\n1 1 -\n2 4 -\n5 5 -\n4 6 -\n5 7 -\n"


def folder(raw: Path, log: str = LOG, links: str = LINKS) -> Path:
    return write_files(raw, {f"{NAME}.ascii.txt": log, f"{NAME}.annotation.txt": links})


def read(raw: Path) -> tuple[list[Dialogue], dict[str, Any]]:
    return read_all(recipe, raw, CORPUS)


def test_conversations(tmp_path: Path) -> None:
    records, counts = read(folder(tmp_path))
    name = "2004-12-25.train-c"
    disk = ["does anybody know how to mount a disk?", "<user>: what kind of disk is it?"]
    disk += ["an old one that makes a noise", "then save your files first"]
    sound = ["my sound is gone since the last upgrade", "<user>: which card do you have?"]
    dialogues = [Dialogue(f"{name}:{n}", name, [turns]) for n, turns in ((0, disk), (5, sound))]
    assert records == dialogues
    assert counts["documents"] == {"seen": 2, "kept": 2, "dropped": {}}
    assert counts["turns"]["dropped"] == {"line_of_the_server": 1, "not_annotated": 1}
    assert counts["nicknames"]["dropped"] == {"addressed": 2}


@pytest.mark.parametrize(("text", "reason"), TABLES["turns"])
def test_a_dropped_turn_ends_the_conversation(tmp_path: Path, text: str, reason: str) -> None:
    log = LOG.replace("an old one that makes a noise", text)
    records, counts = read(folder(tmp_path, log))
    assert [len(turns) for turns in records[0].conversations] == [2, 1]
    assert counts["turns"]["dropped"][reason] == 1


def test_the_number_of_a_machine_at_home_stays(tmp_path: Path) -> None:
    records, _ = read(folder(tmp_path, LOG.replace("an old one", "192.168.0.1 is one")))
    assert records[0].conversations[0][2] == "192.168.0.1 is one that makes a noise"


def test_dropped_conversations(tmp_path: Path) -> None:
    log = LOG.replace("my sound is gone since the last upgrade", "no tengo sonido desde ayer")
    log = log.replace("which card do you have?", "entonces hay que instalar otro programa")
    _, counts = read(
        folder(tmp_path, log, LINKS.replace("2 4 -\n", "4 4 -\n").replace("4 6 -", ""))
    )
    assert counts["documents"]["dropped"] == {"one_turn": 1, "other_language": 1}


def test_an_archive_gives_the_same(tmp_path: Path) -> None:
    raw = folder(tmp_path / "plain")
    packed = tmp_path / "packed"
    packed.mkdir()
    with tarfile.open(packed / "irc-disentanglement.tar.gz", "w:gz") as tar:
        # Not in the order of the names, and with files that are not read.
        for path in sorted(raw.rglob("*.txt"), reverse=True):
            tar.add(path, f"irc-disentanglement/{path.relative_to(raw)}")
        other = tarfile.TarInfo("irc-disentanglement/data/channel-two/x.ascii.txt")
        tar.addfile(other, io.BytesIO())
    assert read(packed) == read(raw)


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"links": "0 2 -\n2 8 -\n"}, "annotation.txt, line 2", "0 to 7, and"),
        *(
            ({"links": f"{link}\n"}, "annotation.txt, line 1", "a dash")
            for link in ("0 2", "0 x -", "0 -2 -", f"0 {'9' * 5000} -")
        ),
        ({"log": LOG.replace("=== zul", "zul")}, "ascii.txt, line 2", "a message"),
    ],
)
def test_bad_lines(tmp_path: Path, changes: dict[str, str], where: str, words: str) -> None:
    with refused(f"2004-12-25.train-c.{where}", words):
        read(folder(tmp_path, **changes))


def test_a_log_without_annotation(tmp_path: Path) -> None:
    (folder(tmp_path) / f"{NAME}.annotation.txt").unlink()
    with refused("ascii.txt", "its annotation beside it"):
        recipe.blocks(tmp_path, CORPUS)


# --- irc messages --------------------------------------------------------------------------------

LOG_MESSAGES = TABLES["messages"]


def messages(*more: str) -> list[Message]:
    return [m for line in (*LOG_MESSAGES, *more) if (m := parse_message(line)) is not None]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LOG_MESSAGES[0], Message(("zul",), "", is_of_server=True)),
        (LOG_MESSAGES[1], Message(("old_one", "new|one"), "", is_of_server=True)),
        (LOG_MESSAGES[2], Message((), "", is_of_server=True)),
        ("[03:18] <lena42>  two  spaces", Message(("lena42",), " two  spaces")),
        ("[03:18] <lena42> ", Message(("lena42",), "")),
        ("[05:12] -abcxyz:#ubuntu- hi all", Message(("abcxyz",), "hi all")),
        ("[01:09] (ray/#ubuntu) tom: hi", Message(("ray",), "tom: hi")),
        ("[03:20]  * lena42 yawns", Message(("lena42",), "yawns", is_action=True)),
        ("hello", None),
        ("", None),
    ],
)
def test_parse_message(line: str, message: Message | None) -> None:
    assert parse_message(line) == message


@pytest.mark.parametrize(("text", "hidden", "counted"), TABLES["nicknames"])
def test_nicknames(text: str, hidden: str, counted: dict[str, int]) -> None:
    log = messages(f"[03:21] <zul> {text}")
    drops = Drops()
    assert Nicknames(log).hide(log[-1], drops) == hidden
    assert drops.dropped == {("nicknames", place): n for place, n in counted.items()}
    assert drops.seen["nicknames"] == sum(counted.values())


def test_the_actor_of_an_action() -> None:
    log, drops = messages(), Drops()
    assert Nicknames(log).hide(log[-1], drops) == "<user> yawns"
    assert drops.dropped == {("nicknames", "actor"): 1}


@given(st.text())
def test_any_line(line: str) -> None:
    if message := parse_message(line):
        assert Nicknames([message]).hide(message, Drops()).count("<user>") >= message.is_action
