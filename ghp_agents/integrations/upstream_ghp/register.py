"""Registers and removes our hooks with the commands of upstream's `ghp`.

Registered hooks are read from its files, which only `ghp` itself writes.
"""

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ghp_agents.core import process, user_file
from ghp_agents.core.child_env import for_commands
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.integrations.upstream_ghp import hooks as upstream_hook
from ghp_agents.integrations.upstream_ghp.hooks import Hook
from ghp_agents.state.admin_port import Step

FOLDER = ".config/ghp-cli"  # upstream ignores XDG_CONFIG_HOME
EVENT_HOOKS, DASHBOARD_HOOKS = "event-hooks.json", "dashboard-hooks.json"
TIMEOUT_S = 60.0  # seconds for one command
COMMANDS = ("worktree", "dashboard", "hooks")  # only upstream's help names all of them


class Upstream:
    """An installed `ghp` that is not ours."""

    def __init__(self, program: str, cwd: Path, environ: Mapping[str, str]) -> None:
        self.program, self.cwd, self.environ = program, cwd, environ

    def check(self) -> None:
        """Check that it is GHP, not another program named `ghp`. Raises GhpError."""
        done = self._run(["--help"])
        if done.code != 0 or not all(word in done.out for word in COMMANDS):
            raise GhpError(
                f"{self.program} is another program that is also called `ghp`.",
                hint="Put GHP's `ghp` before it on PATH, and run the command again.",
            )

    def call(self, words: list[str]) -> None:
        """Run one of its commands. Raises GhpError."""
        done = self._run(words)
        if done.code != 0:
            message = one_line(f"{done.err} {done.out}", 300) or f"it exited with {done.code}"
            raise GhpError(
                f"`ghp {' '.join(words[:4])}` failed: {message}",
                hint="Fix that and run the command again; it continues where it stopped.",
            )

    def _run(self, words: list[str]) -> process.Ended:
        env = {**for_commands(self.environ), "NO_COLOR": "1"}
        try:
            return process.run([self.program, *words], cwd=self.cwd, env=env, timeout=TIMEOUT_S)
        except OSError as error:
            raise GhpError(
                f"Cannot start {self.program}: {error.strerror}.",
                hint="Repair or remove that file.",
            ) from None


def to_register(upstream: Upstream, python: str) -> list[Step]:
    """Steps to register missing or outdated hooks. Raises GhpError."""
    existing = {hook.name: hook for hook in registered(upstream.environ)}
    steps: list[Step] = []
    for hook in upstream_hook.wanted(python):
        previous = existing.get(hook.name)
        if previous != hook:
            act = partial(_register, upstream, previous, hook)
            steps.append(Step("register", "Registered", hook.what, act))
    return steps


def to_take(upstream: Upstream) -> list[Step]:
    """Steps to remove our hooks. Raises GhpError."""
    return [
        Step("remove", "Removed", hook.what, partial(upstream.call, hook.to_remove))
        for hook in registered(upstream.environ)
    ]


def registered(environ: Mapping[str, str]) -> list[Hook]:
    """Our registered hooks. Raises GhpError for an invalid file, which `ghp` would overwrite."""
    return [*_read(environ, EVENT_HOOKS), *_read(environ, DASHBOARD_HOOKS)]


def _read(environ: Mapping[str, str], name: str) -> list[Hook]:
    path = Path(environ.get("HOME") or "/") / FOLDER / name
    text = user_file.read_text(path)
    if text is None:
        return []
    try:
        return upstream_hook.registered(json.loads(text), dashboard=name == DASHBOARD_HOOKS)
    except (ValueError, RecursionError):
        raise GhpError(
            f"Cannot read upstream's hooks in {path}; `ghp` would overwrite the file and lose all "
            "hooks in it.",
            hint="Fix or remove that file, and run the command again.",
        ) from None


def _register(upstream: Upstream, previous: Hook | None, hook: Hook) -> None:
    if previous is not None:
        upstream.call(previous.to_remove)
    upstream.call(hook.to_add)
