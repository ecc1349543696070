"""The fields of a record are checked one by one, and a wrong one is named."""

import pytest

from ghp_agents.core.fields import (
    any_count,
    any_list,
    any_text,
    as_actor,
    as_agent,
    as_id,
    as_line,
    as_text,
    as_whole,
    dump,
    ids_in,
    parse,
)
from ghp_agents.core.ids import Actor

FOLDER = ".ghp/things/"


def test_a_file_holds_fields() -> None:
    assert parse('{"by": "Zoë", "clock": 7}'.encode()) == {"by": "Zoë", "clock": 7}


@pytest.mark.parametrize("data", [b"[]", b"null", b"7", b"true", b'"{}"'])
def test_a_file_that_holds_something_else_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^not a JSON object$"):
        parse(data)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b"\xff", "codec can't decode"),
        (b'{"a":' * 100_000, "^nested too deep$"),
    ],
)
def test_a_file_that_is_no_json_is_a_value_error_too(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(data)


@pytest.mark.parametrize(
    ("value", "text", "line"),
    [
        ("", "", ""),
        ("Zoë's “parser”", "Zoë's “parser”", "Zoë's “parser”"),
        ("a\n\tb\n", "a\n\tb\n", "a b"),
        ("  a  b ", "  a  b ", "a b"),
        ("\x1b[31mred\x00", "\x1b[31mred\x00", "[31mred"),
        ("a\u2028b\u200bc", "a\u2028b\u200bc", "a b c"),
        ("half \ud800, byte \udcff", "half ?, byte ?", "half ?, byte ?"),
        ("x" * 9_000, "x" * 9_000, "x" * 9_000),
    ],
)
def test_a_text_can_be_printed_and_a_line_is_one(value: str, text: str, line: str) -> None:
    assert (as_text(value, "body"), as_line(value, "title")) == (text, line)


@pytest.mark.parametrize("value", [None, 5, 0.5, True, [], ["a"], {}, b"a"])
def test_what_is_no_text_is_refused_by_its_name(value: object) -> None:
    for read in (as_text, as_line):
        with pytest.raises(ValueError, match=r"^'body' is missing or not a text$"):
            read(value, "body")


@pytest.mark.parametrize("value", [0, 7, 2**53 - 1])
def test_a_whole_number_is_one_that_every_reader_is_sure_of(value: int) -> None:
    assert as_whole(value, "clock") == value


@pytest.mark.parametrize("value", [None, "7", 7.0, True, False, -1, 2**53, [7], {}])
def test_what_is_no_whole_number_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(ValueError, match=r"^'clock' is not a whole number$"):
        as_whole(value, "clock")


@pytest.mark.parametrize("text", ["0a1b2c3d", "f" * 64])
def test_an_id_is_eight_to_sixty_four_digits(text: str) -> None:
    assert as_id(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "''"), ("0a1b2c3", "'0a1b2c3'"), ("0A1B2C3D", "'0A1B2C3D'"), ("../x", "'../x'"),
        ("0a1b2c3d\n", "'0a1b2c3d'"), ("f" * 65, f"'{'f' * 39}…'"),
    ],
)  # fmt: skip
def test_what_is_no_id_is_refused_and_shown_on_a_short_line(text: str, shown: str) -> None:
    with pytest.raises(ValueError, match=r" is not an id$") as caught:
        as_id(text)
    assert str(caught.value) == f"{shown} is not an id"


def test_a_path_has_the_id_of_what_it_is_about_and_the_records_own() -> None:
    ids = ids_in(f"{FOLDER}aaaaaaaa0001/bbbbbbbb0001.json", FOLDER, "thing")
    assert ids == ("aaaaaaaa0001", "bbbbbbbb0001")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        (f"{FOLDER}aaaaaaaa0001", "its path is not .ghp/things/<thing>/<record>.json"),
        (f"{FOLDER}aaaaaaaa0001/bbbbbbbb", "its path is not .ghp/things/<thing>/<record>.json"),
        ("aaaaaaaa/bbbbbbbb.json", "its path is not .ghp/things/<thing>/<record>.json"),
        (f"{FOLDER}aaaaaaaa/README.json", "'README' is not an id"),
        (f"{FOLDER}../bbbbbbbb.json", "'..' is not an id"),
        (f"{FOLDER}aaaaaaaa/x/bbbbbbbb.json", "'x/bbbbbbbb' is not an id"),
    ],
)
def test_a_path_of_something_else_is_refused(path: str, why: str) -> None:
    with pytest.raises(ValueError, match="is not") as caught:
        ids_in(path, FOLDER, "thing")
    assert str(caught.value) == why


def test_fields_are_written_for_people_and_can_always_be_encoded() -> None:
    version = '{\n  "schemaVersion": 1,\n'
    written = f'{version}  "by": "Zoë",\n  "n": [\n    1\n  ]\n}}\n'
    assert dump({"by": "Zoë", "n": [1]}) == written.encode()
    assert dump({"by": "\ud800"}) == f'{version}  "by": "?"\n}}\n'.encode()


def test_an_agent_has_a_checked_name_and_a_person_any() -> None:
    assert as_agent("worker-1") == "worker-1"
    assert as_actor("worker-1", "yes") == Actor("worker-1")
    assert as_actor("Ada Lovelace", True) == Actor("Ada Lovelace", True)
    with pytest.raises(ValueError, match=r"^'Ada Lovelace' is not a valid agent name\.$"):
        as_actor("Ada Lovelace", 1)


@pytest.mark.parametrize("value", [None, -1, 0, 0.5, True, {}, b"a"])
def test_what_people_wrote_wrongly_by_hand_is_empty(value: object) -> None:
    assert (any_text(value), any_count(value), any_list(value)) == ("", 0, [])
    assert (any_text("a\nb"), any_count(2**60), any_list([1])) == ("a\nb", 2**60, [1])
