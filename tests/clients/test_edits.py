"""The real clients write what is computed before their edits; what is unknown they refuse."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import claude, codex, edited_text
from ghp_agents.hooks.event import UnknownEditError
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn

pytestmark = pytest.mark.slow

Case = tuple[str, bytes | None, dict[str, Any]]  # tool, content before, arguments


def edit(before: bytes | None, old: str, new: str, **more: Any) -> Case:
    return "Edit", before, {"old_string": old, "new_string": new, **more}


CLAUDE: dict[str, Case] = {
    "plain": edit(b"a\nb\n", "a", "c"),
    "all": edit(b"a a a", "a", "bb", replace_all=True),
    "twice": edit(b"a a", "a", "b"),
    "missing": edit(b"a", "x", "b"),
    "crlf": edit(b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"),
    "mixed": edit(b"a\r\nb\nc\r\n", "c", "d"),
    "mixed-lf": edit(b"a\nb\nc\r\n", "a", "d"),
    "no-end": edit(b"a\nb", "b", "c"),
    "delete-line": edit(b"a\nb\nc\n", "b", ""),
    "delete-all": edit(b"a\nb\na\nc", "a", "", replace_all=True),
    "bom": edit(b"\xef\xbb\xbfa\nb\n", "b", "c"),
    "utf16": edit(b"\xff\xfea\x00\r\x00\n\x00b\x00", "b", "ü"),
    "quotes": edit("say “it”\n".encode(), 'say "it"', "say it"),
    "new": edit(None, "", "new\n"),
    "blank": edit(b" \n", "", "new\n"),
    "full": edit(b"x\n", "", "new\n"),
    "spaces": edit(b"a\n", "a", "b  \nc\t\n"),
    "write": ("Write", b"a\n", {"content": "b\nc"}),
    "write-crlf": ("Write", b"a\r\nb\r\n", {"content": "b\nc\n"}),
    "write-new": ("Write", None, {"content": "b\r\n"}),
    "write-utf16": ("Write", b"\xff\xfea\x00", {"content": "ü"}),
    "write-bom": ("Write", b"\xef\xbb\xbfa", {"content": "b"}),
}


def computed(event: Any, path: str, before: bytes | None) -> bytes | None:
    """The content after the edit; that before it if the edit cannot be computed."""
    try:
        return edited_text.content_after(event, path, before)
    except UnknownEditError:
        return before


def on_disk(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def test_claude_code(bench: Bench, repo: Path) -> None:
    """In files that are not Markdown, Claude Code removes white space at the ends of new lines
    before it calls hooks, so their texts already have none."""
    expected: dict[str, bytes | None] = {}
    calls: list[Call] = []
    for name, (tool, before, arguments) in CLAUDE.items():
        path = repo / f"{name}.md"
        if before is not None:
            path.write_bytes(before)
        given = {"file_path": str(path), **arguments}
        said = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given}
        expected[name] = computed(claude.parse(said | {"cwd": str(repo)}), str(path), before)
        calls.append(Call(tool, given))
    reads = [Call("Read", {"file_path": str(path)}) for path in sorted(repo.glob("*.md"))]
    turns = [Turn("", reads), *(Turn("", [call]) for call in calls), Turn("Done.")]
    bench.models.script("one", *turns)
    ended = end(bench.claude(repo, "one", allowed=("Read", "Edit", "Write")))
    assert ended.code == 0, ended.err
    assert {name: on_disk(repo / f"{name}.md") for name in CLAUDE} == expected


NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "id": "one", "metadata": {}, "execution_count": 3,
         "source": ["x = 1\n", "x"], "outputs": [{"output_type": "stream", "text": ["é"]}]},
        {"cell_type": "markdown", "id": "two", "metadata": {"n": 1.0}, "source": ["t"]},
    ],
    "metadata": {}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip
CELLS: dict[str, dict[str, Any]] = {
    "replace": {"cell_id": "one", "new_source": "y"},
    "other": {"cell_id": "two", "new_source": "print()", "cell_type": "code"},
    "number": {"cell_id": "cell-1", "new_source": "u"},
    "delete": {"cell_id": "one", "new_source": "", "edit_mode": "delete"},
    "insert": {"cell_id": "one", "new_source": "# T", "cell_type": "markdown",
               "edit_mode": "insert"},
    "first": {"new_source": "a\nb", "cell_type": "code", "edit_mode": "insert"},
    "missing": {"cell_id": "nine", "new_source": "y"},
}  # fmt: skip


def test_claude_code_in_notebooks(bench: Bench, repo: Path) -> None:
    before = json.dumps(NOTEBOOK, ensure_ascii=False).encode()
    expected: dict[str, bytes | None] = {}
    calls: list[Call] = []
    for name, arguments in CELLS.items():
        path = repo / f"{name}.ipynb"
        path.write_bytes(before)
        given = {"notebook_path": str(path), **arguments}
        said = {"hook_event_name": "PreToolUse", "tool_name": "NotebookEdit", "tool_input": given}
        expected[name] = computed(claude.parse(said | {"cwd": str(repo)}), str(path), before)
        calls.append(Call("NotebookEdit", given))
    reads = [Call("Read", {"file_path": str(path)}) for path in sorted(repo.glob("*.ipynb"))]
    load = [Call("ToolSearch", {"query": "select:NotebookEdit", "max_results": 1})]
    turns = [Turn("", [*load, *reads]), *(Turn("", [call]) for call in calls), Turn("Done.")]
    bench.models.script("one", *turns)
    tools = ("Read", "NotebookEdit", "ToolSearch")
    ended = end(bench.claude(repo, "one", allowed=tools))
    assert ended.code == 0, ended.err
    written = {name: (repo / f"{name}.ipynb").read_bytes() for name in CELLS}
    assert {name: without_new_id(text) for name, text in written.items()} == expected


def without_new_id(notebook: bytes) -> bytes:
    """The notebook with zeros in place of the id that the tool chose for a new cell."""
    return re.sub(rb'"id": "(?!one|two)\w+"', b'"id": "00000000"', notebook)


PATCHES: dict[str, tuple[bytes | None, str]] = {
    "plain": (b"a\nb\n", "@@\n-a\n+c\n b"),
    "anchor": (b"x\nf\nx\n", "@@ f\n-x\n+y"),
    "end": (b"x\nx\n", "@@\n-x\n+y\n*** End of File"),
    "append": (b"a\n", "@@\n+b"),
    "no-end": (b"a\nb", "@@\n-a\n+c"),
    "crlf": (b"a\r\nb\r\n", "@@\n-a\n+c"),
    "mixed": (b"a\nb\r\nc\n", "@@\n-c\n+d"),
    "crlf-no-end": (b"a\r\nb", "@@\n-b\n+c"),
    "spaces": (b"  a  \nb\n", "@@\n-a\n+c"),
    "quotes": ("say “it”\n".encode(), '@@\n-say "it"\n+no'),
    "two": (b"a\nb\na\nb\n", "@@\n-a\n+1\n@@\n-b\n+2\n@@\n-a\n+3"),
    "missing": (b"a\n", "@@\n-x\n+y"),
    "empty-line": (b"a\n\nb\n", "@@\n a\n\n-b\n+c"),
    "remove": (b"a\nb\n", "@@\n-a\n-b"),
    "new": (None, "+a\n+\n+b"),
    "over": (b"old\n", "+new"),
}


def test_codex(bench: Bench, repo: Path) -> None:
    expected: dict[str, bytes | None] = {}
    turns: list[Turn] = []
    for name, (before, body) in PATCHES.items():
        path = repo / f"{name}.txt"
        if before is not None:
            path.write_bytes(before)
        kind = "Update" if body.startswith("@@") else "Add"
        patch = f"*** Begin Patch\n*** {kind} File: {name}.txt\n{body}\n*** End Patch"
        said = {
            "hook_event_name": "PreToolUse", "tool_name": "apply_patch", "cwd": str(repo),
            "tool_input": {"command": patch},
        }  # fmt: skip
        expected[name] = computed(codex.parse(said), str(path), before)
        turns.append(Turn("", [Call("apply_patch", patch)]))
    bench.models.script("one", *turns, Turn("Done."))
    ended = end(bench.codex(repo, "one"))
    assert ended.code == 0, ended.err
    assert {name: on_disk(repo / f"{name}.txt") for name in PATCHES} == expected
