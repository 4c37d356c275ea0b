"""SentEval in English: the shipped sample whole, and each oddity of its many forms."""

import json
from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_of, read_blocks

from corpora_recipes.corpora.senteval import recipe
from corpora_recipes.fetching.sources import list_sources
from corpora_recipes.recipe import RECIPES
from corpora_recipes.records import Drops, Example
from corpora_recipes.running.errors import InputError

SAMPLE = RECIPES / "senteval" / "sample"
CORPUS = corpus_of("senteval", "en")
FACTS = CORPUS.facts
CLASSES = "sent_classification/"
STS = "sent_similarity/STS/"


def read(raw: Path) -> tuple[list[Example], Drops]:
    result = read_blocks(raw, CORPUS)
    return [record for record in result.records if isinstance(record, Example)], result.drops


def write(raw: Path, files: dict[str, str | bytes]) -> Path:
    for name, data in files.items():
        path = raw / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
    return raw


def refused(raw: Path) -> InputError:
    with pytest.raises(InputError) as error:
        read(raw)
    return error.value


def test_sample() -> None:
    examples, drops = read(SAMPLE)
    by_id = {example.id: example for example in examples}
    assert len(by_id) == len(examples)
    assert drops.as_dict() == {
        "examples": {
            "seen": len(examples) + 11,
            "kept": len(examples),
            "dropped": {"empty_text": 1, "no_score": 10},
        }
    }
    found = Counter((e.collection, e.split or "all") for e in examples)
    counts: dict[str, dict[str, int]] = {}
    for (collection, part), count in found.items():
        counts.setdefault(collection, {})[part] = count
    assert {name: counts[name] for name in FACTS.collections} == counts
    assert sum(found.values()) == 1022
    for name, facts in FACTS.collections.items():
        assert counts[name].keys() == facts.sizes.keys()
        rows = [example for example in examples if example.collection == name]
        assert {len(row.texts) for row in rows} == {facts.texts}
        assert all(row.columns.keys() == facts.columns.keys() for row in rows)
        if facts.labels:
            assert {row.label for row in rows} == set(facts.labels.values()), name
    key = "sick/test/2"
    texts = (
        "The old musician is playing a drum in a yard",
        "The old musician is beating a drum in a yard",
    )
    assert by_id[key] == Example(key, "sick", texts, "entailment", 4.6, key, {}, "test")


def test_sources_are_pinned_one_by_one() -> None:
    sources = list_sources(CORPUS)
    files = [
        file
        for layout in FACTS.special["layouts"].values()
        for listed in layout["files"].values()
        for file in ([listed] if isinstance(listed, str) else listed)
    ]
    assert sorted(source.file for source in sources) == sorted(files)
    assert FACTS.special["layouts"].keys() == FACTS.collections.keys()
    assert all(source.has_digest and source.optional for source in sources)
    (probing,) = (s for s in sources if s.file == "probing/bigram_shift.txt")
    assert probing.git_blob == "1226c0467bd342c92132dd2fd26e54b7bd066bd7"
    assert probing.urls[0].endswith("87015/data/probing/bigram_shift.txt")
    (cr,) = (s for s in sources if s.file.endswith("custrev.neg"))
    assert cr.size == 142650
    assert cr.urls[0].endswith(f"c6422dbf8a357b206234ab81639b24bd3428914f/data/{cr.file}")
    assert not any("SMT." in file for file in files)


def test_texts_of_a_class_and_lines_without_a_text(tmp_path: Path) -> None:
    texts = {CLASSES + "MPQA/mpqa.neg": "of course \n\n", CLASSES + "MPQA/mpqa.pos": "of course \n"}
    examples, drops = read(write(tmp_path, texts))
    # Repeated and contradictory phrases are kept.
    assert [(e.id, e.texts, e.label, e.split) for e in examples] == [
        ("mpqa/neg/1", ("of course",), "negative", None),
        ("mpqa/pos/1", ("of course",), "positive", None),
    ]
    assert drops.dropped == {("examples", "empty_text"): 1}


def test_a_letter_of_latin_1(tmp_path: Path) -> None:
    line = b"LOC:city Which city is a sister\xf0city of Oslo ?\n"
    (question,), _ = read(write(tmp_path, {CLASSES + "TREC/train_5500.label": line}))
    assert question.texts == ("Which city is a sister\u00f0city of Oslo ?",)
    assert (question.label, question.columns) == ("location", {"fine_class": "city"})
    write(tmp_path, {CLASSES + "TREC/TREC_10.label": "LOC Oslo ?\nOslo\n"})
    error = refused(tmp_path)
    assert error.where.endswith("TREC_10.label, line 2")
    assert error.expected.startswith("a class (of a question: also a colon and a fine class)")


