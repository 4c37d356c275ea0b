"""The gates on datasets of examples, rankings, paradigms and treebanks."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from case_tables import read_tables
from conftest import document
from recipe_reading import refused
from test_auditing import baselines as baselines
from test_auditing import of, sentence
from test_auditing import quick as quick

from builders.audit_report import GATES, SURFACE_FORM, baselines_of, failures_of, undeclared_of
from builders.auditing.auditing import as_markdown
from builders.auditing.gates import baselines as gate
from builders.auditing.gates.baselines import BASELINES
from builders.auditing.gates.gate import Check
from builders.auditing.gates.labels import LABELS as LABELS_GATE
from builders.auditing.gates.size import DIFFERENT
from builders.auditing.gates.text import TEXT
from builders.auditing.target import Place, SplitRows, Target, make_rows
from builders.auditing.trivial_baselines import trivial_baselines
from builders.building import build
from builders.store import instance_schema
from builders.tasks import TASKS
from builders.tasks.task import answer_columns, further_columns
from corpora_recipes.hashing import keyed_hash
from corpora_recipes.recipe import CollectionFacts
from corpora_recipes.running.errors import InputError
from probeta.auditing import audit
from probeta.cli import main
from probeta.exchange.third_party import find_targets

TABLES = read_tables(__file__)

Rows = list[dict[str, Any]]
LABELS = ["no", "yes"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes instances as `build` would, and returns their folder."""

    def make(task: str, rows: dict[str, Rows], name: str = "ds") -> Path:
        first = next(iter(rows.values()))[0]
        labels, scale = {} if "label" in first else None, (0, 5) if "score" in first else None
        further = {key: "." for key in ("direction", "cluster") if key in first}
        facts = CollectionFacts("Examples.", 1, labels=labels, scale=scale, columns=further)
        columns = TASKS[task].columns(answer_columns(facts), further_columns(facts))
        given = {"id", "document_id", "also_in", *first}
        about = {"dataset": name, "task": task, "corpus": "mine", "records": "examples"}
        columns = {key: column for key, column in columns.items() if key in given}
        schema = instance_schema(columns, LABELS, about | {"language": "es"})
        folder = tmp_path / "instances" / name
        folder.mkdir(parents=True)
        for split, of_split in rows.items():
            ids = [f"{split}{n}" for n in range(len(of_split))]
            named = [{"id": id_, "document_id": id_, "also_in": []} for id_ in ids]
            complete = [defaults | row for defaults, row in zip(named, of_split, strict=True)]
            table = pa.Table.from_pylist(complete, schema=schema)
            pq.write_table(table, folder / f"{split}-00000-of-00001.parquet")
        return folder.parent

    return make


def load(folder: Path) -> Target:
    (location,) = find_targets(folder)
    return location.load()


def check(report: dict[str, Any], gate: str, part: str, name: str = "ds") -> dict[str, Any]:
    """Return the one check of a gate whose words hold ``part``."""
    checks = report["datasets"][name]["checks"]
    (found,) = (c for c in checks if c["gate"] == gate and part in c["what"])
    return found


def opinions(count: int, seed: int = 1, folds: int = 0) -> Rows:
    """Return rows whose labels nothing tells, in folds if there are to be any."""
    chance = random.Random(seed)
    rows = [{"sentence": sentence(chance), "label": chance.randrange(2)} for _ in range(count)]
    return [row | ({"fold": n % folds} if folds else {}) for n, row in enumerate(rows)]


def pairs(count: int, seed: int = 1) -> Rows:
    """Return pairs whose score is the share of words that they have in common, times 5."""
    chance = random.Random(seed)
    rows: Rows = []
    for _ in range(count):
        words = sentence(chance).rstrip(".").split()
        kept = chance.randint(0, len(words))
        second = " ".join([*words[:kept], *sentence(chance).split()[kept:]])
        rows.append({"sentence1": " ".join(words), "sentence2": second, "score": 5 * kept / 12})
    return rows


