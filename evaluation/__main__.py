"""The command line: python -m evaluation embed | probe | invariance | report."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora_recipes.commands import positive, run
from corpora_recipes.errors import InputError
from corpora_recipes.params import load_params

_EXAMPLES = """\
examples:
  python -m evaluation embed char_hash --instances dist/hub --out data/embeddings/char_hash
  python -m evaluation probe char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/results/char_hash.json
  python -m evaluation invariance --instances dist/hub --out data/invariance.json
  python -m evaluation report data/results/*.json --audit dist/hub/audit.json --out reports
"""
_EMBED = """\
examples:
  python -m evaluation embed char_hash --instances dist/hub --out data/embeddings/char_hash
  python -m evaluation embed use_multilingual --instances dist/hub \\
      --out data/embeddings/use_multilingual --workers 2

Every sentence is encoded once, whichever datasets it is in. A run that was killed goes on where it
stopped; a run with nothing new encodes nothing.
"""
_PROBE = """\
examples:
  python -m evaluation probe char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/results/char_hash.json

The results do not depend on the number of workers. `probing: {pair_features: four_part}` in
params.yaml probes pairs on [x1, x2, x1*x2, |x1-x2|] in place of [|x1-x2|, x1*x2].
"""
_INVARIANCE = """\
examples:
  python -m evaluation invariance --instances dist/hub --out data/invariance.json

Every dataset is probed five times, on a part of its rows: its embeddings scaled, the datasets in
reverse, Python hashing with another seed. Fails, after writing, if the answers change.
"""
_REPORT = """\
examples:
  python -m evaluation report data/results/*.json --audit dist/hub/audit.json --out reports
  python -m evaluation report data/results/*.json --audit dist/hub/audit.json \\
      --invariance data/invariance.json --out reports

Writes report.md, scores.svg, scores.png and metrics.json into the folder.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code: 0, or 1 for bad input."""
    options = _parser().parse_args(arguments)
    return run(lambda: options.run(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation",
        description="From instances to scores.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    embed = _command(commands, "embed", "encode the sentences of all instances", _EMBED)
    _encoder(embed)
    _common(embed, "seed and encoders")
    embed.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder of the encoder's store"
    )
    embed.set_defaults(run=_embed)

    probe = _command(commands, "probe", "fit and score a probe for every dataset", _PROBE)
    _encoder(probe)
    _common(probe, "seed, encoders and probing")
    probe.add_argument(
        "--embeddings", type=Path, required=True, metavar="DIR", help="folder that embed wrote"
    )
    probe.add_argument(
        "--out", type=Path, required=True, metavar="FILE.json", help="file for the results"
    )
    probe.set_defaults(run=_probe)

    invariance = _command(
        commands, "invariance", "measure what scores must not depend on (gate 10)", _INVARIANCE
    )
    _common(invariance, "seed and probing")
    invariance.add_argument(
        "--out", type=Path, required=True, metavar="FILE.json", help="file for the measurements"
    )
    invariance.set_defaults(run=_invariance)

    report = _command(commands, "report", "write the tables and figures", _REPORT)
    _params(report, "encoders; results of one that is not there are left out")
    report.add_argument("results", type=Path, nargs="+", metavar="RESULT.json")
    report.add_argument(
        "--audit",
        type=Path,
        required=True,
        metavar="AUDIT.json",
        help="file that `python -m builders audit` wrote, with the trivial baselines",
    )
    report.add_argument(
        "--invariance", type=Path, metavar="FILE.json", help="file that invariance wrote"
    )
    report.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write to")
    report.set_defaults(run=_report)
    return parser


def _command(commands: Any, name: str, summary: str, examples: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _encoder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "encoder", metavar="ENCODER", help="key of an entry of `encoders` in params.yaml"
    )


def _common(parser: argparse.ArgumentParser, params: str) -> None:
    parser.add_argument(
        "--instances", type=Path, required=True, metavar="DIR", help="folder of the instances"
    )
    _params(parser, params)
    parser.add_argument(
        "--workers",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of processes (default: one a core)",
    )


def _params(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--params",
        type=Path,
        default=Path("params.yaml"),
        metavar="FILE",
        help=f"where to find {what} (default: params.yaml)",
    )


def _embed(options: argparse.Namespace) -> None:
    from evaluation.embeddings import embed
    from evaluation.encoders import make_encoder
    from evaluation.features import unique_texts
    from evaluation.instances import find_datasets

    _, params = _read_params(options.params, options.encoder)
    encoder = make_encoder(options.encoder, params)
    datasets = find_datasets(options.instances)
    texts: set[str] = set().union(*(unique_texts(d, encoder.form) for d in datasets))
    new = embed(options.out, encoder, texts, options.workers)
    print(f"{options.encoder}: {len(texts)} texts in {len(datasets)} datasets, {new} encoded now")


def _probe(options: argparse.Namespace) -> None:
    from evaluation.encoders import make_encoder
    from evaluation.instances import find_datasets
    from evaluation.results import probe_datasets, write_results

    content, params = _read_params(options.params, options.encoder)
    encoder = make_encoder(options.encoder, params)
    results = probe_datasets(
        options.encoder,
        encoder,
        find_datasets(options.instances),
        options.embeddings,
        seed=content["seed"],
        pair_features=content["probing"]["pair_features"],
        workers=options.workers,
    )
    write_results(results, options.out)
    for score in results.scores:
        beside = "Pearson" if score.majority is None else f"majority {100 * score.majority:.1f}"
        print(f"{score.dataset}: {100 * score.value:.1f} ({beside})")


def _invariance(options: argparse.Namespace) -> None:
    from evaluation.invariance import measure

    content = load_params(options.params)
    report = measure(
        options.instances,
        options.out,
        seed=content["seed"],
        workers=options.workers,
        pair_features=content["probing"]["pair_features"],
    )
    print(f"{len(report['datasets'])} datasets: scale, order and hash seed change no scores")


def _report(options: argparse.Namespace) -> None:
    from evaluation.report import write_report
    from evaluation.results import read_results

    listed = load_params(options.params)["encoders"]
    results = [read_results(path) for path in options.results]
    for path, result in zip(options.results, results, strict=True):
        if result.name not in listed:
            print(f"left out {path}: {result.name} is not in params.yaml", file=sys.stderr)
    shown = [result for result in results if result.name in listed]
    write_report(shown, options.audit, options.out, options.invariance)


def _read_params(path: Path, encoder: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the whole of params.yaml and the entry of an encoder."""
    content = load_params(path)
    encoders = content["encoders"]
    if encoder not in encoders:
        raise InputError(
            path,
            expected=f"an encoder of {', '.join(map(str, encoders))}",
            found=repr(encoder),
            todo="add it under `encoders`, or name one that is there",
        )
    options = encoders[encoder] or {}
    if not isinstance(options, dict):
        raise InputError(
            f"{path}: encoders.{encoder}",
            expected="options, such as {dimension: 512}",
            found=repr(options),
            todo="correct the entry",
        )
    return content, options


if __name__ == "__main__":
    sys.exit(main())
