"""Benchmark of how the cost of reading Wikipedia grows with the dump and with the workers.

Dumps of several sizes are made of the same pages. A full read should cost as much CPU time for each
page of a large dump as of a small one, a quota of documents the same in any of them, and memory
should not grow. CPU seconds are those of all processes, user and system, with the start of the
program; the peak is that of the driver and that of its largest worker.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import Cost, generate_command, measure, read_command

from corpora_recipes.running.commands import positive

EXAMPLES = """\
examples:
  python tests/bench/bench_scaling.py --times 20
  python tests/bench/bench_scaling.py pages.xml.bz2 --times 8 --factors 1 4 16 --workers 1 2 4
"""
LIST = """\
import sys, time
from pathlib import Path
from corpora_recipes.params import load_corpus
from corpora_recipes.recipe import load_recipe
corpus = load_corpus(Path(sys.argv[1]), "wikipedia")
recipe = load_recipe(corpus.recipe)
begin = time.process_time()
recipe.blocks(Path(sys.argv[2]), corpus)
print(time.process_time() - begin)
"""
# A quota read of the largest dump beside one of the smallest; MB of a worker and of the driver.
FLAT, WORKER, DRIVER = 1.2, 150, 500


def row(what: str, workers: int, cost: Cost, more: str = "") -> None:
    """Print the figures of one read."""
    worker = f"{cost.worker:9.0f}" if workers > 1 else " " * 9
    print(
        f"  {what:15} {workers:7} {cost.cpu:8.2f} {cost.wall:8.2f} {cost.driver:10.0f} {worker}"
        f"  {more}".rstrip(),
        flush=True,
    )


def main() -> None:
    """Print a row of figures for each dump and number of workers, and their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "dumps", type=Path, nargs="*", metavar="DUMP", help="default: the recipe's sample"
    )
    parser.add_argument(
        "--times", type=positive, default=20, help="copies of the pages at factor 1 (default: 20)"
    )
    parser.add_argument("--factors", type=positive, nargs="+", default=[1, 4, 16])
    parser.add_argument("--workers", type=positive, nargs="+", default=[1, 2])
    parser.add_argument(
        "--documents", type=positive, default=1000, help="the quota (default: 1000)"
    )
    parser.add_argument("--language", default="es", help="of the pages (default: es)")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds for a read")
    parser.add_argument("--runs", type=positive, default=1, help="of which the best is taken")
    args = parser.parse_args()

    full: dict[tuple[int, int], Cost] = {}
    quota: dict[tuple[int, int], Cost] = {}
    listing: dict[int, float] = {}
    with tempfile.TemporaryDirectory(prefix="probeta-") as name:
        folder = Path(name)
        out = folder / "read.parquet"

        def cheapest(command: list[str]) -> Cost:
            costs = [measure(command, args.timeout) for _ in range(args.runs)]
            return min(costs, key=lambda cost: cost.cpu)

        def generate(size: str, number: int) -> Path:
            file = f"{args.language}wiki-20260101-pages-articles-multistream.xml.bz2"
            dump = folder / f"{size}-{number}" / file
            made = measure(generate_command(dump, args.dumps, size, number), args.timeout)
            print(made.output.strip().replace(f"{dump}", f"{size} {number}"))
            return dump

        few = generate("pages", 5)
        print(f"  {'':15} workers    CPU s   wall s  driver MB worker MB")
        starts = {
            workers: cheapest(read_command(few, out, args.language, workers=workers))
            for workers in args.workers
        }
        for workers, cost in starts.items():
            row("start", workers, cost, "five pages: one block, so one worker at most")
        for factor in args.factors:
            dump = generate("times", args.times * factor)
            for workers in args.workers:
                cost = cheapest(read_command(dump, out, args.language, workers=workers))
                full[factor, workers] = cost
                row("all", workers, cost)
            listed = cheapest(
                [sys.executable, "-c", LIST, str(out.with_suffix(".yaml")), str(dump.parent)]
            )
            listing[factor] = float(listed.output)
            for workers in args.workers:
                command = read_command(
                    dump, out, args.language, documents=args.documents, workers=workers
                )
                cost = quota[factor, workers] = cheapest(command)
                parts = starts[workers].cpu, listing[factor]
                more = "CPU: start {:.2f}, listing {:.3f}, reading {:.2f}".format(
                    *parts, cost.cpu - sum(parts)
                )
                row(f"{args.documents:,} documents", workers, cost, more)
            for path in dump.parent.iterdir():
                path.unlink()

    first, last = min(args.factors), max(args.factors)
    print(f"\nx{last} beside x{first}, CPU seconds (in brackets without the start):")
    for workers in args.workers:
        start = starts[workers].cpu
        small, large = full[first, workers], full[last, workers]
        work = last / first
        print(
            f"  {workers} workers, all: {large.cpu / small.cpu:.2f} "
            f"({(large.cpu - start) / (small.cpu - start):.2f}) for {work:g} times the pages; "
            f"wall {large.wall / small.wall:.2f}"
        )
        few_cost, many = quota[first, workers], quota[last, workers]
        print(
            f"  {workers} workers, {args.documents:,} documents: {many.cpu / few_cost.cpu:.2f} "
            f"({(many.cpu - start) / (few_cost.cpu - start):.2f}); to reach: {FLAT} at most"
        )
    print(f"listing: {listing[first]:.3f} s at x{first}, {listing[last]:.3f} s at x{last}")
    one = min(args.workers)
    for workers in args.workers:
        slow, fast = full[last, one], full[last, workers]
        print(
            f"{workers} workers beside {one} at x{last}: wall {slow.wall / fast.wall:.2f} times as "
            f"fast for {fast.cpu / slow.cpu:.2f} times the CPU seconds"
        )
    drivers = max(cost.driver for cost in full.values())
    workers_peak = max(cost.worker for cost in full.values())
    print(
        f"peaks: driver {drivers:.0f} MB (at most {DRIVER}), "
        f"worker {workers_peak:.0f} MB (at most {WORKER})"
    )


if __name__ == "__main__":
    main()
