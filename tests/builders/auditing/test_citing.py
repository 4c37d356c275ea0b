"""The JSON that can be cited has the fields that the documentation names, and no date."""

import json
import re
from hashlib import sha256
from pathlib import Path

from documentation import PAGES
from test_audit import clean_rows, write_text
from test_audit import quick as quick

from probeta.auditing import audit


def cite(folder: Path) -> bytes:
    """Audit two datasets in a folder, and return what is cited."""
    rows = {split: of_split[:30] for split, of_split in clean_rows().items()}
    rows["test"][0] = rows["train"][0]
    for name in "ab":
        write_text(rows, folder / "theirs" / name)
    audit(folder / "theirs", folder / "audit", cited=folder / "cited.json")
    return (folder / "cited.json").read_bytes()


def test_it_says_what_was_audited_and_by_what(tmp_path: Path) -> None:
    written = cite(tmp_path / "one")
    assert cite(tmp_path / "other") == written
    cited = json.loads(written)
    assert cited["audited"] == {"name": "theirs"}
    facts = cited["datasets"]["a"]
    (file,) = facts["files"]["test"]
    content = (tmp_path / "one" / "theirs" / "a" / "test.txt").read_bytes()
    digest = sha256(content).hexdigest()
    assert file == {"name": "test.txt", "bytes": len(content), "sha256": digest}
    assert facts["verdicts"]["leakage"] == "miss"
    assert facts["rows"] == dict.fromkeys(("train", "validation", "test"), 30)
    (pair, _) = cited["shared"]
    assert (pair["dataset"], pair["whole"], pair["in_train"]) == ("a", 90, 1)


def test_every_field_is_documented(tmp_path: Path) -> None:
    cited = json.loads(cite(tmp_path))
    section = PAGES["docs/audit.md"].split("### JSON to cite")[1]
    described = {
        field: set(re.findall(r"`(\w+)`", row))
        for field, row in re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    }
    assert described.keys() == cited.keys() | {"checks"}
    facts = cited["datasets"]["a"]
    assert set(facts) == described["datasets"]
    missed = next(check for check in facts["checks"] if check["rows"])
    assert set(missed) | set(missed["rows"][0]) == described["checks"]
    assert set(cited["shared"][0]) == described["shared"]
    assert set(cited["audited_by"]) == described["audited_by"]
