"""Two agents in two worktrees of one clone: their edits, each asked of the real hook."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.pair import Hunk, Pair, PairFile, applied
from bench.place import Place, git, open_app
from ghp_agents.guard import evaluate
from ghp_agents.hooks import claude, handlers, scene
from ghp_agents.hotpath import heartbeat

EDIT, WRITE, DELETE = "edit", "write", "delete"
ALLOWED, REFUSED, TOLD = "allowed", "refused", "told"
NAMES = ("worker-1", "worker-2")


class Step(NamedTuple):
    """One edit: a hunk, a new file, or a file that a shell command deletes."""

    kind: str
    path: str
    hunks: tuple[Hunk, ...]


def steps(files: Mapping[str, PairFile], side: int) -> Iterator[Step]:
    """The edits that make up the change of one side."""
    for path, file in files.items():
        touch = file.touches[side]
        if touch.kind == "D":
            if file.lines >= 0:
                yield Step(DELETE, path, ())
        elif touch.kind and file.lines <= 0:
            yield Step(WRITE, path, touch.hunks)
        elif touch.kind:
            yield from (Step(EDIT, path, (hunk,)) for hunk in touch.hunks)


class Agent:
    """An agent, its worktree, and what it has done of its change."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.environ = {**os.environ, "GHP_AGENT": name}
        self.files: dict[str, str | None] = {}  # what it has changed
        self._base: Mapping[str, list[str]] = {}
        self._hunks: dict[str, list[Hunk]] = {}

    def begin(self, commit: str, base: Mapping[str, list[str]]) -> None:
        """Start again on `commit`, which has the files of `base`."""
        git(self.folder, "reset", "-q", "--hard", commit)
        git(self.folder, "clean", "-fdq")
        self.start(base)

    def start(self, base: Mapping[str, list[str]]) -> None:
        """Forget all that was done."""
        self.files, self._base, self._hunks = {}, base, {}

    def commit(self) -> None:
        """Commit all that it has done."""
        git(self.folder, "add", "-A")
        git(self.folder, "commit", "-q", "--allow-empty", "-m", "Work")

    def after(self, step: Step) -> str | None:
        """The content of the step's file after it."""
        if step.kind == DELETE:
            return None
        return "".join(applied(self._base.get(step.path), [*self._done(step.path), *step.hunks]))

    def tool(self, step: Step) -> dict[str, Any]:
        """The step as a use of a tool of Claude Code."""
        path = self.folder / step.path
        if step.kind == DELETE:
            return {"tool_name": "Bash", "tool_input": {"command": f"rm {step.path}"}}
        if step.kind == WRITE:
            fields = {"file_path": str(path), "content": self.after(step)}
            return {"tool_name": "Write", "tool_input": fields}
        old, new = self._replaced(step)
        fields = {"file_path": str(path), "old_string": old, "new_string": new}
        return {"tool_name": "Edit", "tool_input": {**fields, "replace_all": False}}

    def do(self, step: Step) -> None:
        """Carry out the step."""
        content = self.after(step)
        path = self.folder / step.path
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content.encode())
        self.files[step.path] = content
        self._hunks[step.path] = [*self._done(step.path), *step.hunks]

    def _done(self, path: str) -> list[Hunk]:
        return self._hunks.get(path, [])

    def _replaced(self, step: Step) -> tuple[str, str]:
        """The arguments of Edit: with as much context as makes the old text unique."""
        done = self._done(step.path)
        before = applied(self._base.get(step.path), done)
        after = applied(self._base.get(step.path), [*done, *step.hunks])
        hunk = step.hunks[0]
        start = hunk.line - 1 + sum(h.added - h.deleted for h in done if h < hunk)
        start = min(start, len(before))
        end = min(start + hunk.deleted, len(before))
        text = "".join(before)
        around = 0 if hunk.deleted else 1
        while True:
            low, high = max(0, start - around), min(len(before), end + around)
            old = "".join(before[low:high])
            if text.count(old) == 1 or (low, high) == (0, len(before)):
                return old, "".join(after[low : high + len(after) - len(before)])
            around += 1


class Answer(NamedTuple):
    """What the hooks said of a step, and the seconds of the one before it."""

    word: str
    text: str
    seconds: float


class Hooks:
    """The hooks of Claude Code, in this process."""

    def call(self, agent: Agent, event: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to an event."""
        found = claude.parse(event)
        contexts = scene.find_all(found, agent.environ) if found else []
        reply = handlers.handle(contexts) if contexts else None
        return dict(claude.render(found, reply)) if found and reply else {}

    def before(self, agent: Agent, step: Step) -> Answer:
        """What the hook says before the step; nothing is asked before a shell command."""
        started = time.perf_counter()
        if step.kind == DELETE:
            return Answer(ALLOWED, "", 0.0)
        fields = {"hook_event_name": "PreToolUse", **agent.tool(step)}
        started = time.perf_counter()
        reply = self._reply(agent, fields)
        refused = reply.get("permissionDecision") == "deny"
        text = reply.get("permissionDecisionReason", "")
        return Answer(REFUSED if refused else ALLOWED, text, time.perf_counter() - started)

    def after(self, agent: Agent, tool: Mapping[str, Any], path: str) -> Answer:
        """What the hook says after the step."""
        started = time.perf_counter()
        calls = [{**tool, "tool_use_id": "toolu_1", "tool_response": "done"}]
        reply = self._reply(agent, {"hook_event_name": "PostToolBatch", "tool_calls": calls})
        text = reply.get("additionalContext", "")
        told = TOLD if path in text else ALLOWED
        return Answer(told, text, time.perf_counter() - started)

    def _reply(self, agent: Agent, fields: Mapping[str, Any]) -> dict[str, Any]:
        event = {"session_id": f"session-of-{agent.name}", "cwd": str(agent.folder), **fields}
        found = self.call(agent, event).get("hookSpecificOutput", {})
        return dict(found)


class ProcessHooks(Hooks):
    """The same hooks as whole processes, as clients start them."""

    def __init__(self, python: Path | str) -> None:
        self._command = [python, "-P", "-m", "ghp_agents", "hook", "claude"]

    def call(self, agent: Agent, event: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to an event."""
        done = subprocess.run(
            self._command,
            cwd=agent.folder,
            env=agent.environ,
            input=json.dumps(event).encode(),
            capture_output=True,
            check=True,
        )
        return dict(json.loads(done.stdout)) if done.stdout else {}


class Clone:
    """A clone with a worktree for each of two agents."""

    def __init__(self, place: Place) -> None:
        self.folder = place.repository("effect")
        self._state = self.folder / ".git/ghp"
        folders = [self.folder.parent / name for name in NAMES]
        for name, folder in zip(NAMES, folders, strict=True):
            git(self.folder, "worktree", "add", "-q", "-b", f"agent/{name}", str(folder))
        self.agents = tuple(Agent(*each) for each in zip(NAMES, folders, strict=True))
        self._state.mkdir()
        self._register()

    def _register(self) -> None:
        """Both agents are known in a commit of the state, as after their first commands."""
        app = open_app(self.folder)
        for agent in self.agents:
            heartbeat.beat(app.ws.folders, agent.name, {}, app.ws.clock.now(), epoch=1)
        app.store.fold()
        evaluate.current(app)

    def begin(self, pair: Pair, commit: str) -> None:
        """Both agents start again on the pair's base, and hold nothing."""
        base = pair.base()
        for agent in self.agents:
            agent.begin(commit, base)
        for remembered in ("touched", "cache/looks"):
            shutil.rmtree(self._state / remembered, ignore_errors=True)
