"""What the report shows of EvalRank, ParaLex and downstream tasks, and what must not be shown."""

import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from report_files import (
    ALL_BASELINES,
    CLUSTER,
    CLUSTERED,
    DEEP,
    MC,
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
    names,
    of_encoder,
    one,
    report_of,
    tables_text,
)

from builders.tasks import benchmarks
from corpora_recipes.running.errors import InputError
from probeta.report import formats
from probeta.report.formats import write_json, write_latex
from probeta.report.inputs import read_inputs
from probeta.report.layout import Cell, Table
from probeta.report.statistics import Report
from probeta.report.tables.compared import study, study_datasets
from probeta.report.tables.encoders import measurements, verdicts
from probeta.report.tables.neighbours import (
    clusters,
    evalrank,
    paralex,
    postprocessing,
    rank_differences,
    word_differences,
)
from probeta.report.writing import list_scores

OTHER_WORDS = replace(PARADIGM, vocabulary_digest="7")
OTHER_RANKED, OTHER_CLUSTERED = of_encoder(TWO, RANKED, CLUSTERED)


def values(report: Report, encoder: str) -> dict[str, Any]:
    """Return name of a score to the score of an encoder."""
    return {
        item["dataset"]: item["score"] for item in list_scores(report) if item["encoder"] == encoder
    }


def cells(table: Table) -> list[list[str]]:
    """Return the rows' texts, with details, a plus if bold, and marks."""

    def shown(cell: Cell) -> str:
        strong = "+" if cell.strong else ""
        return " ".join(filter(None, (cell.text, cell.detail, strong, *cell.marks)))

    return [[shown(cell) for cell in row.cells] for row in table.rows]


def test_no_sections_without_results(tmp_path: Path) -> None:
    empty = (replace(RANKED, scores=(), similarities=()),)
    none = (replace(CLUSTERED, scores=(), left_out={}),)
    for rankings, paradigms in (((), ()), (empty, none)):
        report = report_of(tmp_path, rankings=rankings, paradigms=paradigms)
        for text in (tables_text(report), write_latex(report), write_json(report)):
            assert not re.search("evalrank|paralex|correlate with", text, re.I)
        assert [*values(report, "char_hash")] == ["sp_wiki", "dr_rst"]


def test_ranks(tmp_path: Path) -> None:
    rank = replace(RANK, mrr=0.45, interval=(0.43, 0.47), hits={"1": 0.42, "3": 0.46})
    other = replace(OTHER_RANKED, scores=(rank, replace(rank, similarity="l2")))
    introduction, sentences, words = evalrank(
        report_of(tmp_path, rankings=[other, RANKED], first={"use": PAIRS - 1})
    )
    assert (introduction.title, introduction.rows) == ("EvalRank", ())
    assert "except the query and its other positives. MRR is" in introduction.about[0]
    assert (sentences.name, sentences.title) == ("evalrank-evalrank-es", "EvalRank: evalrank_es")
    measures = ("MRR", "Hits@1", "Hits@3", "Median rank")
    assert names(sentences) == [
        "Encoder",
        *(f"{m}, {s}" for s in ("cosine", "l2") for m in measures),
    ]
    better = ["45.0 [43.0, 47.0] +", "42.0 +", "46.0 +", "7.5"]
    hits = ["30.0", "45.0", "7.5"]
    assert cells(sentences) == [
        ["char_hash +", "40.0 [38.0, 42.0]", *hits, "35.0 [33.0, 37.0]", *hits],
        ["use +", *better, *better],
    ]
    assert sentences.rows[0].cells[1].value == 0.4
    (about,) = sentences.about
    assert about.startswith("4,310 texts, 1,200 queries, 1,300 pairs. In bold is the best encoder")
    # Alone there is no best.
    assert cells(words) == [["char_hash +", "20.0 [38.0, 42.0]", *hits]]
    assert words.about == ("4,310 texts, 1,200 queries, 1,300 pairs.",)
    # One that was not ranked by a similarity.
    other = replace(OTHER_RANKED, scores=(RANK,))
    _, table, _ = evalrank(report_of(tmp_path, rankings=[RANKED, other]))
    assert cells(table)[1][5:] == ["–"] * 4


