"""Patches change files as Codex applies them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hooks import patch_edit
from ghp_agents.hooks.event import UnknownEditError


def patched(patch: str, before: bytes | None, path: str = "a") -> bytes | None:
    """The file `path` after the patch; of files that are moved, `m` can be read."""
    named = [part for part in patch_edit.sections(patch) if path in (part.name, part.moved_to)]
    return patch_edit.patched_content(named, path, before, {"m": b"1\n2\n"}.get)


def update(lines: str, before: bytes, name: str = "a") -> bytes | None:
    return patched(f"*** Begin Patch\n*** Update File: {name}\n{lines}\n*** End Patch", before)


@pytest.mark.parametrize(
    ("lines", "before", "expected"),
    [
        ("@@\n-a\n+b", b"a\n", b"b\n"),
        ("-a\n+b", b"a\n", b"b\n"),  # the first part needs no @@
        ("@@\n a\n-b\n c\n+d", b"a\nb\nc\n", b"a\nc\nd\n"),
        ("@@ def f():\n-  x\n+  y", b"x\ndef f():\n  x\n", b"x\ndef f():\n  y\n"),
        ("@@ g\n-x\n+y", b"x\ng\nx\nx\n", b"x\ng\ny\nx\n"),
        ("@@\n-x\n+y\n@@\n-x\n+z", b"x\nx\n", b"y\nz\n"),
        ("@@\n-x\n+y\n*** End of File", b"x\nx\n", b"x\ny\n"),
        ("@@\n+new", b"a\n", b"a\nnew\n"),
        ("@@\n+new", b"", b"new\n"),
        ("@@\n-a\n+b", b"a", b"b\n"),  # a final newline is added
        ("@@\n-a\n+b", b"a\nrest", b"b\nrest\n"),
        ("@@\n-a\n+b", b"a\r\nc\r\n", b"b\r\nc\r\n"),
        ("@@\n-a\n+b", b"a\r\nc", b"b\r\nc\r\n"),
        ("@@\n+b", b"a\r\nc", b"a\r\nc\r\nb\r\n"),
        ("@@\n-a\n+b", b"a\nc\r\n", b"b\nc\r\n"),
        ("@@\n-a\n+b", b"a  \n", b"b\n"),
        ("@@\n-a\n+b", b"  a\n", b"b\n"),
        ("@@\n-say \"x\"-y\n+b", "say “x”–y\n".encode(), b"b\n"),
        ("@@\n a\n\n-b\n+c", b"a\n\nb\n", b"a\n\nc\n"),
        ("@@\n-a\n+b\n", b"a\n", b"b\n"),  # an empty line at the end is none of the file
        ("@@\n-a\n", b"a\nb\n", b"b\n"),
        ("@@\n-\xe9\n+b", b"\xff\n\xc3\xa9\n", b"\xff\nb\n"),
        ("@@\n *** Add File: x\n-a\n+b", b"*** Add File: x\na\n", b"*** Add File: x\nb\n"),
    ],
)  # fmt: skip
def test_an_update_replaces_the_lines_that_it_names(
    lines: str, before: bytes, expected: bytes
) -> None:
    assert update(lines, before) == expected


LINES = st.lists(st.sampled_from(["a", "b", "c d", " e", ""]), min_size=1, max_size=12)


@given(LINES, st.data())
def test_a_patch_with_its_whole_context_is_the_change(
    lines: list[str], data: st.DataObject
) -> None:
    """A patch that names every line of the file can only mean one result."""
    kinds = [data.draw(st.sampled_from(" -+")) for _ in lines]
    body = "\n".join(kind + line for kind, line in zip(kinds, lines, strict=True))
    old = [line for kind, line in zip(kinds, lines, strict=True) if kind != "+"]
    new = [line for kind, line in zip(kinds, lines, strict=True) if kind != "-"]
    if not any(old):
        return  # an addition, which goes to the end of the file
    before, after = ("".join(line + "\n" for line in part).encode() for part in (old, new))
    assert update(f"@@\n{body}", before) == after


def test_the_other_sections_leave_the_file_alone() -> None:
    patch = (
        "*** Begin Patch\n*** Delete File: x\n*** Add File: a\n+1\n+\n+2\n"
        "*** Update File: m\n*** Move to: n\n@@\n-2\n+3\n*** End Patch"
    )
    assert patched(patch, None) == b"1\n\n2\n"
    assert patched(patch, b"x", "x") is None
    assert patched(patch, b"1\n2\n", "m") is None
    assert patched(patch, None, "n") == b"1\n3\n"


def test_sections_of_one_file_are_applied_in_order() -> None:
    patch = "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+1\n*** Update File: a\n-1\n+2\n"
    assert patched(patch + "*** End Patch", b"0\n") == b"2\n"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("", "the patch has no beginning"),
        ("*** Begin Patch\n*** Add File: a\n+x", "the patch has no end"),
        ("*** Begin Patch\nx\n*** End Patch", "the patch begins with no file"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", "a new file has a line without +"),
        ("*** Begin Patch\n*** Add File: b\n+x\n*** End Patch", "the patch does not name the file"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch",
         "the patch changes nothing in the file"),
        ("*** Begin Patch\n*** Update File: a\n@@\n*** End Patch", "a part of the patch is empty"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\nzzz\n*** End Patch",
         "a line of the patch has no mark"),
        ("*** Begin Patch\n*** Update File: a\n@@\n-y\n+z\n*** End Patch",
         "lines of the patch were not found"),
        ("*** Begin Patch\n*** Update File: a\n@@ nowhere\n-x\n+z\n*** End Patch",
         "lines of the patch were not found"),
        ("*** Begin Patch\n" + "\n" * 200_000 + "*** End Patch", "the patch is too long"),
    ],
)  # fmt: skip
def test_an_invalid_patch_is_unknown(patch: str, why: str) -> None:
    with pytest.raises(UnknownEditError) as caught:
        patched(patch, b"x\n")
    assert str(caught.value) == why


def test_an_update_of_no_file_is_unknown() -> None:
    with pytest.raises(UnknownEditError, match="there is no file"):
        patched("*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End Patch", None)


@pytest.mark.slow
def test_a_patch_of_many_parts_of_a_large_file_ends_soon() -> None:
    part = "@@\n" + "-a\n" * 50 + "-b\n"
    patch = "*** Begin Patch\n*** Update File: a\n" + part * 2_000 + "*** End Patch"
    started = time.process_time()
    with pytest.raises(UnknownEditError, match="the patch takes too long"):
        patched(patch, b"a\n" * 300_000 + b"b\n")
    assert time.process_time() - started < 2
    with pytest.raises(UnknownEditError, match="the file has too many lines"):
        update("@@\n-x", b"\n" * 1_000_001)
