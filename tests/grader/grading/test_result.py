"""The result's schema: what is written can be read, and docs/result.schema.json says what is written."""

import json

import jsonschema
import msgspec
import pytest
from samples import GRADED, LEAK, RACE, REJECTED

from warpgrade.grading import result
from warpgrade.machine.paths import find_layout

SCHEMA_FILE = find_layout().root / "docs" / "result.schema.json"


FOUND = msgspec.structs.replace(
    GRADED, tests=[msgspec.structs.replace(test, diagnostics=[RACE, LEAK]) for test in GRADED.tests]
)


@pytest.mark.parametrize("sample", [GRADED, REJECTED, FOUND])
def test_results_survive_json_and_match_the_schema(sample: result.Result) -> None:
    raw = result.encode(sample)
    assert result.decode(raw) == sample
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(raw), schema)


def test_the_schema_in_docs_is_the_one_of_the_code() -> None:
    code = "from warpgrade.grading import result; print(result.json_schema().decode(), end='')"
    remake = f'PYTHONPATH=grader .venv/bin/python -c "{code}"'
    assert SCHEMA_FILE.read_bytes() == result.json_schema(), f"remake it: {remake} > docs/result.schema.json"


def test_the_schema_refuses_what_is_no_result() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    for change in ({"status": "passed"}, {"schema": "warpgrade/result/2"}, {"tests": [{"name": "x"}]}):
        broken = {**json.loads(result.encode(GRADED)), **change}
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(broken, schema)
        with pytest.raises(msgspec.ValidationError):
            result.decode(json.dumps(broken).encode())


def test_nobody_changes_a_result_that_is_made_and_no_key_is_read_over() -> None:
    structs = [each for each in vars(result).values() if isinstance(each, type) and issubclass(each, msgspec.Struct)]
    ours = [each for each in structs if each.__module__ == result.__name__]
    assert len(ours) >= 10
    for each in ours:
        config = each.__struct_config__
        assert (each.__name__, config.frozen, config.forbid_unknown_fields) == (each.__name__, True, True)