def test_the_best_and_those_that_the_ranks_cannot_distinguish(tmp_path: Path) -> None:
    third, _ = of_encoder(DEEP, RANKED, CLUSTERED)
    scores = {"char_hash": 0.4, "deep": 0.1, "use": 0.45}
    rankings = [
        replace(item, scores=(replace(item.scores[1], mrr=scores[item.name]),))
        for item in (OTHER_RANKED, third, RANKED)
    ]
    first = {"char_hash": 650, "deep": 1, "use": 651}
    report = report_of(tmp_path, ONE, TWO, DEEP, rankings=rankings, first=first)
    _, table = evalrank(report)
    assert sorted(row[:2] for row in cells(table)) == [
        ["char_hash +", "40.0 [38.0, 42.0] ≈"],
        ["deep +", "10.0 [38.0, 42.0]"],
        ["use +", "45.0 [38.0, 42.0] +"],
    ]
    # Of chance, none is bold.
    low = (replace(RANK, mrr=0.003, interval=(0.001, 0.005)),)
    both = [replace(RANKED, scores=low), replace(OTHER_RANKED, scores=low)]
    _, table = evalrank(report_of(tmp_path / "low", rankings=both))
    assert not any(cell.strong or cell.marks for row in table.rows for cell in row.cells[1:])


def test_l2_is_shown_only_where_it_ranks_otherwise(tmp_path: Path) -> None:
    same = replace(RANK, similarity="l2")
    other = replace(OTHER_RANKED, scores=(RANK, same))
    for score, shown in ((same, False), (replace(same, mrr=0.35), True)):
        both = [replace(RANKED, scores=(RANK, score)), other]
        report = report_of(tmp_path / str(shown), rankings=both)
        _, table = evalrank(report)
        assert ("MRR, l2" in names(table)) == shown
        assert ("l2" in str(rank_differences(report))) == shown


def test_differences_of_ranks(tmp_path: Path) -> None:
    rankings = [
        replace(OTHER_RANKED, scores=(replace(RANK, without_vector=260),)),
        replace(RANKED, scores=(RANK, WORDS)),
    ]
    first = {"char_hash": 325, "use": PAIRS}
    report = report_of(tmp_path, rankings=rankings, first=first)
    table = one(rank_differences(report))
    assert names(table) == ["Dataset", "Similarity", "Measure", "char_hash − use"]
    assert (table.name, table.texts) == ("differences-evalrank", 3)
    # Of the 1,300 pairs char_hash has 975 in the fourth place and use none:
    # sqrt(0.75 * 0.25 / 1300) is the standard error.
    (mrr, *named), (hit, *_), (all_hit, *_) = ([row[3], *row[:3]] for row in cells(table)[:3])
    assert named == ["evalrank_es", "cosine", "MRR"]
    assert re.fullmatch(r"-56\.2 \[-5[78]\.\d, -54\.\d\] \+", mrr)
    assert re.fullmatch(r"-75\.0 \[-77\.\d, -72\.\d\] \+", hit)
    assert all_hit.startswith("-75.0")
    # A dataset that only one encoder was ranked on is not there.
    assert len(table.rows) == 3
    _, sentences, _ = evalrank(report)
    assert (
        "Pairs with a text without a vector, which get the rank of chance: use 260. In bold"
    ) in sentences.about[0]


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
    (table,) = word_differences(report)
    assert names(table) == ["Dataset", "Vocabulary", "Casing", "Measure", "char_hash − use"]
    assert cells(table) == [
        ["paralex_es", "own", "as is", "suggestion", "0.0 [0.0, 0.0] tie"],
        ["paralex_es", "own", "as is", "coherence", "0.0 [0.0, 0.0] tie"],
        ["paralex_es", "shared", "as is", "suggestion", "+25.0 [+25.0, +25.0] +"],
        ["paralex_es", "shared", "as is", "coherence", "0.0 [0.0, 0.0] tie"],
    ]
    # Tied or not, vocabularies of their own are different words.
    (by_vocabulary,) = paralex(report)
    item, shared = cells(by_vocabulary)
    assert not any(cell.endswith("+") for cell in item)
    assert [cell[-1] for cell in shared[4:]] == ["+", "+", "0", "]", "≈", "0"]


def test_other_layers_are_not_shown(tmp_path: Path) -> None:
    deep, clustered = of_encoder(DEEP, RANKED, CLUSTERED)
    lower = replace(deep, scores=(*deep.scores, replace(RANK, layer="0", mrr=0.9)))
    below = replace(PARADIGM, layer="0", dataset="paralex_de")
    clustered = replace(clustered, scores=(*clustered.scores, below))
    report = report_of(tmp_path, DEEP, rankings=[lower], paradigms=[clustered])
    assert "90.0" not in str(evalrank(report))
    assert "paralex_de" not in str(one(paralex(report)))
    assert len(clusters(report)) == 1
    assert values(report, "deep")["evalrank_es mrr cosine"] == 0.4


