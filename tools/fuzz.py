"""Random bytes for what reads others' bytes: `python -m tools.fuzz [SECONDS]`, 60 by default.

A reader may return a value or refuse with words. It must not crash, take a second of the processor,
or need more than 300 MB. Each failing input is printed in its smallest form.
"""

import contextlib
import resource
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from ghp_agents.cards import card, command_rules, manifest, read_cards
from ghp_agents.core import fields, front_matter, globs, jsonc, secret_scan
from ghp_agents.core.errors import GhpError
from ghp_agents.escalations import record as escalations
from ghp_agents.git import patch_text
from ghp_agents.github import marker
from ghp_agents.github.commands import parse as commands
from ghp_agents.github.tracker import body
from ghp_agents.guard import codeowners
from ghp_agents.handoffs import record as handoffs
from ghp_agents.handoffs import returned
from ghp_agents.hooks import entry, notebook_edit, patch_edit
from ghp_agents.hooks.event import UnknownEditError
from ghp_agents.hotpath import fastjson, line_ranges
from ghp_agents.issues import record as issues
from ghp_agents.issues import scope
from ghp_agents.jobs import job_file
from ghp_agents.leases import record as leases
from ghp_agents.locks import lock
from ghp_agents.messages import header_block
from ghp_agents.messages import record as messages
from ghp_agents.messages.channels import channel
from ghp_agents.notes import record as notes
from ghp_agents.pulls import record as pulls
from ghp_agents.runs import stream, task
from ghp_agents.state import presence
from ghp_agents.workflows import workflow

SECONDS = 60.0  # of the clock, for all readers together
SLOW_S = 1.0  # seconds of the processor for one input
MOST_KB = 300_000  # resident memory
EXAMPLES = 50  # of a reader before the next one has its turn
ID = "01jzzzzzzzzzzzzzzzzzzzzzzz"
REFUSALS = (GhpError, ValueError, UnknownEditError, command_rules.UnclearError)
PARTS = (
    b"---\n",
    b"\n\n",
    b"\n",
    b": ",
    b"- ",
    b"name: x\n",
    b"topic: a\n",
    b"## Step\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b'"version": 2',
    b"null",
    b"1e999",
    b"\\ud800",
    b"\xff",
    b"\x00",
    b"\xed\xa0\x80",
    b"&a *a ",
    b"!!x ",
    b"diff --git a/x b/x\n",
    b"new file mode 100644\n",
    b"old mode 1\xff\nnew mode 1\n",
    b"index 1..2 1\xff\n",
    b"--- a/x\n+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"-a\n+b\n",
    b"GIT binary patch\n",
    b"*** Begin Patch\n",
    b"*** Update File: x\n",
    b"*** End Patch\n",
    b"apply_patch <<'EOF'\n",
    b"EOF\n",
    b"cd a && ",
    b"git status ",
    b"$(x)",
    b"'",
    b"\\",
    b"From: x\n",
    b"To: y\n",
    b"<!-- ",
    b" -->",
    b"/agent ",
    b"> ",
    b"```\n",
    b"## Scope\n",
    b"**/",
    b"*",
    b"[!a-z]",
    b"hook_event_name",
    b"tool_name",
    b"tool_input",
    b"command",
    b"9" * 5_000,
    b"a/" * 500,
    b"(" * 500,
)
BYTES = st.lists(st.sampled_from(PARTS) | st.binary(max_size=20), max_size=30).map(b"".join)
MANY = st.tuples(BYTES, st.integers(1, 200)).map(lambda x: (x[0] * x[1])[:100_000])
INPUTS = BYTES | MANY


class SlowError(AssertionError):
    """A reader took too long."""


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "surrogateescape"))


def _file(folder: str, read: Callable[[Mapping[str, bytes]], object]) -> Callable[[bytes], object]:
    return lambda data: read({f"{folder}/{ID}/{ID}.md": data, f"{folder}/{ID}.md": data})


