"""Benchmark of reading a quota of films from archives of subtitle files: time and peak memory.

A quota of films should cost the same whatever the archive holds besides, and four times as many
films about four times as much, beyond the start and the listing of the archive.
"""

import resource
import tempfile
import time
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from measuring import parser_of

from corpora_recipes.corpora.opensubtitles import recipe
from corpora_recipes.reading import read
from corpora_recipes.recipe import Corpus, load_facts

WHO = ("mi hermana", "el capitán", "la vecina", "tu padre", "nadie", "el médico", "la jueza")
DOES = ("ha visto", "busca", "quiere vender", "se llevó", "conoce", "esconde", "pidió")
WHAT = ("la barca", "las llaves", "el reloj", "los planos", "una carta", "el sombrero", "la casa")
WHEN = ("esta noche", "antes del alba", "el martes", "como siempre", "sin decir nada", "por ti")


def subtitle(number: int, lines: int) -> str:
    """Return a subtitle file of invented lines; the number makes it another one."""
    parts = [f'<?xml version="1.0" encoding="utf-8"?>\n<document id="{number}">']
    for i in range(lines):
        n = number * 31 + i * 17
        who, does = WHO[n % 7], DOES[n // 7 % 7]
        what, when = WHAT[n // 49 % 7], WHEN[n // 343 % 6]
        text = (
            f"¿{who.capitalize()} {does} {what} {when}?" if n % 3 else f"- No, {who} {does} {what}."
        )
        parts.append(
            f'  <s id="{i}">\n    <time id="T{i}S" value="00:00:{i % 60:02},000" />\n{text}\n  </s>'
        )
    return "\n".join([*parts, "</document>\n"])


def write_archive(path: Path, members: int, lines: int) -> None:
    """Write an archive of so many subtitle files, every fourth another version of its film."""
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(members):
            film = number - (number % 4 == 3)
            name = f"OpenSubtitles/raw/es/{1950 + film % 70}/{film}/{number}.xml"
            archive.writestr(name, subtitle(number, lines))


def measure(raw: Path, quota: int, out: Path) -> tuple[float, float, float]:
    """Read the quota; return seconds of listing, of all, and this process's peak in MB."""
    facts = load_facts("opensubtitles")
    corpus = Corpus("opensubtitles", "opensubtitles", "es", quota, 1111, facts.options, {}, facts)
    begin = time.perf_counter()
    recipe.blocks(raw, corpus)
    listed = time.perf_counter() - begin
    begin = time.perf_counter()
    read(corpus, raw, out, workers=1, executor="local")
    seconds = time.perf_counter() - begin
    return listed, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print a row of figures for each archive and quota, and their ratios."""
    parser = parser_of(__doc__, "example: python benchmarks/opensubtitles.py --lines 100")
    parser.add_argument("--members", type=int, nargs="+", default=[12_500, 50_000])
    parser.add_argument("--quotas", type=int, nargs="+", default=[1, 200, 800])
    parser.add_argument("--lines", type=int, default=60, help="lines a film (default: 60)")
    args = parser.parse_args()

    rows: dict[tuple[int, int], tuple[float, float, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for members in args.members:
            raw = Path(folder) / str(members)
            write_archive(raw / "raw" / "es.zip", members, args.lines)
            size = (raw / "raw" / "es.zip").stat().st_size / 1e6
            print(f"{members:,} members, {size:,.0f} MB")
            for quota in args.quotas:
                # A new process for each, whose peak is its own.
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                    row = pool.submit(measure, raw, quota, raw / "out.parquet").result()
                rows[members, quota] = row
                print(
                    f"  {quota:6,} films: {row[1]:6.2f} s, of which listing {row[0]:.2f} s; "
                    f"peak {row[2]:.0f} MB"
                )
    first, last = args.members[0], args.members[-1]
    for quota in args.quotas:
        (_, less, low), (_, more, high) = rows[first, quota], rows[last, quota]
        print(
            f"{quota:,} films of {last:,} members beside {first:,}: {more / less:.2f} times the "
            f"time, {high / low:.2f} times the peak"
        )
    for members in args.members:
        few, many = rows[members, args.quotas[-2]], rows[members, args.quotas[-1]]
        print(
            f"{args.quotas[-1]:,} films beside {args.quotas[-2]:,} of {members:,} members: "
            f"{many[1] / few[1]:.2f} times the time, {many[2] / few[2]:.2f} times the peak"
        )


if __name__ == "__main__":
    main()