def test_pairs_without_vectors_and_ties(tmp_path: Path) -> None:
    scores = (replace(RANK, without_vector=1234, ties=5), replace(RANK, similarity="l2"))
    other = replace(OTHER_RANKED, scores=(replace(RANK, background=4000),), similarities=())
    both = [replace(RANKED, scores=scores, similarities=()), other]
    _, table = evalrank(report_of(tmp_path / "both", rankings=both))
    assert "fewer texts: use 4,000. Among fewer texts, ranks are better." in table.about[0]
    # Whoever ranks far fewer is not the best for it.
    both[1] = replace(other, scores=(replace(RANK, background=3000, mrr=0.9),))
    _, table = evalrank(report_of(tmp_path / "few", rankings=both))
    assert [row[1].endswith("+") for row in cells(table)] == [False, False]
    _, table = evalrank(report_of(tmp_path, rankings=both[:1]))
    assert "the rank of chance: char_hash 1,234. Pairs" in table.about[0]
    assert table.about[0].endswith("with another text: char_hash by cosine 5.")


def test_post_processing(tmp_path: Path) -> None:
    table = one(postprocessing(report_of(tmp_path, rankings=[RANKED])))
    assert names(table) == [
        *("Encoder", "Similarity", "Vectors", "Similarity datasets (2)"),
        *("evalrank_es", "evalrank_words_es"),
    ]
    assert cells(table) == [
        ["char_hash +", "cosine", "none", "55.0", "40.0", "20.0"],
        ["char_hash +", "l2", "none", "–", "35.0", "–"],
        ["char_hash +", "cosine", "abtt", "60.0 (+5.0)", "38.0 (-2.0)", "21.0 (+1.0)"],
    ]
    assert table.about[0].endswith("changes Spearman's correlation by +5.0 and the MRR by -0.5.")
    assert "(sts14_es, sts15_es)" in table.about[0]
    # A mean that lacks a dataset is none.
    fewer = replace(RANKED, similarities=RANKED.similarities[:-1])
    table = one(postprocessing(report_of(tmp_path / "fewer", rankings=[fewer])))
    assert [row[3] for row in cells(table)] == ["55.0", "–", "–"]
    assert table.about[0].endswith("datasets, abtt changes the MRR by -0.5.")
    plain = replace(RANKED, scores=(RANK, WORDS))
    assert postprocessing(report_of(tmp_path / "plain", rankings=[plain])) == []


def test_paralex(tmp_path: Path) -> None:
    item = replace(PARADIGM, vocabulary="own", words=2_000_000, suggestion=0.9)
    rounded = tuple(replace(c, coherence=c.coherence - 1e-15) for c in PARADIGM.clusters)
    better = (replace(rounded[0], suggestion=0.6), replace(rounded[1], suggestion=0.1))
    shared = replace(PARADIGM, suggestion=0.3, coherence=0.5 - 1e-15, clusters=better)
    other = replace(OTHER_CLUSTERED, scores=(shared, item), left_out={})
    table = one(paralex(report_of(tmp_path, paradigms=[other, CLUSTERED])))
    assert names(table) == [
        *("Dataset", "Language", "Vocabulary", "Casing"),
        *("char_hash: suggestion", "char_hash: coherence"),
        *("char_hash: words / skipped / left out", "use: suggestion", "use: coherence"),
        "use: words / skipped / left out",
    ]
    first, spread, none = "50.0 [30.0, 70.0]", "[10.0, 40.0]", ["–"] * 3
    counts = "20,513 / 1 / 2 no vector: 3,000"
    best, tied = (
        (f"30.0 {spread} +", f"{first} ≈", counts),
        (f"25.0 {spread}", f"{first} +", counts),
    )
    assert [row[:2] for row in cells(table)] == [["paralex_es", "es"]] * 3
    assert [row[2:] for row in cells(table)] == [
        ["own", "as is", *none, f"90.0 {spread}", first, f"2,000,000{counts[6:]}"],
        ["shared", "as is", *tied, *best],
        ["shared", "lower", f"37.5 {spread}", first, counts, *none],
    ]
    assert "enough terms found so far (2 or more), are added to the seeds" in table.about[0]
    assert "In bold is the best encoder of a row" in table.about[1]
    assert table.about[3].startswith("Not scored: paralex_fi with char_hash, there is no word")
    # Of one encoder.
    alone = replace(CLUSTERED, left_out={})
    table = one(paralex(report_of(tmp_path / "one", paradigms=[alone])))
    about, _, papers = table.about
    assert "bold" not in about
    assert papers.endswith("es: fastText 53, Polyglot 64, ConceptNet Numberbatch 63.")
    assert not any(cell.strong or cell.marks for row in table.rows for cell in row.cells)


