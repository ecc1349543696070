"""What a run may do, as its supervisor wrote it down before it began: one small file of JSON.

A field is None if nothing of its kind is allowed, an empty list if everything is. Paths are regular
expressions for paths below the top of the run's worktree.
"""

import os

from ghp_agents.cards import command_rules
from ghp_agents.hotpath import fastjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RIGHTS = "GHP_RIGHTS"  # the variable with the file's path
REFUSED = "refused"  # a file beside it, with a line for each refusal
REFUSED_LIMIT = 100_000  # bytes of it; later refusals are not kept
VERSION = 2
LONGEST_NAME = 4_096  # bytes; Linux opens no longer path, with the zero at its end
# Tools that touch nothing but the client itself. What their sub-agents do is asked about, too.
HARMLESS = (
    "Agent", "AskUserQuestion", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillShell",
    "Skill", "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput",
    "TaskStop", "TaskUpdate", "TodoRead", "TodoWrite", "ToolSearch", "save_memory", "task",
    "todoread", "todowrite", "update_plan", "write_todos",
)  # fmt: skip
FETCH = ("WebFetch", "webfetch", "web_fetch")
SEARCH = ("WebSearch", "google_web_search", "web_search", "websearch")
OURS = ("mcp__ghp__", "mcp_ghp_", "ghp_", "ghp__")  # the tools of our own server


class Rights:
    """What one run may do."""

    __slots__ = (
        "asks", "card", "guarded", "network", "own", "place", "read", "run", "tools", "top",
        "write",
    )  # fmt: skip

    def __init__(self, fields: "dict[str, Any]", place: str) -> None:
        self.place = place  # the folder of the run
        self.top = str(fields["top"])
        self.card = str(fields["card"])
        self.asks = fields["autonomous"] != "true"
        self.read = _strings(fields["read"])
        self.write = _strings(fields["write"])
        self.run = _strings(fields["run"])
        self.network = _strings(fields["network"])
        self.tools = _strings(fields["tools"]) or []
        self.guarded = _strings(fields["guarded"]) or []  # the set-up of clients
        self.own: list[list[str]] = [_strings(words) or [] for words in fields["own"]]

    def reading(self, path: str) -> str:
        """Why a file may not be read; empty if it may."""
        real = os.path.realpath(path)
        if _below(real, os.path.realpath(self.place)):
            return ""  # its own prompt and log
        if not _below(real, os.path.realpath(self.top)):
            return "it reads outside of its worktree"
        return "" if self._fits(real, self.read) else "it is not among the files that it may read"

    def writing(self, path: str) -> str:
        """Why a file may not be written; empty if it may."""
        real = os.path.realpath(path)
        if not _below(real, os.path.realpath(self.top)):
            return "it writes outside of its worktree"
        parts = os.path.relpath(real, os.path.realpath(self.top)).lower().split("/")
        if ".git" in parts:  # also of a repository inside
            return "it writes in git's own folder"
        if any(part in self.guarded for part in parts):
            return (
                "it changes what programs run by themselves; its card must name that file or folder"
            )
        return "" if self._fits(real, self.write) else "it is not among the files that it may write"

    def running(self, line: str, cwd: str) -> str:
        """Why a shell line may not be run in `cwd`; empty if it may."""
        top = os.path.realpath(self.top)

        def inside(folder: str) -> bool:
            """Both as a shell counts `..` and as the file system does."""
            plain = os.path.join(cwd, folder)
            ways = (os.path.realpath(plain), os.path.realpath(os.path.normpath(plain)))
            return folder[:1] not in ("-", "~") and all(_below(way, top) for way in ways)

        def names(folder: str, word: str) -> bool:
            if "\0" in word:
                return False
            if len(os.fsencode(word)) >= LONGEST_NAME:
                return True  # no program can open it
            real = os.path.realpath(os.path.join(cwd, folder, word))
            if not _below(real, top):
                return not os.path.lexists(real)
            return not self.read or not os.path.isfile(real) or self._fits(real, self.read)

        rules = [command_rules.ANY] if self.run == [] else self.run or []
        if command_rules.ANY not in rules and not _below(os.path.realpath(cwd), top):
            return "it runs outside of its worktree"
        return command_rules.refusal(line, rules, self.own, inside, names, shows=not self.read)

    def reaching(self, url: str) -> str:
        """Why an address may not be reached; empty if it may."""
        host = _host(url)
        hosts = self.network
        if hosts is None:
            return "it may not use the network"
        fits = not hosts or any(
            pattern == "*"
            or pattern == host
            or (pattern[:2] == "*." and host.endswith(pattern[1:]))
            for pattern in hosts
        )
        return "" if fits else "it may not reach that host"

    def using(self, tool: str) -> str:
        """Why another tool may not be used; empty if it may."""
        fits = tool in HARMLESS or tool.startswith(OURS)
        fits = fits or any(
            tool == pattern or (pattern[-1:] == "*" and tool.startswith(pattern[:-1]))
            for pattern in self.tools
        )
        return "" if fits else "it is not among the tools that it may use"

    def _fits(self, real: str, sources: "list[str] | None") -> bool:
        if not sources:
            return sources is not None
        from re import search  # regular expressions cost a third of Python's start

        path = os.path.relpath(real, os.path.realpath(self.top))
        return any(search(source, path) for source in sources)


def load(path: str) -> Rights:
    """The rights in a file. Raises ValueError if it cannot be used: then nothing is allowed."""
    fields = fastjson.read_object(path)
    if not fields or fields.get("version") != VERSION:
        raise ValueError("what it may do cannot be read")
    try:
        return Rights(fields, os.path.dirname(path))
    except (KeyError, TypeError) as error:
        raise ValueError("what it may do cannot be read") from error


def _strings(value: "Any") -> "list[str] | None":
    return None if value is None else [str(item) for item in value]


def _below(real: str, top: str) -> bool:
    return real == top or real.startswith(top.rstrip("/") + "/")


def _host(url: str) -> str:
    """The host of an address, as a client would reach it; empty if it is unclear."""
    scheme, mark, rest = url.partition("://")
    if not mark or scheme.lower() not in ("http", "https"):
        rest = url if not mark else ""
    name = rest if len(url.split()) == 1 else ""  # a text may name many
    for end in "/?#\\":
        name = name.partition(end)[0]
    if "@" in name or "[" in name or "%" in name:
        return ""
    return name.partition(":")[0].lower().rstrip(".")
