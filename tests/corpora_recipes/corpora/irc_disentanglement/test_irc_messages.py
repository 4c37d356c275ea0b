"""Lines of a log, and the rule by which nicknames become <user>."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora_recipes.corpora.irc_disentanglement.recipe import Message, Nicknames, parse_message
from corpora_recipes.records import Drops

LOG = [
    "=== zul [~chuck@198.51.100.5]  has joined #ubuntu",
    "=== old_one is now known as new|one",
    "=== sid77 hi",
    "[03:18] <lena42> hello root, how is life?",
    "[03:18] <root> fine",
    "[03:19] <Tomek> root is who may do all, root can",
    "[03:19] <tomek> lena42: is that so?",
    "[03:20]  * lena42 yawns",
]


def messages(*more: str) -> list[Message]:
    return [m for line in (*LOG, *more) if (m := parse_message(line)) is not None]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (LOG[0], Message(("zul",), "", is_of_server=True)),
        (LOG[1], Message(("old_one", "new|one"), "", is_of_server=True)),
        (LOG[2], Message((), "", is_of_server=True)),
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


@pytest.mark.parametrize(
    ("text", "hidden", "counted"),
    [
        ("lena42: yes", "<user>: yes", {"addressed": 1}),
        ("Lena42, yes", "<user>, yes", {"addressed": 1}),
        ("@zul: yes", "<user>: yes", {"addressed": 1}),
        ("new|one: see lena42 or zul.", "<user>: see <user> or <user>.",
         {"addressed": 1, "mentioned": 2}),
        # "root" is said more often than its owner speaks: a name only in an address.
        ("root: become root", "<user>: become root", {"addressed": 1}),
        # Nobody in the log has these names.
        ("r00t: yes", "<user>: yes", {"addressed": 1}),
        ("tomekk: yes", "<user>: yes", {"addressed": 1}),
        ("life: a game", "life: a game", {}),
        ("no name here", "no name here", {}),
        ("lena42x is not lena42", "lena42x is not <user>", {"mentioned": 1}),
    ],
)  # fmt: skip
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
