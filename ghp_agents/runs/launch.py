"""Begin a run: claim the issue, make its worktree, write the prompt, and start the client."""

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import NamedTuple

from ghp_agents.cards import container
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.container import Container
from ghp_agents.cards.permissions import RIGHTS
from ghp_agents.core import files, running
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import GhpError
from ghp_agents.core.process import Child
from ghp_agents.git import exclude
from ghp_agents.integrations.clients import folder_trust, gemini_home, new_worktree
from ghp_agents.ports import Context
from ghp_agents.presence import client_process
from ghp_agents.presence import service as presence
from ghp_agents.pulls import start as starts
from ghp_agents.pulls.start import Started
from ghp_agents.runs import folder, processes, prompt, rights
from ghp_agents.runs.boxes import choice, enclosure
from ghp_agents.runs.boxes.enclosure import Process
from ghp_agents.runs.reaction import Reaction
from ghp_agents.runs.record import ENDED, FAILED, LIMITED, RUNNING, RunRecord
from ghp_agents.runs.rights import ClientRules
from ghp_agents.runs.runners import PROMPT_LIMIT, TRACES, Runner
from ghp_agents.settings import left_out_variables
from ghp_agents.workspace import Workspace

Make = Callable[[Path, str], Context]  # the context of an agent in a folder


class RunCommand(NamedTuple):
    """What the supervisor starts for each issue."""

    runner: Runner
    args: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()  # variables that the client gets although they look like secrets
    turns: int = 0
    cost: float = 0.0
    model: str = ""  # empty: the client's own
    role: str = ""  # what people wrote for the agent
    card: AgentCard | None = None  # with permissions
    boxed: Container | bool = False  # true: in bubblewrap


class Launched(NamedTuple):
    """A run that has begun; without a child its client could not be started."""

    run: RunRecord
    child: Child | None
    notes: tuple[str, ...] = ()


def prepare(
    make: Make, ws: Workspace, agent: str, issue: int | None, skips: Collection[int]
) -> Started:
    """Claim an issue, or the best one, and make its worktree. Raises GhpError."""
    started = starts.start(make(ws.root, agent), str(issue) if issue else None, skips)
    notes = list(started.notes)
    try:
        for step in new_worktree.steps(ws, started.path):
            step.act()
    except (GhpError, OSError) as error:
        notes.append(f"Edits in {started.path} are not guarded: {error}")
    return started._replace(notes=tuple(notes))


