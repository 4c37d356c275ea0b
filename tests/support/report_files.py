"""Results, audits and instances for the tests of the report."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from builders.audit_report import FORMAT
from builders.store import instance_schema
from builders.tasks import TASKS
from builders.tasks.benchmarks import BENCHMARKS
from builders.tasks.task import Column
from corpora_recipes.escaping import markdown
from evaluation.datasets import find_datasets
from evaluation.results.scores import PARADIGMS_FORMAT as PARADIGMS
from evaluation.results.scores import PROBES_FORMAT as PROBES
from evaluation.results.scores import RANKINGS_FORMAT as RANKINGS
from evaluation.results.scores import (
    ClusterScore,
    PairRanks,
    ParadigmResults,
    ParadigmScore,
    Predictions,
    RankingResults,
    RankScore,
    Results,
    Score,
    SimilarityScore,
    predictions_table,
    ranks_table,
    write_rankings,
    write_results,
)
from evaluation.results.stored import write_stored
from probeta.report.formats import SECTIONS, notes_of, table_lines
from probeta.report.inputs import read_inputs
from probeta.report.layout import Cell, Table, lay_out
from probeta.report.statistics import Report, order_report
from probeta.report.tables.scores import dataset_marks

OF_SP: dict[str, Any] = {"rows": {"train": 10000, "validation": 4000, "test": 4000}, "folds": 0}
OF_SP |= {"test_documents": 4000, "layer": "output", "metric": "accuracy", "value": 0.4521}
OF_SP |= {"deviation": None, "interval": (0.4366, 0.4675), "measures": {"accuracy": 0.4521}}
OF_SP |= {"majority": 0.2052, "chance": 0.2, "chosen": {"strength": [1.0]}, "validation": 0.46}
OF_SP |= {"coverage": None, "answers": ""}
SP = Score("sp_wiki", "sentence_position", "wikipedia", "es", "1.0.0", "5" * 64, **OF_SP)


def score_on(
    dataset: str, task: str, digit: str, rows: dict[str, int], *value: float, **facts: Any
) -> Score:
    """Return a score of the encoder of ``SP`` on another dataset: its value and interval."""
    score = replace(SP, dataset=dataset, task=task, digest=digit * 64, rows=rows, **facts)
    documents = rows.get("test", rows.get("train", 0))
    return replace(score, value=value[0], interval=value[1:], test_documents=documents)


DISCOURSE = {"train": 900, "validation": 120, "test": 130}
DR = score_on("dr_rst", "discourse_relations", "6", DISCOURSE, 0.3, 0.22, 0.38, majority=0.25)
DR = replace(DR, chance=1 / 29)
# Without parts, and without a probe.
MC = score_on("mc", "sentence_classification", "8", {"train": 2623}, 0.7, 0.68, 0.72, folds=10)
MC = replace(MC, majority=0.51, chance=0.5)
STS = score_on("sts14_es", "similarity", "9", {"test": 804}, 0.8, 0.77, 0.83, metric="pearson")
SUBSETS = {"pearson, news": 0.85, "spearman, news": 0.84}
SUBSETS |= {"pearson, wikipedia": 0.75, "spearman, wikipedia": -0.074}
STS = replace(STS, measures={"pearson": 0.8, "spearman": 0.79} | SUBSETS)
STS = replace(STS, majority=None, chance=None, chosen={}, validation=None)
ENCODER: dict[str, Any] = {"encoder": "char_hash", "revision": "1", "form": "natural"}
ENCODER |= {"dimension": 512, "layers": ["output"], "layer": "output"}
ENCODER |= {"options": {"dimension": 512, "shortest": 3}}
ONE = Results(
    format=PROBES,
    name="char_hash",
    encoder=ENCODER,
    protocol={"name": "standard", "version": 3, "engine": "numpy"}
    | {"pair_features": "difference_product"},
    intervals={"method": "jackknife", "coverage": 0.95, "unit": "document", "least_documents": 3},
    seed=1111,
    versions={"python": "3.11.7", "probeta": "0.1.0"},
    code="0123456789abcdef",
    scores=(DR, SP),
)
TWO = replace(
    ONE,
    name="use",
    encoder={**ENCODER, "encoder": "use_multilingual", "revision": "0.2.1", "options": {}},
    scores=(replace(SP, value=0.6, interval=(0.585, 0.615)),),
)
BASELINES = {
    "dr_rst": {"majority": 0.25, "length": 0.08, "first_text_only": 0.22},
    "sp_wiki": {"majority": 0.2052, "length": 0.231, "character_ngrams": 0.4371},
}
ALL_BASELINES = BASELINES | {
    "mc": {"majority": 0.51, "length": 0.52},
    "sts14_es": {"overlap": 0.6, "length_difference": -0.1},
}
LAYERS = ("0", "1", "2", "avg")
# Of the numbered layers of sp_wiki, dr_rst: mean 0.4 and 0.2; best layers 2 and 0.
LAYER_VALUES = {"sp_wiki": (0.3, 0.4, 0.5, 0.45), "dr_rst": (0.3, 0.2, 0.1, 0.35)}
DEEP = replace(
    ONE,
    name="deep",
    encoder={**ONE.encoder, "encoder": "transformers", "layers": list(LAYERS), "layer": "avg"},
    scores=tuple(
        replace(score, layer=layer, value=value, deviation=0.012)
        for score in (DR, SP)
        for layer, value in zip(LAYERS, LAYER_VALUES[score.dataset], strict=True)
    ),
)

OF_RANK: dict[str, Any] = {"background": 4310, "queries": 1200, "pairs": 1300, "without_vector": 0}
OF_RANK |= {"mrr": 0.4, "interval": (0.38, 0.42), "hits": {"1": 0.3, "3": 0.45}}
OF_RANK |= {"median_rank": 7.5, "mean_rank": 40.25, "ties": 0}
RANK = RankScore(
    *("evalrank_es", "sentence_ranking", "es", "1.0.0", "a" * 64, "output", "cosine", "none"),
    **OF_RANK,
)
WORDS = replace(RANK, dataset="evalrank_words_es", task="word_ranking", digest="b" * 64, mrr=0.2)
SIMILARITY = SimilarityScore("sts14_es", "es", STS.digest, "output", "cosine", "none", 0.5, 0.52)
CLUSTER = ClusterScore("weekdays", 7, {"out_of_vocabulary": []}, 0.5, 0.125, 0.75)
FACTS: dict[str, Any] = {"name": ONE.name, "encoder": ONE.encoder, "seed": ONE.seed}
FACTS |= {"versions": ONE.versions, "code": "c0de"}
RANKED = RankingResults(
    **FACTS,
    format=RANKINGS,
    evalrank={"similarities": ["cosine", "l2"], "postprocessings": ["none", "abtt"]},
    scores=(
        WORDS,
        RANK,
        replace(RANK, similarity="l2", mrr=0.35, interval=(0.33, 0.37)),
        replace(RANK, postprocessing="abtt", mrr=0.38),
        replace(WORDS, postprocessing="abtt", mrr=0.21),
    ),
    similarities=(
        SIMILARITY,
        replace(SIMILARITY, postprocessing="abtt", spearman=0.56),
        replace(SIMILARITY, dataset="sts15_es", spearman=0.6),
        replace(SIMILARITY, dataset="sts15_es", postprocessing="abtt", spearman=0.64),
    ),
)
PARADIGM = ParadigmScore(
    *("paralex_es", "es", "1.0.0", "c" * 64, "output", "shared", "w" * 64),
    words=20513,
    casing="as_is",
    suggestion=0.25,
    suggestion_interval=(0.1, 0.4),
    coherence=0.5,
    coherence_interval=(0.3, 0.7),
    clusters=(
        CLUSTER,
        ClusterScore("capitals", 4, {"out_of_vocabulary": ["París", "Berlín"]}, 0.0, 0.0, 0.0),
    ),
    words_left_out={"no_vector": 3000, "repeated_word": 0},
)
CLUSTERED = ParadigmResults(
    **FACTS,
    format=PARADIGMS,
    coherence_threshold=2,
    casings=["as_is", "lower"],
    scores=(PARADIGM, replace(PARADIGM, casing="lower", suggestion=0.375)),
    left_out={"paralex_fi": "there is no word ranking of fi"},
)
NEIGHBOURS = ("evalrank_es", "evalrank_words_es", "paralex_es")


def of_encoder(
    results: Results, rankings: RankingResults, paradigms: ParadigmResults
) -> tuple[RankingResults, ParadigmResults]:
    """Return the same scores as another encoder's, of its main layer."""
    name, encoder, layer = results.name, results.encoder, results.encoder["layer"]
    ranks = tuple(replace(score, layer=layer) for score in rankings.scores)
    similarities = tuple(replace(score, layer=layer) for score in rankings.similarities)
    clusters = tuple(replace(score, layer=layer) for score in paradigms.scores)
    return (
        replace(rankings, name=name, encoder=encoder, scores=ranks, similarities=similarities),
        replace(paradigms, name=name, encoder=encoder, scores=clusters),
    )


