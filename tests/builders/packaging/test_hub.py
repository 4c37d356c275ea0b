"""The package: a card that tells the truth, rows with tokens; `datasets` loads it."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import COLLECTIONS, caption, document, opinion, write_as_read
from contents import contents, flip_bit
from hub_loading import Loader
from hub_server import hub
from neighbour_files import cluster, corpus_of_pairs, pair

from builders import store
from builders.auditing import trivial_baselines as baselines
from builders.building import build
from builders.composing import compose
from builders.packaging.hub import add_tokens, dataset_changes, package
from builders.plan.datasets import Dataset, datasets_of, rankings_of
from builders.plan.groups import groups_of, load_groups
from builders.store import digests, labels_of, write_split
from corpora_recipes.recipe import Corpus
from corpora_recipes.records import Dialogue, Document, Example
from corpora_recipes.running.errors import InputError
from corpora_recipes.running.outputs import AUDIT, CORPORA, INSTANCES, PACKAGE
from probeta.auditing import audit

REPOSITORY = "probeta/discoeval-es"
TASKS = {
    "sp_mine": {"task": "sentence_position"},
    "bso_mine": {"task": "sentence_ordering"},
    "dc_mine": {"task": "discourse_coherence"},
}


@pytest.fixture(scope="module")
def packaged_once(tmp_path_factory, make_corpus) -> Path:
    """Return a folder of records, instances, their audit and their package, `hub`."""
    folder: Path = tmp_path_factory.mktemp("packaged")
    made(folder, make_corpus(datasets=TASKS))
    return folder


@pytest.fixture
def packaged(packaged_once: Path, tmp_path: Path) -> Path:
    """Return a package that a test may change, beside what it was made of."""
    shutil.copytree(packaged_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "hub"


def pack(
    folder: Path,
    *corpora: Corpus,
    sources: str = "upstream",
    rankings: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    groups = groups_of(corpora, rankings, sources)
    package(groups, folder / "instances", folder / "audit" / "audit.json", folder / "hub")


def made(
    folder: Path,
    corpus: Corpus,
    records: Sequence[Document | Example] = (),
    sources: str = "upstream",
) -> str:
    """Build, audit and package a corpus, of documents unless told otherwise; return its pages."""
    folder.mkdir(exist_ok=True)
    path = write_as_read(folder, records or [document(n) for n in range(80)])
    build(corpus, path, folder / "instances" / "corpora" / "mine", sources)
    audit(folder / "instances", folder / "audit")
    pack(folder, corpus, sources=sources)
    return pages(folder / "hub")


def composed(folder: Path, rankings: Mapping[str, Any], *corpora: Corpus) -> Path:
    """Compose the only ranking, audit and package all, and return the package."""
    (ranking,) = rankings_of(rankings, corpora, "upstream")
    compose(ranking, folder, folder / "instances" / "rankings" / ranking.name, "upstream")
    audit(folder / "instances", folder / "audit")
    pack(folder, *corpora, rankings=rankings)
    return folder / "hub"


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """Return the requests that the loader has sent to the hub: method and path."""
    return []


@pytest.fixture(scope="module")
def loader(packaged_once: Path, requests, tmp_path_factory) -> Iterator[Loader]:
    """Return what loads datasets from folders, and the package from a hub."""
    with (
        hub(packaged_once / "hub", REPOSITORY, requests=requests) as endpoint,
        Loader(tmp_path_factory.mktemp("home"), HF_ENDPOINT=endpoint) as loading,
    ):
        yield loading


def header(folder: Path) -> dict[str, Any]:
    """Return what the head of the card says."""
    return dict(yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1]))


def pages(folder: Path) -> str:
    """Return all pages: the card, those of the datasets, the licences."""
    paths = [folder / "README.md", *sorted(folder.glob("docs/*.md")), folder / "LICENSE.md"]
    return "\n".join(path.read_text("utf-8") for path in paths)


def expected(folder: Path) -> dict[str, list]:
    results: dict[str, list] = {}
    for path in sorted(folder.glob("*/*.parquet")):
        table = pq.read_table(path)
        names = labels_of(table.schema) if "label" in table.column_names else None
        first = table.slice(0, 1).to_pylist()[0]
        name = f"{path.parent.name}/{path.name.split('-')[0]}"
        results[name] = [len(table), names, first["id"], first.get("label")]
    return results


def test_loads_from_a_folder(packaged: Path, loader, requests) -> None:
    requests.clear()
    loaded = loader.load(packaged)
    assert (loaded, len(loaded), requests) == (expected(packaged), 9, [])
    read = pd.read_parquet(packaged / "sp_mine")
    assert read["split"].value_counts().to_dict() == {
        split: loaded[f"sp_mine/{split}"][0] for split in ("train", "validation", "test")
    }


def test_examples_load_and_their_card_says_what_they_are(
    tmp_path, example_corpus, loader, monkeypatch
) -> None:
    # With 41 classes in 10 folds, the trees of the audit take seconds.
    monkeypatch.setitem(baselines.TREES, "max_iter", 1)
    scored = replace(COLLECTIONS["captions"], labels=None)
    facts = replace(example_corpus.facts, collections=COLLECTIONS | {"captions": scored})
    datasets = {
        "opinions": {"task": "sentence_classification", "collection": "opinions"},
        "words": {"task": "linguistic_probing", "collection": "words"},
        "sts": {"task": "similarity"},
    }
    corpus = replace(example_corpus, facts=facts, datasets=datasets)
    examples = [opinion(n, "train") for n in range(30)]
    examples += [opinion(n, "validation") for n in range(30, 40)]
    words = [f"palabra{n:02d}" for n in range(41)]
    examples += [
        opinion(n, collection="words", label=words[n % 41], id=f"w{n}", columns={})
        for n in range(41, 123)
    ]
    examples += [caption(n, label=None) for n in range(12)]
    card = made(tmp_path, corpus, examples)
    loaded = loader.load(tmp_path / "hub")
    assert loaded == expected(tmp_path / "hub")
    of_opinions = {"opinions/train": 27, "opinions/validation": 3, "opinions/test": 10}
    rows = {name: found[0] for name, found in loaded.items()}
    assert rows == of_opinions | {"words/train": 82, "sts/test": 12}
    for line in (
        "| Sentence classification | es | Mine | 10 | CC0 1.0 | [`opinions`](docs/opinions.md) |",
        "- Rows: train 27, validation 3, test 10; 2 classes.",
        "- Rows: train 82; 41 classes.",
        "- Rows: test 12; score 1 … 5.",
        "numbered in this order, with the source's spelling in brackets: "
        "0 `negative` (`N`); 1 `positive` (`P`).",
        "\n\nWhich class does the text belong to: what does it say, ask for or feel?\n\n- Classes",
        "| column | type | content | first row of train |\n",
        "- Classes: 41, numbered in alphabetical order.",
        "source's parts: train 30 (read 30), validation unknown (read 10), test 12 (read 0).",
        "- Splits: train is the source's train, validation a tenth of its train, by keyed hash, "
        "test its validation.",
        "**Incomplete: much or all of test is missing from the source files.**",
        "examples: read 40, used 40, also in another split 0; source parts: train 30, validation",
    ):
        assert line in card, line
    # The captions are 12 of 40, the words more than 40.
    assert card.count("Incomplete") == 2


@pytest.mark.parametrize("streaming", [False, True])
def test_loads_from_a_hub(packaged: Path, loader, requests, streaming: bool) -> None:
    requests.clear()
    assert loader.load(REPOSITORY, streaming=streaming) == expected(packaged)
    assert any("resolve" in request and ".parquet" in request for request in requests)


def test_class_labels_survive_without_the_card(packaged: Path, loader) -> None:
    (packaged / "README.md").unlink()
    _, names, _, _ = loader.load(packaged / "dc_mine")["default/train"]
    assert names == ["incoherent", "coherent"]


def test_the_card_states_sizes_labels_and_hashes(packaged_once: Path) -> None:
    card = pages(packaged_once / "hub")
    for entry in digests(packaged_once / "hub"):
        assert entry["content"] in card
    for words in (
        "Fewer than 1,000 test rows",
        "the test shows the difference in 80 % of the cases: **too small for an average**",
        "`replaced_position`",
        "| `sp_mine` | Mine | CC0 1.0 |",
        "- Construction counts: documents: read 80",
    ):
        assert words in card, words
    # On the page of each, and that of the dataset that is loaded without a name on the card too.
    assert card.count("| `document_id` |") == 4
    assert "samples that are part of Probeta" not in card
    assert "Not to be redistributed" not in card


# What corpus.yaml or the options of a corpus say, and how it would break out of its place.
HOSTILE = "a | b\n\n# Fake heading\n\n---\n<script>alert(1)</script> `x` [y](z) *w*"


def test_facts_of_a_corpus_cannot_break_the_card(packaged, tmp_path, make_corpus) -> None:
    before = pages(packaged).splitlines()
    corpus = make_corpus(datasets=TASKS)
    keys = ("name", "description", "citation", "homepage", "licence_url")
    facts = replace(corpus.facts, **dict.fromkeys(keys, f"# {HOSTILE}"))
    corpus = replace(corpus, facts=facts)
    pack(tmp_path, corpus)
    shown = r"# a \| b # Fake heading --- \<script>alert(1)\</script> \`x\` \[y](z) \*w\*"
    card = pages(tmp_path / "hub")
    assert f"| {chr(92)}{shown} |" in card
    assert f"\n> {chr(92)}{shown}\n" in card
    lines = card.splitlines()
    for start in ("#", "---", "|", "<", "- ", "```"):
        now, then = (sum(line.startswith(start) for line in page) for page in (lines, before))
        assert now == then, start
    # In the head, which is YAML, it is quoted.
    below = card.split("---\n", 2)[2].splitlines()
    assert not any("<script>" in line.replace("\\<", "") for line in below)


def test_a_package_of_ones_own_is_called_after_it_and_loads_its_first_dataset(
    packaged, tmp_path, make_corpus, loader
) -> None:
    corpus = make_corpus(datasets=TASKS)
    card = (packaged / "README.md").read_text("utf-8")
    head = header(packaged)
    assert head["pretty_name"] == "Mine"
    assert "\n# Mine\n" in card
    assert [c["config_name"] for c in head["configs"] if c.get("default")] == ["sp_mine"]
    assert 'load_dataset("<this repository or folder>", "sp_mine")' in card
    sentences = pq.read_table(packaged / "sp_mine" / "train-00000-of-00001.parquet")["sentences"]
    assert f"| natural text | {'<br>'.join(sentences[0].as_py())} |" in card
    assert yaml.safe_load((packaged / "eval.yaml").read_text("utf-8"))["name"] == "Mine"
    groups = groups_of([corpus], {}, "upstream")
    named = tmp_path / "named"
    paths = tmp_path / "instances", tmp_path / "audit" / "audit.json", named
    package(groups, *paths, name="notes: all\n---")
    assert header(named)["pretty_name"] == "notes: all ---"
    assert "\n# notes: all ---\n" in (named / "README.md").read_text("utf-8")
    assert "<title>Sentence position: 20.0, " in (packaged / "baselines.svg").read_text("utf-8")


def test_the_card_says_by_what_surface_form_solves_a_dataset(packaged: Path, make_corpus) -> None:
    report = json.loads((packaged.parent / "audit" / "audit.json").read_text("utf-8"))
    checks = report["datasets"]["sp_mine"]["checks"]
    solved = next(c for c in checks if c["gate"] == "baselines" and c["what"] == "bag_of_words")
    solved |= {"value": 0.875, "validation": 0.9, "verdict": "solved by surface form"}
    report["datasets"]["sp_mine"]["chosen"] = "bag_of_words"
    (packaged.parent / "audit" / "audit.json").write_text(json.dumps(report), "utf-8")
    pack(packaged.parent, make_corpus(datasets=TASKS))
    card = (packaged / "README.md").read_text("utf-8")
    assert "surface form** | " in card
    assert "`sp_mine` (bag of words 87.5, majority 20.0)" in card


def test_the_card_says_if_the_texts_are_samples(tmp_path, make_corpus) -> None:
    card = made(tmp_path, make_corpus(datasets=TASKS), sources="sample")
    assert "samples that are part of Probeta" in card
    assert "| Mine (sample) |" in card


def test_the_card_says_what_may_not_be_redistributed(packaged, tmp_path, make_corpus) -> None:
    corpus = make_corpus(datasets=TASKS)
    pack(tmp_path, replace(corpus, facts=replace(corpus.facts, redistributable=False)))
    card = (packaged / "README.md").read_text("utf-8")
    named = "without permission: bso_mine, dc_mine, sp_mine."
    assert f"**Not to be redistributed {named}**" in card
    assert f"{named} By asking" in header(packaged)["extra_gated_prompt"]


def test_a_page_tells_the_question_the_classes_and_a_row(packaged: Path) -> None:
    page = (packaged / "docs" / "sp_mine.md").read_text("utf-8")
    row = pq.read_table(packaged / "sp_mine" / "train-00000-of-00001.parquet").to_pylist()[0]
    question = page.index("\nThe first of five sentences was taken from one of the five places")
    classes = page.index("\n- Classes, numbered in this order: 0 `1` (the first sentence was in ")
    sentences = page.index(f"| natural text | {'<br>'.join(row['sentences'])} |\n")
    label = page.index(f"| class label | the class | {row['label']} `{row['label'] + 1}` |\n")
    differs = page.index("\n## Differences from the papers\n\n- Passages are left out until ")
    assert question < classes < sentences < label < differs < page.index("\n\n## Audit\n")


def test_content_hash_ignores_how_the_file_was_written(packaged: Path) -> None:
    before = list(digests(packaged))
    path = packaged / "sp_mine" / "train-00000-of-00001.parquet"
    pq.write_table(pq.read_table(path), path, compression="none")
    after = list(digests(packaged))
    assert [e["content"] for e in before] == [e["content"] for e in after]
    assert [e["sha256"] for e in before] != [e["sha256"] for e in after]


def test_unbuilt_or_stale_instances_are_refused(packaged, tmp_path, make_corpus) -> None:
    changed = {"sp_mine": {"task": "sentence_position", "version": "2.0.0"}}
    with pytest.raises(InputError, match=r"version '1\.0\.0', not '2\.0\.0'"):
        pack(tmp_path, make_corpus(datasets=changed))
    with pytest.raises(InputError, match="sample False, not True"):
        pack(tmp_path, make_corpus(datasets=TASKS), sources="sample")
    with pytest.raises(InputError, match="found:    none"):
        pack(tmp_path, make_corpus(name="other"))
    assert (packaged / "README.md").exists()
    with pytest.raises(InputError, match="build the datasets"):
        list(digests(tmp_path / "empty"))


def test_an_audit_of_other_rows_is_refused(packaged, tmp_path, make_corpus) -> None:
    path = tmp_path / "audit" / "audit.json"
    report = json.loads(path.read_text("utf-8"))
    report["datasets"]["sp_mine"]["content"]["test"] = "0" * 64
    path.write_text(json.dumps(report), "utf-8")
    with pytest.raises(InputError, match=r"sp_mine\n.*the audit of the instances"):
        pack(tmp_path, make_corpus(datasets=TASKS))
    path.unlink()
    with pytest.raises(InputError, match="run the audit again"):
        pack(tmp_path, make_corpus(datasets=TASKS))


def test_the_card_shows_audit_example_and_changes(tmp_path, make_corpus) -> None:
    latest = {"sp_wiki": {"task": "sentence_position", "version": "1.2.0"}}
    card = made(tmp_path, make_corpus(datasets=latest))
    assert " | 0 | 0 | pass |" not in card  # it is in audit.json
    assert "| 4. Trivial baselines | bag_of_words |" in card
    assert "Un verano llegó una draga." in card
    first, second = card.index("| 1.1.0 | 2026-11-22: "), card.index("| 1.0.0 | 2026-11-21: ")
    assert first < second
    changed = {"sp_wiki": {"task": "sentence_position", "version": "1.0.1"}}
    assert "2026-11-22: " not in made(tmp_path / "changed", make_corpus(datasets=changed))


def test_the_latest_changes_are_of_the_shipped_versions(repository: Path) -> None:
    groups = load_groups(repository / "params.yaml")
    datasets = {dataset.name: dataset.version for g in groups for dataset in g.datasets}
    changes = {name: next(iter(versions)) for name, versions in dataset_changes().items()}
    # Others, such as withdrawn ones, are no longer shipped.
    both = changes.keys() & datasets.keys()
    assert {name: changes[name] for name in both} == {name: datasets[name] for name in both}
    assert len(both) > 10


@pytest.fixture
def neighbours(tmp_path, make_corpus, write_records) -> Path:
    """Return a package of a ranking of two corpora, the first of them probed, and of clusters."""
    pairs = replace(
        corpus_of_pairs(make_corpus(), licence_url="https://example.org/l", citation="Pairs 2020."),
        datasets={
            "related": {"task": "relatedness", "collection": "scored"},
            "para": {"task": "paradigms", "collection": "es"},
        },
    )
    more = corpus_of_pairs(
        make_corpus(), "more", licence="CC BY 4.0", redistributable=False, citation="Pairs 2020."
    )
    scored = [
        pair(n, (f"El faro número {n}.", f"La torre número {n}."), n % 5, split)
        for n, split in enumerate(["train"] * 30 + ["validation"] * 5 + ["test"] * 5)
    ]
    plain = [pair(n, (f"El bote {n}.", f"La barca {n}."), collection="plain") for n in range(2)]
    clusters = [cluster("es", name, "pleamar", "bajamar", "Estoa") for name in ("a", "b")]
    records = write_records([*scored, *clusters], "pairs")
    write_records([*plain, pair(9, ("La isla.", "El cabo."))], "more")
    build(pairs, records, tmp_path / "instances" / "corpora" / "pairs", "upstream")
    entry = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs/scored", "more"]}
    return composed(tmp_path, {"rank": entry}, pairs, more)


def test_rankings_and_clusters_load_and_their_card_says_what_they_are(neighbours, loader) -> None:
    loaded = loader.load(neighbours)
    assert loaded == expected(neighbours)
    assert (loaded["rank/test"][0], loaded["para/test"][0]) == (76, 2)
    card = pages(neighbours)
    for line in (
        "| Ranks of paraphrases | es | Pairs + More | 16 | CC0 1.0; CC BY 4.0 | [`rank`](docs/rank",
        "| Paradigms of words | es | Pairs | 2 | CC0 1.0 | [`para`](docs/para.md) |",
        "- Rows: test 76; 16 pairs.",
        "- Rows: test 2; 2 clusters.",
        "## Example\n\n| text | positive |\n",
        "- Positives from `pairs/scored`: its top 25 % of pairs by score, ties included (a score "
        "of 3 or more: 14 of 35 different pairs, 40%); 14 different pairs.",
        "- Positives from `more/plain`: its pairs; 2 different pairs that no collection above has.",
        "- Positives from `more/scored`: no pair can be used.\n",
        "- Left out: 5 examples of `pairs/scored`, the source's test, the test of a probe",
        "- **Fewer than 1,000 groups of positives: small differences are not meaningful.**",
        "| 8. Test size | terms with a capital letter | 2 |  |  |",
        "## More\n\nDatasets: `rank`. ",
        "## Pairs\n\nDatasets: `para`, `related`, `rank`. ",
    ):
        assert line in card
    assert "Incomplete" not in card


def test_the_card_of_unscored_words(tmp_path, make_corpus, write_records) -> None:
    pairs = corpus_of_pairs(make_corpus())
    films = make_corpus(name="films")
    films = replace(films, facts=replace(films.facts, records="dialogues"), datasets={})
    write_records([pair(1, ("barca", "bote"), collection="words")], "pairs")
    write_records([Dialogue("f", "", [["La barca, la barca."]], "train")], "films")
    entry = {"task": "word_ranking", "language": "es", "pairs": ["pairs"], "vocabulary": "films"}
    card = pages(composed(tmp_path, {"rank": entry}, pairs, films))
    for line in (
        "- Positives from `pairs/words`: its pairs; 1 different pairs.\n",
        "- Words are in lower case; equal words share one row.\n",
        "- Added to them: the 2 most frequent words of `films`; the rarest occurs 2 times.\n",
    ):
        assert line in card
    assert "lower scores" not in card
    assert "has the mean of its scores" not in card


def test_the_licence_of_a_ranking_is_that_of_each_corpus(neighbours: Path) -> None:
    text = (neighbours / "LICENSE.md").read_text("utf-8")
    assert "| `rank` | Pairs | CC0 1.0 (https://example.org/l) |" in text
    assert "| `rank` | More | CC BY 4.0 |" in text
    rows = pq.read_table(neighbours / "rank" / "test-00000-of-00001.parquet").to_pylist()
    licences = {"pairs/scored": "CC0 1.0", "more/plain": "CC BY 4.0", "more/scored": "CC BY 4.0"}
    assert {(row["source"], row["licence"]) for row in rows} == set(licences.items())


def test_a_ranking_of_other_parts_is_refused(neighbours: Path, tmp_path, make_corpus) -> None:
    corpora = [corpus_of_pairs(make_corpus()), corpus_of_pairs(make_corpus(), "more")]
    entry = {"task": "sentence_ranking", "language": "es", "pairs": ["pairs/scored"]}
    with pytest.raises(InputError, match="run `probeta compose --only rank"):
        pack(tmp_path, *corpora, rankings={"rank": entry | {"background": ["more"]}})


def test_leaderboards_have_what_is_scored(packaged_once: Path, neighbours: Path) -> None:
    """Neighbours are looked for in rankings and paradigms, which are no tasks of mteb."""
    found = yaml.safe_load((neighbours / "eval.yaml").read_text("utf-8"))
    assert found["evaluation_framework"] == "mteb"
    assert found["tasks"] == [{"id": "probeta_related", "config": "related", "split": "test"}]
    found = yaml.safe_load((packaged_once / "hub" / "eval.yaml").read_text("utf-8"))
    assert [task["config"] for task in found["tasks"]] == ["bso_mine", "dc_mine", "sp_mine"]


def test_the_audit_says_which_corpus_and_benchmark(packaged_once: Path) -> None:
    datasets = json.loads((packaged_once / "hub" / "audit.json").read_text("utf-8"))["datasets"]
    # The user's own datasets belong to none.
    assert [facts["benchmark"] for facts in datasets.values()] == ["", "", ""]
    assert len({facts["title"] for facts in datasets.values()}) == 1


def test_the_head_says_what_the_hub_asks(packaged_once: Path, neighbours: Path) -> None:
    made, taken = header(packaged_once / "hub"), header(neighbours)
    assert (made["license"], taken["license"]) == (["cc0-1.0"], ["cc-by-4.0", "cc0-1.0"])
    assert made["task_categories"] == ["text-classification"]
    assert taken["task_categories"] == ["sentence-similarity", "text-ranking"]
    assert made["source_datasets"] == ["original"]
    assert taken["source_datasets"][0].startswith("extended|other-")
    assert "extra_gated_prompt" not in made
    # A key or a dataset takes one line.
    head = (packaged_once / "hub" / "README.md").read_text("utf-8").split("---\n")[1]
    assert head.count("\n") == len(made) + len(made["configs"])


def test_a_licence_without_a_name_on_the_hub_is_linked(tmp_path, make_corpus) -> None:
    corpus = make_corpus(datasets={"bso_mine": TASKS["bso_mine"]})
    corpus = replace(corpus, facts=replace(corpus.facts, licence="research only"))
    made(tmp_path, corpus)
    head = header(tmp_path / "hub")
    assert (head["license"], head["license_link"]) == ("other", "LICENSE.md")


PackageTwo = Callable[..., int]


@pytest.fixture
def package_two(empty_folder, make_corpus) -> PackageTwo:
    """Return a function that packages two corpora, and returns how many have new rows.

    The second is built of so many documents, and audited, before.
    """
    corpora = [
        make_corpus(name="one", datasets={"sp_one": {"task": "sentence_position"}}),
        make_corpus(name="two", datasets={"bso_two": {"task": "sentence_ordering"}}),
    ]
    for corpus in corpora:
        records = write_as_read(empty_folder, [document(n) for n in range(40)], corpus.name)
        build(corpus, records, CORPORA / corpus.name, "upstream")
    audit(INSTANCES, AUDIT)

    def run(documents: int = 0, out: Path = PACKAGE, earlier: Path | None = PACKAGE) -> int:
        if documents:
            records = write_as_read(empty_folder, [document(n) for n in range(documents)], "two")
            build(corpora[1], records, CORPORA / "two", "upstream")
            audit(INSTANCES, AUDIT)
        groups = groups_of(corpora, {}, "upstream")
        return package(groups, INSTANCES, AUDIT / "audit.json", out, earlier=earlier)

    return run


def test_kept_rows_are_those_that_would_be_written(package_two: PackageTwo, monkeypatch) -> None:
    assert package_two() == 2
    first = contents(PACKAGE)
    with monkeypatch.context() as patched:
        patched.setattr("builders.packaging.hub.add_tokens", None)
        assert package_two() == 0
        assert contents(PACKAGE) == first
        # As `publish` does.
        assert package_two(out=Path("elsewhere")) == 0
        assert contents(Path("elsewhere")) == first
    # Another corpus costs only itself.
    assert package_two(documents=50) == 1
    assert package_two(out=Path("fresh"), earlier=None) == 2
    assert contents(PACKAGE) == contents(Path("fresh")) != first


SHARD = PACKAGE / "sp_one" / "test-00000-of-00001.parquet"


def test_rows_are_taken_over_only_if_the_cache_knows_them(package_two: PackageTwo) -> None:
    package_two()
    first = contents(PACKAGE)
    foreign = SHARD.with_name("train-00009-of-00009.parquet")
    changes: list[tuple[Callable[[], Any], int]] = [(partial(shutil.copy, SHARD, foreign), 0)]
    changes += [(partial(flip_bit, SHARD), 1), (partial(shutil.rmtree, PACKAGE), 2)]
    for change, new in changes:
        change()
        assert package_two() == new
        assert contents(PACKAGE) == first


@pytest.mark.parametrize("decides", ["code_digest", "versions_of"])
def test_other_code_or_libraries_keep_nothing(package_two, monkeypatch, decides: str) -> None:
    package_two()
    monkeypatch.setattr(f"builders.packaging.hub.{decides}", lambda _: "another")
    assert package_two() == 2
    assert package_two() == 0


def test_the_audit_of_a_package_has_the_digests_of_its_rows(package_two: PackageTwo) -> None:
    package_two()
    facts = json.loads((PACKAGE / "audit.json").read_bytes())["datasets"]
    instances = json.loads((AUDIT / "audit.json").read_bytes())["datasets"]
    for entry in digests(PACKAGE):
        packaged = facts[entry["config"]]
        assert packaged["content"][entry["split"]] == entry["content"]
        assert packaged["content"] != instances[entry["config"]]["content"]


def with_tokens(dataset: Dataset, instances: Path, target: Path) -> list[dict]:
    (shard,) = instances.glob("test-*.parquet")
    done: list[int] = []
    add_tokens(shard, target / shard.name, dataset.columns(), done.append)
    found = pq.read_table(target / shard.name).to_pylist()
    assert sum(done) == len(found)
    return found


def test_words_of_a_language_without_rules_stay_whole(tmp_path, make_corpus, write_records) -> None:
    datasets = {"paralex_sw": {"task": "paradigms", "collection": "sw"}}
    corpus = replace(corpus_of_pairs(make_corpus()), datasets=datasets)
    records = write_records([cluster("sw", "days", "leo", "kesho", "ng'ombe wa leo")])
    build(corpus, records, tmp_path / "out", "upstream")
    (dataset,) = datasets_of(corpus, "upstream")
    (row,) = with_tokens(dataset, tmp_path / "out" / "paralex_sw", tmp_path)
    assert row["tokens"] == ["leo", "kesho", "ng'ombe wa leo"]


def test_tokens_stand_beside_the_texts_in_row_groups(tmp_path, make_corpus, monkeypatch) -> None:
    monkeypatch.setattr(store, "ROW_GROUP", 10)
    (dataset,) = datasets_of(make_corpus(datasets={"bso": {"task": "sentence_ordering"}}), "sample")
    rows = [
        {"id": f"r{n}", "sentences": ["¿Qué?", f"Son {n}."], "label": n % 2, "document_id": "d"}
        for n in range(25)
    ]
    write_split(rows, dataset, "test", ["a", "b"], tmp_path / "in")
    natural = pq.read_table(tmp_path / "in").to_pylist()
    packaged = with_tokens(dataset, tmp_path / "in", tmp_path)
    tokens = [["¿ Qué ?", f"Son {row['id'].removeprefix('r')} ."] for row in natural]
    assert [row.pop("tokens") for row in packaged] == tokens
    assert packaged == natural
    with pq.ParquetFile(tmp_path / "test-00000-of-00001.parquet") as file:
        groups = [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)]
        assert groups == [10, 10, 5]
        assert file.schema_arrow.names == list(dataset.columns())
        assert b"ClassLabel" in file.schema_arrow.metadata[b"huggingface"]


def test_a_language_that_spacy_lacks_is_refused_by_build(
    tmp_path, make_corpus, write_records
) -> None:
    records = write_records([document(n) for n in range(40)])
    with pytest.raises(InputError, match="language 'qqq'"):
        build(make_corpus(language="qqq"), records, tmp_path / "out", "upstream")
    # It knows other names of its languages.
    build(make_corpus(language="spa"), records, tmp_path / "out", "upstream")
