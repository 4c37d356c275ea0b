"""Benchmark of reading Wikipedia beside wikiextractor: CPU time, memory, and bad pages.

Each program runs in a process of its own over one dump: decompression alone, wikiextractor, and our
`read`: all, leads only, and quotas of 10 % and 1 % of the documents. Ratios are of CPU seconds (of
all processes, user and system) in one run. "start" is what a program costs over five pages; where
figures are without it, it is subtracted from both sides.

The second part parses pages that are nothing but unclosed markup, of 1 MB and of 2 MB: a ratio of
about 2 is time linear in the page's size.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from itertools import product
from multiprocessing import TimeoutError as NoAnswer
from multiprocessing import get_context
from pathlib import Path
from xml.sax.saxutils import escape

from dump_generator import FOOTER, SAMPLE, read_header
from measuring import Cost, generate_command, measure, read_command

from corpora_recipes.recipe import Corpus, load_facts
from corpora_recipes.running.commands import positive

EXAMPLES = """\
examples:
  python tests/bench/bench_wikipedia.py --times 200
  python tests/bench/bench_wikipedia.py eswiki-20260101-pages-articles-multistream.xml.bz2
  python tests/bench/bench_wikipedia.py pages.xml.bz2 --times 64 --runs 3 --only programs
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
GOALS = {FULL: 3, LEADS: 5, TENTH: 15}
SHARES = {FULL: 0.4, LEADS: 0.7}

# Bad pages: these repeated to the size of a page,
REPEATED = (
    *("{{", "[[", "{|", "{", "[", "<", "((", "-{", "{{{", "{{{{", "{{{a|", "[[[", "[[[[", "]]"),
    *("}}", "|}", ">", ")", "'", "''", "'''", "''''", "'''''", "=", "==", "= ", "{{a|", "{{a|b="),
    *("[[a|", "[[File:a|", "[[Archivo:a|thumb|", "[http://a ", "http://a ", "{{#if:", "{{#if:a|"),
    *("{{#switch:a|b=", "{|[[", "{|{{", "[[{{", "{{[[", "({{", "{{{!}}", "|", "||", "!a!!", "*"),
    *("<!--", "-->", "<!-- -->", "<ref>", "<ref", "<ref name=a/>", "<ref>{{", "<ref>[[", "<math>"),
    *("<nowiki>", "<nowiki/>", "<div>", "</div>", "<br ", "<span>", "<table>", "<gallery>", "&#x"),
    *('<a b="', "&", "&amp;", "__TOC__", "~~~~", "a. ", ". ", "«", "(", "[1]", "A.", "1. "),
    *("( , )", "\n", " ", "\u00a0", "\t", "a", "|-\n", "|a\n", "{|\n", "{|\n|-\n", "{|\n|\n"),
    *("* a\n", ":\n", ";a:b\n", "#\n", "=\n", "= a =\n", "== a\n", "\n\n", "{{a\n|b=", "<div>\n"),
    *(" a\n", "a\n", "a\n\n"),
)
# one of these before a page of one of those,
OPENINGS = ("{{a|", "[[a|", "{|\n|", "<ref>", "<!--", "<div>", "'''", "-{", "(", "«", "{{#if:a|")
FILLINGS = ("una palabra ", "Una frase. ", "a, b (c ", "Un párrafo.\n\n", "|b=c\n", "* punto\n")
# and these as often closed as opened, one within the other.
NESTED = (("{{a|", "}}"), ("[[a|", "]]"), ("<div>", "</div>"), ("{|\n|\n", "|}\n"), ("(", ")"))
# Twice the page may take so many times as long before it is flagged.
STEEP = 3.0


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

    def run(name: str, command: list[str], costs: dict[str, Cost] = best) -> Cost:
        cost = measure(command, timeout)
        costs[name] = min(costs.get(name, cost), cost, key=lambda cost: cost.cpu)
        return cost

    for _ in range(runs):
        decompress: list[str] = [sys.executable, "-c", DECOMPRESS]
        run(DECOMPRESSION, [*decompress, str(few)], starts)
        size = int(run(DECOMPRESSION, [*decompress, str(dump)]).output) / 1e6
        for path, costs in ((few, starts), (dump, best)):
            out = folder / "wikiextractor"
            run(WIKIEXTRACTOR, wikiextractor_command(path, out), costs)
            texts = [file.read_bytes() for file in out.rglob("wiki_*")]
            counts[WIKIEXTRACTOR] = sum(text.count(b"\n") for text in texts)
            shutil.rmtree(out)
        out = folder / "read.parquet"
        for name, options in ((FULL, {}), (LEADS, {"sections": "lead"})):
            run(name, read_command(few, out, language, options=options), starts)
            run(name, read_command(dump, out, language, options=options))
            counts[name] = kept(out)
        for name, share in ((TENTH, 0.1), (HUNDREDTH, 0.01)):
            counts[name] = max(1, round(share * counts[FULL]))
            starts[name] = starts[FULL]
            run(name, read_command(dump, out, language, documents=counts[name]))
    return best, starts, counts, size


