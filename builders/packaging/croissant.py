"""The package's description in Croissant 1.0, MLCommons' vocabulary for datasets, as JSON-LD."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders.packaging.card import Config
from builders.store.shards import datasets_in
from builders.tasks.task import Kind
from corpora_recipes.hashing import sha256_of

# The context of the specification: http://mlcommons.org/croissant/1.0, "Metadata Format".
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "recordSet": "cr:recordSet",
    "repeated": "cr:repeated",
    "sc": "https://schema.org/",
    "source": "cr:source",
}
_TYPES: dict[Kind, str] = {
    "string": "sc:Text",
    "strings": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
}


def croissant(configs: Sequence[Config], folder: Path) -> dict[str, Any]:
    """Return the description of a package.

    Every shard is a file with its SHA-256; its rows are a record set with one field per column.

    Args:
        configs: the datasets.
        folder: of the package, with ``<dataset>/<split>-….parquet``.
    """
    by_name = {config.dataset.name: config for config in configs}
    files, records = [], []
    for name, split, paths in datasets_in(folder):
        for path in paths:
            where = path.relative_to(folder).as_posix()
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": where,
                    "name": where,
                    "contentUrl": where,
                    "encodingFormat": "application/x-parquet",
                    "sha256": sha256_of(path),
                }
            )
            records.append(_record_set(by_name[name], split, where))
    licences = sorted({origin.licence for config in configs for origin in config.origins})
    citations = sorted({text for config in configs for text in config.citations})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "Probeta",
        "description": "Benchmarks for sentence encoders, rebuilt from raw corpora: "
        + ", ".join(by_name)
        + ".",
        "version": _version(configs),
        "license": licences,
        "citeAs": " ".join(citations),
        "inLanguage": sorted({config.dataset.language for config in configs}),
        "isLiveDataset": False,
        "distribution": files,
        "recordSet": records,
    }


def _record_set(config: Config, split: str, file: str) -> dict[str, Any]:
    name = file.removesuffix(".parquet")
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": f"{name}/{column}",
            "description": about,
            "dataType": _TYPES[kind],
            **({"repeated": True} if kind == "strings" else {}),
            "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
        }
        for column, (kind, about) in config.columns.items()
    ]
    classes = ", ".join(f"{number} {label}" for number, label in enumerate(config.labels))
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{config.dataset.name}, {split}."
        + (f" Classes: {classes}." if classes else ""),
        "field": fields,
    }


def _version(configs: Sequence[Config]) -> str:
    """Return the highest version of the datasets, as Croissant has only one for all."""
    return max((c.dataset.version for c in configs), key=lambda v: [*map(int, v.split("."))])
