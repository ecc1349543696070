"""Reading JSON with its places: what strict and lenient files hold, and where one is broken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.jsonc import DEPTH, JsonError, find, parse

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)  # fmt: skip


@pytest.mark.slow
@given(VALUES, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_what_json_reads_is_read_the_same(value: object, indent: int, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).value == value


def test_comments_and_trailing_commas_are_passed_over() -> None:
    text = '// a\n{ /* b { */ "a" /* c */ : [1, 2, /* d */ ], // e, "x": 1\n "b": "// no",\n}\n// f'
    assert parse(text).value == {"a": [1, 2], "b": "// no"}


def test_every_value_knows_its_text() -> None:
    text = '{"a": [1, {"b": "x"}], "c": null}'
    root = parse(text)
    assert [(item.key, text[item.start : item.end]) for item in root.items] == [
        ("a", '"a": [1, {"b": "x"}]'),
        ("c", '"c": null'),
    ]
    assert text[root.start : root.end] == text


def test_of_two_members_of_one_name_the_last_one_counts() -> None:
    root = parse('{"a": 1, "a": 2}')
    member = find(root, "a")
    assert member is not None
    assert (member.value, root.value) == (2, {"a": 2})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the text ends too early"),
        (" \n", "line 2: the text ends too early"),
        ('{\n"a": 1\n"b": 2}', "line 3: `,` or `}` is missing"),
        ('{\n"a" 1}', "line 2: `:` is missing"),
        ("{\na: 1}", "line 2: a name in double quotes is missing"),
        ("{'a': 1}", "line 1: a name in double quotes is missing"),
        ('{"a": nope}', "line 1: a value is missing"),
        ('{"a": truer}', "line 1: a value is missing"),
        ('{"a": 1', "line 1: the text ends too early"),
        ('{"a": 1}\n}', "line 2: text after the end"),
        ("[01]", "line 1: extra data"),
        ('["\\x"]', "line 1: invalid \\escape"),
        ('["a\nb"]', "line 1: a value is missing"),
        ("[,]", "line 1: a value is missing"),
        ("[1,,]", "line 1: a value is missing"),
        ("[1 /* open ]", "line 1: `,` or `]` is missing"),
        ("[" * (DEPTH + 2), f"line 1: nested more than {DEPTH} deep"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert str(caught.value) == message
