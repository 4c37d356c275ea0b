"""The JSON that can be cited has the fields that the documentation names, and no date."""

import json
import re
from hashlib import sha256
from pathlib import Path

from documentation import PAGES
from test_audit import clean_rows, write_text

from builders.auditing.auditing import audit


def test_it_says_what_was_audited_and_by_what(tmp_path: Path) -> None:
    rows = {split: own[:30] for split, own in clean_rows().items()}
    rows["test"][0] = rows["train"][0]
    for place in ("one", "other"):
        write_text(rows, tmp_path / place / "theirs" / "a")
        write_text(rows, tmp_path / place / "theirs" / "b")
        report = audit(
            tmp_path / place / "theirs",
            tmp_path / place / "audit",
            cited=tmp_path / f"{place}.json",
        )
    written = (tmp_path / "one.json").read_bytes()
    assert (tmp_path / "other.json").read_bytes() == written
    said = json.loads(written)
    assert said["audited"] == {"name": "theirs"}
    (file,) = said["datasets"]["a"]["files"]["test"]
    content = (tmp_path / "one" / "theirs" / "a" / "test.txt").read_bytes()
    digest = sha256(content).hexdigest()
    assert file == {"name": "test.txt", "bytes": len(content), "sha256": digest}
    assert said["datasets"]["a"]["verdicts"]["leakage"] == "miss"
    assert said["datasets"]["a"]["rows"] == report["datasets"]["a"]["rows"]
    (pair, _) = said["shared"]
    assert (pair["dataset"], pair["whole"], pair["in_train"]) == ("a", 90, 1)


def test_every_field_is_documented(tmp_path: Path) -> None:
    rows = {split: own[:30] for split, own in clean_rows().items()}
    rows["test"][0] = rows["train"][0]
    for name in "ab":
        write_text(rows, tmp_path / "theirs" / name)
    audit(tmp_path / "theirs", tmp_path / "audit", cited=tmp_path / "cited.json")
    cited = json.loads((tmp_path / "cited.json").read_bytes())
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
