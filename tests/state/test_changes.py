"""The field `changes` is bounded when it is written, and checked when it is read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.git.changed_lines import FileChange
from ghp_agents.state import changes

PLAIN = st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(["5,1", "a"])
NAMES = st.sampled_from(["path", "base", "lines", "added", "deleted"])
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)
)
BASE = "0123456789abcdef" * 2 + "01234567"


def test_each_kind_of_change_is_read_as_it_was_written() -> None:
    written = [
        FileChange("a", BASE, ((4, 6), (9, 9))),
        FileChange("b", BASE, is_deleted=True),
        FileChange("c", BASE),
        FileChange("d"),
    ]
    encoded = changes.encode(written)
    assert encoded == [
        {"path": "a", "base": BASE, "lines": "5,2 9,0"},
        {"path": "b", "base": BASE, "deleted": True},
        {"path": "c", "base": BASE},
        {"path": "d", "added": True},
    ]
    assert changes.decode({"changes": encoded}) == written


def test_it_is_a_few_kilobytes_of_at_most_fifty_files() -> None:
    many = [FileChange(f"file-{number:03}", BASE, ((1, 2),)) for number in range(90)]
    new = [FileChange(f"a-new-{number:03}") for number in range(90)]
    encoded = changes.encode([*new, *many])
    assert [fields["path"] for fields in encoded] == [f"file-{number:03}" for number in range(50)]
    long = changes.encode(x._replace(path=x.path.zfill(290)) for x in many)
    assert len(long) == 16
    assert len(str(long)) < changes.ROOM


def test_names_that_cannot_be_shown_stay_in_the_clone() -> None:
    names = ["a\nb", "\x1b[31m", "\udcff", "x" * 301, "../up", "a//b", ""]
    assert changes.encode(FileChange(name, BASE, ((1, 2),)) for name in names) == []


@pytest.mark.parametrize(
    "entry",
    [
        None, [], "a", 1, {}, {"path": "a"}, {"path": "a", "base": "main"},
        {"path": "../a", "base": BASE}, {"path": "a\n", "base": BASE},
        {"path": ["a"], "base": BASE}, {"path": "a", "base": 1},
        {"path": "a", "base": BASE, "lines": 5}, {"path": "a", "base": BASE, "lines": "x"},
        {"path": "a", "base": BASE, "added": True}, {"path": "a", "base": BASE, "deleted": "yes"},
        {"path": "a", "base": BASE, "lines": ""},
    ],
)  # fmt: skip
def test_an_invalid_entry_of_another_clone_does_not_hide_the_others(entry: Any) -> None:
    good = {"path": "good", "added": True, "more": 1}
    assert changes.valid([entry, good]) == [good]


def test_more_files_than_allowed_are_not_read() -> None:
    entries = [{"path": f"{number}", "added": True} for number in range(60)]
    assert len(changes.decode({"changes": entries})) == changes.MOST_FILES


@pytest.mark.slow
@given(VALUES)
def test_any_json_is_read_without_an_error(value: Any) -> None:
    changes.decode({"changes": value})