def test_answers_are_read_where_the_task_asks_for_them(write) -> None:
    rows = [row | {"label": n % 2} for n, row in enumerate(pairs(3))]
    target = load(write("similarity", {"test": rows}))
    part = target.parts["test"]
    assert (target.kind, target.labels, target.records) == ("scores", [], "examples")
    assert part.scores.dtype == np.float64
    assert part.scores.tolist() == [row["score"] for row in rows]
    assert (len(part.labels), part.documents) == (0, ["test0", "test1", "test2"])
    assert target.texts == ("sentence1", "sentence2")
    assert (list(target.trials()), target.tested()) == ([], [part])
    target = load(write("pair_classification", {"train": rows}, "nli") / "nli")
    assert (target.kind, target.labels, target.folds) == ("classes", LABELS, {})
    assert target.parts["train"].labels.tolist() == [0, 1, 0]
    assert len(target.parts["train"].scores) == 0


@pytest.mark.parametrize(
    ("best", "others", "called"),
    [(0.55, 0.55, (0, 0.05)), (0.5, 0.5, (0, 0.05)), (0.75, 0.5, (0.9, 1)), (0.8, 0.75, (0.9, 1))],
)
def test_how_often_a_dataset_is_called_solved(
    write, monkeypatch, best: float, others: float, called: tuple[float, float]
) -> None:
    """Of ten baselines with these true accuracies, in draws of 60, 40 and 100 rows."""
    counts = {"train": 60, "validation": 40, "test": 100}
    rows = {
        split: [{"sentence": "a", "label": n % 2} for n in range(count)]
        for split, count in counts.items()
    }
    target, drawn = load(write("sentence_classification", rows)), np.random.default_rng(1)

    def fitted(_: object, asked: Any, *__: object) -> dict[str, Any]:
        right = drawn.random((10, len(asked.labels))) < np.array([[best]] + [[others]] * 9)
        named = {f"b{number}": of_name for number, of_name in enumerate(right)}
        return {"majority": asked.labels == 0} | named

    monkeypatch.setattr("builders.auditing.gates.baselines.trivial_baselines", fitted)
    verdicts = [{c.verdict for c in BASELINES.measure(target)} for _ in range(300)]
    low, high = called
    assert low <= np.mean([SURFACE_FORM in of_draw for of_draw in verdicts]) <= high


