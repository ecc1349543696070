"""Payloads of typed topics: what fits is taken, what does not is named."""

import json

import pytest

from ghp_agents.messages.payload import SHAPES, example, fields, problem

REVIEW = SHAPES["code.review_completed"].type


@pytest.mark.parametrize("name", SHAPES)
def test_the_example_of_a_topic_fits_it(name: str) -> None:
    assert problem(SHAPES[name].type, json.loads(example(SHAPES[name].type))) == ""
    assert SHAPES[name].description.endswith(".")


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([], "it is not an object"),
        ({}, "it lacks approved, files, summary"),
        ({"files": "a", "approved": True, "summary": ""}, "files is not a list"),
        ({"files": [1], "approved": True, "summary": ""}, "files is not a text"),
        ({"files": [], "approved": 1, "summary": ""}, "approved is not true or false"),
        ({"files": [], "approved": True, "summary": None}, "summary is not a text"),
        (
            {"files": [], "approved": True, "summary": "", "issues": [{"file": "a", "line": True,
             "severity": "error", "message": "x"}]},
            "line is not a whole number",
        ),
        (
            {"files": [], "approved": True, "summary": "", "issues": [{"file": "a", "line": 1,
             "severity": "bad", "message": "x"}]},
            "severity is not one of error, warning, suggestion",
        ),
        ({"files": [], "approved": True, "summary": "", "more": [{}]}, ""),
    ],
)  # fmt: skip
def test_a_payload_that_does_not_fit_is_named_by_its_field(value: object, wrong: str) -> None:
    assert problem(REVIEW, value) == wrong


def test_the_fields_of_a_payload_are_told_in_words() -> None:
    assert fields(REVIEW) == [
        ("files", "list of texts", True),
        ("approved", "true or false", True),
        ("summary", "a text", True),
        ("issues", "list of object with file, line, severity, messages", False),
    ]
