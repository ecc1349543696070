"""A file's content after an edit is what the client will write."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hooks import (  # fmt: skip
    claude,
    codex,
    copilot,
    cursor,
    edited_text,
    gemini,
    opencode,
    pi,
    qwen,
)
from ghp_agents.hooks.event import Event, UnknownEditError
from tests.support.hooks import PAYLOADS, payload

PARSERS: dict[str, Any] = {
    "claude": (claude.parse, "PreToolUse"),
    "codex": (codex.parse, "PreToolUse"),
    "cursor": (cursor.parse, "preToolUse"),
    "gemini": (gemini.parse, "BeforeTool"),
    "opencode": (opencode.parse, "tool.execute.before"),
    "copilot": (copilot.parse, "PreToolUse"),
    "pi": (pi.parse, "tool_call"),
    "qwen": (qwen.parse, "PreToolUse"),
}
FILE = "/repo/a.txt"


def event(client: str, tool: str, cwd: str = "/repo", **arguments: Any) -> Event:
    """The event before an edit, as the client sends it."""
    parse, name = PARSERS[client]
    parsed = parse(
        {"hook_event_name": name, "cwd": cwd, "tool_name": tool, "tool_input": arguments}
    )
    assert isinstance(parsed, Event)
    return parsed


def after(client: str, tool: str, before: bytes | None, **arguments: Any) -> bytes | None:
    return edited_text.content_after(event(client, tool, **arguments), FILE, before)


def edit(before: bytes | None, old: str, new: str, **more: Any) -> bytes | None:
    return after("claude", "Edit", before, file_path=FILE, old_string=old, new_string=new, **more)


def why(client: str, tool: str, before: bytes | None, **arguments: Any) -> str:
    with pytest.raises(UnknownEditError) as caught:
        after(client, tool, before, **arguments)
    return str(caught.value)


def refused(before: bytes | None, old: Any, new: Any, **more: Any) -> str:
    given = {"file_path": FILE, "old_string": old, "new_string": new, **more}
    return why("claude", "Edit", before, **given)


# --- recorded messages


@pytest.mark.parametrize(
    ("name", "path", "before", "expected"),
    [
        ("claude-PreToolUse-Edit", "/repo/a.txt", b"a\n", b"b\n"),
        ("codex-PreToolUse-apply_patch", "a.txt", b"a\n", b"b\n"),
        ("codex-PreToolUse-apply_patch", "/repo/a.txt", b"a\n", b"b\n"),
        ("codex-PreToolUse-apply_patch", "new.txt", None, b"new\n"),
        ("codex-PreToolUse-apply_patch", "moved.txt", b"m\n", None),
        ("codex-PreToolUse-apply_patch", "gone.txt", b"x", None),
        ("codex-PreToolUse-Bash-heredoc", "shell.txt", None, b"x\n"),
    ],
)
def test_a_recorded_message_changes_the_file_as_the_client_did(
    name: str, path: str, before: bytes | None, expected: bytes | None
) -> None:
    parse, _ = PARSERS[name.partition("-")[0]]
    assert edited_text.content_after(parse(payload(name)), path, before) == expected


def test_a_recorded_write_is_its_content() -> None:
    message = payload("claude-PreToolUse-Write")
    parsed = claude.parse(message)
    assert parsed is not None
    content = message["tool_input"]["content"].encode()
    assert edited_text.content_after(parsed, parsed.paths[0], b"old") == content


@pytest.mark.parametrize("name", ["Edit", "NotebookEdit"])
def test_what_claude_wrote_is_what_is_computed(name: str) -> None:
    """The recorded response has the file before and after; only the new cell's id is random."""
    done = json.loads((PAYLOADS / f"claude-PostToolUse-{name}.json").read_text(encoding="utf-8"))
    response = done["tool_response"]
    parsed = claude.parse(done | {"hook_event_name": "PreToolUse"})
    assert parsed is not None
    before = response.get("originalFile", response.get("original_file")).encode()
    written = edited_text.content_after(parsed, parsed.paths[0], before)
    expected = response.get("updated_file", "b\n").replace(response.get("cell_id", "-"), "0" * 8)
    assert written == expected.encode()


# --- Claude Code's Edit and MultiEdit

TEXT = st.text(st.sampled_from("ab\n é“"), min_size=0, max_size=30)


