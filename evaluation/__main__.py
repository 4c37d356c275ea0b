"""The command line: python -m evaluation list, embed, probe, rank, paradigms and so on."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora_recipes.commands import positive, run
from corpora_recipes.errors import InputError
from corpora_recipes.params import load_params

if TYPE_CHECKING:
    from evaluation.encoders import Encoder

_EXAMPLES = """\
examples:
  python -m evaluation list
  python -m evaluation embed char_hash --instances dist/hub --out data/embeddings/char_hash
  python -m evaluation probe char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/results/char_hash
  python -m evaluation rank char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/rankings/char_hash
  python -m evaluation paradigms char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/paradigms/char_hash.json
  python -m evaluation invariance --instances dist/hub --out data/invariance.json
  python -m evaluation report data/results/* --instances dist/hub \\
      --audit dist/hub/audit.json --out reports
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
      --embeddings data/embeddings/char_hash --out data/results/char_hash

The results do not depend on the number of workers. In params.yaml, `probing: {protocol: senteval}`
probes by the schedule of the papers, five times; `pair_features: four_part` probes pairs on
[x1, x2, x1*x2, |x1-x2|] in place of [|x1-x2|, x1*x2].
"""
_RANK = """\
examples:
  python -m evaluation rank char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/rankings/char_hash

EvalRank (Wang et al. 2022) on the datasets of `rankings` in params.yaml: how high each positive
stands among all other texts. `evalrank` in params.yaml says by which similarities, and after which
post-processing of the vectors. The folder has the ranks of all pairs, too.
"""
_PARADIGMS = """\
examples:
  python -m evaluation paradigms char_hash --instances dist/hub \\
      --embeddings data/embeddings/char_hash --out data/paradigms/char_hash.json

ParaLex (Sumbler et al. 2018): whether the words of a cluster are found among the neighbours of two
of them, and of each other. An encoder that is a file of word vectors is asked among its own words,
and like all others among those of the language's word rankings. `paralex` in params.yaml has the
coherence threshold and the casings.
"""
_INVARIANCE = """\
examples:
  python -m evaluation invariance --instances dist/hub --out data/invariance.json

Every dataset is probed five times, on a part of its rows: its embeddings scaled, the datasets in
reverse, Python hashing with another seed; always by the protocol `standard`. Fails, after writing,
if the answers change.
"""
_REPORT = """\
examples:
  python -m evaluation report data/results/* --instances dist/hub \\
      --audit dist/hub/audit.json --out reports
  python -m evaluation report data/results/* --instances dist/hub \\
      --audit dist/hub/audit.json --invariance data/invariance.json \\
      --rankings data/rankings/* --paradigms data/paradigms/* --out reports

Writes index.html, one page that needs no network, report.md, tables.tex, figures and metrics.json
into the folder.
"""
_LIST = """\
examples:
  python -m evaluation list

Checks the entries, too, and that packages, files and functions are there, without loading a model.
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

    listing = _command(commands, "list", "show the encoders of params.yaml", _LIST)
    _params(listing, "encoders and probing")
    listing.set_defaults(run=_list)

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
    _embeddings(probe)
    probe.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the results"
    )
    probe.set_defaults(run=_probe)

    rank = _command(commands, "rank", "rank what means the same (EvalRank)", _RANK)
    rank.set_defaults(run=_rank)
    paradigms = _command(commands, "paradigms", "complete paradigms of words (ParaLex)", _PARADIGMS)
    paradigms.set_defaults(run=_paradigms)
    for command, section, metavar, what in (
        (rank, "evalrank", "DIR", "folder"),
        (paradigms, "paralex", "FILE.json", "file"),
    ):
        _encoder(command)
        _instances(command)
        _params(command, f"seed, encoders and {section}")
        _embeddings(command)
        command.add_argument(
            "--out", type=Path, required=True, metavar=metavar, help=f"{what} for the results"
        )

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
    report.add_argument(
        "results", type=Path, nargs="+", metavar="DIR", help="folders that probe wrote"
    )
    report.add_argument(
        "--instances",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder of the instances that were probed, some of which are shown",
    )
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
    report.add_argument(
        "--rankings",
        type=Path,
        nargs="*",
        default=[],
        metavar="DIR",
        help="folders that rank wrote",
    )
    report.add_argument(
        "--paradigms",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE.json",
        help="files that paradigms wrote",
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


def _instances(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--instances", type=Path, required=True, metavar="DIR", help="folder of the instances"
    )


def _embeddings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--embeddings", type=Path, required=True, metavar="DIR", help="folder that embed wrote"
    )


def _common(parser: argparse.ArgumentParser, params: str) -> None:
    _instances(parser)
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


def _list(options: argparse.Namespace) -> None:
    from evaluation.probing import make_probing

    content = load_params(options.params)
    make_probing(content["probing"])
    for name in content["encoders"]:
        encoder = _make_encoder(options.params, content, name)
        encoder.check()
        entry = content["encoders"][name] or {}
        said = ", ".join(f"{key} {value}" for key, value in entry.items() if key != "encoder")
        print(f"{name}: {encoder.name}" + (f" ({said})" if said else ""))
    print("probing: " + ", ".join(f"{key} {value}" for key, value in content["probing"].items()))


def _embed(options: argparse.Namespace) -> None:
    from evaluation.coverage import measure_coverage
    from evaluation.embeddings import embed
    from evaluation.features import unique_texts
    from evaluation.instances import find_datasets
    from evaluation.paradigms.vocabulary import write_vocabulary

    encoder = _make_encoder(options.params, load_params(options.params), options.encoder)
    datasets = find_datasets(options.instances)
    texts: set[str] = set().union(*(unique_texts(d, encoder.form) for d in datasets))
    new = embed(options.out, encoder, texts, options.workers)
    print(f"{options.encoder}: {len(texts)} texts in {len(datasets)} datasets, {new} encoded now")
    if any(dataset.task == "paradigms" for dataset in datasets):
        words = write_vocabulary(options.out, encoder)
        if words is not None:
            print(f"{options.encoder}: {words} words of its own, to look for neighbours among")
    if counts := measure_coverage(encoder, datasets, options.out):
        tokens = sum(own["tokens"] for own in counts)
        unknown = sum(own["out_of_vocabulary"] for own in counts) / max(1, tokens)
        print(f"{options.encoder}: {unknown:.1%} of {tokens} tokens are not in its vocabulary")


def _probe(options: argparse.Namespace) -> None:
    from evaluation.instances import find_probed
    from evaluation.probing import make_probing, probe_datasets
    from evaluation.results import predictions_table, write_results

    content = load_params(options.params)
    encoder = _make_encoder(options.params, content, options.encoder)
    results, predictions = probe_datasets(
        options.encoder,
        encoder,
        find_probed(options.instances),
        options.embeddings,
        seed=content["seed"],
        probing=make_probing(content["probing"]),
        workers=options.workers,
    )
    tables = (
        predictions_table(score.dataset, score.layer, own)
        for score, own in zip(results.scores, predictions, strict=True)
    )
    write_results(results, tables, options.out)
    for score in results.main:
        beside = "Pearson" if score.majority is None else f"majority {100 * score.majority:.1f}"
        print(f"{score.dataset}: {100 * score.value:.1f} ({beside})")


def _rank(options: argparse.Namespace) -> None:
    from evaluation.instances import find_datasets
    from evaluation.ranking.evaluating import rank_datasets
    from evaluation.ranking.results import write_rankings

    content = load_params(options.params)
    results, ranks = rank_datasets(
        options.encoder,
        _make_encoder(options.params, content, options.encoder),
        find_datasets(options.instances),
        options.embeddings,
        seed=content["seed"],
        **content["evalrank"],
    )
    write_rankings(results, ranks, options.out)
    for score in results.plain:
        print(f"{score.dataset}: MRR {100 * score.mrr:.1f} ({score.similarity})")


def _paradigms(options: argparse.Namespace) -> None:
    from evaluation.instances import find_datasets
    from evaluation.paradigms.evaluating import evaluate_paradigms
    from evaluation.paradigms.results import write_paradigms

    content = load_params(options.params)
    results = evaluate_paradigms(
        options.encoder,
        _make_encoder(options.params, content, options.encoder),
        find_datasets(options.instances),
        options.embeddings,
        seed=content["seed"],
        **content["paralex"],
    )
    write_paradigms(results, options.out)
    for score in results.main:
        print(
            f"{score.dataset} ({score.vocabulary} vocabulary, {score.casing.replace('_', ' ')}): "
            f"suggestion {100 * score.suggestion:.1f}, coherence {100 * score.coherence:.1f}"
        )
    for dataset, reason in results.left_out.items():
        print(f"{dataset}: not scored: {reason}")


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
    from evaluation.paradigms.results import read_paradigms
    from evaluation.ranking.results import read_rankings
    from evaluation.report import write_report
    from evaluation.results import read_results

    listed = load_params(options.params)["encoders"]

    def is_listed(name: str, path: Path) -> bool:
        if name not in listed:
            print(f"left out {path}: {name} is not in params.yaml", file=sys.stderr)
        return name in listed

    probed = [(read_results(folder), folder) for folder in options.results]
    ranked = [(read_rankings(folder), folder) for folder in options.rankings]
    completed = [(read_paradigms(file), file) for file in options.paradigms]
    write_report(
        [(own, folder) for own, folder in probed if is_listed(own.name, folder)],
        options.instances,
        options.audit,
        options.out,
        options.invariance,
        rankings=[(own, folder) for own, folder in ranked if is_listed(own.name, folder)],
        paradigms=[own for own, file in completed if is_listed(own.name, file)],
    )


def _make_encoder(path: Path, content: Mapping[str, Any], name: str) -> "Encoder":
    """Make the encoder of an entry of params.yaml."""
    from evaluation.encoders import make_encoder

    encoders = content["encoders"]
    if name not in encoders:
        raise InputError(
            path,
            expected=f"an encoder of {', '.join(map(str, encoders))}",
            found=repr(name),
            todo="add it under `encoders`, or name one that is there",
        )
    options = encoders[name] or {}
    if not isinstance(options, dict):
        raise InputError(
            f"{path}: encoders.{name}",
            expected="options, such as {dimension: 512}",
            found=repr(options),
            todo="correct the entry",
        )
    return make_encoder(name, options)


if __name__ == "__main__":
    sys.exit(main())
