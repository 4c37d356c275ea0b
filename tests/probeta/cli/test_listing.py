"""`probeta schema`: the JSON Schema that is shipped, and which files name it."""

import json
from pathlib import Path

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from probeta.cli import main
from probeta.cli.init import params_text
from probeta.cli.listing import params_type

SHIPPED = "docs/params.schema.json"


def test_the_shipped_schema_is_what_the_verb_writes(repository, tmp_path, capsys) -> None:
    shipped = (repository / SHIPPED).read_text("utf-8")
    assert main(["schema", "--out", str(tmp_path / "schema.json")]) == 0
    assert (tmp_path / "schema.json").read_text("utf-8") == shipped
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == shipped
    assert set(json.loads(shipped)["properties"]) >= {"seed", "corpora", "rankings", "probing"}


@pytest.mark.parametrize("language", ["", "ca"])
def test_files_of_parameters_name_the_schema_and_fit_its_type(repository: Path, language) -> None:
    text = params_text("ca") if language else (repository / "params.yaml").read_text("utf-8")
    assert text.splitlines()[0] == f"# yaml-language-server: $schema={SHIPPED}"
    adapter = TypeAdapter(params_type())
    params = yaml.safe_load(text)
    adapter.validate_python(params)
    first = next(entry["datasets"] for entry in params["corpora"].values() if entry["datasets"])
    next(iter(first.values()))["vresion"] = "1.0.0"
    with pytest.raises(ValidationError):
        adapter.validate_python(params)
