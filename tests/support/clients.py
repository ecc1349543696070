"""The real clients, each session in a home of its own, on a fake model."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.client_starts import STARTS
from tests.support.fake_models import FakeModels, Json
from tests.support.terminal import Terminal, terminal

TIMEOUT_S = 180  # seconds for one session, which takes two on a machine with nothing else to do

CODEX_CONFIG = """\
model = "gpt-5.5"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
"""


class Ended(NamedTuple):
    """How a session ended, and what it printed meanwhile."""

    code: int
    events: list[dict[str, Any]]
    err: str

    @property
    def result(self) -> dict[str, Any]:
        """Claude's last word: `permission_denials` and the like."""
        return next(event for event in reversed(self.events) if event["type"] == "result")


class Bench(NamedTuple):
    """What sessions are started with: `command` of a client installs it, or skips the test."""

    command: Callable[[str], Sequence[str]]
    models: FakeModels
    home: Path

    def start(
        self,
        client: str,
        cwd: Path,
        key: str,
        *,
        prompt: str = "Do it.",
        env: Mapping[str, str] | None = None,
    ) -> "subprocess.Popen[str]":
        """Start a client of STARTS in `cwd`, for one prompt; it may use all its tools."""
        command = self.command(client)
        start = STARTS[client](self.models.url, key, prompt)
        for name, content in start.files.items():
            path = self.home / name
            if not path.exists():  # what a session or our program added stays
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(content))
        return _start([*command, *start.args], cwd, {**os.environ, **start.env, **(env or {})})

    def claude(
        self,
        cwd: Path,
        key: str,
        *args: str,
        prompt: str = "Do it.",
        allowed: Sequence[str] = ("Bash",),
        env: Mapping[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
    ) -> "subprocess.Popen[str]":
        """Start `claude -p` in `cwd`; it may edit files, and use the tools in `allowed`."""
        command = [
            *self.command("claude"), "-p", prompt,
            "--output-format", "stream-json", "--verbose",
            "--permission-mode", "acceptEdits",
            *(["--allowedTools", *allowed] if allowed else []),
        ]  # fmt: skip
        return _start([*command, *args], cwd, self.claude_environment(key, env), stdin)

    def claude_environment(self, key: str, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What tells Claude Code where its model is, and to keep away from the rest of the net."""
        environ = {
            "ANTHROPIC_BASE_URL": self.models.url,
            "ANTHROPIC_API_KEY": key,
            "BUN_JSC_useDFGJIT": "0",  # a session ends before this compiler has paid
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "0",
            "DISABLE_AUTOUPDATER": "1",
        }
        return {**os.environ, **environ, **(more or {})}

    @contextlib.contextmanager
    def claude_at_a_terminal(self, cwd: Path, key: str) -> Iterator[Terminal]:
        """Claude Code as people have it before them, in a folder that they have said to trust."""
        self.welcome_claude(key, cwd)
        command = [*self.command("claude"), "--permission-mode", "acceptEdits"]
        with terminal(command, cwd, self.claude_environment(key)) as screen:
            yield screen

    def welcome_claude(self, key: str, *trusted: Path) -> None:
        """What Claude Code asks a new user for, and in folders that it does not know."""
        trust = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        settings = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
            "projects": {str(folder): trust for folder in trusted},
        }
        (self.home / ".claude.json").write_text(json.dumps(settings))

    def codex_environment(self, key: str) -> dict[str, str]:
        """The same for Codex, whose settings are in a file."""
        self._configure_codex()
        return {**os.environ, "FAKE_KEY": key}

    def codex(
        self,
        cwd: Path,
        key: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        sandbox: Sequence[str] = ("--dangerously-bypass-approvals-and-sandbox",),
    ) -> "subprocess.Popen[str]":
        """Start `codex exec` in `cwd`; outside any sandbox, for there may be one around already."""
        self._configure_codex()
        command = [
            *self.command("codex"), "exec", "--json", "--skip-git-repo-check",
            *sandbox, *args, "Do it.",
        ]  # fmt: skip
        return _start(command, cwd, {**os.environ, "FAKE_KEY": key, **(env or {})})

    def trust_project(self, folder: Path) -> None:
        """What Codex asks its user for in a new folder."""
        with self._configure_codex().open("a") as config:
            config.write(f'\n[projects."{folder}"]\ntrust_level = "trusted"\n')

    def trust_hooks(self, folder: Path) -> set[str]:
        """What a user of Codex does with `/hooks`, by the requests that its screen makes: trust the
        hooks in `folder` as they are now. Returns how far they were trusted before."""
        with self.codex_server(folder) as ask:
            (place,) = ask("hooks/list", {"cwds": [str(folder)]})["data"]
            state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in place["hooks"]}
            edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": state}
            ask("config/batchWrite", {"edits": [edit]})
        return {hook["trustStatus"] for hook in place["hooks"]}

    @contextlib.contextmanager
    def codex_server(self, cwd: Path) -> Iterator[Callable[[str, Json], Json]]:
        """`codex app-server`, by which programs do what its user does at the screen."""
        self._configure_codex()
        server = _start([*self.command("codex"), "app-server"], cwd, os.environ, subprocess.PIPE)
        numbers = itertools.count()

        def ask(method: str, params: Json) -> Json:
            assert server.stdin
            assert server.stdout
            number = next(numbers)
            server.stdin.write(json.dumps({"id": number, "method": method, "params": params}))
            server.stdin.write("\n")
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            return dict(next(answer for answer in answers if answer.get("id") == number)["result"])

        ask("initialize", {"clientInfo": {"name": "tests", "version": "1"}})
        try:
            yield ask
        finally:
            server.communicate(timeout=TIMEOUT_S)

    def _configure_codex(self) -> Path:
        config = self.home / ".codex/config.toml"
        config.parent.mkdir(exist_ok=True)
        if not config.exists():
            config.write_text(CODEX_CONFIG.format(url=self.models.url))
        return config


def _start(
    command: Iterable[str], cwd: Path, env: Mapping[str, str], stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*command],
        cwd=cwd,
        env={**env, "PWD": str(cwd)},  # some clients take their folder from it
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def end(session: "subprocess.Popen[str]") -> Ended:
    """Wait until a session has ended by itself."""
    try:
        out, err = session.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        session.kill()
        out, err = session.communicate()
        raise AssertionError(f"The session did not end.\n{out[-4000:]}\n{err[-4000:]}") from None
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return Ended(session.returncode, events, err)


def ghp(*words: str) -> str:
    """A command of ours as an agent's shell runs it, whatever is on PATH."""
    return " ".join([sys.executable, "-P", "-m", "ghp_agents", *words])