def test_why_nothing_was_scored_is_said_without_a_table(tmp_path: Path) -> None:
    reason = {"paralex_fi": "because", "paralex_de": "because", "paralex_x": "therefore"}
    none = replace(CLUSTERED, scores=(), left_out=reason)
    report = report_of(tmp_path, paradigms=[none])
    text = tables_text(report)
    reasons = "paralex_fi, paralex_de with char_hash, because; paralex_x with char_hash, therefore."
    assert text.split("## ParaLex\n\n")[1].split("\n\n## ")[0].endswith(f"Not scored: {reasons}")
    assert "ParaLex" not in write_latex(report)


def test_clusters(tmp_path: Path) -> None:
    gone = replace(CLUSTER, terms=3, left_out={"out_of_vocabulary": ["uno"], "no_vector": ["dos"]})
    shared = replace(PARADIGM, clusters=(gone, PARADIGM.clusters[1]))
    other = replace(OTHER_CLUSTERED, scores=(shared,))
    (table,) = clusters(report_of(tmp_path, paradigms=[CLUSTERED, other]))
    assert (table.name, table.title) == ("clusters-paralex-es", "Clusters of paralex_es")
    assert names(table)[3:6] == [
        *("char_hash: suggestion", "char_hash: coherence", "char_hash: terms left, of how many")
    ]
    lost = "2 of 4 out of vocabulary: París, Berlín"
    week = ["50.0 ± 12.5", "75.0", "7 of 7"]
    few = [*week[:2], "1 of 3 out of vocabulary: uno; no vector: dos"]
    assert cells(table) == [
        ["capitals", "shared", "as is", *["0.0 ± 0.0", "0.0", lost] * 2],
        ["weekdays", "shared", "as is", *week, *few],
        ["capitals", "shared", "lower", "0.0 ± 0.0", "0.0", lost, "–", "–", "–"],
        ["weekdays", "shared", "lower", *week, "–", "–", "–"],
    ]
    assert "capitals" not in write_latex(report_of(tmp_path, paradigms=[CLUSTERED]))


SIX = [
    replace(
        ONE,
        name=f"encoder{number}",
        scores=tuple(
            replace(score, value=value / 10)
            for score, value in ((SP, sp), (STS, number + 1), (MC, number))
        ),
    )
    for number, sp in enumerate((2, 1, 3, 4, 6, 5))
]


def test_downstream(tmp_path: Path) -> None:
    rankings = []
    for results, mrr in zip(SIX[:4], (0.4, 0.3, 0.2, 0.1), strict=True):
        ranked, _ = of_encoder(results, RANKED, CLUSTERED)
        rankings.append(replace(ranked, scores=(replace(RANK, mrr=mrr),)))
    paradigms = [of_encoder(results, RANKED, CLUSTERED)[1] for results in SIX]
    report = report_of(tmp_path, *SIX, rankings=rankings, paradigms=paradigms)
    benchmarks, pearson = study(report)
    assert names(benchmarks) == ["Score", "spanish_senteval SC (1)", "spanish_discoeval SP (1)"]
    # What is the same for all encoders correlates with nothing, and is not shown.
    best = "88.6 [6.6, 99.2] n = 6 +"
    assert cells(benchmarks) == [
        ["sts14_es Pearson", "100.0 n = 6", best],
        ["evalrank_es MRR, cosine", "-100.0 n = 4", "-80.0 n = 4"],
    ]
    assert (benchmarks.name, pearson.name) == ("study-spearman", "study-pearson")
    of_sc, _, of_sp, _ = study_datasets(report)
    assert [names(of_sc), names(of_sp)] == [["Score", "mc"], ["Score", "sp_wiki"]]
    assert of_sp.title == "Spearman: which scores correlate with spanish_discoeval SP"
    assert cells(of_sp)[0] == ["sts14_es Pearson", best]