@pytest.mark.slow
@given(TEXT, st.text(st.sampled_from("ab\n é"), min_size=1, max_size=4), TEXT)
def test_an_edit_is_replacing_text(before: str, old: str, new: str) -> None:
    """As `str.replace`, once if the text is there once, and everywhere with `replace_all`."""
    count = before.count(old)
    if not count or old == new:
        assert refused(before.encode(), old, new)
        return
    # With nothing to write, the rest of a line goes too.
    line = old + "\n" if not new and not old.endswith("\n") and old + "\n" in before else old
    expected = before.replace(line, new).encode()
    assert edit(before.encode(), old, new, replace_all=True) == expected
    if before.count(line) == 1:
        assert edit(before.encode(), old, new) == expected
    else:
        message = f"the text to replace is there {before.count(line)} times"
        assert refused(before.encode(), old, new) == message


@given(st.lists(st.tuples(TEXT.filter(bool), TEXT.filter(bool)), min_size=1, max_size=4), TEXT)
def test_several_edits_are_the_edits_one_after_another(
    pairs: list[tuple[str, str]], before: str
) -> None:
    edits = [{"old_string": old, "new_string": new, "replace_all": True} for old, new in pairs]
    expected: bytes | None = before.encode()
    try:
        for old, new in pairs:
            expected = edit(expected, old, new, replace_all=True)
    except UnknownEditError:
        assert why("claude", "MultiEdit", before.encode(), file_path=FILE, edits=edits)
        return
    assert after("claude", "MultiEdit", before.encode(), file_path=FILE, edits=edits) == expected


@given(st.lists(st.sampled_from(["a", "b", "", "é"]), min_size=2, max_size=8), st.booleans())
def test_a_file_with_crlf_keeps_it(lines: list[str], is_last_ended: bool) -> None:
    whole = "\n".join([*lines, "old", "x"]) + "\n" * is_last_ended
    changed = whole.replace("old\nx", "new\ny")
    crlf = whole.replace("\n", "\r\n").encode()
    assert edit(crlf, "old\nx", "new\ny") == changed.replace("\n", "\r\n").encode()
    assert edit(whole.encode(), "old\nx", "new\ny") == changed.encode()


def test_bytes_that_are_not_utf8_stay() -> None:
    assert edit(b"caf\xe9\nold\n", "old", "new") == b"caf\xe9\nnew\n"
    assert edit(b"\xef\xbb\xbfold\n", "old", "new") == b"\xef\xbb\xbfnew\n"


def test_utf16_is_read_and_written_as_such() -> None:
    before, expected = (f"\ufeffé {word}\r\n".encode("utf-16-le") for word in ("old", "neü"))
    assert edit(before, "old", "neü") == expected


def test_a_whole_new_content_keeps_the_encoding() -> None:
    given = {"file_path": FILE, "content": "ü\n"}
    assert after("claude", "Write", b"\xef\xbb\xbfx\r\n", **given) == b"\xef\xbb\xbf\xc3\xbc\n"
    assert after("claude", "Write", b"\xff\xfex\x00", **given) == b"\xff\xfe\xfc\x00\n\x00"


def test_a_file_with_few_crlf_loses_them() -> None:
    assert edit(b"a\nb\nc\r\n", "a", "d") == b"d\nb\nc\n"
    assert edit(b"a\r\nb\nc\r\n", "a", "d") == b"d\r\nb\r\nc\r\n"


def test_half_a_surrogate_pair_becomes_the_replacement_character() -> None:
    assert edit(b"old", "old", "\ud800") == "\ufffd".encode()


def test_quotes_that_the_model_wrote_plainly_are_found() -> None:
    assert edit("say “it”\n".encode(), 'say "it"', "say it") == b"say it\n"


def test_a_new_file_may_come_from_an_edit() -> None:
    assert edit(None, "", "new\n") == b"new\n"
    assert edit(b" \n", "", "new\n") == b"new\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "expected"),
    [
        (b"x", "", "y", "the text to replace is empty"),
        (None, "x", "y", "there is no file"),
        (b"x", "y", "z", "the text to replace was not found"),
        (b"x", "x", "x", "the edit changes nothing"),
        (b"xx", "x", "y", "the text to replace is there 2 times"),
        (b"x", 7, "y", "the edit has no old_string"),
        (b"x", "x", None, "the edit has no new_string"),
    ],
)
def test_an_edit_that_the_client_cannot_make_is_unknown(
    before: bytes | None, old: Any, new: Any, expected: str
) -> None:
    assert refused(before, old, new) == expected


def test_a_file_that_would_become_huge_is_not_computed() -> None:
    assert refused(b"a" * 100_000, "a", "b" * 1_000, replace_all=True) == (
        "the file would be too large"
    )
    assert refused(b"a" * 32_000_001, "a", "b") == "the file has 32000001 bytes"
    assert why("claude", "Write", None, file_path=FILE, content="x" * 32_000_001) == (
        "the file would have 32000001 bytes"
    )


