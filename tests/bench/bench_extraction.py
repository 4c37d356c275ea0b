"""Compares our text of Wikipedia pages with wikiextractor's: damage, leftovers, what is missing."""

import argparse
import csv
import html
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from dump_generator import read_header, read_pages

from builders.auditing import damage
from corpora_recipes.corpora.wikipedia import prose, wikiextractor
from corpora_recipes.corpora.wikipedia.dump import read_site
from corpora_recipes.corpora.wikipedia.page import Page, Site, parse_page
from corpora_recipes.corpora.wikipedia.recipe import sections_of
from corpora_recipes.corpora.wikipedia.templates import (
    FORMULA,
    HOLE,
    NOTHING,
    SILENT,
)
from corpora_recipes.corpora.wikipedia.wikitext import Article, Parser
from corpora_recipes.records import Drops
from corpora_recipes.text.cleaning import clean
from corpora_recipes.text.sentences import split_sentences
from corpora_recipes.text.tidying import tidy, tidy_sentences

EXAMPLES = """\
examples:
  python tests/bench/bench_extraction.py eswiki-20260101-pages-articles-multistream.xml.bz2
  python tests/bench/bench_extraction.py pt.wiki.xml.bz2 --language pt --differences pt.tsv
  python tests/bench/bench_extraction.py big.xml.bz2 --pages 5000 --words 6

A good sentence of wikiextractor's is one in which the audit's detector finds no fault once entities
are resolved, that ends in a stop, has at least --words words and is no heading, in a page that we
take for an article. Ours may have it exactly; nearly (the same letters); split otherwise (its
letters stand in our text in a row); with more words, where wikiextractor lost some without a trace;
or not, because it stands outside prose (in a list, a quotation, a table) or was dropped. The last
two make the rows of --differences: what of ours is most like it, and the line of wikitext.
"""
PAGES_A_BATCH = 400
STOPS = (".", "!", "?", "…")
LEFTOVER = re.compile(
    r"(?P<braces>[{}])|(?P<brackets>\[\[|\]\]|\[\s*\])|(?P<tag></?[a-zA-Z][^<>]*>|<!--|-->)"
    r"|(?P<quotes>'')|(?P<entity>&#?\w{2,31};)|(?P<url>://|\bwww\.)|(?P<bar>\|)"
    r"|(?P<heading>==)|(?P<magic>__\w+__)|(?P<placeholder>\bformula_\d)|(?P<mark>[\ufdd0-\ufdef])"
)
_QUOTES = str.maketrans("“”„‟«»″‘’‚‛′", '"""""""' + "'''''")
_SHOWN = str.maketrans({NOTHING: None, SILENT: None, HOLE: "□", FORMULA: "■"})
# What wikiextractor writes for a formula or for code.
_PLACEHOLDER = re.compile(r"\b(?:formula|codice)_\d")
_TAGS = re.compile(r"\s*(?:<[^<>]*>\s*)+")
# What a line begins with that is no prose: wikiextractor takes many of these lines for prose.
NO_PROSE = {" ": "preformatted", "|": "table", "!": "table"} | dict.fromkeys("*#:;•·", "list")
# So much of a sentence's words must be in another for this to be the same one, changed.
LIKE = 0.6


@dataclass(slots=True)
class Mine:
    """What we make of a page: sentences kept, and (reason, text) of those dropped."""

    kept: list[str]
    headings: list[str]
    dropped: list[tuple[str, str]]


@dataclass(slots=True)
class Figures:
    """Counts over pages."""

    pages: Counter[str] = field(default_factory=Counter)
    drops: Drops = field(default_factory=Drops)
    sentences: Counter[str] = field(default_factory=Counter)
    faults: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    leftover: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)


def read_dump(path: Path) -> tuple[Site, Iterator[bytes]]:
    """Return what the header of a dump says, and its pages; bare ``<page>`` elements will do."""
    site = read_site(path) if read_header(path) else Site("", ())
    return site, read_pages(path)


def articles(
    pages: Iterable[bytes], site: Site, parser: Parser, figures: Figures
) -> Iterator[tuple[str, str, str, Article]]:
    """Yield (id, title, wikitext, parsed page) of the articles; the others are counted."""
    for raw in pages:
        page: Page = parse_page(raw, site)
        if page.namespace != 0 or page.redirect or page.model != "wikitext":
            figures.pages["no article"] += 1
            continue
        article = parser.parse(page.title(), page.text())
        figures.pages["disambiguation" if article.disambiguation else "article"] += 1
        if not article.disambiguation:
            yield page.id, page.title(), page.text(), article


