"""What all clients' messages have in common."""

import pytest

from ghp_agents.hooks.event import Event, ToolUse, first, patched, text


@pytest.mark.parametrize("payload", [{}, {"a": None}, {"a": 1}, {"a": ["x"]}, [], "a", None, 7])
def test_what_is_no_text_is_none(payload: object) -> None:
    assert text(payload, "a") == ""
    assert first(payload, ("a", "b")) == ""


def test_the_first_text_that_there_is_counts() -> None:
    assert first({"a": "", "b": 3, "c": "found", "d": "later"}, ("a", "b", "c", "d")) == "found"


@pytest.mark.parametrize(
    ("patch", "files"),
    [
        ("", []),
        ("*** Begin Patch\n*** End Patch", []),
        ("*** Add File: a b.py\n+x", ["a b.py"]),
        ("  *** Update File: src/a.py  \r\n@@\n-x\n+y", ["src/a.py"]),
        ("*** Delete File: gone", ["gone"]),
        ("*** Update File: old\n*** Move to: new/place", ["old", "new/place"]),
        ("*** Update File: a\n*** Update File: a\n*** Add File: b", ["a", "b"]),
        ("*** Add File:   \n*** Add File: b", ["b"]),
        ("+*** Add File: text of a file\n*** Add File: real", ["real"]),
        ("*** Update File: ../outside", ["../outside"]),
    ],
)
def test_a_patch_names_all_files_that_it_changes(patch: str, files: list[str]) -> None:
    assert patched(patch) == files


def test_events_and_deeds_are_values() -> None:
    one = Event("claude", "edit", "PreToolUse", "s", "/repo", paths=["/repo/a"])
    assert one == Event("claude", "edit", "PreToolUse", "s", "/repo", paths=["/repo/a"])
    assert one != Event("claude", "edit", "PreToolUse", "s", "/repo", paths=["/repo/b"])
    assert len({ToolUse("ran", ["x"]), ToolUse("ran", ["x"]), ToolUse("ran", ["y"])}) == 2
