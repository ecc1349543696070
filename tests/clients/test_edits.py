"""The real clients write what is computed before their edits; what is unknown they refuse."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import claude, codex, copilot, edited_text, pi, qwen
from ghp_agents.hooks.event import Event, UnknownEditError
from tests.clients.steps import READS, WRITES, replace, start
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


PARSERS: dict[str, Any] = {"copilot": copilot.parse, "pi": pi.parse, "qwen": qwen.parse}
# The file before, the old text and the new one; without an old one it is written anew.
REPLACED: dict[str, tuple[bytes | None, str, str]] = {
    "plain": (b"a\nb\n", "a", "c"),
    "twice": (b"a\na\n", "a", "x"),
    "missing": (b"a\n", "x", "b"),
    "crlf": (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny"),
    "crlf-given": (b"a\r\nb\r\n", "b", "x\r\ny"),
    "no-end": (b"a\nb", "b", "c\n"),
    "delete": (b"a\nb\nc", "b", ""),
    "delete-line": (b"a\nb\nc", "b\n", ""),
    "delete-crlf": (b"a\r\nb\r\n", "b", ""),
    "bom": (b"\xef\xbb\xbfa\n", "a", "b"),
    "signs": ("é\n".encode(), "é", "e\u0301 $1 $&"),
    "new": (None, "", "a\r\nb\n"),
}
# The same for clients that write a file anew, or change it in ways that only one of them has.
WRITTEN: dict[str, tuple[bytes, str, str]] = {
    "write": (b"a\n", "", "b"),
    "write-crlf": (b"a\r\nb\r\n", "", "x\ny\n"),
    "write-bom": (b"\xef\xbb\xbfa\n", "", "b\n"),
    "mixed": (b"a\r\nb\nc\n", "b", "x\ny"),
    "mixed-lf": (b"a\nb\r\nc\n", "b", "x\ny"),
}
OWN: dict[str, dict[str, tuple[bytes, str, str]]] = {
    "copilot": {},
    "pi": WRITTEN,
    "qwen": {
        **WRITTEN,
        "utf16": (b"\xff\xfea\x00\n\x00", "a", "b"),
        "cr": (b"a\rb\n", "b", "c"),
    },
}


@pytest.mark.parametrize("client", PARSERS)
def test_each_other_client(bench: Bench, repo: Path, client: str) -> None:
    expected: dict[str, bytes | None] = {}
    calls: list[Call] = []
    reads: list[Call] = []
    cases = {**REPLACED, **OWN[client]}
    (reader, _), (writer, where, content) = READS[client], WRITES[client]
    for name, (before, old, new) in cases.items():
        path = repo / f"{name}.txt"
        if before is not None:
            path.write_bytes(before)
            reads.append(Call(reader, {where: str(path)}))
        call = (
            replace(client, path, old, new)
            if old
            else Call(writer, {where: str(path), content: new})
        )
        expected[name] = computed(_event(client, call, repo), str(path), before)
        calls.append(call)
    bench.models.script("one", Turn(calls=reads), *(Turn(calls=[call]) for call in calls))
    ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    assert {name: on_disk(repo / f"{name}.txt") for name in cases} == expected


def _event(client: str, call: Call, repo: Path) -> Event:
    """What a hook is told of a call."""
    name = "tool_call" if client == "pi" else "PreToolUse"
    names = (
        {"apply_patch": "Edit", "create": "Write", "edit": "Edit"} if client == "copilot" else {}
    )
    said = {"tool_name": names.get(call.tool, call.tool), "tool_input": call.input}
    found = PARSERS[client]({"hook_event_name": name, "cwd": str(repo), **said})
    assert isinstance(found, Event)
    return found


# It edits these, but by rules of its own, so they are not computed; the last one it refuses.
ODD_PATCHES = ("no-end", "crlf-no-end", "mixed", "spaces", "quotes", "over")


def test_patches_of_copilot(bench: Bench, repo: Path) -> None:
    """Its models of OpenAI have no other tool that edits."""
    expected: dict[str, bytes | None] = {}
    turns: list[Turn] = []
    cases = {name: case for name, case in PATCHES.items() if name not in ODD_PATCHES}
    for name, (before, body) in cases.items():
        path = repo / f"{name}.txt"
        if before is not None:
            path.write_bytes(before)
        kind = "Update" if body.startswith("@@") else "Add"
        patch = f"*** Begin Patch\n*** {kind} File: {name}.txt\n{body}\n*** End Patch"
        call = Call("apply_patch", patch)
        expected[name] = computed(_event("copilot", call, repo), str(path), before)
        turns.append(Turn("", [call]))
    bench.models.script("one", *turns, Turn("Done."))
    model = {"COPILOT_MODEL": "gpt-5.4", "COPILOT_PROVIDER_WIRE_API": "responses"}
    ended = end(bench.start("copilot", repo, "one", env=model))
    assert ended.code == 0, ended.err
    assert {name: on_disk(repo / f"{name}.txt") for name in cases} == expected