def mine(article: Article, language: str, drops: Drops) -> Mine:
    """Return our sentences of a page, and what was dropped of it."""
    sections = next(sections_of([article], language, drops))
    kept = [sentence for s in sections for run in s.paragraphs for sentence in run]
    dropped = []
    there = {letters(sentence) for sentence in kept}
    for paragraph in (p for block in article.blocks for p in block.paragraphs):
        texts = split_sentences(tidy(clean(paragraph.translate(_SHOWN)), language), language)
        if lost := [text for text in texts if letters(text) not in there]:
            counts = Drops()
            prose.sentences([paragraph], language, counts)
            if reasons := "+".join(sorted(reason for _, reason in counts.dropped)):
                dropped += [(reasons, text) for text in lost]
    return Mine(kept, [section.heading for section in sections], dropped)


def theirs(
    pages: list[tuple[str, str, str, Article]], site: Site, language: str
) -> dict[str, list[str]]:
    """Return the sentences that wikiextractor makes of pages, by page id."""
    return {
        page_id: [
            sentence
            for block in article.blocks
            for paragraph in block.paragraphs
            for sentence in tidy_sentences(clean(paragraph), language)
        ]
        for page_id, _, _, article in wikiextractor.extract(iter(pages), site, language)
    }


def normal(sentence: str) -> str:
    """Return the sentence with one kind of blank and of quotation marks."""
    return " ".join(unicodedata.normalize("NFC", sentence).translate(_QUOTES).split())


def letters(sentence: str) -> str:
    """Return the letters and digits of a sentence, without regard to case."""
    return "".join(c for c in unicodedata.normalize("NFKC", sentence).casefold() if c.isalnum())


def words(sentence: str) -> list[str]:
    """Return the words of a sentence, without regard to case."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", sentence).casefold())


def is_good(sentence: str, language: str, least: int) -> bool:
    """Tell whether a sentence looks whole: no fault is found, it ends, and it has words."""
    return (
        sentence.rstrip("\"'»”’›)]").endswith(STOPS)
        and len([word for word in words(sentence) if word[0].isalpha()]) >= least
        and not _PLACEHOLDER.search(sentence)
        and not damage.faults(sentence, language)
    )


def within(short: list[str], long: list[str]) -> bool:
    """Tell whether the words of one stand in another in this order, with more between them."""
    rest = iter(long)
    return all(word in rest for word in short)


def compare(
    good: list[str], own: Mine, title: str, text: str, figures: Figures
) -> Iterator[tuple[str, ...]]:
    """Count which good sentences are ours too; yield a row for each other one."""
    exact = {normal(sentence) for sentence in own.kept}
    near = {letters(sentence) for sentence in own.kept}
    running = "".join(letters(sentence) for sentence in own.kept)
    candidates = [("", s, words(s)) for s in own.kept]
    candidates += [(reason, s, words(s)) for reason, s in own.dropped]
    for sentence in good:
        same = letters(sentence)
        if normal(sentence) in exact:
            figures.good["exactly"] += 1
        elif same in near:
            figures.good["nearly"] += 1
        elif same in running:
            figures.good["split otherwise"] += 1
        else:
            kind, like, line = _difference(words(sentence), candidates, text)
            figures.good[kind.partition(":")[0]] += 1
            figures.missing[kind] += 1
            yield kind, title, sentence, like, line


def _difference(
    own: list[str], candidates: list[tuple[str, str, list[str]]], text: str
) -> tuple[str, str, str]:
    """Say what became of a sentence that ours lacks.

    Args:
        own: its words.
        candidates: (reason of dropping or "", text, words) of the sentences of ours.
        text: wikitext of the page.

    Returns:
        What became of it, the sentence of ours that is most like it, and the line of wikitext.
    """
    share, reason, like = 0.0, "", ""
    for why, other, other_words in candidates:
        found = len(set(own) & set(other_words)) / len(set(own))
        if found > share or (found == share and reason and not why):
            share, reason, like = found, why, other
    start, line = _place(own, text)
    where = _outside_prose(text[:start], line)
    if share >= LIKE and reason:
        return f"not: dropped, {reason}", like, line
    if share >= LIKE and within(own, words(like)):
        return "with more words", like, line
    if where:
        return f"outside prose: {where}", "", line
    return ("not: other words", like, line) if share >= LIKE else ("not: nothing like it", "", line)


def _place(of: list[str], text: str) -> tuple[int, str]:
    """Return where the line of wikitext begins that has most of a sentence's words in a row."""
    triples = set(zip(of, of[1:], of[2:], strict=False))
    best, start, place = 0, 0, (0, "")
    for line in text.split("\n"):
        there = words(line)
        found = len(triples & set(zip(there, there[1:], there[2:], strict=False)))
        if found > best:
            best, place = found, (start, line)
        start += len(line) + 1
    return place


