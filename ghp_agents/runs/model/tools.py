"""The model's tools: list, search, read, edit, write, run and done. All outputs are bounded."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import process
from ghp_agents.core.child_env import shown
from ghp_agents.core.errors import GhpError
from ghp_agents.git import process as git
from ghp_agents.runs.model.files import ToolError, inside, read_text, replaced, write_text

Given = Mapping[str, Any]
OUTPUT_LIMIT = 20_000  # characters of a result
LISTED = 500  # entries of a folder
LINES = 500  # of a file, unless the model wants others
RUN_S, LONGEST_RUN_S = 120.0, 540.0  # a run is silent while a command works
DONE = "done"


class ToolResult(NamedTuple):
    """What a tool answers."""

    text: str
    failed: bool = False


class ModelTool(NamedTuple):
    """A tool: its name, what it does, its arguments (JSON schemas), and those that are needed."""

    name: str
    does: str
    arguments: Mapping[str, Mapping[str, str]]
    needed: tuple[str, ...] = ()


def _of(kind: str, text: str) -> Mapping[str, str]:
    return {"type": kind, "description": text}


PATH = _of("string", "a path in the worktree")
TOOLS = (
    ModelTool("list", "List a folder.", {"path": PATH}),
    ModelTool(
        "search", "Find lines by an extended regular expression.",
        {"pattern": _of("string", "the expression"), "path": PATH}, ("pattern",),
    ),
    ModelTool(
        "read", "Read a text file.",
        {"path": PATH, "offset": _of("integer", "the first line, from 1"),
         "limit": _of("integer", f"the number of lines (default: {LINES})")}, ("path",),
    ),
    ModelTool(
        "edit", "Replace text in a file. `old_string` must be in it exactly once.",
        {"path": PATH, "old_string": _of("string", "the text to replace, copied exactly"),
         "new_string": _of("string", "the new text"),
         "replace_all": _of("boolean", "replace it everywhere")},
        ("path", "old_string", "new_string"),
    ),
    ModelTool(
        "write", "Write a whole file, new or not.",
        {"path": PATH, "content": _of("string", "the whole content")}, ("path", "content"),
    ),
    ModelTool(
        "run", "Run a shell command in the worktree.",
        {"command": _of("string", "the command"),
         "timeout": _of("integer", f"seconds (default: {RUN_S:.0f})")}, ("command",),
    ),
    ModelTool(
        DONE, "End your work: it is finished, or you have asked a person.",
        {"summary": _of("string", "what you did")},
    ),
)  # fmt: skip
NAMES = tuple(tool.name for tool in TOOLS)


def definitions() -> list[dict[str, Any]]:
    """The tools in OpenAI's format."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.does,
                "parameters": {
                    "type": "object",
                    "properties": {name: dict(kind) for name, kind in tool.arguments.items()},
                    "required": list(tool.needed),
                },
            },
        }
        for tool in TOOLS
    ]


class Toolbox:
    """The tools in one worktree. `env` is what commands get."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self._root, self._env = root, dict(env)

    def add_env(self, env: Mapping[str, str]) -> None:
        """Set variables for the commands to come."""
        self._env |= env

    def prepare(self, name: str, given: Given) -> tuple[Given, Callable[[], ToolResult]]:
        """A call as the hooks read it, and a function that does it. Raises ToolError."""
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            raise ToolError(f"There is no tool {name[:60]!r}. Use one of {', '.join(NAMES)}.")
        missing = [key for key in tool.needed if not isinstance(given.get(key), str)]
        if missing:
            raise ToolError(f"{name} needs {' and '.join(missing)} as text.")
        match name:
            case "edit" | "write":
                return self._change(name, given)
            case "run":
                return given, lambda: self._run(given)
            case "search":
                path = inside(self._root, given.get("path") or ".")
                return {**given, "path": str(path)}, lambda: self._search(given["pattern"], path)
            case _:
                path = inside(self._root, given.get("path") or ".")
                does = self._list if name == "list" else self._read
                return {**given, "path": str(path)}, lambda: does(path, given)

    def _change(self, name: str, given: Given) -> tuple[Given, Callable[[], ToolResult]]:
        path = inside(self._root, given["path"])
        if name == "write":
            new = given["content"]
        else:
            everywhere = given.get("replace_all") is True
            old, replacement = given["old_string"], given["new_string"]
            new = replaced(read_text(path), old, replacement, everywhere=everywhere)

        def write() -> ToolResult:
            write_text(path, new)
            return ToolResult(f"Wrote {path.name}, {len(new.splitlines())} lines.")

        return {"path": str(path), "content": new}, write

    def _list(self, path: Path, _: Given) -> ToolResult:
        try:
            with os.scandir(path) as entries:
                names = sorted(
                    f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                    for entry in entries
                    if entry.name != ".git"
                )
        except OSError as error:
            raise ToolError(f"{path.name}: {error.strerror}.") from None
        more = [f"… and {len(names) - LISTED} more"] if len(names) > LISTED else []
        return bounded("\n".join([*names[:LISTED], *more]) or "The folder is empty.")

    def _read(self, path: Path, given: Given) -> ToolResult:
        lines = read_text(path).splitlines(keepends=True)
        first, most = _whole(given.get("offset"), 1), _whole(given.get("limit"), LINES)
        chosen = lines[first - 1 : first - 1 + most]
        text = "".join(chosen)
        if len(text) > OUTPUT_LIMIT:
            end = text.rfind("\n", 0, OUTPUT_LIMIT) + 1 or OUTPUT_LIMIT
            chosen = text[:end].splitlines(keepends=True)
            text = text[:end]
        last = first - 1 + len(chosen)
        if last < len(lines):
            text += f"\n[lines {first} to {last} of {len(lines)}; continue with offset {last + 1}]"
        return ToolResult(text or "[no lines]")

    def _search(self, pattern: str, path: Path) -> ToolResult:
        args = ["grep", "--untracked", "-nIE", "--max-count=100", "-e", pattern, "--", str(path)]
        try:
            grep = git.run(args, cwd=self._root, timeout=30)
        except GhpError as error:
            raise ToolError(str(error)) from None
        if grep.code > 1:
            raise ToolError(grep.err.strip()[:500] or "git grep failed.")
        return bounded(grep.text or "Nothing was found.")

    def _run(self, given: Given) -> ToolResult:
        seconds = min(LONGEST_RUN_S, _whole(given.get("timeout"), int(RUN_S)))
        try:
            done = process.shell(
                given["command"], cwd=self._root, env=self._env, timeout=seconds, keep=64_000
            )
        except (OSError, ValueError) as error:
            raise ToolError(f"The command cannot be run: {error}") from None
        text = bounded(shown(done.output, self._env)).text
        if done.timed_out:
            return ToolResult(f"{text}\n[it was ended after {seconds:.0f} s]".lstrip(), True)
        note = f"[exit code {done.code}]" if done.code else ""
        return ToolResult("\n".join(filter(None, (text, note))) or "[no output]", bool(done.code))


def bounded(text: str) -> ToolResult:
    """A text without its middle if it is too long."""
    if len(text) <= OUTPUT_LIMIT:
        return ToolResult(text)
    half = OUTPUT_LIMIT // 2
    left_out = len(text) - 2 * half
    return ToolResult(f"{text[:half]}\n… ({left_out} characters are left out)\n{text[-half:]}")


def _whole(value: object, default: int) -> int:
    """A positive number, also as text; small models write it so."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    return value if isinstance(value, int) and value > 0 else default
