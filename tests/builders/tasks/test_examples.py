"""Discourse relations of trees, and paradigms."""

import inspect
import sys
from dataclasses import replace
from functools import partial
from itertools import count

import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_files import cluster, corpus_of_pairs
from recipe_reading import refused

from builders.building import build
from builders.plan.datasets import datasets_of
from builders.store import about_of
from builders.tasks.discourse_relations import binarise, instances
from corpora_recipes.formats.treebanks import read_rs3
from corpora_recipes.recipe import RECIPES, Corpus
from corpora_recipes.records import DiscourseNode, DiscourseTree
from corpora_recipes.running.errors import InputError

TABLES = read_tables(__file__)

# --- discourse relations -------------------------------------------------------------------------

SAMPLE = RECIPES / "rst_spanish_treebank" / "sample"


def leaf(edu: int) -> DiscourseNode:
    return DiscourseNode(edu=edu)


def many(relation: str, *children: DiscourseNode) -> DiscourseNode:
    return DiscourseNode(relation=relation, children=children, nuclei=(True,) * len(children))


def right(relation: str, nucleus: DiscourseNode, satellite: DiscourseNode) -> DiscourseNode:
    return DiscourseNode(relation=relation, children=(nucleus, satellite), nuclei=(True, False))


def left(relation: str, satellite: DiscourseNode, nucleus: DiscourseNode) -> DiscourseNode:
    return DiscourseNode(relation=relation, children=(satellite, nucleus), nuclei=(False, True))


def tree_of(root: DiscourseNode) -> DiscourseTree:
    return DiscourseTree("t", [f"edu {i}" for i in range(len(root.edus()))], root)


def test_lists_branch_to_the_right():
    inner = many("Contraste", leaf(1), leaf(2), leaf(3))
    root = many("Lista", leaf(0), right("Causa", inner, leaf(4)), leaf(5))
    nested = many("Contraste", leaf(1), many("Contraste", leaf(2), leaf(3)))
    last = many("Lista", right("Causa", nested, leaf(4)), leaf(5))
    assert binarise(tree_of(root)) == many("Lista", leaf(0), last)
    # Binary trees stay as they are.
    assert binarise(tree_of(last)) == last
    assert instances(tree_of(leaf(0))) == []


def test_the_nucleus_is_left_and_the_order_is_kept():
    root = left("Preparación", leaf(0), right("Causa", leaf(1), many("Lista", leaf(2), leaf(3))))
    made = instances(tree_of(root))
    assert [tuple(row[name] for name in COLUMNS) for row in made] == [
        ("NS-Preparación", "SN", 1, 3, 0, 0),
        ("NS-Causa", "NS", 1, 1, 2, 3),
        ("NN-Lista", "NN", 2, 2, 3, 3),
    ]
    assert (made[0]["left"], made[0]["right"]) == (["edu 1", "edu 2", "edu 3"], ["edu 0"])
    assert [row["relation"] for row in made] == ["Preparación", "Causa", "Lista"]
    assert made[0].keys() == {"relation", "left", "right", *COLUMNS}


COLUMNS = ("label", "order", "left_first", "left_last", "right_first", "right_last")


