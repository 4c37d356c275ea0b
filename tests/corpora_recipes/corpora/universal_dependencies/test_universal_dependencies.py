"""Tests of the recipe for Universal Dependencies: splits, repetitions, and bad files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from case_tables import read_tables
from conftest import corpus_of
from recipe_reading import read_all, refused

from corpora_recipes.corpora.universal_dependencies import recipe
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.reading import read_corpus
from corpora_recipes.recipe import RECIPES, Corpus
from corpora_recipes.records import Drops, ParsedSentence
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

SAMPLE = RECIPES / "universal_dependencies" / "sample"


def corpus_with(*treebanks: object, language: str = "es") -> Corpus:
    corpus = corpus_of("universal_dependencies", language)
    return replace(corpus, options={"treebanks": list(treebanks)})


CORPUS = corpus_with()


def lines(text: str, name: str = "", document: str = "", **columns: str) -> str:
    """Return a sentence whose words all depend on the first, one word for each of the text."""
    rows = [f"# newdoc id = {document}"] if document else []
    rows += [f"# sent_id = {name}"] if name else []
    rows.append(f"# text = {text}")
    for number, form in enumerate(text.split(), 1):
        head, relation = (1, "dep") if number > 1 else (0, "root")
        rows.append(f"{number}\t{form}\t_\tX\t_\t_\t{head}\t{relation}\t_\t_")
    return "\n".join(rows) + "\n\n"


def write(raw: Path, name: str, *sentences: str) -> Path:
    """Write a file such as es_gsd-ud-dev.conllu into the folder of its treebank."""
    repository = {"gsd": "UD_Spanish-GSD", "pud": "UD_Spanish-PUD", "ancora": "UD_Spanish-AnCora"}
    path = raw / repository[name.split("-")[0].split("_")[1]] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(sentences), "utf-8")
    return path


def many(part: str, count: int) -> list[str]:
    """Return sentences of documents of two."""
    return [
        lines(f"{part} {number} dice algo", f"{part}{number // 2}-{number}")
        for number in range(count)
    ]


def read(raw: Path, corpus: Corpus = CORPUS) -> tuple[list[ParsedSentence], Mapping[str, int]]:
    records, counts = read_all(recipe, raw, corpus)
    return records, counts["sentences"]["dropped"]


def splits_of(records: Sequence[ParsedSentence]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for record in records:
        part = "/".join(record.id.split("/")[:2])
        found.setdefault(part, Counter())[record.split] += 1
    return found


def test_the_usual_treebanks_of_a_language_and_named_ones() -> None:
    def folders(corpus: Corpus) -> list[str]:
        names = [Path(source.file).parent.name for source in list_sources(corpus)]
        return list(dict.fromkeys(names))

    assert folders(CORPUS) == ["UD_Spanish-AnCora", "UD_Spanish-GSD", "UD_Spanish-PUD"]
    named = corpus_with("pud", "UD_Spanish-GSD", "UD_Spanish-Mine")
    assert folders(named) == ["UD_Spanish-PUD", "UD_Spanish-GSD", "UD_Spanish-Mine"]
    # Tweets and the like only if they are named.
    italian = folders(corpus_with(language="it"))
    assert "UD_Italian-ISDT" in italian
    assert "UD_Italian-TWITTIRO" not in italian
    assert folders(corpus_with("twittiro", language="it")) == ["UD_Italian-TWITTIRO"]


def test_files_have_addresses_and_pins() -> None:
    sources = {source.file: source for source in list_sources(CORPUS)}
    dev = sources["UD_Spanish-GSD/es_gsd-ud-dev.conllu"]
    assert dev.urls[0].endswith("/57c045644664e5c1e169263cc4e3b95e40c078ba/es_gsd-ud-dev.conllu")
    assert dev.size
    assert dev.sha256
    assert sources["UD_Spanish-AnCora/es_ancora-ud-train.conllu"].sha256 is None
    (dutch, *_) = list_sources(corpus_with("alpino", language="nl"))
    assert "/UD_Dutch-Alpino/r2.10/nl_alpino-ud-" in dutch.urls[0]
    assert dutch.has_digest


@pytest.mark.parametrize("treebanks", [["ewt"], [3], ["gsd", "gsd"], ["gsd", "UD_Spanish-GSD"]])
def test_wrong_names_of_treebanks_are_refused(treebanks: list[Any]) -> None:
    with pytest.raises(InputError, match=r"corpus\.treebanks\n.*treebanks in es"):
        list_sources(corpus_with(*treebanks))


def test_every_language_of_corpus_yaml_has_treebanks() -> None:
    assert len(CORPUS.facts.languages) == 118
    for language in CORPUS.facts.languages:
        files = [Path(source.file).name for source in list_sources(corpus_with(language=language))]
        prefix = {"nn": "no"}.get(language, language)
        assert files, language
        assert all(file.startswith(f"{prefix}_") for file in files), files


@pytest.mark.parametrize(("parts", "expected"), TABLES["parts"])
def test_missing_parts_are_carved_by_documents(tmp_path, parts, expected) -> None:
    for part, count in parts.items():
        write(tmp_path, f"es_gsd-ud-{part}.conllu", *many(part, count))
    records, dropped = read(tmp_path)
    assert not dropped
    found = splits_of(records)
    assert {
        part.removeprefix("es_gsd/"): sorted({*splits}) for part, splits in found.items()
    } == expected
    split_of: dict[str, str] = {}
    for record in records:
        assert split_of.setdefault(record.document_id, record.split) == record.split
    assert len(split_of) == sum(parts.values()) / 2


def test_shares_of_what_is_carved(tmp_path) -> None:
    write(tmp_path, "es_gsd-ud-dev.conllu", *many("dev", 1000))
    records, _ = read(tmp_path)
    found = Counter(record.split for record in records)
    assert [round(found[s] / 1000, 1) for s in ("train", "validation", "test")] == [0.6, 0.2, 0.2]


def test_a_treebank_with_only_a_test_part_is_test_beside_others(tmp_path) -> None:
    write(tmp_path, "es_pud-ud-test.conllu", *many("pud", 40))
    write(tmp_path, "es_gsd-ud-dev.conllu", *many("dev", 40))
    found = splits_of(read(tmp_path)[0])
    assert found["es_pud/test"] == {"test": 40}
    assert set(found["es_gsd/dev"]) == {"train", "validation", "test"}


@pytest.mark.parametrize(
    ("sentences", "documents"),
    [
        # Comments, in every spelling that is met.
        ([lines("Una", "1", "a"), lines("Dos", "2"), lines("Tres", "3", "b")], ["a", "a", "b"]),
        (["# newdoc_id = a\n" + lines("Una"), "# newdoc = b\n" + lines("Dos")], ["a", "b"]),
        (["# newdoc\n" + lines("Una", "1"), lines("Dos", "2")], ["1", "1"]),
        # Ids, if none has more than a tenth of the sentences.
        (
            [lines(f"F {n}", f"d{n // 2}-s{n}") for n in range(20)],
            [f"d{n // 2}" for n in range(20)],
        ),
        ([lines(f"F {n}", f"dev-s{n}") for n in range(20)], [f"dev-s{n}" for n in range(20)]),
        # A comment in the middle of a file says nothing of what precedes it.
        ([lines("Una", "tut-1"), lines("Dos", "tut-2", document="Wiki")], ["tut-1", "tut-2"]),
        ([lines("Una"), lines("Dos")], ["@1", "@2"]),
    ],
)
def test_documents(tmp_path, sentences, documents) -> None:
    write(tmp_path, "es_gsd-ud-train.conllu", *sentences)
    write(tmp_path, "es_gsd-ud-dev.conllu", lines("Otra", "1"))
    write(tmp_path, "es_gsd-ud-test.conllu", lines("Más", "1"))
    records, _ = read(tmp_path)
    train = [record.document_id for record in records if record.split == "train"]
    assert train == [f"es_gsd/train/{document}" for document in documents]


def test_of_sentences_with_the_same_text_one_stays(tmp_path) -> None:
    write(
        tmp_path,
        "es_gsd-ud-train.conllu",
        *(lines(text, str(n)) for n, text in enumerate(["Uno .", "uno", "Dos", "Tres", "Cuatro"])),
    )
    write(tmp_path, "es_gsd-ud-dev.conllu", lines("¡ Dos !", "1"), lines("Tres", "2"))
    write(tmp_path, "es_gsd-ud-test.conllu", lines("TRES", "1"), lines("Tres", "2"))
    records, dropped = read(tmp_path)
    assert dropped == {"duplicate": 2, "in_other_split": 3}
    assert [(record.text, record.split) for record in records] == [
        ("Uno .", "train"),
        ("Cuatro", "train"),
        ("¡ Dos !", "validation"),
        ("TRES", "test"),
    ]


def test_sentences_without_text_are_compared_by_their_words(tmp_path) -> None:
    bare = lines("Uno dos", "1").replace("# text = Uno dos\n", "")
    write(tmp_path, "es_gsd-ud-train.conllu", bare, bare.replace("= 1", "= 2"))
    write(tmp_path, "es_gsd-ud-dev.conllu", lines("Tres"))
    write(tmp_path, "es_gsd-ud-test.conllu", lines("Cuatro"))
    records, dropped = read(tmp_path)
    assert (len(records), dropped) == (3, {"duplicate": 1})


def test_odd_sentences_are_counted(tmp_path) -> None:
    good = lines("Hoy es martes", "s1")
    bad = {
        "cycle": lines("a b", "s2").replace("1\tdep", "2\tdep"),
        "not_one_root": lines("c d", "s3").replace("\t1\tdep", "\t0\troot"),
        "text_mismatch": lines("e f", "s4").replace("text = e", "text = x"),
        "malformed_features": lines("g h", "s5").replace("X\t_\t_", "X\t_\tnumber=sing"),
        "unknown_upos": lines("i j", "s6").replace("X", "noun"),
        "withheld_text": lines("_ _ _", "s7"),
        "replacement_character": lines("k \ufffd", "s8"),
        "markup_left": lines("l <br> m", "s9"),
    }
    write(tmp_path, "es_gsd-ud-train.conllu", good, *bad.values())
    for part in ("dev", "test"):
        write(tmp_path, f"es_gsd-ud-{part}.conllu", lines(part))
    records, dropped = read(tmp_path)
    assert [record.text for record in records] == ["Hoy es martes", "dev", "test"]
    assert dropped == dict.fromkeys(bad, 1)


def test_of_sentences_with_the_same_id_one_stays(tmp_path) -> None:
    write(tmp_path, "es_gsd-ud-train.conllu", lines("Una", "s1"), lines("Otra", "s1"))
    write(tmp_path, "es_gsd-ud-dev.conllu", lines("Esta", "s1"))
    total, ids = Drops(), set()
    for records, drops in read_corpus(recipe.blocks(tmp_path, CORPUS), CORPUS, None, 1):
        total.add(drops)
        ids |= {record.id for record in records}
    assert ids == {"es_gsd/train/s1", "es_gsd/dev/s1"}
    assert total.dropped["sentences", "duplicate_id"] == 1


def test_damage_is_said_with_file_and_line(tmp_path) -> None:
    damaged = lines("a b", "2").replace("\t_\t_\n", "\t_\n")
    path = write(tmp_path, "es_gsd-ud-train.conllu", lines("Una frase", "1"), damaged)
    with refused(f"{path}, line 8", "10 columns"):
        read(tmp_path)


def test_a_file_with_another_name_is_refused(tmp_path) -> None:
    folder = tmp_path / "UD_Spanish-Mine"
    folder.mkdir()
    (folder / "frases.conllu").write_text(lines("Una"), "utf-8")
    with pytest.raises(InputError, match=r"frases.conllu\n.*es_gsd-ud-train.conllu"):
        read(tmp_path, corpus_with("UD_Spanish-Mine"))
    (folder / "frases.conllu").rename(folder / "es_mine-ud-train.conllu")
    (found,), _ = read(tmp_path, corpus_with("UD_Spanish-Mine"))
    assert found.treebank == "es_mine"
    assert found.licence == "that of the treebank, see LICENSE.txt of UD_Spanish-Mine"


def test_too_many_sentences_are_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(recipe, "MOST_SENTENCES", 3)
    write(tmp_path, "es_gsd-ud-dev.conllu", *many("dev", 2))
    write(tmp_path, "es_gsd-ud-test.conllu", *many("test", 2))
    with pytest.raises(InputError, match="at most 3 sentences in a corpus"):
        read(tmp_path)


def test_blocks_give_the_same_sentences_whatever_their_size(tmp_path, monkeypatch) -> None:
    whole = read(SAMPLE)
    monkeypatch.setattr(recipe, "BLOCK_BYTES", 5_000)
    blocks = recipe.blocks(SAMPLE, CORPUS)
    assert len(blocks) > 20
    assert len({block.key for block in blocks}) == len(blocks)
    for one, other in pairwise(blocks):
        assert one.path != other.path or one.end == other.offset
    assert read(SAMPLE) == whole
