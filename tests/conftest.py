"""What the tests of more than one package share: corpora, records, params.yaml, a server."""

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from corpus_entries import corpus_of as corpus_of
from hub_server import hub, point_at
from loopback import Server
from projects import finished_run
from recipe_reading import checked
from scoring_files import write_hub

from corpora_recipes.reading import read_corpus
from corpora_recipes.recipe import BlockResult, CollectionFacts, Corpus, load_facts, load_recipe
from corpora_recipes.records import (
    Dialogue,
    Document,
    Drops,
    Example,
    Section,
    decide_split,
    record_schema,
    to_row,
)

REPOSITORY = Path(__file__).parent.parent

# Tests never fail for being slow. The environment of the tests with torch has no hypothesis.
with suppress(ImportError):
    from hypothesis import settings

    settings.register_profile("any time", deadline=None)
    settings.load_profile("any time")


# Files whose tests use `project`: with -n, one process has them all, so that it is made once.
OF_PROJECT = ("test_docs.py", "test_pipeline.py", "test_rehearsal.py")
# The files that take longest, the first ones to begin: at the end, no process waits for another.
LONGEST = [*OF_PROJECT, "test_documented_runs.py", "test_benchmarks.py", "test_new.py"]
LONGEST += ["test_faults.py", "test_tampering.py", "test_scoring_stages.py", "test_clusters.py"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Write bytecode of what is imported, even where programs may not: it halves the next start."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = before


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files come first; mark what is not slow."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        used = "project" in fixtures
        if "cluster" in fixtures or item.path.parent.name == "faults":
            item.add_marker("slow")
        assert not used or item.path.name in OF_PROJECT, f"{item.path} belongs to OF_PROJECT"
        if item.get_closest_marker("slow") is None:
            item.add_marker("run" if used else "unit")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let each file run in one process, and the files of ``project`` in the same one."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "project" if file.rpartition("/")[2] in OF_PROJECT else file

    return ByFile(config, log)


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Let the cache of the user be a new folder."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder / "probeta"


@pytest.fixture
def repository() -> Path:
    return REPOSITORY


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a new folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, without git, with a finished run on the samples.

    It is made in the folder PROBETA_FINISHED_RUN, where another session finds it, or in a new one.
    """
    shared = os.environ.get("PROBETA_FINISHED_RUN")
    return finished_run(Path(shared or tmp_path_factory.mktemp("project") / "probeta"))


@pytest.fixture(scope="session")
def make_corpus() -> Callable[..., Corpus]:
    """Return a function that makes a Corpus of documents, changed as its arguments say."""

    def make(**changes: Any) -> Corpus:
        corpus = Corpus(
            name="mine",
            recipe="documents",
            language="es",
            documents=None,
            seed=1111,
            options={},
            datasets={"sp_mine": {"task": "sentence_position"}},
            facts=replace(
                load_facts("documents"),
                name="Mine",
                drop_limits={},
                description="Texts of the tests.",
                licence="CC0 1.0",
                redistributable=True,
                homepage="none",
                citation="none",
            ),
        )
        return replace(corpus, **changes)

    return make


def read_blocks(raw: Path, corpus: Corpus) -> BlockResult:
    """Read every block of a corpus, sent as workers get them, in their order."""
    recipe = load_recipe(corpus.recipe)
    total = BlockResult()
    for block in recipe.blocks(raw, corpus):
        result = recipe.read_block(pickle.loads(pickle.dumps(block)), corpus)
        total.records += result.records
        total.drops.add(result.drops)
    return checked(total)


def read_by_id(raw: Path, corpus: Corpus) -> tuple[dict[str, Example], Drops]:
    """Read a corpus of examples as `read` does: its examples by id, and what was dropped."""
    examples: dict[str, Example] = {}
    total = Drops()
    blocks = load_recipe(corpus.recipe).blocks(raw, corpus)
    for records, drops in read_corpus(blocks, corpus, None, 1):
        examples.update({record.id: record for record in records if isinstance(record, Example)})
        total.add(drops)
    return examples, total


def document(number: int, sentences: int = 8, topics: Iterable[str] = ()) -> Document:
    """Return a document whose sentences say which they are."""
    text = [
        f"Esta es la frase número {place} del documento {number}, y no hay otra igual."
        for place in range(1, sentences + 1)
    ]
    lead = Section("", 1, [text[:3], text[3:]])
    return Document(f"doc-{number:04d}", f"Título {number}", list(topics), [lead])


COLLECTIONS = {
    "opinions": CollectionFacts(
        about="Opinions.",
        texts=1,
        labels={"N": "negative", "P": "positive"},
        columns={"country": "where it was written"},
        sizes={"train": 30, "validation": None, "test": 12},
    ),
    "captions": CollectionFacts(
        about="Pairs.",
        texts=2,
        labels={"NO": "other", "YES": "same"},
        scale=(1, 5),
        sizes={"all": 40},
    ),
    "words": CollectionFacts(about="Words.", texts=1, labels={}, sizes={"all": 40}),
}


def opinion(number: int, split: str | None = None, **changes: Any) -> Example:
    label = ("negative", "positive")[number % 2]
    name = f"opinions/{split}/{number}"
    example = Example(
        id=name,
        collection="opinions",
        texts=(f"Opinión número {number} sobre la película.",),
        label=label,
        score=None,
        document_id=name,
        columns={"country": "cl" if number % 3 else "uy"},
        split=split,  # type: ignore[arg-type]
    )
    return replace(example, **changes)


def caption(number: int, **changes: Any) -> Example:
    name = f"captions/{number}"
    texts = (f"Un perro corre {number} veces.", f"Un gato corre {number} veces.")
    label = ("other", "same")[number % 2]
    return replace(Example(name, "captions", texts, label, 1 + number % 9 / 2, name, {}), **changes)


@pytest.fixture
def example_corpus(make_corpus) -> Corpus:
    """Return a corpus of examples; its dataset can be had of its first collection."""
    made: Corpus = make_corpus()
    facts = replace(made.facts, records="examples", collections=COLLECTIONS)
    return replace(
        made,
        facts=facts,
        datasets={"sent": {"task": "sentence_classification", "collection": "opinions"}},
    )


def write_as_read(
    folder: Path, records: Iterable[Document | Dialogue | Example], name: str = "mine"
) -> Path:
    """Write documents, dialogues or examples as `read` would to ``folder/NAME.parquet``."""
    rows = []
    kind = "documents"
    for item in records:
        kind = {Dialogue: "dialogues", Example: "examples"}.get(type(item), "documents")
        row = to_row(item)
        if kind != "examples":
            row["split"] = item.split or decide_split(1111, name, item.id)
        rows.append(row)
    path = folder / f"{name}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=record_schema(kind)), path)
    return path


@pytest.fixture
def write_records(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes records into the folder of the test: see `write_as_read`."""
    return partial(write_as_read, tmp_path)


@pytest.fixture
def write_params(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a params.yaml with the given corpora."""

    def write(corpora: dict[str, Any], **changes: Any) -> Path:
        params = {"seed": 1111, "sources": "sample", "corpora": corpora, "encoders": {}} | changes
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump(params, allow_unicode=True, sort_keys=False), "utf-8")
        return path

    return write


@pytest.fixture
def hub_folder(empty_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return dist/hub, in a new current folder, with what ``write_hub`` writes."""
    # The encoder `callable` adds the current folder.
    monkeypatch.setattr(sys, "path", list(sys.path))
    return write_hub(Path("dist/hub"))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.httpd.shutdown()
    server.httpd.server_close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as found:
        yield found


@pytest.fixture
def requests() -> list[str]:
    """Return the list that gets the requests to `served`."""
    return []


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requests: list[str]) -> Iterator[Path]:
    """Return the folder of a repository "org/data" that a server like the Hub gives."""
    folder = tmp_path / "served" / "data"
    folder.mkdir(parents=True)
    with hub(folder, "org/data", requests=requests) as endpoint:
        point_at(endpoint, tmp_path / "cache", monkeypatch)
        yield folder
