"""Feeds odd bytes to all that reads what others wrote: `python -m tools.fuzz --seconds 60`.

The inputs are real records, messages and lines with pieces cut out, put in and repeated; hypothesis
chooses them, and reduces one that fails. A reader may refuse its input by an error that it names.
It may do nothing else: no other exception, no more than a second of the processor for one input,
and no more than 300 MB of memory for all of them together. `--seed N` plays a run again.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import strategies as st

from ghp_agents.cards import command_rules, manifest, permissions, read_cards
from ghp_agents.core import fields, front_matter, glob_paths, globs, jsonc, metadata, secret_scan
from ghp_agents.core.errors import GhpError
from ghp_agents.escalations import record as escalations
from ghp_agents.git.patch_text import read_patch
from ghp_agents.github import marker
from ghp_agents.github.commands import comment_lines
from ghp_agents.github.commands import parse as comment_commands
from ghp_agents.github.tokenless import published, request
from ghp_agents.github.tracker import body
from ghp_agents.guard import codeowners, override
from ghp_agents.handoffs import record as handoffs
from ghp_agents.handoffs import returned
from ghp_agents.hooks import deadline, entry, notebook_edit, patch_edit, run_rights
from ghp_agents.hooks.event import UnknownEditError
from ghp_agents.hotpath import fastjson, line_ranges, quoting
from ghp_agents.issues import body_sections, scope
from ghp_agents.issues import comment_commands as obeyed
from ghp_agents.issues import replay as issues
from ghp_agents.jobs import job_file
from ghp_agents.leases import record as leases
from ghp_agents.locks import lock
from ghp_agents.messages import header_block
from ghp_agents.messages import record as messages
from ghp_agents.messages.channels import channel
from ghp_agents.messages.topics import subscription
from ghp_agents.notes import record as notes
from ghp_agents.presence import stop_order
from ghp_agents.pulls import replay as pulls
from ghp_agents.pulls import review
from ghp_agents.runs import stream, task
from ghp_agents.state import presence
from ghp_agents.workflows import workflow
from tools import fuzz_whole
from tools.fuzz_reader import Reader, SlowError

ROOT = Path(__file__).parents[1]
PAYLOADS = ROOT / "tests/hooks/payloads"
MOST_S = 1.0  # of the processor for one input
HANGS_S = 4.0  # of the processor; then the input is given up
GENERATE = hypothesis.Phase.generate
MOST_MB = 300
REFUSALS = (
    GhpError, ValueError, command_rules.UnclearError, UnknownEditError,
)  # fmt: skip
PIECES = (
    b"\n", b"\0", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"{", b"[", b'"', b"'", b"---\n", b": ",
    b"- ", b"../", b"/", b"*", b"**", b"?", b"!", b"#", b"`", b"```\n", b"<!--", b"-->", b"$(x)",
    b"&&", b";", b"|", b"\\", b"0", b"-1", b"9" * 400, b"1e999", b"NaN", b"null", b"true", b"[]",
    b"{}", b"\r\n", b"*** Begin Patch\n", b"*** End Patch", b"*** Update File: ", b"@@ ", b"cd ",
    b"apply_patch <<'EOF'\n", b"diff --git a/x b/x\n", b"\xe2\x80\xae", b"\x1b[2J", b"a" * 300,
    b"&a [*a, *a]", b" ",
)  # fmt: skip


def texts(read: Callable[[str], object], *seeds: str) -> Reader:
    """A reader of text; bytes that are none are replaced, as where text comes from."""
    return Reader(lambda data: read(data.decode("utf-8", "replace")), [x.encode() for x in seeds])


def readers(folder: Path) -> dict[str, Reader]:
    """All readers, by name. `folder` is a place for files."""
    state = example_state(folder / "repo")
    files = [json.dumps([path, data.decode("utf-8", "replace")]).encode() for path, data in state]
    beside = dict(state)
    records: dict[str, Callable[[Mapping[str, bytes]], object]] = {
        "notes": notes.read_notes, "pull requests": pulls.read_events,
        "reviews": review.read_reviews,
        "obeyed commands": obeyed.read_commands, "issues": issues.read_events,
        "orders to stop": stop_order.read_orders, "handoffs": handoffs.read_handoffs,
        "returned work": returned.read_returns, "subscriptions": subscription.read_subscriptions,
        "messages": messages.read, "leases": leases.read_leases,
        "published": published.read_published,
        "outgoing requests": request.read_outgoing, "overrides": override.read_overrides,
        "questions": escalations.read, "answers": escalations.read_answers,
    }  # fmt: skip
    matches = {
        f"records: {name}": Reader(partial(_one_more, read, beside), files)
        for name, read in records.items()
    }
    bodies = [data for _, data in state]
    matches |= {
        "presence": Reader(presence.decode, bodies),
        "front matter": Reader(front_matter.parse, bodies),
        "header block": Reader(header_block.parse, bodies),
        "fields": Reader(fields.parse, bodies),
        "locks": Reader(lambda data: lock.decode(data, "0" * 40), bodies),
        "patch": Reader(_patch, [PATCH]),
        "line ranges": texts(line_ranges.decode, "1-3,7-9"),
        "task": Reader(lambda data: task.parse("t", data), [b"---\nrun: make\n---\nDo it\n"]),
        "workflow": Reader(lambda data: workflow.parse(data, "w"), _workflows()),
        "job": texts(lambda text: job_file.parse(text, "j"), "id: a\ntitle: b\nstatus: queued\n"),
        "channels": texts(channel.parse, "channels:\n  general:\n    members: ['*']\n"),
        "blocks of a channel": texts(_channel, "```w1 [sending]\nHi\n```\n\nMine\n"),
        "card": texts(lambda text: read_cards.parse_file(".ghp/agents/a.md", text, []), CARD),
        "machines": texts(lambda text: read_cards.parse_file(".ghp/machines.yaml", text, []), CARD),
        "permissions": Reader(lambda data: manifest.parse(_json(data)), [b'[{"bash": ["make"]}]']),
        "JSON with comments": texts(jsonc.parse, '{"a": [1, 2] /* x */, // y\n"b": "c"}'),
        "metadata": texts(metadata.any_metadata, '{"ticket": "X-1", "at": [1, {"a": null}]}'),
        "JSON": texts(fastjson.decode, '{"a": ["b", 1.5, null]}'),
        "CODEOWNERS": texts(codeowners.parse_owners, "*.py @a/b\n/docs/ c@d.e\n"),
        "patterns": texts(_patterns, "src/**/*.py\n!x"),
        "a word for files": texts(glob_paths.spelled, "src/[a-z]*.py"),
        "secrets": texts(lambda text: (secret_scan.find(text), secret_scan.redacted(text)), "a=b"),
        "commands in a comment": texts(_comment, "Hi\n\n/agent claim 3\n"),
        "body of an issue": texts(_body, "## Scope\n\n- src/\n\nblocked by #3\n"),
        "a client's stream": texts(
            lambda text: stream.read(stream.ClientProgress(), text),
            '{"type": "assistant", "message": {"id": "a", "usage": {"input_tokens": 3}}}',
        ),
        "quotation": texts(_quoted, "a [b](c)\n```\nd\n```\n"),
        "notebook": Reader(_notebook, [b'{"cells": [{"id": "a", "source": ["x"]}]}']),
        "patch of a model": texts(_model_patch, MODEL_PATCH),
        "a shell line": texts(command_rules.commands, "make && git add . | x 'y z' > /dev/null"),
    }  # fmt: skip
    rights = _rights(folder)
    for name in entry.CLIENTS:
        seeds = [path.read_bytes() for path in sorted(PAYLOADS.glob(f"{name}-*.json"))]
        seeds += _tools(name, str(folder))
        matches[f"messages of {name}"] = Reader(partial(_message, name, rights), seeds)
    return matches | fuzz_whole.readers(folder, folder / "repo")


PATCH = (
    b"diff --git a/n b/n\nold mode 100644\nnew mode 100755\n"
    b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\n"
    b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"
)
MODEL_PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n a\n-b\n+c\n*** End Patch"
CARD = (
    "---\nname: a\ncapabilities: [python]\npermissions:\n  - write_file: [docs/**]\n"
    "  - bash: [make]\nmodel: x\n---\nDo it.\n"
)


def _patch(data: bytes) -> object:
    """A patch's refusal reaches people: an error of Python's has no words for them."""
    try:
        return read_patch(data)
    except UnicodeError as error:
        raise AssertionError("no words") from error


WORKFLOW = b"---\nname: w\ninputs: [a]\n---\n## Step one\nTo: @orchestrator\n\nDo {a}\n"


def _json(data: bytes) -> object:
    return json.loads(data)


def _one_more(
    read: Callable[[Mapping[str, bytes]], object], beside: Mapping[str, bytes], data: bytes
) -> object:
    """Read the records of a clone of which one is odd: its path and its content."""
    with contextlib.suppress(ValueError, TypeError):
        path, content = json.loads(data)
        return read({**beside, str(path): str(content).encode("utf-8", "replace")})
    return None


def _patterns(text: str) -> object:
    words = glob_paths.spelled_all(text.split("\n")[:100])  # as a lease has them
    return globs.covers(words, "src/a.py"), globs.may_meet(words, ["src/*"], ["src/a.py"])


def _channel(text: str) -> object:
    return channel.is_view(text), channel.after_last_block(text), channel.written(text)


def _comment(text: str) -> object:
    return comment_commands.read(text), comment_lines.lines(text), marker.split_marker(text)


def _body(text: str) -> object:
    return scope.scope(text), body.read_relations(text), body_sections.outline(text)


def _quoted(text: str) -> object:
    return quoting.visible(text), quoting.fence(text), quoting.clean(text)


def _notebook(data: bytes) -> object:
    given = {"cell_id": "a", "new_source": "b"}
    return notebook_edit.edited_notebook(given, data)


def _model_patch(text: str) -> object:
    sections = patch_edit.sections(text)
    return patch_edit.patched_content(sections, "a.py", b"def f():\na\nb\n", lambda _: None)


def _message(client: str, environ: Mapping[str, str], data: bytes) -> object:
    """What a hook does first with a message, in a run with permissions."""
    payload = json.loads(data.decode("utf-8"))
    if not isinstance(payload, dict):
        return None
    protocol = import_module(f"ghp_agents.hooks.{client}")
    return run_rights.refusal(protocol, payload, environ), protocol.parse(payload)


def _tools(client: str, folder: str) -> Iterator[bytes]:
    """A shell line for each tool of a client that runs one."""
    protocol: Any = import_module(f"ghp_agents.hooks.{client}")
    name = next(event for event, kind in protocol.CLIENT.kinds.items() if kind == "edit")
    line = "cd src && git add a.py && git commit -m 'x' && make test"
    for tool in protocol.CLIENT.shells:
        given = {key: line for key in ("command", "cmd")}
        message = {"hook_event_name": name, "tool_name": tool, "tool_input": given, "cwd": folder}
        yield json.dumps(message).encode()


def _rights(folder: Path) -> dict[str, str]:
    path = folder / "run/rights"
    path.parent.mkdir()
    fields = {
        "version": permissions.VERSION, "top": str(folder), "card": "c", "autonomous": "ask",
        "read": ["^src/"], "write": ["^src/"], "run": ["make"], "network": None, "tools": [],
        "guarded": [".codex"], "own": [["ghp"]],
    }  # fmt: skip
    path.write_text(json.dumps(fields))
    return {permissions.RIGHTS: str(path)}


def _workflows() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "templates").rglob("*.md"))] + [WORKFLOW]


COMMANDS = (
    "agent-issue new Parse --body '## Scope\n\n- src/'", "agent-claim 1",
    "agent-lease src/ --reason x",
    "agent-escalate 'Which format?' --option a --option b", "agent-remember 'Use tabs' --path src/",
    "agent-send w2 Look --kind request --body text", "agent-handoff --note half",
    "agent-subscribe code.*", "agent-heartbeat --status testing --action x",
    "agent-issue comment 1 Hi",
)  # fmt: skip


def example_state(repo: Path) -> list[tuple[str, bytes]]:
    """The files of a clone's records, after some commands in a new repository."""
    import shlex

    env = {**os.environ, "GHP_BACKGROUND": "0", "GHP_AGENT": "w1", "PYTHONPATH": str(ROOT)}
    run = partial(subprocess.run, cwd=repo, env=env, capture_output=True, check=True)
    repo.mkdir()
    run(["git", "init", "--quiet", "--initial-branch", "main"])
    who = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
    run(["git", *who, "commit", "--quiet", "--allow-empty", "--message", "Begin"])
    for command in COMMANDS:
        run([sys.executable, "-P", "-m", "ghp_agents", *shlex.split(command)])
    from ghp_agents.wiring import App

    snapshot = App(repo, env).store.snapshot()
    return sorted(snapshot.files(".ghp/").items())