@pytest.mark.parametrize(
    "edits",
    [
        [{"old_string": "a" * 400 + "b", "new_string": "c"}] * 2_000,
        [{"old_string": f"“{n}", "new_string": "c"} for n in range(2_000)],
    ],
)
def test_many_edits_of_a_large_file_end_soon(edits: list[dict[str, str]]) -> None:
    before = b"a" * 400_000
    started = time.process_time()
    assert why("claude", "MultiEdit", before, file_path=FILE, edits=edits)
    assert time.process_time() - started < 1


# --- the other clients


@pytest.mark.parametrize(
    ("client", "tool", "arguments", "before", "expected"),
    [
        ("gemini", "replace", {"old_string": "old\nb", "new_string": "c"}, b"old\r\nb\r\nx\r\n",
         b"c\r\nx\r\n"),
        ("gemini", "replace", {"old_string": "x", "new_string": "y", "expected_replacements": 2},
         b"x x", b"y y"),
        ("gemini", "replace", {"old_string": "x\n", "new_string": "y"}, b"a\nx\n", b"a\ny\n"),
        ("gemini", "replace", {"old_string": "if x:\n  y", "new_string": "if z:\n  w"},
         b"a\n    if x:\n      y\nb\n", b"a\n    if z:\n      w\nb\n"),
        ("gemini", "write_file", {"content": "a\nb\n"}, b"x\r\n", b"a\r\nb\r\n"),
        ("gemini", "write_file", {"content": "a\n"}, None, b"a\n"),
        ("opencode", "edit", {"oldString": "a\nb", "newString": "c\nd"}, b"x\r\na\r\nb\r\n",
         b"x\r\nc\r\nd\r\n"),
        ("opencode", "edit", {"oldString": "x", "newString": "y", "replaceAll": True}, b"xx",
         b"yy"),
        ("opencode", "edit", {"oldString": "a\nb", "newString": "  c"}, b"  a\n  b\n", b"  c\n"),
        ("opencode", "edit", {"oldString": "", "newString": "new"}, b"old", b"new"),
        ("opencode", "write", {"content": "n\n"}, b"old\r\n", b"n\n"),
        ("opencode", "multiedit", {"edits": [{"oldString": "a", "newString": "b"},
                                              {"oldString": "b", "newString": "c"}]}, b"a", b"c"),
        ("opencode", "patch", {"patchText": "*** Begin Patch\n*** Update File: /repo/a.txt\n"
                                            "@@\n-a\n+b\n*** End Patch"}, b"a\n", b"b\n"),
        ("copilot", "Edit", {"old_str": "a\nb", "new_str": "x"}, b"a\r\nb\r\n", b"x\r\n"),
        ("copilot", "Edit", {"old_str": "a", "new_str": ""}, b"a\nb", b"b"),
        ("copilot", "Write", {"file_text": "n\n"}, None, b"n\n"),
        ("pi", "edit", {"edits": [{"oldText": "a", "newText": ""}]}, b"a\nb", b"\nb"),
        ("pi", "edit", {"edits": [{"oldText": "b", "newText": "x"}]}, b"a\nb\r\n", b"a\nx\n"),
        ("pi", "edit", {"edits": [{"oldText": "b", "newText": "x"}]}, b"a\r\nb\n",
         b"a\r\nx\r\n"),
        ("pi", "write", {"content": "n\n"}, b"o\r\n", b"n\n"),
        ("qwen", "edit", {"old_string": "a", "new_string": ""}, b"a\r\nb", b"b"),
        ("qwen", "edit", {"old_string": "a", "new_string": "b", "replace_all": True}, b"aa", b"bb"),
        ("qwen", "write_file", {"content": "n\n"}, b"\xef\xbb\xbfo\r\n", b"\xef\xbb\xbfn\r\n"),
        ("cursor", "Write", {"contents": "n\n"}, b"o", b"n\n"),
        ("cursor", "Edit", {"old_string": "a", "new_string": "b"}, b"a", b"b"),
        ("cursor", "Delete", {}, b"a", None),
        ("codex", "Bash", {"command": "cd /repo && apply_patch <<'EOF'\n*** Begin Patch\n"
                                      "*** Add File: a.txt\n+x\n*** End Patch\nEOF"}, None, b"x\n"),
    ],
)  # fmt: skip
def test_each_client_edits_by_its_own_rules(
    client: str, tool: str, arguments: dict[str, Any], before: bytes | None, expected: bytes | None
) -> None:
    path = {"opencode": "filePath", "copilot": "path", "pi": "path"}.get(client, "file_path")
    given = arguments if {"patchText", "command"} & set(arguments) else {path: FILE, **arguments}
    assert after(client, tool, before, **given) == expected