def launch(
    make: Make,
    ws: Workspace,
    command: RunCommand,
    started: Started,
    before: RunRecord | None,
    called: Reaction | None = None,
    account: str = "",
) -> Launched:
    """Start a client in its worktree. `before` is the agent's last run at this issue; its session
    continues if the client can do that. `called` is why the agent is started again, `account`
    the key of the client's account. Raises GhpError, OSError; then nothing runs."""
    agent, issue = ws.agent(), started.claimed.issue.number
    boot, seconds = ws.clock.interval()
    session = before.session if before and command.runner.resume else ""
    boxed, unboxed = choice.for_worktree(ws, command.boxed, started.path, started.branch)
    run = RunRecord(
        files.random_hex(6), agent, issue, command.runner.name, str(started.path),
        started.branch, to_text(ws.clock.now()), boot, seconds, session=session,
        tries=before.failures if before else 0, cause=called.keys if called else "",
        container=boxed.program if isinstance(boxed, Container) else "",
        account=account,
        waits=before.waits if before and before.outcome == LIMITED else 0,
    )  # fmt: skip
    inner = make(started.path, agent)
    fields = {"status": "planning", "lastAction": f"Started {command.runner.name}"}
    presence.heartbeat(inner.ws, inner.store, agent, fields)  # it may have stopped before
    most = prompt.AGAIN_LIMIT if session else PROMPT_LIMIT
    why, cause = before.why if before else "", called.text if called else ""
    text = prompt.of_run(inner, agent, issue, why, most, cause, command.role, boxed=bool(boxed))
    folder.write(ws, run)  # from here on, the next supervisor knows of it
    place = folder.of(ws, run.id)
    files.write_atomically(place / "prompt.md", text.encode())
    spent = before.cost if before else 0.0
    is_contained = isinstance(boxed, Container)
    python = container.PYTHON if is_contained else sys.executable
    rules = write_rules(ws, command.card, command.runner.name, place, str(started.path), python)
    words = command.runner.command(
        _fields(command, place, text[:PROMPT_LIMIT], session, spent), command.args,
        resumes=bool(session), rights=rules.args if rules else None,
    )  # fmt: skip
    keep = {*command.runner.keeps, *command.keep}
    env = processes.environment(ws.environ, run, place / "prompt.md", keep)
    # The person who starts runs in a clone trusts the worktrees that they make of it.
    trust = folder_trust.for_run(command.runner.name, ws.root, ws.environ)
    # With a card, a run brings a hook of its own.
    gaps = [] if rules else _untrusted(ws, command.runner.name, started.path, trust)
    notes = (*started.notes, *gaps, *filter(None, [unboxed]))
    if note := left_out_variables.note(
        ws.home_folder, ws.environ, keep, "the run does", left_out_variables.OPTION
    ):
        notes = (*notes, note)
    client = Process(words, {**env, **trust, **(rules.env if rules else {})})
    client = enclosure.enclose(ws, run, place, client, keep, boxed)
    try:
        hide_traces(ws, command.runner.name)
        client_process.begin_session(ws, agent)
        child = processes.start(client.words, run, place, client.environ)
    except OSError as error:
        why = f"cannot start: {error.strerror}"
        run = run._replace(state=ENDED, outcome=FAILED, why=why, ended=seconds)
        folder.write(ws, run)
        return Launched(run, None, notes)
    identity = running.identity(child.pid) or ""
    run = run._replace(state=RUNNING, pid=child.pid, started=identity)
    folder.write(ws, run)
    if identity:
        client_process.note(ws, agent, child.pid)
        client_process.tie(ws, agent, child.pid)
    return Launched(run, child, notes)


def _untrusted(ws: Workspace, client: str, top: Path, trust: Mapping[str, str]) -> list[str]:
    """What to say where a client would skip our hooks in a run's worktree."""
    try:
        gaps = new_worktree.untrusted(ws, top, {**ws.environ, **trust})
    except (GhpError, OSError):  # a file that cannot be read was named when hooks were installed
        return []
    return [f"{gap.fact} {gap.remedy}" for gap in gaps if gap.client == client]


def hide_traces(ws: Workspace, runner: str) -> None:
    """Hide from git what a client keeps in its worktree; in a sandbox it cannot do that. Raises
    OSError."""
    if runner in TRACES:
        exclude.add(ws.common_dir, TRACES[runner])


def rest(ws: Workspace, agent: str) -> None:
    """An agent without a run lives as long as its supervisor. Raises OSError."""
    client_process.forget(ws, agent)
    client_process.tie(ws, agent, os.getpid())


def write_rules(
    ws: Workspace,
    card: AgentCard | None,
    runner: str,
    place: Path,
    top: str,
    python: str = sys.executable,
) -> ClientRules | None:
    """Write down what the run may do; returns it in the client's terms. Raises GhpError,
    OSError."""
    if card is None or card.permissions is None:
        return None
    path = place / rights.FILE
    files.write_atomically(path, json.dumps(rights.document(card, top)).encode())
    rules = rights.render(card, runner, str(place), python)
    for name, text in rules.files.items():
        files.write_atomically(place / name, text.encode())
    home = gemini_home.make(place, ws.environ) if runner == "gemini" else {}
    given = ws.environ.get("GIT_CONFIG_PARAMETERS", "")
    git = {"GIT_CONFIG_PARAMETERS": f"{given} {rights.GIT_ONLY_OURS}".strip()}
    return rules._replace(
        env={**rules.env, **home, **git, **rights.NOTHING_TO_TYPE_INTO, RIGHTS: str(path)}
    )


def _fields(
    command: RunCommand, place: Path, text: str, session: str, spent: float
) -> Mapping[str, str]:
    left = max(0.01, command.cost - spent) if command.cost else 0.0
    return {
        "prompt": text,
        "prompt_file": str(place / "prompt.md"),
        "session": session,
        "turns": str(command.turns) if command.turns else "",
        "cost": f"{left:.2f}" if left else "",
        "model": command.model,
    }
