"""The package's description in Croissant 1.0, MLCommons' vocabulary for datasets, as JSON-LD."""

import json
from collections.abc import Sequence
from typing import Any

from builders.packaging.config import LISTED_CLASSES, Config
from builders.tasks.task import Kind

# The context of the specification: http://mlcommons.org/croissant/1.0, "Metadata Format"; and of
# its extension on responsible AI, http://mlcommons.org/croissant/RAI/1.0.
_TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format "
    "includes isLiveDataset jsonPath key md5 parentField path recordSet references regex "
    "repeated replace samplingRate separator source subField transform"
)
_CONTEXT: dict[str, Any] = {
    **{term: f"cr:{term}" for term in _TERMS.split()},
    **{"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/"},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
}
CONTEXT = dict(sorted(_CONTEXT.items()))
CREATOR = "The Probeta project"
USE = (
    "To measure sentence encoders and language models, by probes, rankings and questions. Not to "
    "train what is measured with it."
)
PREPROCESSING = (
    "Rows are made from raw corpora by keyed hashing, and audited; the page of each dataset counts "
    "what was left out, and why. Texts are natural; the same as spaCy tokens are beside them."
)
BIASES = (
    "The texts are those of their sources, and have their topics, registers and points of view; "
    "nothing was done to balance these. Classes are as frequent as in the source, or equally so."
)
_TYPES: dict[Kind, str] = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
}


def croissant(
    configs: Sequence[Config],
    published: str,
    limitations: Sequence[str],
    hub: tuple[str, str] | None = None,
) -> str:
    """Return the description of a package, a line for each of its parts.

    A dataset is a set of files, and a record set with a field for each column, of which ``split``
    is one. The digests of the files are in audit.json: of a set of files Croissant has none.

    Args:
        published: the date of the latest version of any dataset, as in 2026-01-31.
        limitations: what their users should know, a sentence each.
        hub: the repository and the tag that it is to be published as, if any.
    """
    url = f"https://huggingface.co/datasets/{hub[0]}/tree/{hub[1]}" if hub else ""
    description = _description(configs, published, limitations, url)
    text = json.dumps(description, ensure_ascii=False, separators=(",", ":"))
    # Nothing in a string: there, quotation marks are escaped.
    return text.replace('{"@type"', '\n{"@type"') + "\n"


def _description(
    configs: Sequence[Config], published: str, limitations: Sequence[str], url: str
) -> dict[str, Any]:
    licences = sorted({origin.licence for config in configs for origin in config.origins})
    citations = sorted({text for config in configs for text in config.citations})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "name": "Probeta",
        "description": "Benchmarks for sentence encoders, rebuilt from raw corpora: "
        + ", ".join(config.dataset.name for config in configs)
        + ".",
        "version": _version(configs),
        "datePublished": published,
        "creator": {"@type": "sc:Organization", "name": CREATOR},
        **({"url": url} if url else {}),
        "license": licences,
        "citeAs": " ".join(citations),
        "inLanguage": sorted({config.dataset.language for config in configs}),
        "isLiveDataset": False,
        "rai:dataUseCases": USE,
        "rai:dataPreprocessingProtocol": PREPROCESSING,
        "rai:dataBiases": BIASES,
        "rai:dataLimitations": limitations,
        "rai:personalSensitiveInformation": _personal(configs),
        "distribution": [_files(config.dataset.name) for config in configs],
        "recordSet": [_records(config) for config in configs],
    }


def _files(dataset: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileSet",
        "@id": f"{dataset}/",
        "encodingFormat": "application/x-parquet",
        "includes": f"{dataset}/*.parquet",
    }


def _records(config: Config) -> dict[str, Any]:
    name, labels = config.dataset.name, config.labels
    classes = ", ".join(f"{number} {label}" for number, label in enumerate(labels))
    if len(labels) > LISTED_CLASSES:
        classes = f"{len(labels):,}"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": config.summary + (f". Classes: {classes}" if labels else "") + ".",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "description": about,
                "dataType": _TYPES[kind],
                **({"repeated": True} if kind == "strings" else {}),
                "source": {"fileSet": {"@id": f"{name}/"}, "extract": {"column": column}},
            }
            for column, (kind, about) in config.columns.items()
        ],
    }


def _personal(configs: Sequence[Config]) -> list[str]:
    """Return what the texts of each corpus say of people, and whom to ask for removal."""
    found = {}
    for origin in (origin for config in configs for origin in config.origins):
        facts = origin.corpus.facts
        if origin.sample:
            found[facts.name] = "the sample's texts are invented."
        elif facts.people:
            found[facts.name] = f"{facts.people.texts} For removal: {facts.people.removal}"
    return [f"{name}: {' '.join(text.split())}" for name, text in sorted(found.items())]


def _version(configs: Sequence[Config]) -> str:
    """Return the highest version of the datasets, as Croissant has only one for all."""
    return max((c.dataset.version for c in configs), key=lambda v: [*map(int, v.split("."))])
