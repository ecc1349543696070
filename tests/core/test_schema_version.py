"""The version of schemas: written first, absent in older records, and checked when read."""

import pytest

from ghp_agents.core import fields, front_matter
from ghp_agents.core.front_matter import Document
from ghp_agents.core.schema_version import UnknownSchemaError, unversioned, versioned


def test_the_version_is_the_first_field_of_a_record() -> None:
    assert [*versioned({"b": 1, "a": 2})] == ["schemaVersion", "b", "a"]
    assert fields.dump({}) == b'{\n  "schemaVersion": 1\n}\n'
    assert (
        front_matter.render(Document({"a": 1}, "b")) == b"---\nschemaVersion: 1\na: 1\n---\n\nb\n"
    )


def test_a_record_without_a_version_is_of_the_first_one() -> None:
    assert unversioned({"a": 1}) == unversioned({"schemaVersion": 1, "a": 1}) == {"a": 1}
    assert fields.parse(b'{"a": 1}') == fields.parse(b'{"schemaVersion": 1, "a": 1}') == {"a": 1}


@pytest.mark.parametrize("version", [2, 0, "2.1", None, [1]])
def test_an_unknown_version_is_no_record_of_this_program(version: object) -> None:
    shown = f"its schemaVersion is {version}, and this program knows 1"
    with pytest.raises(UnknownSchemaError) as caught:
        unversioned({"schemaVersion": version})
    assert str(caught.value) == shown


def test_a_long_or_hostile_version_is_shown_short() -> None:
    with pytest.raises(UnknownSchemaError) as caught:
        unversioned({"schemaVersion": "\x1b[31m\n" + "x" * 1_000})
    assert len(str(caught.value)) < 100
    assert str(caught.value).isprintable()