def _hook(client: str) -> Callable[[bytes], object]:
    """The event of a client, as far as it is read without a clone."""
    protocol = import_module(f"ghp_agents.hooks.{client}")
    name = next(name for name, kind in protocol.CLIENT.kinds.items() if kind == "edit")

    def read(data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        tools = ("Bash", "apply_patch", "Edit", "shell", "edit", text[:20])
        for tool in tools:
            given: Any = {"command": text, "cmd": [text], "file_path": text, "patch": text}
            message = {"hook_event_name": name, "tool_name": tool, "tool_input": given, "cwd": "/"}
            protocol.parse(message)
            protocol.CLIENT.tool_use(tool, given)
        decoded = fastjson.decode(text)
        if isinstance(decoded, dict):
            protocol.parse(decoded)

    return read


def _patch(data: bytes) -> None:
    """A patch's refusal reaches people, so an error of decoding is none."""
    try:
        patch_text.read_patch(data)
    except UnicodeError as error:
        raise AssertionError(f"no words: {error}") from error


def _rules(data: bytes) -> None:
    line = data.decode("utf-8", "surrogateescape")
    command_rules.refusal(line, ["make"], [["ghp"]], lambda _: False, lambda *_: False)


def _manifest(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for tool in (manifest.READ, manifest.RUN, manifest.NETWORK, text[:100]):
        manifest.parse([{"tool": tool, "scope": text[:200]}])


READERS: dict[str, Callable[[bytes], object]] = {
    "front matter": front_matter.parse,
    "fields": fields.parse,
    "settings with comments": _text(jsonc.parse),
    "JSON": _text(fastjson.decode),
    "message block": header_block.parse,
    "messages": _file("messages", messages.read),
    "handoffs": _file("handoffs", handoffs.read_handoffs),
    "returned work": _file("returns", returned.read_returns),
    "questions": _file("escalations", escalations.read),
    "leases": _file("leases", leases.read_leases),
    "notes": _file("notes", notes.read_notes),
    "pull requests": lambda data: pulls.decode(f"pulls/{ID}.md", data),
    "issues": lambda data: issues.decode(f"issues/1/{ID}.md", data),
    "locks": lambda data: lock.decode(data, "0" * 40),
    "presence": presence.decode,
    "workflow": lambda data: workflow.parse(data, "x"),
    "card": _text(lambda text: read_cards.parse_file(".ghp/agents/x.md", text, [])),
    "machines": _text(lambda text: read_cards.parse_file(".ghp/machines.yaml", text, [])),
    "fields of a card": lambda data: card.parse("x", "x.md", fields.parse(data)),
    "permissions": _manifest,
    "task": lambda data: task.parse("x", data),
    "jobs": _text(lambda text: job_file.parse(text, "x")),
    "channels": _text(channel.parse),
    "comment": _text(commands.read),
    "marker": _text(marker.split_marker),
    "relations of a body": _text(body.read_relations),
    "scope": _text(scope.scope),
    "owners": _text(codeowners.parse_owners),
    "pattern": _text(lambda text: globs.covers([text[:200]], "a/b/c/d.py")),
    "secrets": _text(secret_scan.find),
    "patch of git": _patch,
    "hunks": line_ranges.hunks,
    "line ranges": _text(line_ranges.decode),
    "patch of a client": _text(patch_edit.sections),
    "notebook": lambda data: notebook_edit.edited_notebook({"new_source": "x"}, data),
    "shell line": _rules,
    "output of a client": _text(lambda text: stream.read(stream.ClientProgress(), text)),
    **{f"hook of {client}": _hook(client) for client in entry.CLIENTS},
}


def read_bounded(read: Callable[[bytes], object], data: bytes) -> None:
    """Read once. Raises what no reader may raise, or SlowError."""
    started = time.process_time()
    with contextlib.suppress(REFUSALS):
        read(data)
    took = time.process_time() - started
    if took > SLOW_S:
        raise SlowError(f"took {took:.1f} s of the processor")


def fuzz(name: str, number: int, examples: int = EXAMPLES) -> str:
    """Try examples on a reader; the seed is `number`. Returns what is wrong, else nothing."""

    @seed(number)
    @settings(
        max_examples=examples, deadline=None, database=None, suppress_health_check=[*HealthCheck]
    )
    @given(INPUTS)
    def attempt(data: bytes) -> None:
        read_bounded(READERS[name], data)

    try:
        attempt()
    except Exception as error:  # noqa: BLE001  whatever a reader raises is the result
        notes = " ".join(getattr(error, "__notes__", ()))
        return f"{name}: {type(error).__name__}: {error} {notes}"[:2_000]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{name}: {peak} kB of memory" if peak > MOST_KB else ""


def run(seconds: float) -> tuple[int, list[str]]:
    """Give each reader its turn until the time is over: the number of turns, and what is wrong."""
    end, turns, wrong = time.monotonic() + seconds, 0, dict[str, str]()
    while time.monotonic() < end or turns < len(READERS):  # each at least once
        for name in READERS:
            if name not in wrong and (problem := fuzz(name, turns)):
                wrong[name] = problem
            turns += 1
            if time.monotonic() >= end and turns >= len(READERS):
                break
    return turns, [*wrong.values()]


def main() -> int:
    """Fuzz for the seconds of the command line."""
    turns, wrong = run(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
    print(f"{turns * EXAMPLES} inputs for {len(READERS)} readers")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
