"""Splicing JSON: what is added looks as if it had always been there, and goes without a trace."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.jsonc import parse
from ghp_agents.core.jsonc_edit import at, fresh, insert, remove, replace
from tests.support.json_texts import Written, written

# ------------------------------------------------------------------------------ how it looks

ADDED = [
    ("{}", '{\n  "new": [\n    {\n      "a": 1\n    }\n  ]\n}'),
    ("{ }", '{ \n  "new": [\n    {\n      "a": 1\n    }\n  ]\n}'),
    ("{\n}\n", '{\n\n  "new": [\n    {\n      "a": 1\n    }\n  ]\n}\n'),
    ('{"x":1}', '{"x":1, "new": [{"a": 1}]}'),
    ('{"x":1,"y":2}', '{"x":1,"y":2,"new": [{"a": 1}]}'),
    ('{"x":1, }', '{"x":1, "new": [{"a": 1}], }'),
    (
        '{\n\t"x": 1\n}',
        '{\n\t"x": 1,\n\t"new": [\n\t\t{\n\t\t\t"a": 1\n\t\t}\n\t]\n}',
    ),
    (
        '{\r\n    "x": 1\r\n}\r\n',
        '{\r\n    "x": 1,\r\n    "new": [\r\n        {\r\n            "a": 1\r\n        }\r\n'
        "    ]\r\n}\r\n",
    ),
    (
        '{\n  "x": 1, // about x\n  // the end\n}',
        '{\n  "x": 1, // about x\n  "new": [\n    {\n      "a": 1\n    }\n  ],\n  // the end\n}',
    ),
    (
        '{\n  "x": 1 /* a */ // about x\n}',
        '{\n  "x": 1, /* a */ // about x\n  "new": [\n    {\n      "a": 1\n    }\n  ]\n}',
    ),
    (
        "{\n  // nothing yet\n}",
        '{\n  // nothing yet\n\n  "new": [\n    {\n      "a": 1\n    }\n  ]\n}',
    ),
    (
        '\ufeff{\n "x": {}}',
        '\ufeff{\n "x": {},\n "new": [\n  {\n   "a": 1\n  }\n ]}',
    ),
]


@pytest.mark.parametrize(("text", "expected"), ADDED)
def test_a_member_is_added_in_the_files_own_style_and_goes_without_a_trace(
    text: str, expected: str
) -> None:
    added = insert(text, [], "new", [{"a": 1}])
    assert added == expected
    assert remove(added, ["new"]) == text


def test_an_item_is_added_to_a_list_inside() -> None:
    text = '{\n  "hooks": {\n    "Stop": [\n      {"b": 2}\n    ]\n  }\n}\n'
    added = insert(text, ["hooks", "Stop"], None, {"args": ["-m", "x"]})
    assert added == (
        '{\n  "hooks": {\n    "Stop": [\n      {"b": 2},\n'
        '      {\n        "args": ["-m", "x"]\n      }\n    ]\n  }\n}\n'
    )
    assert remove(added, ["hooks", "Stop", 1]) == text


def test_a_value_is_replaced_in_its_place() -> None:
    text = '{\n    "a": {\n        "b": 1\n    }, // a\n    "c": "é"\n}'
    assert replace(text, ["a"], {"b": [2]}) == (
        '{\n    "a": {\n        "b": [2]\n    }, // a\n    "c": "é"\n}'
    )
    assert replace(text, ["c"], "x") == text.replace("é", "x")
    assert replace('{"a": [{"b": 1}]}', ["a", 0], {"b": 2}) == '{"a": [{"b": 2}]}'


@pytest.mark.parametrize(
    ("text", "keys", "expected"),
    [
        ('{\n  "a": 1,\n  "b": 2\n}', ["a"], '{\n  "b": 2\n}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', ["a"], '{ // one\n  "b": 2\n}'),
        ('{"a": 1, "b": 2}', ["a"], '{"b": 2}'),
        ('{"a": 1 /* one */, "b": 2}', ["a"], '{"b": 2}'),
        ("[1, /* two */ 2]", [0], "[ /* two */ 2]"),
        ("[1,\n 2,\n]", [1], "[1,\n]"),
        ("[\n 1,\n]", [0], "[]"),
        ('{"a": 1, "a": 2}', ["a"], '{"a": 1}'),
    ],
)
def test_what_is_taken_away_leaves_the_rest(text: str, keys: list[Any], expected: str) -> None:
    assert remove(text, keys) == expected


def test_a_file_of_its_own_has_one_member_on_a_line() -> None:
    assert fresh({"version": 1, "hooks": {}}) == '{\n  "version": 1,\n  "hooks": {}\n}\n'


def test_what_is_not_there_is_none() -> None:
    assert at('{"a": [1]}', ["a", 1]) is None
    assert at('{"a": [1]}', ["b", "c"]) is None
    node = at('{"a": [1]}', ["a", 0])
    assert node is not None
    assert node.value == 1


# ------------------------------------------------------------------------------ the law

SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner,
                                                                max_size=3),
    max_leaves=6,
)  # fmt: skip
FILES = written(st.dictionaries(st.text(max_size=3), VALUES, max_size=4))


@pytest.mark.slow
@given(FILES, VALUES, st.data())
def test_adding_and_taking_away_gives_the_same_text(
    file: Written, value: object, data: st.DataObject
) -> None:
    keys = data.draw(st.sampled_from(file.containers))
    node = at(file.text, keys)
    assert node is not None
    key = "new member" if isinstance(node.value, dict) else None
    added = insert(file.text, keys, key, value)

    expected = parse(file.text).value
    inside = expected
    for step in keys:
        inside = inside[step]
    if isinstance(inside, dict):
        inside["new member"] = value
    else:
        inside.append(value)
    assert parse(added).value == expected, "it says what it said, and the new item"
    last = key or len(inside) - 1
    assert remove(added, [*keys, last]) == file.text


@pytest.mark.slow
@given(FILES, VALUES, VALUES, st.data())
def test_two_that_were_added_may_go_in_any_order(
    file: Written, one: object, two: object, data: st.DataObject
) -> None:
    keys = data.draw(st.sampled_from(file.containers))
    node = at(file.text, keys)
    assert node is not None
    count = len(node.items)
    names: list[Any] = ["one", "two"] if isinstance(node.value, dict) else [None, None]
    added = insert(insert(file.text, keys, names[0], one), keys, names[1], two)
    first, second = [names[n] or count + n for n in (0, 1)]
    backwards = remove(remove(added, [*keys, second]), [*keys, first])
    assert backwards == file.text
    second_after = second if isinstance(second, str) else count
    forwards = remove(remove(added, [*keys, first]), [*keys, second_after])
    assert parse(forwards).value == parse(file.text).value