def test_classes_before_and_after_a_text(tmp_path: Path) -> None:
    files = {
        CLASSES + "SST/binary/sentiment-dev": "a joy : 2 stars \t1\n",
        CLASSES + "SST/fine/sentiment-test": "2 1 star : so so .\n",
    }
    assert [
        (e.collection, e.texts[0], e.label, e.split) for e in read(write(tmp_path, files))[0]
    ] == [
        ("sst2", "a joy : 2 stars", "positive", "validation"),
        ("sst5", "1 star : so so .", "neutral", "test"),
    ]
    write(tmp_path, {CLASSES + "SST/fine/sentiment-test": "5 great .\n"})
    assert refused(tmp_path).expected == "a label among 0, 1, 2, 3, 4"


def test_a_byte_order_mark_and_quotes_that_never_close(tmp_path: Path) -> None:
    header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n"
    table = header + '1\t7\t8\t" Yes , he said .\tHe said " yes\n'
    (pair,), _ = read(write(tmp_path, {CLASSES + "MRPC/msr_paraphrase_test.txt": table}))
    assert (pair.id, pair.label) == ("mrpc/test/2", "paraphrase")
    assert pair.texts == ('" Yes , he said .', 'He said " yes')


def test_a_class_and_a_score_with_carriage_returns(tmp_path: Path) -> None:
    table = (
        "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\r\n"
        "6\tThere is no boy outdoors\tA boy is outdoors\t3.3\tCONTRADICTION\r\n"
    )
    (pair,), _ = read(write(tmp_path, {CLASSES + "SICK/SICK_test_annotated.txt": table}))
    assert (pair.label, pair.score, pair.split) == ("contradiction", 3.3, "test")


def test_pairs_without_gold_are_no_rows(tmp_path: Path) -> None:
    pairs, gold = (f"{STS}STS16-en-test/STS.{what}.headlines.txt" for what in ("input", "gs"))
    write(tmp_path, {pairs: "a b\tc d\ne f\tg h\n", gold: "\n4\n"})
    (pair,), drops = read(tmp_path)
    assert (pair.id, pair.score) == ("sts16/headlines/2", 4.0)
    assert pair.columns == {"subset": "headlines"}
    assert drops.dropped == {("examples", "no_score"): 1}
    (tmp_path / gold).unlink()
    error = refused(tmp_path)
    assert error.where.endswith(gold)
    assert error.expected == f"the other half of {pairs}"


def test_the_benchmark_has_seven_columns_and_no_header(tmp_path: Path) -> None:
    line = "main-news\tMSRpar\t2012test\t0001\t3.600\tone .\tan other .\n"
    (pair,), _ = read(write(tmp_path, {STS + "STSBenchmark/sts-dev.csv": line}))
    assert (pair.texts, pair.score) == (("one .", "an other ."), 3.6)
    assert (pair.columns, pair.split) == ({"subset": "main-news"}, "validation")


def test_two_texts_in_one_field(tmp_path: Path) -> None:
    name = "sent_similarity/STR/sem_text_rel_ranked.csv"
    header = "Index,SourceID,SubsetID,PairID,Text,Score\n"
    write(tmp_path, {name: header + '0,STS,STS,STS_1,"He said ""no"", once.\nHe said no.",0.875\n'})
    (pair,), _ = read(tmp_path)
    assert pair.texts == ('He said "no", once.', "He said no.")
    assert (pair.id, pair.score, pair.columns) == ("str/pairs/2", 0.875, {"subset": "STS"})
    write(tmp_path, {name: header + "0,STS,STS,STS_1,one text,0.5\n"})
    assert refused(tmp_path).expected == "two texts and a line break between them"
    write(tmp_path, {name: "Text,Score\n"})
    assert refused(tmp_path).found == "Text, Score"


def test_citations(tmp_path: Path) -> None:
    name = CLASSES + "SCICITE/dev.txt"
    row = {"text": "\u2026cut at\nthe end [3]\u2026", "label": "method", "metadata": {}}
    (citation,), _ = read(write(tmp_path, {name: json.dumps(row) + "\n"}))
    assert (citation.texts, citation.label) == (("\u2026cut at the end [3]\u2026",), "method")
    for line in ('{"text": "x"}', '["x"]', '{"text": 1, "label": "method"}'):
        write(tmp_path, {name: line + "\n"})
        assert refused(tmp_path).expected == 'an object with "text" and "label"'


def test_probing(tmp_path: Path) -> None:
    name = "probing/past_present.txt"
    write(tmp_path, {name: "tr\tPAST\tHe ran .\nva\tPRES\truns\tHe runs .\n"})
    assert [(e.id, e.texts, e.label, e.split) for e in read(tmp_path)[0]] == [
        ("past_present/all/1", ("He ran .",), "past", "train"),
        ("past_present/all/2", ("He runs .",), "present", "validation"),
    ]
    write(tmp_path, {name: "dev\tPAST\tHe ran .\n"})
    assert refused(tmp_path).expected.startswith("tr, va or te, a class and a sentence")


def test_some_files_are_enough(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"files of SentEval, such as .*rt-polarity\.neg"):
        recipe.blocks(tmp_path, CORPUS)
