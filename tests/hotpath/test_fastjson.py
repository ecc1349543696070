"""JSON without `import json` reads and writes what that does."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hotpath import fastjson as quickjson
from tests.support.said import JSON


@pytest.mark.slow
@given(JSON)
def test_what_was_written_is_read_back_by_both(value: object) -> None:
    written = quickjson.encode(value)
    assert json.loads(written) == quickjson.decode(written.decode()) == value
    assert written.isascii()
    assert written.count(b"\n") == 1


@pytest.mark.slow
@given(JSON, st.sampled_from((None, 1, 2)), st.booleans())
def test_what_others_wrote_is_read_as_it_is(value: object, indent: int, plain: bool) -> None:
    assert quickjson.decode(json.dumps(value, indent=indent, ensure_ascii=plain)) == value


@given(st.text(st.sampled_from('{}[]":,0123456789.eE+-truefalsn\\/ \n\t\x00x'), max_size=12))
def test_what_is_no_json_is_a_value_error_here_and_there(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            quickjson.decode(text)
    else:
        assert quickjson.decode(text) == expected


@pytest.mark.parametrize("text", ["[" * 200_000, "{" * 10_000, '{"a":' * 100_000, "9" * 5_000])
def test_what_is_too_much_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        quickjson.decode(text)


def test_values_that_are_no_json_are_read_as_nothing() -> None:
    assert quickjson.decode('{"a": NaN, "b": [Infinity, -Infinity]}') == {
        "a": None,
        "b": [None] * 2,
    }


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"[1]", b"7", b'"x"', b'{"a": 1', b'{"a": 1} x', b'{"a": "\xff"}', b"\0" * 9,
     b" " * quickjson.LIMIT + b"{}"],
)  # fmt: skip
def test_a_file_with_anything_but_an_object_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    assert quickjson.read_object(str(tmp_path / "x")) is None


def test_a_file_that_is_none_is_none(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert quickjson.read_object(str(tmp_path / "folder")) is None
    assert quickjson.read_object(str(tmp_path / "nothing")) is None
    assert quickjson.read_object(str(tmp_path / "nothing/below")) is None


def test_an_object_in_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('\n {"a": "ö"}\n', encoding="utf-8")
    assert quickjson.read_object(str(tmp_path / "x")) == {"a": "ö"}
