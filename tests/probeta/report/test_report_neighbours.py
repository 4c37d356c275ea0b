"""What the report shows of EvalRank and ParaLex, and what must not be compared."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report_files import (
    ALL_BASELINES,
    CLUSTER,
    CLUSTERED,
    DEEP,
    ONE,
    PAIRS,
    PARADIGM,
    RANK,
    RANKED,
    SIMILARITY,
    SP,
    STS,
    TWO,
    WORDS,
    audit_file,
    kept,
    kept_ranks,
    of_encoder,
    report_of,
    tables_text,
)

from corpora_recipes.running.errors import InputError
from probeta.report.formats import write_json
from probeta.report.inputs import read_inputs
from probeta.report.statistics import Report
from probeta.report.tables.compared import differences
from probeta.report.tables.neighbours import postprocessing, ranks, words
from probeta.report.writing import list_scores

OTHER_WORDS = replace(PARADIGM, vocabulary_digest="7")
OTHER_RANKED, OTHER_CLUSTERED = of_encoder(TWO, RANKED, CLUSTERED)


def values(report: Report, encoder: str) -> dict[str, Any]:
    """Return name of a score to the score of an encoder."""
    return {
        item["dataset"]: item["score"] for item in list_scores(report) if item["encoder"] == encoder
    }


def marks(rows: Iterable[dict[str, Any]], **of: Any) -> dict[str, str]:
    """Return encoder to the mark of the only row with these values."""
    found = [(row["encoder"], row["mark"]) for row in rows if of.items() <= row.items()]
    assert len(found) == len(dict(found))
    return dict(found)


MRR = {"dataset": "evalrank_es", "measure": "MRR", "similarity": "cosine"}


def test_no_sections_without_results(tmp_path: Path) -> None:
    empty = (replace(RANKED, scores=(), similarities=()),)
    none = (replace(CLUSTERED, scores=(), left_out={}),)
    for rankings, paradigms in (((), ()), (empty, none)):
        report = report_of(tmp_path, rankings=rankings, paradigms=paradigms)
        for text in (tables_text(report), write_json(report)):
            assert not re.search("evalrank|paralex|correlate with", text, re.I)
        assert [*values(report, "char_hash")] == ["sp_wiki", "dr_rst"]


def test_the_best_and_those_that_the_ranks_cannot_distinguish(tmp_path: Path) -> None:
    third, _ = of_encoder(DEEP, RANKED, CLUSTERED)
    scores = {"char_hash": 0.4, "deep": 0.1, "use": 0.45}
    rankings = [
        replace(item, scores=(replace(item.scores[1], mrr=scores[item.name]),))
        for item in (OTHER_RANKED, third, RANKED)
    ]
    first = {"char_hash": 650, "deep": 1, "use": 651}
    report = report_of(tmp_path, ONE, TWO, DEEP, rankings=rankings, first=first)
    assert marks(ranks(report), **MRR) == {"char_hash": "l", "deep": "b", "use": "l"}
    # Of chance, none leads.
    low = (replace(RANK, mrr=0.003, interval=(0.001, 0.005)),)
    both = [replace(RANKED, scores=low), replace(OTHER_RANKED, scores=low)]
    report = report_of(tmp_path / "low", rankings=both)
    assert marks(ranks(report), **MRR) == {"char_hash": "w", "use": "w"}


def test_l2_is_shown_only_where_it_ranks_otherwise(tmp_path: Path) -> None:
    same = replace(RANK, similarity="l2")
    other = replace(OTHER_RANKED, scores=(RANK, same))
    for score, shown in ((same, False), (replace(same, mrr=0.35), True)):
        both = [replace(RANKED, scores=(RANK, score)), other]
        report = report_of(tmp_path / str(shown), rankings=both)
        assert ("l2" in {row["similarity"] for row in ranks(report)}) == shown
    # One that was not ranked by a similarity has no place beside it.
    report = report_of(tmp_path, rankings=[RANKED, replace(OTHER_RANKED, scores=(RANK,))])
    assert {row["encoder"] for row in ranks(report) if row["similarity"] == "l2"} == {"char_hash"}


def test_differences_of_ranks(tmp_path: Path) -> None:
    rankings = [replace(OTHER_RANKED, scores=(RANK,)), replace(RANKED, scores=(RANK, WORDS))]
    report = report_of(tmp_path, rankings=rankings, first={"char_hash": 325, "use": PAIRS})
    found = {row["target"]: row for row in differences(report) if row["level"] == "measure"}
    # A dataset that only one encoder was ranked on is not there.
    assert [*found] == [f"evalrank_es {name} cosine" for name in ("mrr", "hits@1", "hits@3")]
    # Of the 1,300 pairs char_hash has 975 in the fourth place and use none:
    # sqrt(0.75 * 0.25 / 1300) is the standard error.
    mrr, hit, _ = found.values()
    assert (mrr["value"], hit["value"]) == (pytest.approx(-0.5625), pytest.approx(-0.75))
    half_width = 1.96 * math.sqrt(0.75 * 0.25 / 1300)
    assert hit["low"] == pytest.approx(-0.75 - half_width, abs=1e-3)
    assert (hit["first"], hit["second"], hit["tie"]) == ("char_hash", "use", False)


def test_differences_on_clusters(tmp_path: Path) -> None:
    names_of = [f"c{number:02}" for number in range(24)]
    one, other = (
        replace(
            PARADIGM,
            clusters=tuple(replace(CLUSTER, cluster=name, suggestion=item) for name in names_of),
            suggestion=item,
        )
        for item in (0.5, 0.25)
    )
    alone = replace(one, vocabulary="own")
    paradigms = [
        replace(CLUSTERED, scores=(one, alone)),
        replace(OTHER_CLUSTERED, scores=(other, replace(alone, suggestion=0.75))),
    ]
    report = report_of(tmp_path, paradigms=paradigms)
    found = {row["target"]: row for row in differences(report) if row["level"] == "measure"}
    assert {target: (row["value"], row["tie"]) for target, row in found.items()} == {
        "paralex_es suggestion own as_is": (0, True),
        "paralex_es coherence own as_is": (0, True),
        "paralex_es suggestion shared as_is": (0.25, False),
        "paralex_es coherence shared as_is": (0, True),
    }
    # Tied or not, vocabularies of their own are different words.
    for vocabulary, measure, letters in (
        *(("own", "suggestion", "bb"), ("own", "coherence", "bb")),
        *(("shared", "suggestion", "Lb"), ("shared", "coherence", "ll")),
    ):
        shown = marks(words(report), vocabulary=vocabulary, measure=measure)
        assert "".join(shown.values()) == letters


def test_other_layers_are_not_shown(tmp_path: Path) -> None:
    deep, clustered = of_encoder(DEEP, RANKED, CLUSTERED)
    lower = replace(deep, scores=(*deep.scores, replace(RANK, layer="0", mrr=0.9)))
    below = replace(PARADIGM, layer="0", dataset="paralex_de")
    clustered = replace(clustered, scores=(*clustered.scores, below))
    report = report_of(tmp_path, DEEP, rankings=[lower], paradigms=[clustered])
    assert 0.9 not in {row["value"] for row in ranks(report)}
    assert {row["dataset"] for row in words(report)} == {"paralex_es"}
    assert values(report, "deep")["evalrank_es mrr cosine"] == 0.4


def test_who_ranks_far_fewer_texts_does_not_lead_for_it(tmp_path: Path) -> None:
    scores = (replace(RANK, without_vector=1234, ties=5), replace(RANK, similarity="l2"))
    better = replace(OTHER_RANKED, scores=(replace(RANK, background=3000, mrr=0.9),))
    both = [replace(RANKED, scores=scores), better]
    report = report_of(tmp_path, rankings=both)
    assert marks(ranks(report), **MRR) == {"char_hash": "b", "use": "b"}
    counts = {
        (row["encoder"], row["measure"]): row["value"]
        for row in ranks(report)
        if row.get("unit") == "count"
    }
    assert counts["char_hash", "without_vector"] == 1234
    assert counts["char_hash", "ties"] == 5
    assert (counts["char_hash", "background"], counts["use", "background"]) == (4310, 3000)


def test_a_mean_that_lacks_a_dataset_is_none(tmp_path: Path) -> None:
    fewer = replace(RANKED, similarities=RANKED.similarities[:-1])
    found = {
        (row["encoder"], row["vectors"]): row.get("change")
        for row in postprocessing(report_of(tmp_path / "fewer", rankings=[fewer]))
        if row["heading"] == "Similarity datasets (2)"
    }
    assert found == {("char_hash", "none"): None}
    plain = replace(RANKED, scores=(RANK, WORDS), similarities=())
    assert list(postprocessing(report_of(tmp_path / "plain", rankings=[plain]))) == []


@pytest.mark.parametrize(
    ("kind", "item", "words"),
    [
        ("results", {"name": "char_hash"}, "the results of one run per encoder"),
        ("results", {"seed": 2}, "the seed of char_hash, 1111"),
        ("results", {"intervals": ONE.intervals | {"coverage": 0.9}}, "the intervals of char_hash"),
        ("results", {"protocol": ONE.protocol | {"engine": "torch"}}, "the protocol of char_hash"),
        ("results", {"scores": (replace(SP, digest="7"),)}, "the rows of sp_wiki, SHA-256"),
        ("rankings", {"name": "char_hash"}, "the results of one run per encoder"),
        ("rankings", {"seed": 2}, "the seed of char_hash, 1111"),
        ("paradigms", {"seed": 2}, "the seed of char_hash, 1111"),
        ("paradigms", {"coherence_threshold": 3}, "the coherence threshold of char_hash, 2"),
        ("rankings", {"encoder": TWO.encoder | {"revision": "9"}}, "the encoder named use of"),
        ("paradigms", {"encoder": {**TWO.encoder, "revision": "8"}}, "the encoder named use of"),
        ("rankings", {"scores": (replace(RANK, digest="7" * 64),)}, "rows of evalrank_es, SHA-256"),
        ("paradigms", {"scores": (replace(PARADIGM, digest="7"),)}, "rows of paralex_es, SHA-256"),
        ("paradigms", {"scores": (OTHER_WORDS,)}, "vocabulary of paralex_es, SHA-256"),
    ],
)
def test_results_that_must_not_be_compared(
    tmp_path: Path, kind: str, item: dict[str, Any], words: str
) -> None:
    given: dict[str, list[Any]] = {
        "results": [ONE, TWO],
        "rankings": [RANKED, OTHER_RANKED],
        "paradigms": [CLUSTERED, OTHER_CLUSTERED],
    }
    given[kind][1] = replace(given[kind][1], **item)
    with pytest.raises(InputError, match=words):
        report_of(tmp_path, *given.pop("results"), **given)


def test_similarity_is_of_the_files_that_were_probed(tmp_path: Path) -> None:
    probed = replace(ONE, scores=(SP, STS))
    item = (replace(SIMILARITY, digest="7" * 64),)
    report_of(tmp_path, probed, rankings=[RANKED])
    with pytest.raises(InputError, match="the rows of sts14_es") as caught:
        report_of(tmp_path, probed, rankings=[replace(RANKED, similarities=item)])
    assert STS.digest in str(caught.value)


def test_an_audit_without_a_dataset_that_was_ranked(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, ALL_BASELINES, ["evalrank_es"])
    with pytest.raises(InputError, match="audit the same instances again") as caught:
        read_inputs(kept(tmp_path, ONE), audit, kept_ranks(tmp_path, RANKED))
    assert caught.value.where.endswith("audit.json: evalrank_words_es")
    assert caught.value.found == "no such dataset"


def test_encoders_that_were_ranked_and_not_probed(tmp_path: Path) -> None:
    report = report_of(tmp_path, ONE, rankings=[OTHER_RANKED], paradigms=[OTHER_CLUSTERED])
    assert {row["encoder"] for row in ranks(report)} == {"use"}
    assert values(report, "use")["evalrank_es hits@1 cosine"] == 0.3