def test_without_post_processed_encoders(tmp_path: Path) -> None:
    processed = {**ONE.encoder, "options": {"postprocessing": "abtt"}}
    given = [*SIX[:5], replace(SIX[5], encoder=processed)]
    tables = study(report_of(tmp_path, *given))
    assert [table.title.partition(": ")[0] for table in tables] == ["Spearman", "Pearson"] * 2
    counts = [cells(table)[0][2].partition(" n = ")[2] for table in tables]
    assert counts == ["6 +", "6 +", "5", "5"]
    assert all(
        table.title.endswith("tasks, without post-processed encoders") for table in tables[2:]
    )


def test_downstream_needs_three_encoders_and_scores_of_both_kinds(tmp_path: Path) -> None:
    title = "Which scores correlate with downstream tasks"
    for count, word in ((1, "one"), (2, "two")):
        report = report_of(tmp_path / word, *SIX[:count])
        (table,) = study(report)
        (sentence,) = table.about
        assert not table.rows
        assert sentence.endswith(f"probed encoders or more; this report has {word}.")
        assert f"## {title}\n\n{sentence}\n\n## " in tables_text(report)
        assert title not in write_latex(report)
    for item in (STS, SP):
        report = report_of(tmp_path / item.task, *(replace(one, scores=(item,)) for one in SIX))
        assert study(report) == study_datasets(report) == []


def test_latex_has_the_tables_of_neighbours(tmp_path: Path) -> None:
    ranked, clustered = of_encoder(SIX[0], RANKED, CLUSTERED)
    report = report_of(tmp_path, *SIX, rankings=[ranked], paradigms=[clustered])
    sections = ("evalrank", "postprocessing", "paralex", "study")
    shown = [t for s, t in formats.sections_of(report, "latex") if s.name in sections]
    assert [table.name for tables in shown for table in tables] == [
        *("evalrank", "evalrank-evalrank-es", "evalrank-evalrank-words-es", "postprocessing"),
        *("paralex", "study-spearman", "study-pearson"),
    ]
    markdown, latex = tables_text(report), write_latex(report)
    for table in chain.from_iterable(shown):
        assert markdown.count(f"## {table.title}\n\n") == 1
        assert latex.count(rf"\label{{tab:{table.name}}}") == bool(table.rows)
    assert "| **encoder0** | 40.0 [38.0, 42.0] | 30.0 | 45.0 | 7.5 | 35.0 [33.0" in markdown
    assert r"\caption{EvalRank: evalrank\_es. MRR (mean reciprocal rank) and hits in per" in latex


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


def test_the_audit_of_datasets_that_nothing_is_probed_on(tmp_path: Path) -> None:
    report = report_of(tmp_path, ONE, rankings=[RANKED], paradigms=[CLUSTERED])
    of_datasets = list(dict.fromkeys(report.inputs.groups.values()))
    assert of_datasets == [benchmarks.SP, benchmarks.DR, benchmarks.EVALRANK, benchmarks.PARALEX]
    table = one(verdicts(report))
    assert [(row[0], row[4], row[7]) for row in cells(table)] == [
        ("sp_wiki", "solved by surface form", "–"),
        ("dr_rst", "pass", "–"),
        *((name, "–", "pass") for name in ("evalrank_es", "evalrank_words_es", "paralex_es")),
    ]
    (measured,) = (row for row in cells(one(measurements(report))) if row[0] == "paralex_es")
    assert measured[2:] == ["terms", "pass", "0", "0"]


def test_an_audit_without_a_dataset_that_was_ranked(tmp_path: Path) -> None:
    audit = audit_file(tmp_path, ALL_BASELINES, ["evalrank_es"])
    with pytest.raises(InputError, match="audit the same instances again") as caught:
        read_inputs(kept(tmp_path, ONE), audit, kept_ranks(tmp_path, RANKED))
    assert caught.value.where.endswith("audit.json: evalrank_words_es")
    assert caught.value.found == "no such dataset"


def test_encoders_that_were_ranked_and_not_probed(tmp_path: Path) -> None:
    report = report_of(tmp_path, ONE, rankings=[OTHER_RANKED], paradigms=[OTHER_CLUSTERED])
    assert cells(evalrank(report)[1])[0][0] == "use +"
    assert values(report, "use")["evalrank_es hits@1 cosine"] == 0.3