@pytest.mark.parametrize(
    ("client", "before"),
    [
        ("copilot", b"  a\n  b\n"), ("pi", b"a \nb\n"), ("qwen", b"  a\n  b\n"),  # similar text
        ("copilot", b"a\nb\r\n"), ("copilot", b"a\nb\xff"), ("copilot", b"\xff\xfea\x00"),
        ("pi", b"a\nb\r"), ("pi", b"a\nb\xff"), ("qwen", b"a\nb\xff"),
    ],
)  # fmt: skip
def test_what_a_client_changes_in_ways_of_its_own_is_unknown(client: str, before: bytes) -> None:
    tools: dict[str, tuple[str, dict[str, Any]]] = {
        "copilot": ("Edit", {"path": FILE, "old_str": "a\nb", "new_str": "c"}),
        "pi": ("edit", {"path": FILE, "edits": [{"oldText": "a\nb", "newText": "c"}]}),
        "qwen": ("edit", {"file_path": FILE, "old_string": "a\nb", "new_string": "c"}),
    }
    tool, arguments = tools[client]
    assert why(client, tool, before, **arguments)


def test_a_patch_of_copilot_is_a_text() -> None:
    patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch"
    message = {"hook_event_name": "PreToolUse", "cwd": "/repo", "tool_name": "Edit"}
    parsed = copilot.parse({**message, "tool_input": patch})
    assert parsed is not None
    assert edited_text.content_after(parsed, FILE, b"a\n") == b"b\n"
    for before in (b"a", b" a\n", b"a\nb\r\n", b"a\n\xff\n"):
        with pytest.raises(UnknownEditError):
            edited_text.content_after(parsed, FILE, before)


@pytest.mark.parametrize(
    ("client", "tool", "arguments"),
    [
        ("cursor", "Write", {"file_path": FILE}),
        ("cursor", "Write", {"target_notebook": FILE, "cell_idx": 1}),
        ("claude", "MultiEdit", {"file_path": FILE, "edits": [7]}),
        ("claude", "MultiEdit", {"file_path": FILE, "edits": []}),
        ("claude", "NotebookEdit", {"notebook_path": FILE}),
        ("opencode", "apply_patch", {"patchText": 7}),
        ("opencode", "apply_patch", {"patchText": "*** Begin Patch\n*** End Patch"}),
    ],
)
def test_arguments_that_tell_no_content_are_unknown(
    client: str, tool: str, arguments: dict[str, Any]
) -> None:
    before = None if tool == "MultiEdit" else b"x"
    assert why(client, tool, before, **arguments)


def test_a_moved_file_has_the_content_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\n")
    patch = "*** Begin Patch\n*** Update File: a\n*** Move to: sub/b\n@@\n-two\n+2\n*** End Patch"
    parsed = event("codex", "apply_patch", cwd=str(tmp_path), command=patch)
    assert edited_text.content_after(parsed, "sub/b", None) == b"one\n2\n"
    assert edited_text.content_after(parsed, str(tmp_path / "sub/b"), b"old") == b"one\n2\n"
    assert edited_text.content_after(parsed, "a", b"one\ntwo\n") is None


@pytest.mark.slow
@given(st.recursive(st.none() | st.text(max_size=5) | st.integers(),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["edits", "content", "old_string",
                                                       "new_string", "file_path", "patchText",
                                                       "notebook_path"]), inner, max_size=4)),
       st.sampled_from(["Edit", "Write", "NotebookEdit", "apply_patch"]))  # fmt: skip
def test_any_arguments_give_a_content_or_are_unknown(arguments: Any, tool: str) -> None:
    parsed = event("claude", "Edit", file_path=FILE)
    parsed.edits[0].tool, parsed.edits[0].arguments = tool, arguments
    try:
        content = edited_text.content_after(parsed, FILE, b"x\n")
    except UnknownEditError:
        return
    assert content is None or isinstance(content, bytes)


def test_other_events_have_no_edit() -> None:
    parsed = claude.parse(payload("claude-PostToolBatch"))
    assert parsed is not None
    with pytest.raises(UnknownEditError, match="the event has no edit"):
        edited_text.content_after(parsed, FILE, b"")
