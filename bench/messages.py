"""Messages, with 10,000 of them in the state of two clones: `agent-send` and `agent-inbox` as whole
processes, and the hook after a step that brings no news. Compared are processor times, with those
of all child processes."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, processor, ratio
from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, CloneId, Timestamp, agent_name
from ghp_agents.messages import message as rules
from ghp_agents.messages import record
from ghp_agents.messages.message import ACK, DONE, KINDS, NOTE, Message
from ghp_agents.ports import Snapshot
from ghp_agents.state.codec import ledger_record
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact

SEND_CLICKS, INBOX_CLICKS = 3, 2.5
UNCHANGED = 1.1  # equal but for noise
MESSAGES, AGENTS, CHUNK = 10_000, 50, 1_000
HOUR = 3_600.0
BODY = "The parser reads each line twice. Look at the edges of the table, too.\n" * 5
READS = (("agent-inbox",), ("agent-inbox", "--json"))
UNIT = "× python -c 'import click'"


def measure(place: Place) -> list[Figure]:
    """The commands and the hook, where there are many messages and where there are none."""
    number = 200 if place.quick else MESSAGES
    many, none = _filled(place, number), place.repository("messages-none")
    env = {**os.environ, "GHP_AGENT": "worker-1"}
    python, ghp = place.installed.python, place.installed.ghp
    numbers = count(1)

    def send(cwd: Path) -> float:
        words = ["worker-2", f"Review part {next(numbers)}", "--kind", "review", "--body", "Look."]
        return processor([ghp, "agent-send", *words], cwd=cwd, env=env)

    cases = {
        "click": partial(processor, [python, "-c", "import click"], cwd=many, env=env),
        "send": partial(send, many),
        "send, none": partial(send, none),
        "hook": partial(_hook, place, many, env),
        "hook, none": partial(_hook, place, none, env),
    }
    for words in READS:
        cases[" ".join(words)] = partial(processor, [ghp, *words], cwd=many, env=env)
    for case in cases.values():
        case()  # registers the agent, and makes the index
    times = interleave(cases, 3 if place.quick else 15)
    click, name = times["click"], f"with {number:,} messages"
    return [
        ratio("messages", f"agent-send {name}", times["send"], click, UNIT, SEND_CLICKS),
        ratio("messages", "agent-send with none", times["send, none"], click, UNIT, None),
        *(
            ratio("messages", f"{' '.join(words)} {name}", times[" ".join(words)], click, UNIT,
                  INBOX_CLICKS)
            for words in READS
        ),
        ratio("messages", f"hook after a step without news, {name}", times["hook"],
              times["hook, none"], "× the same with none", UNCHANGED),
    ]  # fmt: skip


def _hook(place: Place, clone: Path, env: Mapping[str, str]) -> float:
    """The hook as Claude Code starts it after a step."""
    event = {
        "session_id": "0b9e4d7c-1111-4c1e-9d61-000000000001",
        "cwd": str(clone),
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "true"},
        "tool_response": {"stdout": "", "stderr": "", "interrupted": False},
    }
    stdin = clone.parent / "event.json"
    stdin.write_text(json.dumps(event))
    command: list[str | Path] = [place.installed.python, "-P", "-m", "ghp_agents", "hook", "claude"]
    return processor(command, cwd=clone, env=env, stdin=stdin)


def _filled(place: Place, number: int) -> Path:
    """A clone that knows this many messages, half of them from another, and has no remote now."""
    ours, theirs = place.clones(place.remote("messages"), 2)
    half = number // 2
    for clone, all_numbers in ((ours, range(half)), (theirs, range(half, number))):
        for start in range(0, half, CHUNK):
            _write(clone, all_numbers[start : start + CHUNK])
        open_app(clone).store.sync()
    open_app(ours).store.sync()
    git(ours, "remote", "remove", "origin")
    return ours


def _write(clone: Path, numbers: Sequence[int]) -> None:
    app = open_app(clone)
    now = app.ws.clock.now()

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        made: list[Record] = []
        for number in numbers:
            at = Timestamp(to_text(now - HOUR * (2 + number % 200)))
            message = _message(number, at, snapshot.clock + 1 + len(made), snapshot.clone)
            files = [(record.path_of(message.id), record.render_message(message))]
            event = "send" if message.kind in KINDS else message.kind
            made.append(ledger_record(message, event, message.name, files, text=message.subject))
        return None, made

    transact(app.store, decide)


def _message(number: int, at: Timestamp, clock: int, clone: CloneId) -> Message:
    """One of twenty is an open request, and of each of two more come a claim and a completion."""
    turn = number % 10
    if turn in (8, 9):
        asked = _message(number - number % 10 + 7, at, clock, clone)
        by, to, about, kind = asked.to[0], asked.by.name, asked.id, ACK if turn == 8 else DONE
    else:
        by, to, about = f"worker-{1 + number % AGENTS}", f"worker-{1 + number // 10 % AGENTS}", ""
        kind = "request" if turn == 7 or number % 20 == 6 else NOTE
    message = Message("", Actor(agent_name(by)), (to,), f"Part {number} of the work", at, clock,
                      clone, body=BODY, kind=kind, about=about)  # fmt: skip
    return message._replace(id=rules.identity(message, 0))
