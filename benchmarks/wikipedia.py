"""Benchmark of reading Wikipedia beside wikiextractor: CPU time and memory.

Each program runs in a process of its own over one dump: decompression alone, wikiextractor, and our
`probeta read`: all, leads only, and quotas of 10 % and 1 % of the documents. Ratios are of CPU
seconds (of all processes, user and system) in one run. "start" is what a program costs over five
pages; where figures are without it, it is subtracted from both sides.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import yaml
from measuring import HERE, HOUR, PROBETA, Cost, measure, parser_of

from corpora_recipes.running.console import positive
from corpora_recipes.running.outputs import records_of

EXAMPLES = """\
examples:
  python benchmarks/wikipedia.py --times 200
  python benchmarks/wikipedia.py eswiki-20260101-pages-articles-multistream.xml.bz2
  python benchmarks/wikipedia.py pages.xml.bz2 --times 64 --runs 3
"""
DECOMPRESS = """\
import bz2, sys
size = 0
with bz2.open(sys.argv[1]) as dump:
    while chunk := dump.read(1 << 20):
        size += len(chunk)
print(size)
"""
# Pages in the dump that is read to know what a start costs.
FEW = 5
DECOMPRESSION, WIKIEXTRACTOR = "decompression", f"wikiextractor {version('wikiextractor')}"
FULL, LEADS, TENTH, HUNDREDTH = "read", "read, leads", "read, 10 %", "read, 1 %"
# What each of them has to reach beside wikiextractor.
GOALS = {FULL: 3.4, LEADS: 4.5, TENTH: 15}
SHARES = {FULL: 0.4, LEADS: 0.7}


def programs(
    dump: Path, few: Path, folder: Path, language: str, runs: int, timeout: float
) -> tuple[dict[str, Cost], dict[str, Cost], dict[str, int], float]:
    """Run all programs over a dump and over one of a few pages, so many times.

    Returns:
        The cheapest run of each over the dump, and over the few pages; the documents of each; MB
        of XML.
    """
    best: dict[str, Cost] = {}
    starts: dict[str, Cost] = {}
    counts: dict[str, int] = {}
    size = 0.0

    def note(name: str, cost: Cost, costs: dict[str, Cost] = best) -> Cost:
        costs[name] = min(costs.get(name, cost), cost, key=lambda cost: cost.cpu)
        return cost

    def read_anew(path: Path, **options: object) -> tuple[Cost, int]:
        work = folder / "read"
        shutil.rmtree(work, ignore_errors=True)
        cost = measure(read_command(path, work, language, options), work, timeout)
        counted = json.loads((work / records_of("wikipedia")).with_suffix(".json").read_bytes())
        return cost, int(counted["documents"]["kept"])

    for _ in range(runs):
        decompress = [sys.executable, "-c", DECOMPRESS]
        note(DECOMPRESSION, measure([*decompress, str(few)], timeout=timeout), starts)
        cost = note(DECOMPRESSION, measure([*decompress, str(dump)], timeout=timeout))
        size = int(cost.output) / 1e6
        for path, costs in ((few, starts), (dump, best)):
            out = folder / "wikiextractor"
            command = [sys.executable, "-m", "wikiextractor.WikiExtractor", str(path)]
            command += ["--json", "--processes", "1", "-o", str(out), "-q"]
            note(WIKIEXTRACTOR, measure(command, timeout=timeout), costs)
            texts = [file.read_bytes() for file in out.rglob("wiki_*")]
            counts[WIKIEXTRACTOR] = sum(text.count(b"\n") for text in texts)
            shutil.rmtree(out)
        for name, options in ((FULL, {}), (LEADS, {"sections": "lead"})):
            note(name, read_anew(few, **options)[0], starts)
            cost, counts[name] = read_anew(dump, **options)
            note(name, cost)
        for name, share in ((TENTH, 0.1), (HUNDREDTH, 0.01)):
            starts[name] = starts[FULL]
            cost, counts[name] = read_anew(dump, documents=max(1, round(share * counts[FULL])))
            note(name, cost)
    return best, starts, counts, size


def read_command(dump: Path, work: Path, language: str, options: Mapping[str, object]) -> list[str]:
    """Lay out a run that reads a dump, in a new folder; return the command to run there.

    The dump is the only one in its folder, with its index; options are those of the corpus.
    """
    mirror = work / "mirror"
    mirror.mkdir(parents=True)
    (mirror / "wikipedia").symlink_to(dump.parent)
    corpus = {"recipe": "wikipedia", "language": language, **options}
    params = {"sources": str(mirror), "corpora": {"wikipedia": {"corpus": corpus}}}
    (work / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    return [*PROBETA, "read", "--workers", "1"]


def report(
    best: dict[str, Cost], starts: dict[str, Cost], counts: dict[str, int], size: float
) -> None:
    """Print a row for each program, and the ratios."""
    print(f"\n{'':20}    CPU s   start  wall s  peak MB  documents  MB/s XML  documents/s")
    for name, cost in best.items():
        count = counts.get(name, 0)
        speed = "" if name in (TENTH, HUNDREDTH) else f"{size / cost.cpu:.1f}"
        rate = f"{count / cost.cpu:,.0f}" if count else ""
        print(
            f"{name:20} {cost.cpu:8.2f} {starts[name].cpu:7.2f} {cost.wall:7.2f} {cost.peak:8.0f} "
            f"{count or '':>10} {speed:>9} {rate:>12}"
        )
    theirs, their_start = best[WIKIEXTRACTOR].cpu, starts[WIKIEXTRACTOR].cpu
    print(f"\n{WIKIEXTRACTOR} beside:     with starts  without  to reach")
    for name in (FULL, LEADS, TENTH, HUNDREDTH):
        whole, net = best[name].cpu, best[name].cpu - starts[name].cpu
        goal = f"{GOALS[name]:8}" if name in GOALS else ""
        print(f"  {name:26} {theirs / whole:10.2f}x {(theirs - their_start) / net:7.2f}x {goal}")
    bare, bare_start = best[DECOMPRESSION].cpu, starts[DECOMPRESSION].cpu
    print("decompression's share of:")
    for name in (FULL, LEADS):
        whole, net = best[name].cpu, best[name].cpu - starts[name].cpu
        share, net_share = bare / whole, (bare - bare_start) / net
        print(f"  {name:26} {share:10.1%}  {net_share:7.1%}  {SHARES[name]:7.0%}")


def main() -> None:
    """Print the figures of the programs."""
    parser = parser_of(__doc__, EXAMPLES)
    about = "default: the recipe's sample"
    parser.add_argument("dumps", type=Path, nargs="*", metavar="DUMP", help=about)
    about = "make a dump of so many copies of the pages; without, the one DUMP is read as it is"
    parser.add_argument("--times", type=positive, help=about)
    parser.add_argument("--language", default="es", help="of the pages (default: es)")
    parser.add_argument("--runs", type=positive, default=1, help="of which the best is taken")
    parser.add_argument("--timeout", type=float, default=HOUR, help="seconds for a program")
    args = parser.parse_args()
    if args.times is None and len(args.dumps) != 1:
        parser.error("give one DUMP, or --times")

    with tempfile.TemporaryDirectory(prefix="probeta-") as name:
        folder = Path(name)
        file = f"{args.language}wiki-20260101-pages-articles-multistream.xml.bz2"
        few, dump = folder / "few" / file, folder / "dump" / file
        # Not in this process, which has to stay small.
        given = [path.resolve() for path in args.dumps]
        make = [sys.executable, str(HERE / "dump_generator.py"), *map(str, given)]
        measure([*make, "--pages", str(FEW), "--out", str(few)])
        if args.times is None:
            dump = given[0]
        else:
            measure([*make, "--times", str(args.times), "--out", str(dump)])
        print(f"{dump.name}: {dump.stat().st_size / 1e6:,.1f} MB, best of {args.runs}", flush=True)
        report(*programs(dump, few, folder, args.language, args.runs, args.timeout))


if __name__ == "__main__":
    main()
