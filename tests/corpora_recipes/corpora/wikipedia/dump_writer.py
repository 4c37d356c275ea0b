"""Writes small MediaWiki dumps for tests: multistream with index, one stream, or plain XML."""

import bz2
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from dump_generator import FOOTER, PageXml, write_multistream

from corpora_recipes.corpora.wikipedia.plan import index_path
from corpora_recipes.running.outputs import whole_file

NAMESPACES = {-2: "Medio", -1: "Especial", 0: "", 1: "Discusión", 2: "Usuario", 4: "Wikipedia"}
NAMESPACES |= {6: "Archivo", 8: "MediaWiki", 10: "Plantilla", 12: "Ayuda", 14: "Categoría"}
NAMESPACES |= {100: "Portal", 104: "Anexo", 828: "Módulo"}


@dataclass(frozen=True)
class SamplePage:
    """A page to write: title, wikitext, and what most pages have in common.

    ``slot`` is the text of a second slot (<content>), as content exports have it.
    """

    title: str
    text: str
    id: int | None = None
    ns: int = 0
    redirect: str | None = None
    model: str | None = "wikitext"
    revision: int | None = None
    parent: int | None = None
    time: str = "2026-01-01T00:00:00Z"
    slot: str | None = None


def header(
    version: str = "0.11", wiki: str = "eswiki", namespaces: dict[int, str] | None = None
) -> str:
    """Return everything before the first page."""
    rows = [
        f'      <namespace key="{key}" case="first-letter"'
        + (f">{escape(name)}</namespace>" if name else " />")
        for key, name in (namespaces or NAMESPACES).items()
    ]
    language = wiki.removesuffix("wiki")
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" '
        f'version="{version}" xml:lang="{language}">\n'
        f"  <siteinfo>\n    <sitename>Wikipedia</sitename>\n    <dbname>{wiki}</dbname>\n"
        f"    <base>https://{language}.wikipedia.org/wiki/</base>\n"
        "    <case>first-letter</case>\n    <namespaces>\n"
        + "\n".join(rows)
        + "\n    </namespaces>\n  </siteinfo>\n"
    )


def page_xml(page: SamplePage, page_id: int, version: str = "0.11") -> str:
    """Return the ``<page>`` element as MediaWiki writes it."""
    quote = {'"': "&quot;"}
    redirect = f'    <redirect title="{escape(page.redirect, quote)}" />\n' if page.redirect else ""
    origin = f"      <origin>{page_id}</origin>\n" if version >= "0.11" else ""
    model = f"      <model>{page.model}</model>\n" if page.model else ""
    size = len(page.text.encode())
    revision = 9_000_000 + page_id if page.revision is None else page.revision
    parent = f"      <parentid>{page.parent}</parentid>\n" if page.parent else ""
    slot = (
        "      <content>\n        <role>nota</role>\n        <model>json</model>\n"
        f'        <text bytes="9" xml:space="preserve">{escape(page.slot, quote)}</text>\n'
        "      </content>\n"
        if page.slot
        else ""
    )
    return (
        f"  <page>\n    <title>{escape(page.title, quote)}</title>\n    <ns>{page.ns}</ns>\n"
        f"    <id>{page_id}</id>\n{redirect}    <revision>\n      <id>{revision}</id>\n"
        f"{parent}      <timestamp>{page.time}</timestamp>\n"
        "      <contributor>\n        <username>Muestra</username>\n        <id>1</id>\n"
        f"      </contributor>\n{origin}{model}      <format>text/x-wiki</format>\n"
        f'      <text bytes="{size}" xml:space="preserve">{escape(page.text, quote)}</text>\n'
        f"{slot}    </revision>\n  </page>\n"
    )


def write_dump(
    path: Path,
    pages: Iterable[SamplePage | tuple[str, str]],
    *,
    per_stream: int = 100,
    version: str = "0.11",
    wiki: str = "eswiki",
    namespaces: dict[int, str] | None = None,
    index: bool = True,
) -> Path:
    """Write a dump; the name decides its form.

    ``….xml`` is plain, ``…-multistream.xml.bz2`` has a header stream, streams of ``per_stream``
    pages and a footer stream, with its index beside it unless ``index`` is False, and any other
    ``….xml.bz2`` is one stream. Pages without an id get 10, 17, 24 …
    """
    quote = {'"': "&quot;"}
    rows = []
    for number, item in enumerate(pages):
        page = item if isinstance(item, SamplePage) else SamplePage(*item)
        page_id = page.id if page.id is not None else 10 + 7 * number
        title = escape(page.title, quote).encode()
        rows.append(PageXml(page_id, title, page_xml(page, page_id, version).encode()))
    head = header(version, wiki, namespaces).encode()
    if path.name.endswith("-multistream.xml.bz2"):
        write_multistream(path, head, rows, per_stream=per_stream)
        if not index:
            index_path(path).unlink()
        return path
    data = head + b"".join(row.xml for row in rows) + FOOTER
    with whole_file(path) as part:
        part.write_bytes(data if path.suffix == ".xml" else bz2.compress(data))
    return path
