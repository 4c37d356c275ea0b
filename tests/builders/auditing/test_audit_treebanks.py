"""The audit of tasks on treebanks: sentences changed on purpose, and the length as the answer."""

from builders.auditing.gates.baselines import BASELINES
from builders.auditing.gates.text import TEXT
from builders.auditing.target import Place, SplitRows, Target, make_rows
from builders.tasks import TASKS

SENTENCES = ["Vuelve el barco al puerto de noche.", "Vuelve el de barco al puerto de noche de."]


def part(texts: list[str], labels: list[int]) -> SplitRows:
    rows = [[text] for text in texts]
    places = [Place("test.parquet", number) for number in range(len(rows))]
    answers = [str(label) for label in labels]
    return make_rows(rows, rows, answers, [], ["0", "1"], {}, places)


def target(task: str, labels: list[str], train: SplitRows, test: SplitRows) -> Target:
    parts = {"train": train, "test": test}
    return Target("ds", TASKS[task], "mine", "parsed_sentences", "es", labels, ("sentence",), parts)


def test_only_unchanged_sentences_are_searched_for_damage() -> None:
    both = part(SENTENCES, [0, 1])
    wrong = part(SENTENCES, [1, 0])
    for given, share in ((both, 0.0), (wrong, 1.0)):
        checks = TEXT.measure(target("bigram_shift", ["original", "shifted"], given, given))
        found = {check.what: check.value for check in checks}
        assert found["rows with extraction damage"] == share


def test_the_length_may_tell_the_length_and_nothing_else() -> None:
    texts = [" ".join(["palabra"] * count) for count in (3, 9) * 20]
    rows = part(texts, [0, 1] * 20)
    for task, labels, verdict in (
        ("sentence_length", ["5-8", "9-12"], "solved by surface form"),
        ("tense", ["present", "past"], "miss"),
    ):
        checks = {c.what: c for c in BASELINES.measure(target(task, labels, rows, rows))}
        assert checks["length"].value == 1
        assert checks["length"].verdict == verdict
