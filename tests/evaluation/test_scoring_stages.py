"""Stages that score: a kill loses only the parts in flight; order, workers, seeds do not matter.

The seeds are those of hashes, on which the order of a set depends (gate 10).
"""

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from case_tables import read_tables
from contents import contents
from instance_files import row, write_dataset
from paradigm_files import write_paradigms_dataset

from evaluation import ranking
from evaluation.datasets import Dataset, find_datasets, find_probed
from evaluation.embedding.embedding import embed_datasets
from evaluation.encoders import make_encoder
from evaluation.paradigms import evaluate_paradigms
from evaluation.probing import probing
from evaluation.probing.probing import Probing, probe_datasets
from evaluation.ranking import rank_datasets
from probeta.cli import main

TABLES = read_tables(__file__)

PARAMS = TABLES["params"]
WORDS = [f"palabra{number}" for number in range(40)]
# Runs a verb, which is killed when so many parts are cached; two workers, whatever the work.
KILLED = """if True:
    import os, signal, sys
    from corpora_recipes.running.cache import Cache
    from evaluation import ranking
    from evaluation.probing import probing
    from probeta.cli import main
    probing.WORK_OF_A_PROCESS = ranking.TEXTS_PER_WORKER = 1
    left, put = int(sys.argv[1]), Cache.put
    def put_and_die(self, *arguments, **named):
        global left
        put(self, *arguments, **named)
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    Cache.put = put_and_die
    main(sys.argv[2:])
"""

# Runs verbs.
RUN = "import sys; from probeta.cli import main; sys.exit(any([main([v]) for v in sys.argv[1:]]))"


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ten datasets to probe, four rankings and four of paradigms."""
    folder = tmp_path_factory.mktemp("interrupted")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("params.yaml").write_text(PARAMS)
        assert main(["read"]) == main(["build"]) == 0
        shutil.copytree("data/instances", "dist/hub")
        linked = [
            {
                "id": word,
                "text": word,
                "tokens": word,
                "positives": [WORDS[number ^ 1]],
                "document_id": f"d{number // 2}",
            }
            for number, word in enumerate(WORDS)
        ]
        pairs = [row(i, None, score=i, sentence1=WORDS[i], sentence2=WORDS[-1]) for i in range(9)]
        for name in "abc":
            write_dataset(Path("dist/hub/ranks", name), "word_ranking", {"test": linked})
        write_dataset(Path("dist/hub/ranks/sts"), "similarity", {"test": pairs})
        for name in "defg":
            write_paradigms_dataset(Path("dist/hub/words", name), [("all", WORDS[:5])])
        assert main(["embed"]) == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "probing", "parts", "killed_after"), TABLES["reused"])
def test_cached_parts_are_reused(
    samples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: list[str],
    probing: str,
    parts: int,
    killed_after: int,
) -> None:
    monkeypatch.chdir(shutil.copytree(samples, tmp_path / "killed"))
    Path("params.yaml").write_text(f"{PARAMS}probing: {probing}\n")
    path = os.pathsep.join(filter(None, sys.path))
    died = subprocess.run(
        [sys.executable, "-c", KILLED, str(killed_after), *verb],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    stage = {"probe": "probed", "rank": "ranked", "paradigms": "completed"}[verb[0]]
    cached = Path("data/memory", stage, "mine")
    before = {file: file.stat().st_mtime_ns for file in cached.glob("*/made.json")}
    assert len(before) == killed_after
    assert main(verb) == 0
    after = {file: file.stat().st_mtime_ns for file in cached.glob("*/made.json")}
    assert len(after) == parts
    assert before.items() <= after.items()
    (out,) = (p for p in Path("data").glob("*/mine*") if p.parts[1] != "embeddings")
    resumed = contents(out) if out.is_dir() else out.read_bytes()
    shutil.rmtree("data/memory")
    assert main(verb) == 0
    assert resumed == (contents(out) if out.is_dir() else out.read_bytes())


def score(verb: str, datasets: Sequence[Dataset], workers: int) -> Any:
    """Return the results of a stage, and its tables."""
    encoder, store = make_encoder("char_hash", {"dimension": 64}), Path("data/embeddings/mine")
    given: Any = ("mine", encoder, datasets, store)
    if verb == "probe":
        return probe_datasets(*given, seed=5, probing=Probing(), workers=workers)[:2]
    if verb == "rank":
        settings: Any = {"similarities": ["cosine", "l2"], "postprocessings": ["none", "abtt"]}
        return rank_datasets(*given, seed=5, workers=workers, **settings)[:2]
    return evaluate_paradigms(*given, seed=5, coherence_threshold=2, casings=["as_is", "lower"])[:1]


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["probe", "rank", "paradigms"])
def test_neither_the_order_of_datasets_nor_the_workers_matter(
    samples: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.chdir(samples)
    monkeypatch.setattr(probing, "WORK_OF_A_PROCESS", 1)
    monkeypatch.setattr(ranking, "TEXTS_PER_WORKER", 1)
    find = find_probed if verb == "probe" else find_datasets
    datasets = find(Path("dist/hub"))
    assert score(verb, datasets, 1) == score(verb, datasets[::-1], 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["char_hash", "use_multilingual"])
def test_float16_moves_no_score_by_a_third_of_a_point(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(samples)
    datasets, settings = find_datasets(Path("dist/hub")), {"similarities": ["cosine", "l2"]}
    probed, values, vectors = find_probed(Path("dist/hub")), [], []
    for dtype in ("float32", "float16"):
        store, encoder = tmp_path / dtype, make_encoder(name, {"vectors": {"dtype": dtype}})
        embed_datasets(store, encoder, datasets)
        probes = probe_datasets("mine", encoder, probed, store, seed=5, probing=Probing())[0]
        ranks: Any = {**settings, "postprocessings": ["none", "abtt"]}
        ranked = rank_datasets("mine", encoder, datasets, store, seed=5, **ranks)[0]
        values.append([s.value for s in probes.scores] + [s.mrr for s in ranked.scores])
        vectors.append([s.vectors for s in probes.scores])
        assert probes.encoder["options"].get("vectors") == encoder.vectors.as_option.get("vectors")
    assert len(values[0]) == len(probed) + 3 * 4
    assert values[1] == pytest.approx(values[0], abs=0.003)
    assert not set(vectors[0]) & set(vectors[1])


@pytest.mark.slow
def test_hash_seeds_do_not_matter(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process for each seed, from the texts on."""
    monkeypatch.chdir(shutil.copytree(samples, tmp_path / "seeds"))
    path, scored = os.pathsep.join(filter(None, sys.path)), []
    for seed in ("1", "2"):
        shutil.rmtree("data")
        stages = "embed", "probe", "rank", "paradigms"
        subprocess.run(
            [sys.executable, "-c", RUN, *stages],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            check=True,
        )
        made = ("embeddings", "results", "rankings", "paradigms")
        scored.append({name: contents(Path("data", name)) for name in made})
    assert scored[0] == scored[1]
    # Predictions that are all alike would be the same whatever happens.
    rows = pq.read_table("data/results/mine/predictions.parquet").to_pylist()
    found = Counter(name for name, _ in {(row["dataset"], *row["predicted"]) for row in rows})
    assert [name for name, count in found.items() if count == 1] == ["tass2"]