Edit = tuple[int, int, bytes, int]
EDITS = st.lists(
    st.tuples(
        st.integers(0, 2**16), st.integers(0, 9),
        st.one_of(st.sampled_from(PIECES), st.binary(max_size=5)),
        st.sampled_from((1, 1, 1, 1, 2, 40, 3_000)),
    ),
    max_size=6,
)  # fmt: skip


def mutated(seed: bytes, edits: Sequence[Edit]) -> bytes:
    """`seed` with pieces cut out and put in, some of them many times."""
    for at, cut, piece, times in edits:
        at %= len(seed) + 1
        seed = seed[:at] + piece * times + seed[at + cut :]
    return seed


def try_one(reader: Reader, data: bytes) -> None:
    """Raises what the reader may not raise, and SlowError."""
    took = _seconds(reader, data)
    if took > MOST_S:  # a busy machine is slow at times
        took = _seconds(reader, data)
    if took > MOST_S:
        raise SlowError(f"{took:.1f} s of the processor")


def _seconds(reader: Reader, data: bytes) -> float:
    started = _processor()
    try:
        with deadline.budget(HANGS_S, processor=True), contextlib.suppress(*REFUSALS):
            reader.read(data)
    except deadline.OverBudgetError:
        raise SlowError(f"more than {HANGS_S} s of the processor") from None
    return _processor() - started - reader.start_s


