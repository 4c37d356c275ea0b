"""Benchmark of reading Wikipedia beside wikiextractor: CPU time and memory.

Each program runs in a process of its own over one dump: wikiextractor, and our `probeta read`: all,
leads only, and quotas of 10 % and 1 % of the documents. Ratios are of CPU seconds
(of all processes, user and system) in one run. "start" is what a program costs over five pages;
where figures are without it, it is subtracted from both sides.
"""

import json
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml
from dump_generator import generate
from measuring import HERE, PROBETA, Cost, main_of, make_parser, measure

from corpora_recipes.running.console import positive
from corpora_recipes.running.outputs import records_of

EXAMPLES = """\
examples:
  python benchmarks/wikipedia.py --times 200
  python benchmarks/wikipedia.py eswiki-20260101-pages-articles-multistream.xml.bz2
  python benchmarks/wikipedia.py pages.xml.bz2 --times 64 --runs 3
"""
# Pages in the dump that is read to know what a start costs.
FEW = 5
WIKIEXTRACTOR = f"wikiextractor {version('wikiextractor')}"
FULL, LEADS = "read", "read, leads"
QUOTAS = {"read, 10 %": 0.1, "read, 1 %": 0.01}
# What each of them has to reach beside wikiextractor.
TARGETS = {FULL: 3.4, LEADS: 4.5, "read, 10 %": 15}


class Programs:
    """The programs, the cheapest run of each, and its number of documents."""

    def __init__(self, folder: Path, language: str) -> None:
        self.folder, self.language = folder, language
        self.costs: dict[tuple[str, Path], Cost] = {}
        self.n_documents: dict[str, int] = {}

    def run_all(self, dump: Path) -> None:
        """Run each program once over a dump."""
        out = self.folder / "wikiextractor"
        command = [sys.executable, "-m", "wikiextractor.WikiExtractor", str(dump), "--json", "-q"]
        self._measure(WIKIEXTRACTOR, dump, [*command, "--processes", "1", "-o", str(out)])
        texts = [file.read_bytes() for file in out.rglob("wiki_*")]
        self.n_documents[WIKIEXTRACTOR] = sum(text.count(b"\n") for text in texts)
        shutil.rmtree(out)
        self.read(FULL, dump)
        self.read(LEADS, dump, sections="lead")

    def read(self, program: str, dump: Path, **options: Any) -> None:
        """Read a dump, the only one in its folder, with options of the corpus."""
        work = self.folder / "read"
        shutil.rmtree(work, ignore_errors=True)
        (work / "mirror").mkdir(parents=True)
        (work / "mirror" / "wikipedia").symlink_to(dump.parent)
        corpus = {"recipe": "wikipedia", "language": self.language, **options}
        params = {"sources": str(work / "mirror"), "corpora": {"wikipedia": {"corpus": corpus}}}
        (work / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
        self._measure(program, dump, [*PROBETA, "read", "--workers", "1"], work)
        counts = json.loads((work / records_of("wikipedia")).with_suffix(".json").read_bytes())
        self.n_documents[program] = counts["documents"]["kept"]

    def _measure(self, program: str, dump: Path, command: list[str], folder: Path = HERE) -> None:
        cost = measure(command, folder)
        best = self.costs.get((program, dump), cost)
        self.costs[program, dump] = min(cost, best)


def report(programs: Programs, dump: Path, few: Path) -> None:
    """Print a row per program, and the ratios."""
    costs = {program: cost for (program, read), cost in programs.costs.items() if read == dump}
    starts = {program: programs.costs.get((program, few), costs[FULL]).cpu for program in costs}
    starts |= dict.fromkeys(QUOTAS, starts[FULL])
    print(f"\n{'':20}    CPU s   start  wall s  peak MB  documents  documents/s")
    for program, cost in costs.items():
        n_documents = programs.n_documents[program]
        print(
            f"{program:20} {cost.cpu:8.2f} {starts[program]:7.2f} {cost.wall:7.2f} {cost.peak:8.0f}"
            f"{n_documents:11} {n_documents / cost.cpu:12,.0f}"
        )

    def net(program: str) -> float:
        return costs[program].cpu - starts[program]

    print(f"\n{WIKIEXTRACTOR} beside:     with starts  without  to reach")
    for program in (FULL, LEADS, *QUOTAS):
        ratio = costs[WIKIEXTRACTOR].cpu / costs[program].cpu
        net_ratio = net(WIKIEXTRACTOR) / net(program)
        print(f"  {program:26} {ratio:10.2f}x {net_ratio:7.2f}x {TARGETS.get(program, ''):>8}")


def benchmark() -> None:
    """Print the figures of the programs."""
    parser = make_parser(__doc__, EXAMPLES)
    about = "default: the recipe's sample"
    parser.add_argument("dumps", type=Path, nargs="*", metavar="DUMP", help=about)
    about = "make a dump of so many copies of the pages; without, the one DUMP is read as it is"
    parser.add_argument("--times", type=positive, help=about)
    parser.add_argument("--language", default="es", help="of the pages (default: es)")
    parser.add_argument("--runs", type=positive, default=1, help="the best is taken (default: 1)")
    args = parser.parse_args()
    if args.times is None and len(args.dumps) != 1:
        parser.error("give one DUMP, or --times")

    with tempfile.TemporaryDirectory(prefix="probeta-") as name:
        folder = Path(name)
        file = f"{args.language}wiki-20260101-pages-articles-multistream.xml.bz2"
        few, dump = folder / "few" / file, folder / "dump" / file
        generate(few, args.dumps, pages=FEW)
        if args.times is None:
            dump = args.dumps[0].resolve()
        else:
            generate(dump, args.dumps, times=args.times)
        print(f"{dump.name}: {dump.stat().st_size / 1e6:,.1f} MB, best of {args.runs}", flush=True)
        programs = Programs(folder, args.language)
        for _ in range(args.runs):
            programs.run_all(few)
            programs.run_all(dump)
            for program, share in QUOTAS.items():
                quota = max(1, round(share * programs.n_documents[FULL]))
                programs.read(program, dump, documents=quota)
        report(programs, dump, few)


if __name__ == "__main__":
    main_of(benchmark)