def test_sample_gives_200_instances_of_215_edus():
    trees = {path.stem: read_rs3(path)[0] for path in sorted(SAMPLE.rglob("*.rs3"))}
    made = {name: instances(tree) for name, tree in trees.items()}
    assert all(len(made[name]) == len(tree.edus) - 1 for name, tree in trees.items())
    assert sum(map(len, made.values())) == 200
    first = next(iter(made.values()))[-1]
    assert first["left"] == ["en cambio, las puestas de sol son azules,"]
    assert first["right"] == ["ya que el polvo dispersa la luz al revés que nuestro aire."]
    rows = made["ed90001"]
    found = [tuple(row[name] for name in COLUMNS) for row in (rows[0], rows[len(rows) // 2])]
    assert found == [("NS-Preparación", "SN", 1, 15, 0, 0), ("NN-Lista", "NN", 6, 6, 7, 9)]


FORMS = st.recursive(
    st.just(None),
    lambda child: st.one_of(
        st.tuples(st.sampled_from(["Lista", "Unión"]), st.lists(child, min_size=2, max_size=6)),
        st.tuples(st.sampled_from(["Causa", "Fondo"]), st.tuples(child, child), st.booleans()),
    ),
    max_leaves=25,
)


def grow(form, edus) -> DiscourseNode:
    if form is None:
        return leaf(next(edus))
    relation, parts, *nucleus_first = form
    children = [grow(part, edus) for part in parts]
    if not nucleus_first:
        return many(relation, *children)
    return (right if nucleus_first[0] else left)(relation, *children)


@settings(max_examples=50)
@given(FORMS)
def test_any_tree(form):
    tree = tree_of(grow(form, count()))
    root = binarise(tree)
    assert binarise(DiscourseTree("t", tree.edus, root)) == root
    made = instances(tree)
    boundaries, stretches = [], []
    for i in made:
        sides = [(i[f"{side}_first"], i[f"{side}_last"]) for side in ("left", "right")]
        for side, (first, last) in zip(("left", "right"), sides, strict=True):
            assert i[side] == list(tree.edus[first : last + 1])
        # Both sides together are a stretch of the text, and `order` says which comes first.
        before, after = sides[::-1] if i["order"] == "SN" else sides
        assert before[1] + 1 == after[0]
        boundaries.append(before[1])
        stretches.append((before[0], after[1]))
        assert i["label"] == ("NN-" if i["order"] == "NN" else "NS-") + i["relation"]
        assert (i["order"] == "NN") == (i["relation"] in ("Lista", "Unión"))
    # Each boundary between neighbouring EDUs is the place of one relation.
    assert sorted(boundaries) == list(range(len(tree.edus) - 1))
    # Pre-order: each stretch of the text lies inside the one of some earlier instance.
    for place, (first, last) in enumerate(stretches[1:], 1):
        assert any(a <= first and last <= b for a, b in stretches[:place])


def test_deep_trees_need_no_recursion(request: pytest.FixtureRequest):
    request.addfinalizer(partial(sys.setrecursionlimit, sys.getrecursionlimit()))
    sys.setrecursionlimit(len(inspect.stack(0)) + 150)
    size = 300
    assert len(instances(tree_of(many("Lista", *map(leaf, range(size)))))) == size - 1
    root = leaf(0)
    for edu in range(1, size):
        root = right("Causa", root, leaf(edu))
    made = instances(tree_of(root))
    assert [i["right_first"] for i in made] == list(range(size - 1, 0, -1))


@pytest.mark.parametrize(("label", "labels", "first"), TABLES["choices"])
def test_what_a_class_names_is_a_choice(label: str, labels: list[str], first: int):
    root = left("Preparación", leaf(0), many("Lista", leaf(1), leaf(2)))
    made = instances(tree_of(root), label)
    assert [instance["label"] for instance in made] == labels
    assert [instance["order"] for instance in made] == ["SN", "NN"]
    assert (made[0]["left_first"], made[0]["left"][0]) == (first, f"edu {first}")


# --- paradigms task ------------------------------------------------------------------------------


@pytest.fixture
def corpus(make_corpus) -> Corpus:
    entry = {"task": "paradigms"}
    datasets = {"paralex_es": entry, "paralex_sw": {**entry, "collection": "sw"}}
    return replace(corpus_of_pairs(make_corpus()), datasets=datasets)


def test_a_row_is_a_cluster(tmp_path, corpus, write_records) -> None:
    terms = ["pleamar", "bajamar", "Marea alta"]
    clusters = [cluster("es", "tides", *terms), cluster("es", "boats", "barca", "bote")]
    clusters += [cluster("sw", "days", "leo", "kesho"), cluster("en", "tides", "ebb")]
    report = build(corpus, write_records(clusters), tmp_path / "out", "upstream")
    assert [entry["rows"] for entry in report.values()] == [{"test": 2}, {"test": 1}]
    assert report["paralex_es"]["source_parts"] == {"all": 2}
    rows = pq.read_table(tmp_path / "out" / "paralex_es").to_pylist()
    (row,) = (row for row in rows if row["cluster"] == "tides")
    names = {"id": "es/tides", "document_id": "es/tides", "cluster": "tides", "terms": terms}
    stated = {"source_split": "", "also_in": [], "split": "test", "licence": "CC0 1.0"}
    assert row == names | stated
    schema = pq.read_schema(tmp_path / "out" / "paralex_sw" / "test-00000-of-00001.parquet")
    assert (about_of(schema)["language"], about_of(schema)["collection"]) == ("sw", "sw")


def test_the_collection_is_that_of_the_corpus_s_language_unless_named(corpus) -> None:
    spanish, swahili = datasets_of(corpus, "upstream")
    assert (spanish.language, spanish.collection) == ("es", "es")
    assert (swahili.language, swahili.facts.sizes) == ("sw", {"all": 2})
    english, _ = datasets_of(replace(corpus, language="en"), "upstream")
    assert (english.language, english.facts.sizes) == ("en", {"all": 2})


@pytest.mark.parametrize(("entry", "message"), TABLES["no_clusters"])
def test_what_is_no_cluster_is_refused(corpus, entry, message) -> None:
    wrong = replace(corpus, datasets={"para": {"task": "paradigms"} | entry})
    with pytest.raises(InputError, match=message):
        datasets_of(wrong, "upstream")


def test_a_language_without_clusters_is_refused(tmp_path, corpus, write_records) -> None:
    with pytest.raises(InputError, match=r"one of en, es, sw, .*\n.*'fr'"):
        datasets_of(replace(corpus, language="fr"), "upstream")
    records = write_records([cluster("es", "tides", "pleamar"), cluster("en", "tides", "ebb")])
    with refused(match=r"examples of sw(.|\n)*en, es", where_is=str(records)):
        build(corpus, records, tmp_path / "out", "upstream")
