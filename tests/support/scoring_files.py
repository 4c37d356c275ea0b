"""Writes a folder of datasets, as `package` does, to score an encoder on."""

import json
from pathlib import Path

from instance_files import row, write_dataset

from builders.audit_report import FORMAT


def write_hub(folder: Path) -> Path:
    """Write two datasets with labels, one with scores, one without either; and an audit."""
    rows = [
        row(i, i % 2, sentences=["Primero salió.", f"Luego volvió {i}."][:: 1 if i % 2 else -1])
        for i in range(30)
    ]
    splits = {"train": rows[:16], "validation": rows[16:22], "test": rows[22:]}
    write_dataset(folder / "bso_own", "sentence_ordering", splits)
    rows = [row(i, i % 2, sentence=f"{'Nada' if i % 2 else 'Todo'} {i}.") for i in range(30)]
    splits = {"train": rows[:16], "validation": rows[16:22], "test": rows[22:]}
    write_dataset(folder / "tass_own", "sentence_classification", splits)
    pairs = [
        row(i, None, score=float(i), sentence1="uno dos tres", sentence2="uno " * i + "cuatro")
        for i in range(5)
    ]
    write_dataset(folder / "sts_own", "similarity", {"test": pairs})
    words = [
        {"id": word, "text": word, "tokens": word, "positives": [], "document_id": word}
        for word in ("faro", "tren")
    ]
    write_dataset(folder / "words", "word_ranking", {"test": words})
    checks = [
        {"gate": "baselines", "what": what, "value": value, "limit": None, "verdict": "pass"}
        | {"correlation": False}
        for what, value in {"majority": 0.9, "length": 0.6, "bag_of_words": 0.7}.items()
    ]
    audited = {"rows": {"train": 16, "validation": 6, "test": 8}, "inherited": {}, "checks": checks}
    other = audited | {"rows": {"train": 1, "validation": 1, "test": 1}}
    report = {"format": FORMAT, "datasets": {"bso_own": audited, "tass_own": other}}
    (folder / "audit.json").write_text(json.dumps(report))
    return folder