def wikiextractor_command(dump: Path, out: Path) -> list[str]:
    """Return the command that extracts a dump's text as JSON lines."""
    program = [sys.executable, "-m", "wikiextractor.WikiExtractor", str(dump)]
    return [*program, "--json", "--processes", "1", "-o", str(out), "-q"]


def kept(out: Path) -> int:
    """Return how many documents a `read` wrote, from the counts beside them."""
    return int(json.loads(out.with_suffix(".json").read_bytes())["documents"]["kept"])


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


def pages(sizes: tuple[int, int]) -> Iterator[tuple[str, list[str]]]:
    """Yield a name for each kind of bad page, and pages of such sizes."""
    for unit in REPEATED:
        yield repr(unit), [unit * (size // len(unit)) for size in sizes]
    for opening, filling in product(OPENINGS, FILLINGS):
        name = f"{opening!r} + {filling!r}"
        yield name, [opening + filling * (size // len(filling)) for size in sizes]
    for opening, closing in NESTED:
        depths = [size // len(opening + closing) for size in sizes]
        yield (
            f"{opening!r} … {closing!r}",
            [opening * depth + "a" + closing * depth for depth in depths],
        )


def parse_seconds(folder: Path, text: str) -> float:
    """Return the CPU seconds of reading a dump of one page with this wikitext, after a warm-up."""
    from corpora_recipes.corpora.wikipedia.recipe import blocks, read_block

    facts = load_facts("wikipedia")
    corpus = Corpus("wikipedia", "wikipedia", "es", None, 1111, facts.options, {}, facts)
    path = folder / "eswiki-20260101-pages-articles.xml"
    seconds = []
    for content in (text[:1000], text, text):
        page = (
            "  <page>\n    <title>A</title>\n    <ns>0</ns>\n    <id>1</id>\n    <revision>\n"
            f'      <id>1</id>\n      <text xml:space="preserve">{escape(content)}</text>\n'
            "    </revision>\n  </page>\n"
        )
        path.write_bytes(read_header(SAMPLE) + page.encode() + FOOTER)
        parts = blocks(folder, corpus)
        begin = time.process_time()
        for block in parts:
            read_block(block, corpus)
        seconds.append(time.process_time() - begin)
    return min(seconds[1:])


def answer_within(
    timeout: float, function: Callable[..., float], *arguments: object
) -> float | None:
    """Return what a function gives in a process of its own; None if that takes too long."""
    with get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(function, arguments).get(timeout)
        except NoAnswer:
            return None


def adversarial(folder: Path, megabytes: float, timeout: float) -> None:
    """Print how long pages of bad markup take, and flag those whose time grows too fast."""
    sizes = (round(megabytes * 1e6), round(2 * megabytes * 1e6))
    print(f"\n{'bad page':30} {megabytes:g} MB, s  {2 * megabytes:g} MB, s  ratio")
    steep = 0
    for name, (half, whole) in pages(sizes):
        first = answer_within(timeout, parse_seconds, folder, half)
        second = None if first is None else answer_within(timeout, parse_seconds, folder, whole)
        if first is None or second is None:
            steep += 1
            print(f"{name:30} no end in {timeout:.0f} s  <<<")
            continue
        # Under a hundredth of a second a ratio says nothing.
        flag = "  <<<" if second > STEEP * max(first, 0.01) else ""
        steep += bool(flag)
        print(f"{name:30} {first:8.3f}  {second:8.3f}  {second / first:5.1f}{flag}")
    print(f"{steep} kinds of page take more than {STEEP:g} times as long for twice the size")


def main() -> None:
    """Print the figures of the programs and of the bad pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "dumps", type=Path, nargs="*", metavar="DUMP", help="default: the recipe's sample"
    )
    parser.add_argument(
        "--times",
        type=positive,
        help="make a dump of so many copies of the pages; without, the one DUMP is read as it is",
    )
    parser.add_argument("--language", default="es", help="of the pages (default: es)")
    parser.add_argument("--runs", type=positive, default=1, help="of which the best is taken")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds for a program")
    parser.add_argument("--only", choices=("programs", "adversarial"))
    parser.add_argument("--page-mb", type=float, default=1.0, help="of the smaller bad page")
    parser.add_argument("--page-timeout", type=float, default=60.0, help="seconds for a bad page")
    args = parser.parse_args()
    if args.times is None and len(args.dumps) != 1 and args.only != "adversarial":
        parser.error("give one DUMP, or --times")

    with tempfile.TemporaryDirectory(prefix="probeta-") as name:
        folder = Path(name)
        if args.only != "adversarial":
            file = f"{args.language}wiki-20260101-pages-articles-multistream.xml.bz2"
            few, dump = folder / "few" / file, folder / "dump" / file
            measure(generate_command(few, args.dumps, "pages", FEW), args.timeout)
            if args.times is None:
                dump = args.dumps[0].resolve()
            else:
                measure(generate_command(dump, args.dumps, "times", args.times), args.timeout)
            print(
                f"{dump.name}: {dump.stat().st_size / 1e6:,.1f} MB, best of {args.runs}", flush=True
            )
            report(*programs(dump, few, folder, args.language, args.runs, args.timeout))
        if args.only != "programs":
            adversarial(folder, args.page_mb, args.page_timeout)


if __name__ == "__main__":
    main()
