"""What a package states of each dataset for mteb's metadata: the origin and rights of its texts.

`package` writes it as mteb.json, from which tasks of mteb are made (``evaluation/exchange``).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from builders.packaging.config import Config
from builders.tasks import ranking
from builders.tasks.groups import BSO, CONN, DC, DR, NUC, PDTB_E, PDTB_I, SP, SSP
from corpora_recipes.facts import Provenance

_DISCOURSE = (SP, BSO, DC, SSP, DR, PDTB_E, PDTB_I, NUC, CONN)
# An article in a citation of corpus.yaml; it matches nothing else, such as a web page.
_ARTICLE = re.compile(
    r"^(?:.*First used for evaluation by |.*for ordering sentences by )?(?P<author>\w.+?) "
    r"\((?P<year>\d{4})\)\. (?P<title>.+?)[.?] (?P<note>.+?\.?)(?: (?P<url>https?://\S+?))?"
    r"\.?(?: (?:—|The) .+)?$"
)


def mteb_facts(configs: Sequence[Config], built: str) -> dict[str, dict[str, Any]]:
    """Return dataset to fields of ``mteb.TaskMetadata``; what is not known is None.

    Args:
        built: when texts were collected of which corpus.yaml names no years, as in 2026-01-31.

    Returns:
        reference, date, domains, task_subtypes, annotations_creators, dialect, adapted_from,
        sample_creation, bibtex_citation and is_public as there; license_url, if the texts are of
        one corpus; scale, the lowest and the highest score.
    """
    return {config.dataset.name: _facts(config, built) for config in configs}


def _facts(config: Config, built: str) -> dict[str, Any]:
    corpora = [origin.corpus.facts for origin in config.origins]
    cited = [text for facts in corpora for text in facts.citation.splitlines()]
    cited += [ranking.CITATION] if config.is_ranking else []
    constructed = config.task.constructed
    discourse = ["Discourse coherence"] if config.task.group in _DISCOURSE else []
    found: dict[str, Any] = {
        "reference": next((facts.homepage for facts in corpora if facts.homepage), None),
        "license_url": corpora[0].licence_url if len(corpora) == 1 else None,
        "bibtex_citation": "\n".join(filter(None, map(_bibtex, dict.fromkeys(cited)))),
        "is_public": not config.is_restricted,
        "scale": config.facts.scale if config.facts else None,
    }
    known = [*_provenances(config)]
    texts = [each for each in known if each]
    if len(texts) < len(known):
        return found
    spans = [(f"{s.years[0]}-01-01", f"{s.years[1]}-12-31") for s in texts if s.years]
    spans += [(built, built)] if len(spans) < len(texts) else []
    ways = {each.creation for each in texts}
    return found | {
        "date": [min(first for first, _ in spans), max(last for _, last in spans)],
        "domains": sorted({name for each in texts for name in each.domains}),
        "task_subtypes": discourse or sorted({name for each in texts for name in each.subtypes}),
        "annotations_creators": "derived" if constructed else texts[0].annotations,
        "dialect": sorted({code for each in texts for code in each.dialects}),
        "adapted_from": sorted({name for each in texts for name in each.adapted_from}) or None,
        "sample_creation": "multiple" if len(ways) > 1 else ways.pop(),
    }


def _provenances(config: Config) -> Iterator[Provenance | None]:
    """Yield what is known of each corpus or collection that the texts are from."""
    corpora = {origin.corpus.name: origin.corpus.facts for origin in config.origins}
    if not config.is_ranking:
        for facts in corpora.values():
            yield (config.facts and config.facts.provenance) or facts.provenance
    parts = [*config.parts.get("pairs", ()), *config.parts.get("background", ())]
    for name in dict.fromkeys(parts):
        corpus, _, collection = name.partition("/")
        of_part = corpora[corpus].collections[collection].provenance if collection else None
        yield of_part or corpora[corpus].provenance


def _bibtex(citation: str) -> str:
    """Return an article as an entry of BibTeX; "" for what is no article."""
    if not (match := _ARTICLE.match(citation)):
        return ""
    fields = {name: text for name, text in match.groupdict().items() if text}
    authors = re.split(r", | and ", fields["author"].replace(" and others", ", others"))
    plain = unicodedata.normalize("NFKD", f"{authors[0].split()[-1]}{fields['year']}")
    fields["author"] = " and ".join(authors)
    lines = (f"  {name} = {{{text}}},\n" for name, text in sorted(fields.items()))
    return f"@misc{{{re.sub(r'[^a-z0-9]', '', plain.lower())},\n{''.join(lines)}}}\n"