def _outside_prose(before: str, line: str) -> str:
    """Name what a line of wikitext belongs to if that is no running prose, else ""."""
    if line[:1] in tuple(NO_PROSE):
        return NO_PROSE[line[0]]
    tags = _TAGS.match(line)
    before = (before + (tags[0] if tags else "")).lower()
    if before.count("<blockquote") > before.count("</blockquote"):
        return "quotation"
    if before.count("\n{|") > before.count("\n|}"):
        return "table"
    if before.count("{{") > before.count("}}"):
        return "template"
    return "heading" if "<h" in line[:2] else ""


def measure(sentences: list[str], whose: str, language: str, figures: Figures) -> None:
    """Count a page's sentences, and the faults that the audit's detector finds in them."""
    for sentence in sentences:
        figures.sentences[whose] += 1
        found = damage.faults(sentence, language)
        figures.faults[whose].update({damage.group_of(name) for name in found})
        figures.faults[whose].update(found)
        figures.faults[whose]["any"] += bool(found)


def percent(part: int, whole: int) -> str:
    """Return a share with two decimals."""
    return f"{100 * part / whole:.2f} %" if whole else "–"


def report(name: str, figures: Figures) -> None:
    """Print the counts."""
    print(f"\n{name}: " + ", ".join(f"{n:,} {kind}" for kind, n in figures.pages.items()))
    for whose, number in figures.sentences.items():
        faults = figures.faults[whose]
        groups = ", ".join(f"{group} {percent(faults[group], number)}" for group in damage.FAULTS)
        print(f"  {whose}: {number:,} sentences; with a fault {percent(faults['any'], number)}")
        print(f"    {groups}")
        names = Counter({k: n for k, n in faults.items() if k not in damage.FAULTS and k != "any"})
        print("    " + ", ".join(f"{k} {n}" for k, n in names.most_common(8)))
    left = ", ".join(f"{kind} {n}" for kind, n in figures.leftover.items())
    print(f"  markup left in ours: {sum(figures.leftover.values())} {left}")
    dropped = {k[1]: n for k, n in figures.drops.dropped.most_common() if k[0] == "sentences"}
    seen = figures.drops.seen["sentences"]
    print(f"  of {seen:,} sentences seen dropped: {percent(sum(dropped.values()), seen)}")
    print("    " + ", ".join(f"{reason} {n}" for reason, n in dropped.items()))
    good = figures.good.total()
    kinds = ", ".join(f"{kind} {n}" for kind, n in figures.good.items())
    print(f"  of wikiextractor's {good:,} good sentences in ours: {kinds}")
    have = sum(figures.good[kind] for kind in ("exactly", "nearly", "split otherwise"))
    whole = good - figures.good["with more words"]
    prose_ = whole - figures.good["outside prose"]
    print(
        f"    in ours {percent(have, good)}; of those that lost no words {percent(have, whole)}; "
        f"of those in running prose {percent(have, prose_)}"
    )
    print("    " + "; ".join(f"{kind} {n}" for kind, n in figures.missing.most_common()))


def main() -> None:
    """Print the figures of each dump."""
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dumps", type=Path, nargs="+", help=".xml or .xml.bz2")
    parser.add_argument("--language", default="es", help="of all dumps (default: es)")
    parser.add_argument("--pages", type=int, help="stop after so many pages of a dump")
    parser.add_argument("--words", type=int, default=4, help="in a good sentence (default: 4)")
    parser.add_argument(
        "--differences",
        type=Path,
        metavar="FILE",
        help="write those that ours lacks (tab-separated)",
    )
    args = parser.parse_args()
    rows = []
    for path in args.dumps:
        site, pages = read_dump(path)
        figures = Figures()
        reader = articles(
            islice(pages, args.pages), site, Parser(args.language, site.namespaces), figures
        )
        while batch := list(islice(reader, PAGES_A_BATCH)):
            texts = theirs(batch, site, args.language)
            for page_id, title, text, article in batch:
                own = mine(article, args.language, figures.drops)
                measure(own.kept, "ours", args.language, figures)
                for sentence in [*own.kept, *own.headings]:
                    figures.leftover.update(str(m.lastgroup) for m in LEFTOVER.finditer(sentence))
                found = texts.get(page_id, [])
                measure(found, "wikiextractor", args.language, figures)
                titles = {letters(prose.heading(block.heading)) for block in article.blocks}
                resolved = [clean(html.unescape(sentence)) for sentence in found]
                good = [
                    sentence
                    for sentence in resolved
                    if is_good(sentence, args.language, args.words)
                    and letters(sentence) not in titles
                ]
                rows += [(path.name, *row) for row in compare(good, own, title, text, figures)]
        report(path.name, figures)
    if args.differences:
        with args.differences.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t", quoting=csv.QUOTE_NONE, escapechar="\\")
            writer.writerow(("dump", "kind", "title", "wikiextractor", "ours", "wikitext"))
            writer.writerows([cell.replace("\t", " ") for cell in row] for row in rows)


if __name__ == "__main__":
    main()
