"""Publishing: what is uploaded is what is read back; what may not be published is not."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from conftest import document, opinion
from hub_server import files, hub, tags_of
from huggingface_hub import DatasetInfo, HfApi
from neighbour_files import corpus_of_pairs, pair

from builders.audit_report import FORMAT, GATES
from builders.auditing.gates.gate import Check
from builders.building import build
from builders.composing import compose
from builders.packaging.hub import package
from builders.packaging.publishing import Publication, publish
from builders.plan.datasets import rankings_of
from builders.plan.groups import groups_of
from builders.store import digests
from corpora_recipes.parquet import PYARROW
from corpora_recipes.recipe import Corpus
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

REPO = "probeta/discoeval-es"
FILES = [f"{s}-00000-of-00001.parquet" for s in ("test", "train", "validation")]
NAMES = [
    *("LICENSE.md", "README.md", "audit.json", "baselines.svg"),
    *(f"bso_mine/{name}" for name in FILES),
    *("docs/bso_mine.md", "docs/sp_mine.md", "eval.yaml"),
    *("lm_eval/README.md", "lm_eval/common"),
    *("lm_eval/group.probeta.yaml", "lm_eval/probeta_bso_mine.yaml"),
    *("lm_eval/probeta_sp_mine.yaml", "mteb.json"),
    *(f"sp_mine/{name}" for name in FILES),
]


@pytest.fixture
def corpora(tmp_path, make_corpus, write_records) -> list[Corpus]:
    """Return two corpora, built and audited; the second may not be redistributed."""
    tasks = {"sp_mine": {"task": "sentence_position"}, "bso_mine": {"task": "sentence_ordering"}}
    mine = make_corpus(datasets=tasks)
    closed = make_corpus(
        name="closed",
        datasets={"sp_closed": {"task": "sentence_position"}},
        facts=replace(mine.facts, name="Closed", redistributable=False),
    )
    for corpus in (mine, closed):
        records = write_records([document(n) for n in range(60)], corpus.name)
        build(corpus, records, tmp_path / "instances" / "corpora" / corpus.name, "upstream")
    write_audit(tmp_path, verdict="pass")
    return [mine, closed]


def write_audit(folder: Path, verdict: str) -> None:
    """Write an audit of the instances in which every gate has the same verdict."""
    datasets: dict[str, dict] = {}
    missed = {"miss": [], "undeclared": [], verdict: ["gate 1"]}
    for entry in digests(folder / "instances"):
        name, split = entry["config"], entry["split"]
        facts = datasets.setdefault(name, {"rows": {}, "content": {}, "inherited": {}, "notes": []})
        facts["rows"][split], facts["content"][split] = entry["rows"], entry["content"]
        facts["chosen"] = ""
        facts["checks"] = [asdict(Check(gate, "share", 0.0, 0.1, verdict)) for gate in GATES]
        facts |= {"entry": "", "failures": missed["miss"], "undeclared": missed["undeclared"]}
    report = {"format": FORMAT, "datasets": datasets}
    (folder / "audit.json").write_text(json.dumps(report), "utf-8")


@pytest.fixture
def publish_to(tmp_path, corpora, monkeypatch) -> Callable[..., Publication]:
    """Return a function that publishes, in this process, to the hub whose address it gets."""

    def publish_to(
        endpoint: str,
        *,
        corpora: list[Corpus] = corpora,
        rankings: Mapping = MappingProxyType({}),
        sources: str = "upstream",
        token: str = "writer",
        version: str = "0.1.0",
        **options: bool,
    ) -> Publication:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", endpoint)
        monkeypatch.setenv("HF_TOKEN", token)
        groups = groups_of(corpora, rankings, sources)
        audit = tmp_path / "audit.json"
        return publish(groups, tmp_path / "instances", audit, REPO, version=version, **options)

    return publish_to


@pytest.fixture
def refused(tmp_path, publish_to) -> Callable[..., list[str]]:
    """Return a function that fails to publish, with such a message, and returns the requests."""

    def refused(match: str, broken: str = "\0", **changes) -> list[str]:
        requests: list[str] = []
        with (
            hub(tmp_path / "repo", REPO, broken=broken, requests=requests) as endpoint,
            pytest.raises(InputError, match=match),
        ):
            publish_to(endpoint, **changes)
        return requests

    return refused


def test_a_dataset_that_lacks_a_part_of_its_source_is_not_published(
    tmp_path, example_corpus, write_records, refused
) -> None:
    examples = [opinion(n, "train") for n in range(30)]
    examples += [opinion(n, "validation") for n in range(30, 40)]
    folder = tmp_path / "instances" / "corpora" / "mine"
    build(example_corpus, write_records(examples), folder, "upstream")
    write_audit(tmp_path, verdict="pass")
    refused("dataset sent\n.*\n.*far fewer in test: {'train': 30, 'val", corpora=[example_corpus])


def test_a_published_version_has_the_rows_that_were_built(tmp_path, corpora, publish_to) -> None:
    """`test_hub.py` loads such files from a hub."""
    instances, published = tmp_path / "instances", tmp_path / "repo@v0.1.0"
    with hub(tmp_path / "repo", REPO) as endpoint:
        told = str(publish_to(endpoint))
    assert f"published: {endpoint}/datasets/{REPO}/tree/v0.1.0" in told
    assert "left out, not to be redistributed without permission: closed" in told
    for shard in (instances / "corpora" / "mine" / "sp_mine").iterdir():
        rows = pq.read_table(published / "sp_mine" / shard.name).drop_columns("tokens")
        assert rows.to_pylist() == pq.read_table(shard).to_pylist()
    assert files(published) == NAMES
    made_by = json.loads((published / "audit.json").read_text("utf-8"))["made_by"]
    assert made_by == {name: version(name) for name in ("probeta", "pyarrow", "spacy")}
    groups = groups_of(corpora[:1], {}, "upstream")
    hub_id = (REPO, "v0.1.0")
    package(groups, instances, tmp_path / "audit.json", tmp_path / "hub", hub=hub_id)
    for name in NAMES:
        assert (published / name).read_bytes() == (tmp_path / "hub" / name).read_bytes()


def test_a_new_version_removes_what_it_does_not_have_and_overwrites_nothing(
    tmp_path, corpora, publish_to
) -> None:
    fewer = replace(corpora[0], datasets={"sp_mine": {"task": "sentence_position"}})
    requests: list[str] = []
    with hub(tmp_path / "repo", REPO, requests=requests) as endpoint:
        first = publish_to(endpoint)
        (tmp_path / "repo" / ".gitattributes").write_text("*.parquet filter=lfs", "utf-8")
        requests.clear()
        with pytest.raises(InputError, match=r"no tag v0\.1\.0"):
            publish_to(endpoint)
        assert not any(request.startswith("POST") for request in requests)
        second = publish_to(endpoint, corpora=[fewer], version="0.2.0")
    gone = [name for name in NAMES if "bso_mine" in name]
    assert (first.removed, second.removed) == ([], gone)
    left = [name for name in NAMES if name not in gone]
    assert files(tmp_path / "repo") == [".gitattributes", *left]
    assert files(tmp_path / "repo@v0.1.0") == NAMES
    assert tags_of(tmp_path / "repo") == ["v0.1.0", "v0.2.0"]
    assert f"removed: {gone[0]}" in str(second)


def test_an_interrupted_run_can_be_repeated(tmp_path, publish_to, refused) -> None:
    refused("then run it again", broken="/tag/")
    assert tags_of(tmp_path / "repo") == []
    with hub(tmp_path / "repo", REPO) as endpoint:
        assert publish_to(endpoint).url == f"{endpoint}/datasets/{REPO}/tree/v0.1.0"
    assert files(tmp_path / "repo@v0.1.0") == NAMES


def test_a_repository_of_something_else_is_left_alone(tmp_path, refused) -> None:
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "mine.csv").write_text("a,b\n", "utf-8")
    refused(r"found: .*mine\.csv")
    assert files(tmp_path / "repo") == ["mine.csv"]


def test_a_ranking_is_published_if_all_its_corpora_may_be(
    tmp_path, make_corpus, write_records, publish_to, refused
) -> None:
    names = ("open", "closed")
    corpora = [
        corpus_of_pairs(make_corpus(), name, redistributable=name == "open") for name in names
    ]
    entry = {"task": "sentence_ranking", "language": "es", "pairs": ["open/plain"]}
    rankings = {"free": entry, "held": entry | {"pairs": ["open/plain", "closed/plain"]}}
    given = {"corpora": corpora, "rankings": rankings}
    for n_pairs in (1, 2):
        for name in names:
            texts = [(f"El faro {n}.", f"La luz {name} {n}.") for n in range(n_pairs)]
            pairs = [pair(n, two, collection="plain") for n, two in enumerate(texts)]
            write_records(pairs, name)
        for ranking in rankings_of(rankings, corpora, "upstream"):
            folder = tmp_path / "instances" / "rankings" / ranking.name
            compose(ranking, tmp_path, folder, "upstream")
        write_audit(tmp_path, verdict="pass")
        if n_pairs == 1:
            # Officially there are two pairs.
            refused(r"far fewer in open/plain \(all\)", **given)
    publication = publish_to("", dry_run=True, **given)
    assert publication.left_out == ["held"]
    assert "free/test-00000-of-00001.parquet" in publication.files
    assert "held/test-00000-of-00001.parquet" not in publication.files
    everything = publish_to("", dry_run=True, include_restricted=True, **given)
    assert "held/test-00000-of-00001.parquet" in everything.files
    refused("samples that are part of Probeta: free\n", sources="sample", **given)


def test_restricted_corpora_are_left_out_unless_asked_for(tmp_path, publish_to) -> None:
    requests: list[str] = []
    with hub(tmp_path / "repo", REPO, requests=requests) as endpoint:
        publication = publish_to(endpoint)
    assert (publication.left_out, list(publication.files)) == (["closed"], NAMES)
    assert "closed" not in (tmp_path / "repo" / "README.md").read_text("utf-8").lower()
    with hub(tmp_path / "all", REPO, requests=requests) as endpoint:
        publication = publish_to(endpoint, include_restricted=True)
    assert publication.left_out == []
    closed = {"docs/sp_closed.md", "lm_eval/probeta_sp_closed.yaml"}
    closed.update(f"sp_closed/{name}" for name in FILES)
    assert set(publication.files) - set(NAMES) == closed
    assert "Not to be redistributed" in (tmp_path / "all" / "README.md").read_text("utf-8")
    created = [request for request in requests if "/repos/create" in request]
    assert ['"private"' in request for request in created] == [False, True]


@pytest.mark.parametrize("private", [False, None, True])
def test_restricted_corpora_go_only_to_a_private_repository(
    tmp_path, publish_to, monkeypatch, private: bool | None
) -> None:
    real = HfApi.dataset_info

    def dataset_info(self: HfApi, *arguments, **options) -> DatasetInfo:
        info = real(self, *arguments, **options)
        info.private = private
        return info

    requests: list[str] = []
    repo = tmp_path / "repo"
    with hub(repo, REPO, requests=requests) as endpoint:
        publish_to(endpoint)
        before = files(repo)
        requests.clear()
        monkeypatch.setattr(HfApi, "dataset_info", dataset_info)
        if private:
            second = publish_to(endpoint, include_restricted=True, version="0.2.0")
            assert (second.left_out, tags_of(repo)) == ([], ["v0.1.0", "v0.2.0"])
            assert "docs/sp_closed.md" in files(tmp_path / "repo@v0.2.0")
            return
        with pytest.raises(InputError, match=r"closed(.|\n)*a public repository") as caught:
            publish_to(endpoint, include_restricted=True, version="0.2.0")
        assert caught.value.where == REPO
        assert not any(request.startswith("POST") for request in requests)
        assert (files(repo), tags_of(repo)) == (before, ["v0.1.0"])
        # Without them the same repository may be published to.
        assert publish_to(endpoint, version="0.2.0").left_out == ["closed"]


def test_only_restricted_corpora_are_refused(tmp_path, corpora) -> None:
    groups = groups_of(corpora[1:], {}, "upstream")
    with pytest.raises(InputError, match="closed, which may not"):
        publish(groups, tmp_path, tmp_path, REPO, version="0.1.0", dry_run=True)
    users = replace(corpora[1], options={"redistributable": False})
    key = r"write `redistributable: true` at corpora\.closed\.corpus; otherwise add another"
    with pytest.raises(InputError, match=key):
        publish(groups_of([users], {}, "upstream"), tmp_path, tmp_path, REPO, version="0.1.0")


def test_a_dry_run_contacts_nothing_and_changes_nothing(tmp_path, publish_to) -> None:
    requests: list[str] = []
    before = files(tmp_path)
    with hub(tmp_path / "repo", REPO, requests=requests) as endpoint:
        publication = publish_to(endpoint, dry_run=True)
    assert (requests, files(tmp_path)) == ([], before)
    assert (list(publication.files), publication.url) == (NAMES, None)
    shown = str(publication).splitlines()
    assert shown[3] == f"{publication.files[NAMES[3]]:>13,}  {NAMES[3]}"
    assert shown[-1].startswith("dry run: nothing was uploaded.")


def test_samples_are_refused(tmp_path, corpora, publish_to, refused, write_records) -> None:
    of_user = [replace(corpora[0], options={"path": "mine.jsonl"})]
    with hub(tmp_path / "user", REPO) as endpoint:
        # Documents of users are no sample, whatever the sources.
        assert publish_to(endpoint, sources="sample", corpora=of_user).url
    records = write_records([document(n) for n in range(60)])
    build(corpora[0], records, tmp_path / "instances" / "corpora" / "mine", "sample")
    write_audit(tmp_path, verdict="pass")
    refused("samples that are part of Probeta: mine\n", sources="sample")
    assert not (tmp_path / "repo").exists()
    with pytest.raises(InputError, match="samples that are part of Probeta: mine\n"):
        publish_to("", sources="sample", dry_run=True)


def test_a_missed_gate_is_refused(tmp_path, corpora, publish_to, refused) -> None:
    write_audit(tmp_path, verdict="miss")
    assert refused("\n    bso_mine, gate 1\n    sp_mine, gate 1\n") == []
    with pytest.raises(InputError, match="sp_mine, gate 1"):
        publish_to("", dry_run=True)


def test_an_undeclared_miss_of_the_source_is_published_and_shown(
    tmp_path, corpora, publish_to
) -> None:
    write_audit(tmp_path, verdict="undeclared")
    with hub(tmp_path / "repo", REPO) as endpoint:
        publication = publish_to(endpoint)
    assert publication.undeclared == ["bso_mine, gate 1", "sp_mine, gate 1"]
    assert "undeclared miss: sp_mine, gate 1\n" in str(publication)
    for name in ("bso_mine", "sp_mine"):
        page = (tmp_path / "repo" / "docs" / f"{name}.md").read_text("utf-8")
        assert page.count("\nUndeclared miss: gate 1.\n") == 1


def test_a_token_that_can_write_is_asked_for(tmp_path, refused, monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.delenv("HUGGING_FACE_HUB_TOKEN", raising=False)
    assert refused("hf auth login", token="") == []
    refused("403 ", token="reader")
    assert not (tmp_path / "repo").exists()


def test_a_hub_that_is_away_is_a_clear_error(tmp_path, publish_to) -> None:
    with hub(tmp_path / "repo", REPO) as endpoint:
        pass
    with pytest.raises(InputError, match="ConnectError"):
        publish_to(endpoint)


@pytest.mark.parametrize(("option", "values", "expected"), TABLES["bad_names"])
def test_a_bad_name_or_version_is_refused(tmp_path, option, values, expected) -> None:
    for value in values:
        repo, version = (value, "0.1.0") if option == "--repo" else (REPO, value)
        with pytest.raises(InputError, match=expected) as error:
            publish([], tmp_path, tmp_path, repo, version=version, dry_run=True)
        assert error.value.where == option


def test_another_pyarrow_than_the_locked_one_publishes_nothing(
    publish_to, refused, monkeypatch
) -> None:
    monkeypatch.setattr(pa, "__version__", "25.0.0")
    assert refused(rf"^pyarrow\n.*pyarrow {PYARROW},.*\n.*25\.0\.0\n.*pyarrow=={PYARROW}`") == []
    with pytest.raises(InputError, match="pyarrow"):
        publish_to("", dry_run=True)


def test_what_is_not_built_is_refused_before_anything_is_sent(make_corpus, refused) -> None:
    requests = refused("found:    none", corpora=[make_corpus(name="unbuilt")])
    assert not any(request.startswith("POST") for request in requests)
