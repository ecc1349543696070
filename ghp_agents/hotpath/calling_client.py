"""The coding client in whose shell this process runs, for clients that name no session.

Their shells carry a mark in the environment. Other clients are known by the program of an ancestor
process. Imports nothing heavy, because heartbeats use this.
"""

import os

from ghp_agents.hotpath import process_start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What the shells of clients have in their environment (read in their sources, tried with each).
MARKS = (
    ("claude", "CLAUDECODE"),
    ("gemini", "GEMINI_CLI"),
    ("opencode", "OPENCODE"),
    ("copilot", "COPILOT_CLI"),
    ("qwen", "QWEN_CODE"),
    ("pi", "PI_CODING_AGENT"),
    ("cursor", "CURSOR_AGENT"),
)
# Parts of such names; clients' hooks are installed for these (`integrations/clients/events.py`).
VERBS = (
    "append", "apply", "copy", "create", "delete", "edit", "insert", "modify", "move", "patch",
    "remove", "rename", "replace", "save", "update", "write",
)  # fmt: skip
READS = ("find", "get", "list", "read", "search", "view")  # first words of tools that change none
# What parts server and tool in the names of clients that put no mark before them.
UNMARKED = {"copilot": "-", "opencode": "_", "pi": "_"}
PROGRAMS = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "copilot": "copilot",
    "qwen": "qwen",
    "cursor-agent": "cursor",
    "aider": "aider",
}
INTERPRETERS = ("node", "bun", "deno", "python", "python3")
SWITCH = "GHP_ANCESTORS"  # "0": do not look at ancestor processes
DEEPEST = 32  # ancestors that are read
UNKNOWN = "unknown"  # the session, where processes cannot be read
# Who called, by the parent and by the mark: while the parent lives, that does not change.
_callers: "dict[tuple[int, tuple[str, str] | None], tuple[str, str] | None]" = {}


def mark(environ: "Mapping[str, str]") -> "tuple[str, str] | None":
    """The client whose mark is in the environment, and the mark."""
    for kind, variable in MARKS:
        if environ.get(variable):
            return kind, variable
    return None


def session(environ: "Mapping[str, str]") -> "tuple[str, str] | None":
    """The client that called, and an id of its session: its process and when that started. None
    for a person."""
    marked = mark(environ)
    if not marked and environ.get(SWITCH) == "0":
        return None
    question = os.getppid(), marked
    if question not in _callers:
        _callers[question] = (marked[0], _without(marked[1]) or UNKNOWN) if marked else _running()
    return _callers[question]


def _running() -> "tuple[str, str] | None":
    """The nearest ancestor that is a client, and its id."""
    for pid, start in _ancestors():
        kind = _program(pid)
        if kind:
            return kind, f"{pid}-{start}"
    return None


def _without(variable: str) -> str:
    """The nearest ancestor that started without the mark: the client gave it to its shell."""
    sign = variable.encode() + b"="
    for pid, start in _ancestors():
        content = process_start.read(f"/proc/{pid}/environ")
        if content is None:
            return ""  # of another user
        if not any(entry.startswith(sign) for entry in content.split(b"\0")):
            return f"{pid}-{start}"
    return ""


def _ancestors() -> "Iterator[tuple[int, str]]":
    """The process ids of the ancestors, the parent first, each with its start time."""
    pid = os.getppid()
    for _ in range(DEEPEST):
        fields = process_start.fields(pid)
        if pid < 2 or not fields:
            return
        yield pid, fields[19].decode("ascii", "replace")
        pid = int(fields[1])


def _program(pid: int) -> str:
    """The client that a process runs; empty if it is none."""
    words = (process_start.read(f"/proc/{pid}/cmdline") or b"").split(b"\0")
    names = [os.fsdecode(word).rpartition("/")[2] for word in words[:2]]
    if names and names[0].rstrip("0123456789.") in INTERPRETERS:
        del names[0]
    return PROGRAMS.get(names[0].partition(".")[0], "") if names else ""


def may_edit(client: str, tool: str) -> bool:
    """Whether a tool is of an MCP server and changes files, by its name."""
    mark = UNMARKED.get(client)
    name = tool.lower()
    if mark:
        if mark not in tool:
            return False
        names = [name.partition(mark)[2]]
        while mark == "-" and "-" in names[-1]:  # servers' names have hyphens, tools' mostly not
            names.append(names[-1].partition("-")[2])
    elif tool.startswith(("mcp_", "MCP:")):
        name = name.rpartition("__")[2].rpartition(":")[2]
        names = [name]
    else:
        return False
    if "replace" not in name and any(x.startswith(READS) for x in names):
        return False
    return any(verb in name for verb in VERBS)
