"""Small JSON files of the cache."""

from pathlib import Path

import pytest

from ghp_agents.core.first_seen import FirstSeen
from ghp_agents.core.json_file import JsonFile, note_first_seen, object_file, texts_file


def numbers(path: Path) -> JsonFile[dict[str, int]]:
    return JsonFile(path, lambda value: {key: int(n) for key, n in value.items()}, dict)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = numbers(tmp_path / "hub/numbers.json")
    file.write({"a": 1})
    assert file.read() == {"a": 1}
    assert (tmp_path / "hub/numbers.json").read_bytes() == b'{"a": 1}'


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'"x"', b'{"a": null}', b"\xff", b"[" * 99_999]
)
def test_a_broken_file_reads_as_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "numbers.json").write_bytes(content)
    assert numbers(tmp_path / "numbers.json").read() == {}
    assert object_file(tmp_path / "missing.json").read() == {}


def test_the_empty_value_is_a_new_one_each_time(tmp_path: Path) -> None:
    file = numbers(tmp_path / "numbers.json")
    file.read()["a"] = 1
    assert file.read() == {}


def test_a_file_that_cannot_be_written_is_only_a_lost_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    file = numbers(tmp_path / "file/numbers.json")
    file.write({"a": 1})
    assert file.read() == {}


@pytest.mark.parametrize(
    ("content", "texts"), [(b'["a", 1, "b"]', ["a", "b"]), (b'{"a": 1}', []), (b"1", [])]
)
def test_a_list_of_texts_ignores_everything_else(
    tmp_path: Path, content: bytes, texts: list[str]
) -> None:
    (tmp_path / "ids.json").write_bytes(content)
    assert texts_file(tmp_path / "ids.json").read() == texts


def test_an_object_file_holds_an_object(tmp_path: Path) -> None:
    (tmp_path / "note.json").write_bytes(b"[1]")
    assert object_file(tmp_path / "note.json").read() == {}


def test_a_thing_keeps_its_time_until_its_revision_changes(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    note_first_seen(path, {"a": "1", "b": "1"}, 10)
    assert note_first_seen(path, {"a": "1", "b": "2"}, 20) == {
        "a": FirstSeen("1", 10),
        "b": FirstSeen("2", 20),
    }


def test_a_clock_that_restarted_makes_everything_new(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    note_first_seen(path, {"a": "1"}, 10)
    assert note_first_seen(path, {"a": "1"}, 5) == {"a": FirstSeen("1", 5)}


def test_things_that_are_not_seen_stay_unless_they_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "seen.json"
    note_first_seen(path, {"a": "1"}, 10)
    assert note_first_seen(path, {"b": "1"}, 20).keys() == {"a", "b"}
    assert note_first_seen(path, {"b": "1"}, 30, forget=True) == {"b": FirstSeen("1", 20)}
