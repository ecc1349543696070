"""Metadata: what is kept, and what is refused from somebody's hands and in others' records."""

import json

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.core.metadata import (
    DEPTH,
    LIMIT,
    NO_METADATA,
    any_metadata,
    as_metadata,
    as_object,
    checked,
)

GOOD = {"ticket": "X-1", "é": [1, {"b": None, "c": 1.5}]}
BAD = [
    "",
    "ticket",
    "[]",
    "null",
    '{"a": NaN}',
    '{"a": 1e999}',
    '{"a": "\\ud800"}',
    json.dumps({"a": "x" * LIMIT}),
    json.dumps({"a": "é" * (LIMIT // 6)}),
    '{"a":' + "[" * (DEPTH + 1) + "]" * (DEPTH + 1) + "}",
    "[" * 100_000,
]


def test_an_object_stays_as_it_is_and_fits_on_a_line_of_ascii() -> None:
    line = checked(json.dumps(GOOD))
    assert line == '{"ticket":"X-1","\\u00e9":[1,{"b":null,"c":1.5}]}'
    assert any_metadata(line) == any_metadata(GOOD) == as_metadata(GOOD) == line
    assert as_object(line) == GOOD
    assert (checked("{}"), as_object(NO_METADATA)) == ("", {})
    assert len(checked(json.dumps({"a": "x" * (LIMIT - 8)}))) == LIMIT


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_no_small_flat_object_is_refused_and_read_as_nothing(text: str) -> None:
    with pytest.raises(UsageError, match=r"The metadata is not valid: .+\.") as caught:
        checked(text)
    assert "--metadata @FILE" in caught.value.hint
    assert any_metadata(text) == NO_METADATA


@pytest.mark.parametrize("value", [None, 1, [], {"a": float("nan")}, {"a": "\ud800"}])
def test_a_value_of_anothers_record_is_checked_as_well(value: object) -> None:
    assert any_metadata(value) == NO_METADATA
    with pytest.raises(ValueError, match=r"."):
        as_metadata(value)


@pytest.mark.parametrize(
    "text", ['{"password": "hunter2hunter2x"}', f'{{"a": ["gh\\u0070_{"aB3dE6gH9j" * 4}"]}}']
)
def test_a_secret_is_refused_also_behind_an_escape(text: str) -> None:
    with pytest.raises(UsageError, match="The metadata seems to contain"):
        checked(text)
