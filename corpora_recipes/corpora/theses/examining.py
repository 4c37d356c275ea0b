"""Asks an OAI-PMH server who it is and which forms of records it has, for `probeta doctor`."""

from urllib.parse import urlencode

from lxml import etree

from corpora_recipes.fetching.session import look_at
from corpora_recipes.fetching.transfer import read_document
from corpora_recipes.formats.oai import OAI, parse_response
from corpora_recipes.recipe import Finding
from corpora_recipes.running.errors import InputError


def examine_server(name: str, url: str, prefix: str) -> Finding:
    """Return whether a server answers and has records in a form.

    Args:
        name: of the server.
        url: its address for OAI-PMH.
        prefix: of the form, such as "oai_dc".
    """
    # Asked once: what reads documents is patient.
    if fault := look_at(f"{url}?verb=Identify").fault:
        return Finding(name, fault=f"{url}: {fault}")
    try:
        title = _ask(url, "Identify").findtext(f".//{OAI}repositoryName", "")
        formats = _ask(url, "ListMetadataFormats").iter(f"{OAI}metadataPrefix")
        prefixes = [(element.text or "").strip() for element in formats]
    except InputError as error:
        return Finding(name, fault=error.found)
    if prefix not in prefixes:
        offered = ", ".join(prefixes) or "none"
        return Finding(name, fault=f"no records in the form {prefix}; those it has: {offered}")
    return Finding(name, note=f"is {title.strip()!r}, whose size is not known before")


def _ask(url: str, verb: str) -> etree._Element:
    address = f"{url}?{urlencode({'verb': verb})}"
    root = parse_response(read_document([address]), address)
    error = root.find(f"{OAI}error")
    if error is not None:
        raise InputError(
            address,
            expected=f"an answer to {verb}",
            found=f"the error {error.get('code')}: {error.text}",
            todo="check the address in `servers`",
        )
    return root