def test_chance_counts_the_classes_that_occur(write, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("test_gates.LABELS", ["no", "maybe", "yes"])
    rows = [row | {"label": 2 * row["label"]} for row in opinions(300, folds=3)]
    report = audit(write("sentence_classification", {"train": rows}), tmp_path / "audit")
    assert report["datasets"]["ds"]["classes"] == 2
    assert max(c["limit"] or 0 for c in report["datasets"]["ds"]["checks"]) >= 0.65


def test_the_direction_of_relations_is_a_baseline(write, baselines) -> None:
    rows = [row | {"label": n % 2, "direction": "<>"[n % 2]} for n, row in enumerate(pairs(40))]
    for row in rows:
        del row["score"]
    target = load(write("unit_relations", {"train": rows[:30], "test": rows[30:]}))
    found = {check.what: check.value for check in BASELINES.measure(target)}
    assert found["direction"] == 1
    assert found["connective"] < 1


@pytest.mark.parametrize(("score", "found"), [(None, "null"), (float("nan"), "nan")])
def test_bad_scores_are_refused(write, score, found: str) -> None:
    rows = pairs(3)
    rows[2]["score"] = score
    with pytest.raises(InputError, match="row 2") as error:
        load(write("similarity", {"test": rows}))
    assert (error.value.expected, error.value.found) == ("a score: a number", found)


def test_a_dataset_without_its_scores_is_refused(write, tmp_path) -> None:
    rows = [{"sentence1": "Hace sol.", "sentence2": "Llueve.", "label": 1}]
    with pytest.raises(InputError, match="the columns score, sentence1"):
        load(write("relatedness", {"test": rows}))
    with pytest.raises(InputError, match="--task relatedness"):
        find_targets(tmp_path, task="relatedness")


def test_texts_are_counted_for_one_dataset_alone(write, baselines, monkeypatch) -> None:
    """Last bits depend on the buckets, which are not those of more texts that came before."""
    targets = []
    for count in (60, 300):
        rows = opinions(count, folds=3)
        folder = write("sentence_classification", {"train": rows}, f"ds{count}") / f"ds{count}"
        targets.append(load(folder))
    with_counts = Mock(wraps=trivial_baselines)
    monkeypatch.setattr(gate, "trivial_baselines", with_counts)
    for target in reversed(targets):
        list(BASELINES.measure(target))
    texts = {text for row in targets[0].parts["train"].texts for text in row}
    *_, counts = with_counts.call_args.args
    assert counts["ngrams"][0].keys() == texts


def test_clean_folds_pass_and_every_row_is_tested(write, tmp_path, baselines) -> None:
    folder = write("sentence_classification", {"train": opinions(400, folds=10)})
    report = audit(folder, tmp_path / "audit")
    assert (failures_of(report), report["datasets"]["ds"]["rows"]) == ([], {"train": 400})
    assert check(report, "leakage", "instances")["what"] == "instances in two folds"
    assert check(report, "size", "rows, each tested in one fold")["value"] == 400
    figures = baselines_of(report["datasets"]["ds"])
    texts = {"character_ngrams", "bag_of_words", "word_endings", "punctuation"}
    assert set(figures) == {"majority", "length", *texts}
    # In folds, the rows that are scored choose the baseline too.
    chosen = report["datasets"]["ds"]["chosen"]
    figures.pop("majority")
    assert figures[chosen] == max(figures.values())


def test_baselines_are_fitted_on_the_other_folds_and_counted_together(
    write, tmp_path, baselines
) -> None:
    rows = opinions(100, folds=10)
    for row in rows:
        # In fold 3, a tenth of the rows, the word tells the opposite.
        telling = row["label"] != (row["fold"] == 3)
        row["sentence"] = row["sentence"].replace(" con ", " gozosa " if telling else " amarga ")
    report = audit(write("sentence_classification", {"train": rows}), tmp_path / "audit")
    assert baselines_of(report["datasets"]["ds"])["bag_of_words"] == pytest.approx(0.9, abs=0.03)


def test_a_text_in_two_folds_is_found(write, tmp_path) -> None:
    rows = opinions(100, folds=10)
    rows[13]["sentence"] = rows[3]["sentence"].upper()
    folder = write("sentence_classification", {"train": rows})
    rows[13]["fold"] = 4
    write("sentence_classification", {"train": rows}, "torn")
    report = audit(folder, tmp_path / "audit")
    assert of(report, "ds", "leakage") == "pass"
    assert check(report, "leakage", "instances in two folds", "torn")["value"] == 1
    assert check(report, "leakage", "another fold", "torn")["value"] == 2 / 100


def test_a_document_in_two_folds_and_sorted_labels_are_found(write, tmp_path) -> None:
    rows = sorted(opinions(400), key=lambda row: int(row["label"]))
    rows = [row | {"fold": number % 10} for number, row in enumerate(rows)]
    rows[3]["document_id"] = rows[4]["document_id"] = "same"
    report = audit(write("sentence_classification", {"train": rows}), tmp_path / "audit")
    assert check(report, "documents", "documents in two folds")["value"] == 1
    assert check(report, "row_order", "every second row")["verdict"] == "undeclared"


def test_what_is_flagged_is_stated_and_still_counts(write, tmp_path) -> None:
    rows = {split: opinions(100, seed) for seed, split in enumerate(("train", "test"))}
    for number, row in enumerate(rows["test"][:3]):
        row |= {"sentence": rows["train"][number]["sentence"], "also_in": ["train"]}
    report = audit(write("sentence_classification", rows), tmp_path / "audit")
    assert check(report, "leakage", "instances in two splits")["value"] == 3
    assert check(report, "leakage", "also_in")["value"] == 3
    assert check(report, "leakage", "also_in")["limit"] is None
    assert of(report, "ds", "leakage") == "undeclared"


def test_scores_are_correlated_with_what_is_alike_on_the_surface(write, tmp_path) -> None:
    report = audit(write("similarity", {"test": pairs(300)}), tmp_path / "audit")
    assert (failures_of(report), report["datasets"]["ds"]["classes"]) == ([], 0)
    found = baselines_of(report["datasets"]["ds"])
    assert list(found) == ["overlap", "length", "character_ngrams", "bag_of_words"]
    assert found["overlap"] > 0.9
    assert abs(found["length"]) < 0.2
    error = check(report, "size", "standard error of a correlation of 0.8")
    assert error["value"] == pytest.approx(0.36 / 299**0.5)
    table = as_markdown(report)
    assert f"| overlap | {found['overlap']:.3f} |" in table
    assert "| test rows | 300 |" in table


@pytest.mark.parametrize(("order", "cue"), TABLES["ordered_scores"])
def test_scores_that_the_order_tells_are_found(write, tmp_path, order: str, cue: str) -> None:
    rows = pairs(300)
    for number, row in enumerate(rows):
        row["score"] = float(1 + number % 5)
    keyed = sorted(rows, key=lambda row: keyed_hash(1, str(row["sentence2"])))
    ranked = sorted(keyed, key=lambda row: float(row["score"]))
    low, high = (sorted(half, key=keyed.index) for half in (ranked[:150], ranked[150:]))
    ordered = {
        "keyed": keyed,
        "sorted": ranked,
        "rising and falling": [*ranked[::2], *ranked[1::2][::-1]],
        "alternating": [row for two in zip(low, high, strict=True) for row in two],
        "cycle": rows,
    }[order]
    report = audit(write("similarity", {"test": ordered}), tmp_path / "audit")
    missed = [
        c["what"]
        for c in report["datasets"]["ds"]["checks"]
        if c["gate"] == "row_order" and c["verdict"] == "undeclared"
    ]
    assert any(what.startswith(f"accuracy from {cue}") for what in missed) if cue else not missed


def test_two_scores_for_one_pair_are_found(write, tmp_path) -> None:
    rows = pairs(300)
    rows[1] = rows[0] | {"sentence2": rows[0]["sentence2"].upper()}
    folder = write("similarity", {"test": rows})
    rows[1]["score"] += 0.2
    write("similarity", {"test": rows}, "torn")
    report = audit(folder, tmp_path / "audit")
    assert check(report, "labels", "instances with conflicting scores")["value"] == 0
    assert check(report, "labels", "instances with conflicting scores", "torn")["value"] == 1


def test_tweets_pass_and_short_ones_are_counted(write, tmp_path) -> None:
    rows = opinions(100, folds=10)
    for number, row in enumerate(rows):
        row["sentence"] = f"@ana mira | {row['sentence'].lower()} https://t.example/{number}"
    rows[5]["sentence"] = "@ana JAJAJA mira"
    report = audit(write("sentence_classification", {"train": rows}), tmp_path / "audit")
    assert (of(report, "ds", "text"), of(report, "ds", "language")) == ("pass", "pass")
    assert check(report, "language", "too short to identify")["value"] == 0.01


def test_texts_that_stand_alone_are_no_place_to_see_a_donor(
    write, tmp_path, make_corpus, write_records
) -> None:
    corpus = make_corpus(datasets={"dc_mine": {"task": "discourse_coherence"}})
    folder = tmp_path / "instances"
    records = write_records([document(n) for n in range(1000, 1100)])
    build(corpus, records, folder / "mine", "upstream")
    dc = [row for path in folder.rglob("*.parquet") for row in pq.read_table(path).to_pylist()]
    replaced = next(row for row in dc if row["donor_id"])
    rows = opinions(20, folds=10)
    rows[0]["sentence"] = replaced["sentences"][replaced["replaced_position"] - 1]
    write("sentence_classification", {"train": rows})
    assert of(audit(folder, tmp_path / "audit"), "dc_mine", "donors") == "pass"


@pytest.fixture
def leaking(write) -> Path:
    """Return the folder of labelled examples of which 30 of 1,000 test texts are in train."""
    rows = {"train": opinions(1000, seed=1), "test": opinions(1000, seed=2)}
    for number in range(30):
        rows["test"][number]["sentence"] = rows["train"][number]["sentence"]
        rows["test"][number]["label"] = rows["train"][number]["label"]
    return write("sentence_classification", rows)


def test_an_undeclared_miss_of_source_data_is_shown_with_its_entry(leaking, tmp_path) -> None:
    report = audit(leaking, tmp_path / "audit")
    assert failures_of(report) == []
    strict = audit(leaking, tmp_path / "strict", strict=True)
    assert failures_of(strict) == undeclared_of(report)
    title = f"ds, gate {GATES['leakage']}"
    first, second = undeclared_of(report)
    assert first == f"{title}: instances in two splits: 30"
    assert second.startswith(f"{title}: test sentences of six words")
    entry = report["datasets"]["ds"]["entry"]
    assert entry == "ds:\n  leakage: {at_most: 0.03, because: …}\n"
    page = (tmp_path / "audit" / "audit.md").read_text("utf-8")
    for shown in (f"```yaml\n{entry}```\n", "| ds | **undeclared** |", f"\n- {first}\n"):
        assert shown in page
    # What is pasted declares it.
    declared = audit(leaking, tmp_path / "audit", inherited=yaml.safe_load(entry), strict=True)
    assert (failures_of(declared), undeclared_of(declared)) == ([], [])
    assert of(declared, "ds", "leakage") == "inherited"


def test_an_entry_keeps_what_is_declared_already(leaking, tmp_path) -> None:
    text = {"at_most": 0.1, "because": "the source: it is so"}
    leakage = {"at_most": 0.001, "because": "texts recur"}
    declared = {"ds": {"text": text, "leakage": leakage}}
    report = audit(leaking, tmp_path / "audit", inherited=declared)
    entry = yaml.safe_load(report["datasets"]["ds"]["entry"])
    assert entry == {"ds": {"text": text, "leakage": leakage | {"at_most": 0.03}}}
    assert "declared as at most 0.1% of rows" in undeclared_of(report)[0]


def test_a_declared_miss_that_is_smaller_is_noted(leaking, tmp_path) -> None:
    for at_most, notes in ((0.05, 0), (0.5, 1)):
        declared = {"ds": {"leakage": {"at_most": at_most, "because": "texts recur"}}}
        report = audit(leaking, tmp_path / "audit", inherited=declared)
        assert (failures_of(report), undeclared_of(report)) == ([], [])
        found = report["datasets"]["ds"]["notes"]
        assert len(found) == notes
        assert all("at most 50.0% of rows, measured 3.00%" in note for note in found)


def test_the_command_shows_what_is_undeclared(leaking, tmp_path, write_params, capsys) -> None:
    arguments = ["audit", str(leaking), "--out", str(tmp_path / "audit"), "--workers", "1"]
    arguments += ["--params", str(write_params({}))]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert shown.count(f"ds, gate {GATES['leakage']}: instances in two splits: 30\n") == 1
    assert "\n    ds:\n      leakage: {at_most: 0.03, because: …}\n" in shown
    assert main([*arguments, "--strict"]) == 1
    # Each failure is on a line.
    assert "splits: 30\n    ds, gate" in capsys.readouterr().err


SENTENCES = ["El faro se apagó antes del amanecer.", "La luz del faro dejó de verse al alba."]
TERMS = ["pleamar", "bajamar", "estoa", "Reflujo"]


@pytest.fixture
def measured(write, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that audits a dataset: its verdicts, values by words, and failures."""

    def measure(task: str, rows: Rows, split: str = "test", name: str = "ds") -> dict[str, Any]:
        report = audit(write(task, {split: rows}, name) / name, tmp_path / "audit")
        checks = report["datasets"][name]["checks"]
        return {
            "verdicts": {check["gate"]: of(report, name, check["gate"]) for check in checks},
            "values": {check["what"]: check["value"] for check in checks},
            "failures": failures_of(report),
            "undeclared": undeclared_of(report),
        }

    return measure


def ranked(texts: list[str], positives: dict[int, list[int]], documents: str = "") -> Rows:
    """Return the rows of a ranking; every linked one is of the same document, if not said."""
    rows: Rows = []
    for number, text in enumerate(texts):
        linked = positives.get(number, [])
        document = documents[number] if documents else ("0" if linked else str(number))
        rows.append({"id": f"r{number}", "text": text, "tokens": text, "document_id": document})
        rows[-1] |= {"positives": [f"r{other}" for other in linked], "source": "c/pairs"}
        rows[-1] |= {"split": "test", "licence": "CC0"}
    return rows


def clusters(*terms: list[str]) -> Rows:
    return [
        {"id": f"es/{n}", "terms": listed, "document_id": f"es/{n}", "cluster": f"{n}"}
        for n, listed in enumerate(terms)
    ]


NOT_ASKED = dict.fromkeys(("leakage", "donors", "row_order", "baselines"), "not applicable")


def test_a_ranking_passes_and_its_size_is_stated(measured) -> None:
    texts = [*SENTENCES, "El mar está en calma esta tarde.", "el mar está en calma esta tarde"]
    found = measured("sentence_ranking", ranked(texts, {0: [1], 1: [0]}))
    gates = ("text", "language", "labels", "size", "documents")
    assert found["verdicts"] == NOT_ASKED | dict.fromkeys(gates, "pass")
    values = found["values"]
    assert values["queries"] == values["pairs of a query and a positive"] == 2
    assert values["groups of texts linked as positives"] == 1
    assert values["standard error of a hit rate of 50 % on so many groups"] == 0.5
    # Stated, with no limit: a published set has such rows.
    assert values["rows that differ from another row only in case, punctuation and symbols"] == 1
    assert found["failures"] == []


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (ranked(SENTENCES, {0: [1, 7], 1: [0]}), "positives that are not rows of the dataset"),
        (ranked(SENTENCES, {0: [0, 1], 1: [0]}), "rows that are their own positive"),
        (ranked(SENTENCES, {0: [1]}, "00"), "one-sided links (A lists B, B does not list A)"),
        (ranked([SENTENCES[0]] * 2, {0: [1], 1: [0]}), "rows with the text of another row"),
        (ranked(SENTENCES, {0: [1, 1], 1: [0]}), "duplicate positives"),
        (ranked(SENTENCES, {}), "rankings without a query"),
        (ranked([*SENTENCES, ""], {0: [1], 1: [0]}), "rows without a letter or a digit"),
        (ranked([*SENTENCES, "¿…?"], {0: [1], 1: [0]}), "rows without a letter or a digit"),
    ],
)
def test_links_that_do_not_hold_are_found(measured, rows, what) -> None:
    found = measured("sentence_ranking", rows)
    assert (found["values"][what], found["verdicts"]["labels"]) == (1, "miss")
    assert found["failures"] == [f"ds, gate 7. Balanced, consistent labels: {what}: 1"]


def test_rows_in_another_split_or_with_the_id_of_another_are_found(measured) -> None:
    rows = ranked(SENTENCES, {})
    rows[1]["id"] = "r0"
    found = measured("sentence_ranking", rows, "train")
    assert found["values"]["rows outside the test split"] == 2
    assert found["values"]["rows with the id of another row"] == 1
    assert found["verdicts"]["labels"] == "miss"


@pytest.mark.parametrize(
    "value", [{"id": None}, {"document_id": None}, {"positives": None}, {"positives": ["r0", None]}]
)
def test_null_is_an_error(measured, value) -> None:
    (column,) = value
    rows = ranked(SENTENCES, {0: [1], 1: [0]})
    rows[1] |= value
    with refused("ds/test-00000-of-00001.parquet, row 1", match=f"text in the column {column}\n"):
        measured("sentence_ranking", rows)


def test_positives_in_another_document_are_found(measured) -> None:
    found = measured("sentence_ranking", ranked(SENTENCES, {0: [1], 1: [0]}, "01"))
    assert found["values"]["positives from another document than their row"] == 2
    assert found["verdicts"]["documents"] == "miss"


def test_single_words_are_judged_by_their_characters_alone(measured) -> None:
    # In a sentence these would be lost ends and another language.
    texts = ["de", "thehouseoverthere", "whatever", "(a", "a|b", "fa\ufffdro"]
    found = measured("word_ranking", ranked(texts, {0: [1], 1: [0]}))
    assert found["verdicts"]["language"] == "not applicable"
    assert found["undeclared"] == ["ds, gate 5. Undamaged text: rows with corrupted characters: 1"]
    assert found["failures"] == []


def test_clusters_pass_and_both_casings_are_stated(measured) -> None:
    found = measured("paradigms", clusters(TERMS, ["reflujo", "flujo", "marea"]))
    assert found["failures"] == []
    passed = dict.fromkeys(("text", "labels", "size", "documents"), "pass")
    assert found["verdicts"] == NOT_ASKED | passed | {"language": "not applicable"}
    values = found["values"]
    assert (values["clusters"], values["terms"], values["different terms"]) == (2, 7, 7)
    assert values["different terms in lower case"] == 6
    assert values["terms with a capital letter"] == 1


def test_repeated_terms_are_found_and_small_clusters_stated(measured) -> None:
    found = measured("paradigms", clusters(TERMS, ["a", "b"], [*TERMS, "estoa"]))
    assert found["values"]["terms repeated in a cluster"] == 1
    assert found["values"]["clusters of fewer than three terms, which score 0"] == 1
    assert (found["verdicts"]["labels"], found["failures"]) == ("undeclared", [])


def test_an_empty_cluster_or_a_missing_column_is_an_error(measured) -> None:
    with pytest.raises(InputError, match=r"row 1(.|\n)*one text or more"):
        measured("paradigms", clusters(TERMS, []))
    rows = [{k: v for k, v in row.items() if k != "positives"} for row in ranked(SENTENCES, {})]
    with pytest.raises(InputError, match="the columns text, document_id, positives, source, id"):
        measured("sentence_ranking", rows, name="other")


SHIFTED = ["Vuelve el barco al puerto de noche.", "Vuelve el de barco al puerto de noche de."]


def part(texts: list[str], labels: list[int]) -> SplitRows:
    rows = [[text] for text in texts]
    places = [Place("test.parquet", number) for number in range(len(rows))]
    answers = [str(label) for label in labels]
    return make_rows(rows, rows, answers, [], ["0", "1"], {}, places)


def target(task: str, labels: list[str], train: SplitRows, test: SplitRows) -> Target:
    parts = {"train": train, "test": test}
    return Target("ds", TASKS[task], "mine", "parsed_sentences", "es", labels, ("sentence",), parts)


def test_only_unchanged_sentences_are_searched_for_damage() -> None:
    both = part(SHIFTED, [0, 1])
    wrong = part(SHIFTED, [1, 0])
    for given, share in ((both, 0.0), (wrong, 1.0)):
        checks = TEXT.measure(target("bigram_shift", ["original", "shifted"], given, given))
        found = {check.what: check.value for check in checks}
        assert found["rows with extraction damage"] == share


def test_the_length_may_tell_the_length_and_nothing_else(baselines) -> None:
    texts = [" ".join(["palabra"] * count) for count in (3, 9) * 20]
    rows = part(texts, [0, 1] * 20)
    for task, labels, verdict in (
        ("sentence_length", ["5-8", "9-12"], "solved by surface form"),
        ("tense", ["present", "past"], "miss"),
    ):
        checks = {c.what: c for c in BASELINES.measure(target(task, labels, rows, rows))}
        assert checks["length"].value == 1
        assert checks["length"].verdict == verdict


def rows_of(labels: list[str], names: list[str], first: int = 0) -> SplitRows:
    """Return rows with different texts of one word and a number."""
    rows = [[f"Barca {first + n}."] for n in range(len(labels))]
    return make_rows(rows, rows, labels, [], names, {}, [Place("a", n) for n in range(len(rows))])


def measure_labels(
    train: list[str], test: list[str], corpus: str = ""
) -> tuple[Target, dict[str, Check]]:
    """Return a dataset of these labels, and the measurements of its gate 7 by their words."""
    names = sorted({*train, *test})
    parts = {"train": rows_of(train, names), "test": rows_of(test, names, 1000)}
    found = Target("ds", None, corpus, "examples", "es", names, ("text",), parts)
    return found, {c.what: c for c in LABELS_GATE.measure(found)}


HALF = ["no", "yes"] * 30


@pytest.mark.parametrize("label", ["-1", "?", "null"])
def test_withheld_labels_of_the_test_are_named_and_no_baseline_is_tested_on_them(label) -> None:
    target, checks = measure_labels(HALF, [label] * 20)
    withheld = checks[f"rows of test whose label is withheld ({label})"]
    assert (withheld.value, withheld.verdict, len(withheld.rows)) == (1, "miss", 5)
    assert target.n_classes == 2
    assert not BASELINES.applies(target)
    validation = rows_of(HALF[:20], target.labels, 2000)
    target.parts["validation"] = validation
    assert [test for _, test in target.trials(labelled=True)] == [validation]
    assert target.tested_on == "test"


def test_classes_that_train_lacks_and_missing_labels_are_measured() -> None:
    _, checks = measure_labels(HALF, ["maybe"] * 10 + ["no"] * 10)
    assert checks["rows of test of a class that is not in train (maybe)"].value == 0.5
    _, checks = measure_labels([*HALF, "null", "null"], HALF)
    assert checks["rows of train whose label is withheld (null)"].value == 2 / 62
    _, checks = measure_labels(HALF, HALF, "mine")
    assert checks["rows of test of a class that is not in train"].verdict == "pass"
    assert {check.verdict for check in checks.values()} == {"pass"}


def test_a_constant_label_is_found() -> None:
    what = "splits with one class or score only"
    _, checks = measure_labels(["yes"] * 30, ["yes"] * 9)
    assert (checks[what].value, checks[what].verdict) == (1, "miss")
    _, checks = measure_labels(HALF, ["yes"] * 9)  # few may be alike by chance
    assert checks[what].value == 0


def test_rows_that_are_repeated_in_their_split_are_measured() -> None:
    texts = [f"Barca {n} en el muelle." for n in range(40)]
    test = part([*texts, *texts[:10]], [0, 1] * 25)
    found = target("tense", ["0", "1"], part(["Otra barca."], [0]), test)
    checks = {c.what: c for c in DIFFERENT.measure(found)}
    repeated = checks["repeated rows of test (with the texts of another one)"]
    assert (repeated.value, repeated.verdict, repeated.rows[0]["number"]) == (0.2, "miss", 40)
    assert repeated.rows[0]["why"] == "as test.parquet, row 0"
    assert checks["repeated rows of train (with the texts of another one)"].value == 0


def test_texts_without_words_are_found() -> None:
    texts = ["", "  ", ".", "¿…?", "😀", "5", "Sí."]
    rows = part(texts, [0] * len(texts))
    checks = {c.what: c for c in TEXT.measure(target("tense", ["0", "1"], rows, rows))}
    assert checks["rows with a text that is empty or only marks"].value == 8