def kept(folder: Path, *results: Results, right: Mapping[str, int] | None = None) -> list[Path]:
    """Keep results in folders, each score with 20 predictions, ``right`` or 10 of them right."""
    gold, ids = np.arange(20.0) % 4, np.array([f"i{number}" for number in range(20)], object)
    folders = [folder / "results" / f"{number}-{item.name}" for number, item in enumerate(results)]
    for item, path in zip(results, folders, strict=True):
        answers = np.where(np.arange(20) < (right or {}).get(item.name, 10), gold, gold + 1)
        tables = [
            predictions_table(
                s.dataset, s.layer, Predictions(ids, f"{s.dataset}/" + ids, gold, answers[None])
            )
            for s in item.scores
        ]
        write_results(item, tables, path)
    return folders


PAIRS = RANK.pairs


def kept_ranks(
    folder: Path, *rankings: RankingResults, first: Mapping[str, int] | None = None
) -> list[Path]:
    """Keep rankings of ``PAIRS`` pairs: the ``first`` or half have rank 1, the others 4."""
    numbers = np.arange(PAIRS)
    ids = np.array([f"p{number:04}" for number in numbers])
    folders = []
    for item in rankings:
        ranks = np.where(numbers < (first or {}).get(item.name, PAIRS // 2), 1.0, 4.0)
        pairs = (PairRanks(s.dataset, s.similarity, ids, ids, ids, ranks) for s in item.plain)
        folders.append(folder / "rankings" / f"{len(folders)}-{item.name}")
        write_rankings(item, map(ranks_table, pairs), folders[-1])
    return folders


def kept_paradigms(folder: Path, *paradigms: ParadigmResults) -> list[Path]:
    paths = [folder / f"paradigms-{number}.json" for number in range(len(paradigms))]
    for results, path in zip(paradigms, paths, strict=True):
        write_stored(results, path)
    return paths


def tables_of(report: Report, key: str) -> list[Table]:
    """Return the tables of tables.tex with this key in the table of texts."""
    marks = partial(dataset_marks, report)
    ((numbers, layout),) = (section for section in SECTIONS if section[1].key == key)
    return lay_out(layout, numbers(report), marks)


def tables_text(report: Report) -> str:
    """Return the tables of tables.tex as Markdown, below each the notes of its marks."""
    lines = []
    for _, layout in SECTIONS:
        for table in tables_of(report, layout.key):
            notes = (markdown(f"{mark} {note}") for mark, note in notes_of(table).items())
            lines += [*table_lines(table), *(f"{note}\n" for note in notes)]
    return "\n".join(lines)


def report_of(
    folder: Path,
    *results: Results,
    rankings: Sequence[RankingResults] = (),
    paradigms: Sequence[ParadigmResults] = (),
    **how: Any,
) -> Report:
    """Keep results, those of two encoders if none are given, and read them.

    ``how`` has the ``audit`` or the ``baselines``, and ``right``, ``first``: see ``kept``.
    """
    others = {score.dataset for item in (*rankings, *paradigms) for score in item.scores}
    others |= {score.dataset for item in rankings for score in item.similarities}
    audit = how.get("audit") or audit_file(folder, how.get("baselines", ALL_BASELINES), others)
    return order_report(
        read_inputs(
            kept(folder, *(results or (ONE, TWO)), right=how.get("right")),
            audit,
            kept_ranks(folder, *rankings, first=how.get("first")),
            kept_paradigms(folder, *paradigms),
            how.get("samples", ()),
            people=how.get("people", ()),
        )
    )


def cells(table: Table) -> list[list[str]]:
    """Return the rows' texts, with details, a plus if bold, and marks."""

    def shown(cell: Cell) -> str:
        strong = "+" if cell.strong else ""
        return " ".join(filter(None, (cell.text, cell.detail, strong, cell.marks)))

    return [list(map(shown, row)) for _, row in table.rows]


def names(table: Table) -> list[str]:
    return [cell.text for cell in table.header]


def audit_file(
    folder: Path,
    baselines: Mapping[str, Mapping[str, float]],
    others: Collection[str] = NEIGHBOURS,
    **rows: Any,
) -> Path:
    """Write what of an audit the report reads; ``rows`` in place of those of the results."""
    known = {one.dataset: one.rows for one in (DR, SP, MC, STS)}
    given = {name: rows.get(name) or known[name] for name in baselines}
    return write_audit(folder, given, baselines, others)


def write_audit(
    folder: Path,
    rows: Mapping[str, Mapping[str, int]],
    baselines: Mapping[str, Mapping[str, float]],
    others: Collection[str] = NEIGHBOURS,
) -> Path:
    """Write an audit of two gates, and of two of datasets that nothing is probed on.

    A dataset with the name of a shipped one belongs to its benchmark.
    """
    shared = {"value": 0, "limit": None, "verdict": "pass", "correlation": False}
    order = {"gate": "row_order", "what": "accuracy from the parity", "value": 0.51, "limit": 0.52}
    checks_of_others = [
        shared | {"gate": "baselines", "what": "", "verdict": "not applicable"},
        shared | {"gate": "labels", "what": "terms", "limit": 0},
    ]
    datasets: dict[str, dict[str, Any]] = {
        name: {"rows": {"test": 9}, "inherited": {}, "checks": checks_of_others} for name in others
    }
    for name, known in baselines.items():
        checks = [{"gate": "baselines", "what": w, "value": v} for w, v in known.items()]
        checks = [shared | check for check in (order, *checks)]
        datasets[name] = {"rows": dict(rows[name]), "inherited": {}, "checks": checks}
        datasets[name]["classes"] = {"mc": 2, "sp_wiki": 5, "dr_rst": 29}.get(name, 0)
    for benchmark, names in BENCHMARKS.items():
        for name in names.keys() & datasets.keys():
            datasets[name] |= {"benchmark": benchmark, "title": f"Corpus of {name}"}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "audit.json"
    path.write_text(json.dumps({"format": FORMAT, "datasets": datasets}), "utf-8")
    return path


def change_audit(path: Path, dataset: str, **check: Any) -> None:
    """Add a check to a dataset of an audit."""
    known = json.loads(path.read_bytes())["datasets"][dataset]
    shared = {"what": "x", "value": 1, "limit": 0, "correlation": False}
    inherited = known["inherited"] | {check["gate"]: {"at_most": 1, "because": "it is so"}}
    say_of_dataset(path, dataset, checks=[*known["checks"], shared | check], inherited=inherited)


def say_of_dataset(path: Path, dataset: str, **facts: Any) -> None:
    """Add facts of a dataset to an audit, as `package` does: ``edition_of``, ``published`` …"""
    content = json.loads(path.read_text("utf-8"))
    content["datasets"][dataset] |= facts
    path.write_text(json.dumps(content), "utf-8")


HOSTILE = "</script><script>alert('1 < 2 & 3 > 2')</script> \"¿qué?\""
"""A text that a page must show as it is."""
FIVE = ["Por eso nadie se bañaba.", "Hay una laguna.", "No tenía fondo.", "Vino una draga.", "Fin."]
LABELS = {name: [*task.labels] for name, task in TASKS.items()} | {
    "discourse_relations": ["NN-Lista", "NS-Causa"],
    "sentence_classification": ["negative", "positive"],
    "pair_classification": ["contradiction", "neutral", "entailment"],
}
SUBSET = {"subset": Column("string", "where it comes from")}
FOLD = {"fold": Column("integer", "fold")}
RELATION = {"document_id": "t1", "relation": "Causa"}


def relation(label: int, order: str, left: list[str], right: list[str], *units: int) -> Any:
    """Return an instance of a tree of three units: texts, and first and last unit of both."""
    places = zip(("left_first", "left_last", "right_first", "right_last"), units, strict=True)
    return RELATION | {"label": label, "order": order, "left": left, "right": right, **dict(places)}


PREMISES = [HOSTILE, *(f"Llueve {i}." for i in range(1, 6))]
DONORS = [(0, {"replaced_position": 3, "donor_id": "d9#1"})]
DONORS += [(1, {"replaced_position": None, "donor_id": None})]
ROWS_OF_TASKS: dict[str, list[dict[str, Any]]] = {
    "sentence_ordering": [
        {"sentences": ["Tocó fondo.", "Llegó una draga."], "label": i % 2} for i in range(4)
    ],
    "discourse_coherence": [
        {"sentences": [f"Frase {n}." for n in range(6)], "label": label} | donor
        for label, donor in DONORS
    ],
    "discourse_relations": [
        relation(1, "SN", ["Llovió", "y heló,"], ["la carretera se cerró."], 1, 2, 0, 0),
        relation(0, "NN", ["Llovió"], ["y heló,"], 1, 1, 2, 2),
    ],
    "sentence_classification": [
        {"sentence": f"Crítica {i}.", "label": i % 2, "fold": i % 3} for i in range(60)
    ],
    "pair_classification": [
        {"sentence1": text, "sentence2": "El suelo está mojado.", "label": i % 3}
        for i, text in enumerate(PREMISES)
    ],
    "sentence_position": [{"sentences": FIVE, "label": i} for i in (2, 0)],
    "section_prediction": [{"sentence": f"Noticia {i}.", "label": i % 2} for i in range(4)],
    "similarity": [
        {"sentence1": f"Uno {i}.", "sentence2": f"Otro {i}.", "score": i / 2, "subset": "news"}
        for i in range(5)
    ],
}
NAMES_OF_ROWS = ("bso_x", "dc_x", "dr_x", "mc_x", "nli_x", "sp_x", "ssp_x", "sts_x")
ROWS = dict(zip(NAMES_OF_ROWS, ROWS_OF_TASKS.items(), strict=True))
"""Dataset to task and rows of test (of all folds): every task there is, with its columns."""


def write_instances(folder: Path) -> Path:
    """Write ``ROWS`` as the builders do."""
    shared = {"licence": "CC0-1.0"}
    for name, (task, rows) in ROWS.items():
        further = {"similarity": SUBSET, "sentence_classification": FOLD}.get(task, {})
        answers = {} if task != "similarity" else {"score": Column("number", "from 0 to 5")}
        columns = TASKS[task].columns(*([answers] if answers else []), further=further)
        about = {"dataset": name, "task": task, "corpus": "own", "language": "es"}
        about |= {"version": "1.0.0", "seed": 1111, "sample": False}
        schema = instance_schema(columns, LABELS[task], about)
        splits: dict[str, Sequence[dict[str, Any]]] = {"test": rows}
        if task == "sentence_classification":
            splits = {"train": rows}
        elif task != "similarity":
            splits |= {"train": rows, "validation": rows}
        (folder / name).mkdir(parents=True)
        for split, item in splits.items():
            ids = [dict.fromkeys(("id", "document_id"), f"{name}-{i}") for i in range(len(item))]
            filled = [
                shared | {"split": split} | one | row for one, row in zip(ids, item, strict=True)
            ]
            table = pa.Table.from_pylist(filled, schema=schema)
            pq.write_table(table, folder / name / f"{split}-00000-of-00001.parquet")
    return folder


def whole_report(folder: Path) -> dict[str, Any]:
    """Write instances, results of two encoders on them, one of several layers, and an audit.

    Returns:
        The arguments of ``write_report`` but ``out``.
    """
    instances = write_instances(folder / "instances")
    scores: dict[str, list[Score]] = {"char_hash": [], "deep": []}
    tables: dict[str, list[pa.Table]] = {"char_hash": [], "deep": []}
    for dataset in find_datasets(instances):
        rows = ROWS[dataset.name][1]
        gold = np.array([float(row[dataset.target]) for row in rows])
        ids = np.array([f"{dataset.name}-{i}" for i in range(len(rows))], dtype=object)
        correlated = dataset.target == "score"
        base = replace(
            STS if correlated else SP,
            dataset=dataset.name,
            task=dataset.task,
            digest=dataset.digest(),
            rows={split: len(rows) for split in dataset.files},
            folds=3 if dataset.folds else 0,
            test_documents=len(rows),
        )
        scores["char_hash"].append(base)
        # Each first row is answered wrong; of scores the order is turned round.
        wrong = np.where(np.arange(len(gold)) == 0, (gold + 1) % max(2, len(dataset.labels)), gold)
        wrong = -gold if correlated else wrong
        tables["char_hash"].append(
            predictions_table(dataset.name, "output", Predictions(ids, ids, gold, wrong[None]))
        )
        starts = gold[None] if correlated else np.stack([gold, wrong, gold])
        for number, layer in enumerate(LAYERS):
            value = base.value - 0.02 * abs(number - 1)
            deviation = None if correlated else 0.01
            scores["deep"].append(replace(base, layer=layer, value=value, deviation=deviation))
            tables["deep"].append(
                predictions_table(dataset.name, layer, Predictions(ids, ids, gold, starts))
            )
    for item in (ONE, DEEP):
        results = replace(item, scores=tuple(scores[item.name]))
        write_results(results, tables[item.name], folder / "results" / item.name)
    trivial = {
        score.dataset: ({"majority": 0.2} if score.metric == "accuracy" else {}) | {"length": 0.4}
        for score in scores["char_hash"]
    }
    rows_of = {score.dataset: score.rows for score in scores["char_hash"]}
    audit = write_audit(instances, rows_of, trivial)
    change_audit(audit, "mc_x", gate="leakage", verdict="inherited")
    change_audit(audit, "sts_x", gate="size", verdict="pass", value=0.3, correlation=True)
    # As if they were of one task.
    say_of_dataset(audit, "ssp_x", edition_of="bso_x")
    say_of_dataset(audit, "mc_x", published="Its rows are sorted.")
    ranked, clustered = of_encoder(DEEP, RANKED, CLUSTERED)
    return {
        "results": [folder / "results" / name for name in scores],
        "instances": instances,
        "rankings": kept_ranks(folder, ranked, RANKED),
        "paradigms": kept_paradigms(folder, clustered, CLUSTERED),
    }
