"""SentEval in English: each oddity of its many forms."""

import json
from functools import partial
from pathlib import Path

import pytest
from conftest import corpus_of
from recipe_reading import read_examples, refused, write_files

from corpora_recipes.corpora.senteval import recipe
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.running.errors import InputError

CORPUS = corpus_of("senteval", "en")
FACTS = CORPUS.facts
CLASSES = "sent_classification/"
STS = "sent_similarity/STS/"
RELATED = "sent_similarity/STR/sem_text_rel_ranked.csv"
RELATED_HEADER = "Index,SourceID,SubsetID,PairID,Text,Score\n"
read = partial(read_examples, corpus=CORPUS)


def test_sources_are_pinned_one_by_one() -> None:
    sources = {source.file: source for source in list_sources(CORPUS)}
    layouts = FACTS.special["layouts"]
    listed = [file for layout in layouts.values() for file in layout["files"].values()]
    files = [name for file in listed for name in ([file] if isinstance(file, str) else file)]
    assert sorted(sources) == sorted(files)
    assert layouts.keys() == FACTS.collections.keys()
    assert all(source.has_digest and source.optional for source in sources.values())
    (address,) = sources["probing/bigram_shift.txt"].urls
    assert address.endswith("87015/data/probing/bigram_shift.txt")
    assert not any("SMT." in file for file in files)


def test_texts_of_a_class_and_lines_without_a_text(tmp_path: Path) -> None:
    texts = {CLASSES + "MPQA/mpqa.neg": "of course \n\n", CLASSES + "MPQA/mpqa.pos": "of course \n"}
    examples, drops = read(write_files(tmp_path, texts))
    # Repeated and contradictory phrases are kept.
    assert [(e.id, e.texts, e.label, e.split) for e in examples] == [
        ("mpqa/neg/1", ("of course",), "negative", None),
        ("mpqa/pos/1", ("of course",), "positive", None),
    ]
    assert drops.dropped == {("examples", "empty_text"): 1}


def test_a_letter_of_latin_1(tmp_path: Path) -> None:
    line = b"LOC:city Which city is a sister\xf0city of Oslo ?\n"
    (question,), _ = read(write_files(tmp_path, {CLASSES + "TREC/train_5500.label": line}))
    assert question.texts == ("Which city is a sister\u00f0city of Oslo ?",)
    assert (question.label, question.columns) == ("location", {"fine_class": "city"})


def test_classes_before_and_after_a_text(tmp_path: Path) -> None:
    files = {
        CLASSES + "SST/binary/sentiment-dev": "a joy : 2 stars \t1\n",
        CLASSES + "SST/fine/sentiment-test": "2 1 star : so so .\n",
    }
    assert [
        (e.collection, e.texts[0], e.label, e.split) for e in read(write_files(tmp_path, files))[0]
    ] == [
        ("sst2", "a joy : 2 stars", "positive", "validation"),
        ("sst5", "1 star : so so .", "neutral", "test"),
    ]


def test_a_byte_order_mark_and_quotes_that_never_close(tmp_path: Path) -> None:
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    table = header + '1\t7\t8\t" Yes , he said .\tHe said " yes\n'
    (pair,), _ = read(write_files(tmp_path, {CLASSES + "MRPC/msr_paraphrase_test.txt": table}))
    assert (pair.id, pair.label) == ("mrpc/test/2", "paraphrase")
    assert pair.texts == ('" Yes , he said .', 'He said " yes')


def test_a_class_and_a_score_with_carriage_returns(tmp_path: Path) -> None:
    table = (
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
        "6\tThere is no boy outdoors\tA boy is outdoors\t3.3\tCONTRADICTION\r\n"
    )
    (pair,), _ = read(write_files(tmp_path, {CLASSES + "SICK/SICK_test_annotated.txt": table}))
    assert (pair.label, pair.score, pair.split) == ("contradiction", 3.3, "test")


def test_pairs_without_gold_are_no_rows(tmp_path: Path) -> None:
    pairs, gold = (f"{STS}STS16-en-test/STS.{what}.headlines.txt" for what in ("input", "gs"))
    write_files(tmp_path, {pairs: "a b\tc d\ne f\tg h\n", gold: "\n4\n"})
    (pair,), drops = read(tmp_path)
    assert (pair.id, pair.score) == ("sts16/headlines/2", 4.0)
    assert pair.columns == {"subset": "headlines"}
    assert drops.dropped == {("examples", "no_score"): 1}
    (tmp_path / gold).unlink()
    with refused(gold, f"the other half of {pairs}"):
        read(tmp_path)


def test_the_benchmark_has_seven_columns_and_no_header(tmp_path: Path) -> None:
    line = "main-news\tMSRpar\t2012test\t0001\t3.600\tone .\tan other .\n"
    (pair,), _ = read(write_files(tmp_path, {STS + "STSBenchmark/sts-dev.csv": line}))
    assert (pair.texts, pair.score) == (("one .", "an other ."), 3.6)
    assert (pair.columns, pair.split) == ({"subset": "main-news"}, "validation")


def test_two_texts_in_one_field(tmp_path: Path) -> None:
    row = '0,STS,STS,STS_1,"He said ""no"", once.\nHe said no.",0.875\n'
    write_files(tmp_path, {RELATED: RELATED_HEADER + row})
    (pair,), _ = read(tmp_path)
    assert pair.texts == ('He said "no", once.', "He said no.")
    assert (pair.id, pair.score, pair.columns) == ("str/pairs/2", 0.875, {"subset": "STS"})


def test_citations(tmp_path: Path) -> None:
    name = CLASSES + "SCICITE/dev.txt"
    row = {"text": "\u2026cut at\nthe end [3]\u2026", "label": "method", "metadata": {}}
    (citation,), _ = read(write_files(tmp_path, {name: json.dumps(row) + "\n"}))
    assert (citation.texts, citation.label) == (("\u2026cut at the end [3]\u2026",), "method")


def test_probing(tmp_path: Path) -> None:
    name = "probing/past_present.txt"
    write_files(tmp_path, {name: "tr\tPAST\tHe ran .\nva\tPRES\truns\tHe runs .\n"})
    assert [(e.id, e.texts, e.label, e.split) for e in read(tmp_path)[0]] == [
        ("past_present/all/1", ("He ran .",), "past", "train"),
        ("past_present/all/2", ("He runs .",), "present", "validation"),
    ]


def test_some_files_are_enough(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"files of SentEval, such as .*rt-polarity\.neg"):
        recipe.blocks(tmp_path, CORPUS)


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        (f"{CLASSES}TREC/TREC_10.label", "LOC Oslo ?\nOslo\n", 2, "a class (of a question: also"),
        (f"{CLASSES}SST/fine/sentiment-test", "5 great .\n", 1, "a label among 0, 1, 2, 3, 4"),
        (
            RELATED,
            f"{RELATED_HEADER}0,STS,STS,STS_1,one text,0.5\n",
            2,
            "two texts and a line break",
        ),
        (RELATED, "Text,Score\n", 1, "found:    Text, Score\n"),
        *(
            (f"{CLASSES}SCICITE/dev.txt", f"{line}\n", 1, 'an object with "text" and "label"')
            for line in ('{"text": "x"}', '["x"]', '{"text": 1, "label": "method"}')
        ),
        (
            "probing/past_present.txt",
            "dev\tPAST\tHe ran .\n",
            1,
            "tr, va or te, a class and a sent",
        ),
    ],
)
def test_lines_of_another_form(tmp_path: Path, name: str, text: str, line: int, words: str) -> None:
    with refused(f"{name}, line {line}", words):
        read(write_files(tmp_path, {name: text}))