def _processor() -> float:
    """Seconds of the processor, of this process and of those that ended."""
    times = os.times()
    return sum(times[:4])


def fuzz(all_readers: Mapping[str, Reader], seconds: float, seed: int) -> int:
    """Try all readers in turns for `seconds`; returns how many inputs there were."""
    until, count = time.monotonic() + seconds, 0

    for turn in range(1_000_000):
        for name, reader in all_readers.items():
            if time.monotonic() > until:
                return count
            count += one_turn(name, reader, seed + turn)
    return count


def one_turn(
    name: str, reader: Reader, seed: int, phases: Sequence[hypothesis.Phase] = (GENERATE,)
) -> int:
    """Try a reader on some inputs; one that fails is reduced, unless it is slow."""
    count = 0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=reader.inputs, deadline=None, database=None, print_blob=False, phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    @hypothesis.given(st.sampled_from(reader.seeds), EDITS)
    def read(start: bytes, edits: list[Edit]) -> None:
        nonlocal count
        count += 1
        try_one(reader, mutated(start, edits))

    try:
        read()
    except Exception as error:
        if GENERATE in phases[-1:] and not isinstance(error, SlowError):
            one_turn(name, reader, seed, (GENERATE, hypothesis.Phase.shrink))
        error.add_note(f"Reader: {name}. Play it again with --only '{name}' --seed {seed}.")
        raise
    return count


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz; the exit code is 1 where a reader fails or memory grows too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--only", default="", help="readers whose name has this text")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        chosen = {n: r for n, r in readers(Path(folder)).items() if given.only in n}
        before = _megabytes()
        count = fuzz(chosen, given.seconds, given.seed)
    grown = max(_megabytes() - before, _megabytes(resource.RUSAGE_CHILDREN))
    sys.stdout.write(
        f"{len(chosen)} readers, {count} inputs, {grown} MB more memory, seed {given.seed}\n"
    )
    return 0 if grown <= MOST_MB else 1


def _megabytes(who: int = resource.RUSAGE_SELF) -> int:
    return resource.getrusage(who).ru_maxrss // 1_024


if __name__ == "__main__":
    raise SystemExit(main())
