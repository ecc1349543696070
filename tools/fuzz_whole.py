"""Readers for `tools.fuzz` that take files and processes: what git and clients wrote, whole hooks,
and a whole server of tools."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

from ghp_agents.core.errors import GhpError
from ghp_agents.hooks import entry
from ghp_agents.hotpath import locate
from ghp_agents.integrations.clients import config_files, folder_trust
from ghp_agents.integrations.clients.config_files import ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from tools.fuzz_reader import Read, Reader, SlowError

ROOT = Path(__file__).parents[1]
PAYLOADS = ROOT / "tests/hooks/payloads"
HANGS_S = 60.0  # of the clock, for a whole process on a busy machine
# Of the processor: Python, our modules and git; the server also imports its library and runs
# commands, each a process.
HOOK_START_S, SERVER_START_S = 1.0, 4.0
FEW = 2  # inputs in a turn
# Where the clients keep whom they trust, below their folders.
TRUST_FILES = ("config.json", "trustedFolders.json", "trust.json", "settings.json", "config.toml")
GIT_CONFIGS = (
    b'[core]\n\tbare = false\n\tworktree = "../x"\n[extensions]\n\tworktreeConfig = true\n',
    b'[CORE] bare\n[core "a"]\nworktree = \\\n x # y\n[include]\n\tpath = ../z\n',
)
_LAST = "last"


def readers(folder: Path, repo: Path) -> dict[str, Reader]:
    """The readers, by name. `folder` is a place for files, `repo` a clone with records."""
    matches = {
        "trust of clients": Reader(partial(_trust, folder / "trust"), [*_trusts(folder)]),
        "git's configuration": Reader(partial(_git_config, folder / "odd"), GIT_CONFIGS),
        "a file .git": Reader(partial(_pointer, folder / "pointer"), [b"gitdir: ../odd/.git\n"]),
        "whole hooks": Reader(partial(_hook, repo), [*_events(repo)], HOOK_START_S, FEW),
    }
    if find_spec("mcp") is None:
        sys.stdout.write("agent-mcp is left out: the extra mcp is not installed.\n")
    else:
        seeds = [json.dumps(request).encode() for request in _requests()]
        matches["whole tool servers"] = Reader(partial(_serve, repo), seeds, SERVER_START_S, FEW)
    return {
        name: reader._replace(read=partial(_safely, reader.read))
        for name, reader in matches.items()
    }


def _safely(read: Read, data: bytes) -> object:
    """None of these may refuse an input: an error of Python's would end a hook or a command."""
    try:
        return read(data)
    except ValueError as error:
        raise AssertionError("an error of Python's") from error


def _trusts(folder: Path) -> Iterator[bytes]:
    top = str(folder / "trust")
    yield json.dumps({top: "DO_NOT_TRUST", "/": "TRUST_PARENT"}).encode()
    yield json.dumps({top: True, "trustedFolders": [top, "/a"]}).encode()
    yield b'{"security": {"folderTrust": {"enabled": true}}, "defaultProjectTrust": "always"}'
    yield f'[projects."{top}"]\ntrust_level = "trusted"\n'.encode()


def _trust(top: Path, data: bytes) -> object:
    environ = {"HOME": str(top)}
    answers: list[object] = []
    for client in HOMES:
        own = config_files.own_folder(client, environ)
        own.mkdir(parents=True, exist_ok=True)
        for name in TRUST_FILES:
            (own / name).write_bytes(data)
        target = ConfigFile(client, top / HOMES[client].project, client, top, top / "memory")
        answers.append(folder_trust.is_refused(client, top, environ))
        try:
            answers.append(folder_trust.trusts(target, environ))
        except GhpError as error:  # a refusal; the next client is asked, too
            answers.append(error)
    return answers


def _git_config(top: Path, data: bytes) -> object:
    git_dir = top / ".git"
    for name in ("objects", "refs"):
        (git_dir / name).mkdir(parents=True, exist_ok=True)
    (git_dir / "HEAD").write_text("ref: refs/heads/main\n")
    for name in ("config", "config.worktree"):
        (git_dir / name).write_bytes(data)
    return locate.core(str(git_dir)), locate.locate(str(top), {})


def _pointer(top: Path, data: bytes) -> object:
    top.mkdir(exist_ok=True)
    (top / ".git").write_bytes(data)
    return locate.locate(str(top), {})


def _environ(repo: Path) -> dict[str, str]:
    return {
        **os.environ, "GHP_BACKGROUND": "0", "GHP_AGENT": "w1", "PYTHONPATH": str(ROOT),
        "HOME": str(repo.parent),
    }  # fmt: skip


def _events(repo: Path) -> Iterator[bytes]:
    for client in entry.CLIENTS:
        for path in sorted(PAYLOADS.glob(f"{client}-*.json")):
            text = path.read_text("utf-8").replace("/repo", str(repo))
            yield f"{client}\n{text}".encode()


def _hook(repo: Path, data: bytes) -> object:
    """A hook as a client calls it: it ends well, and says JSON or nothing. The first line of the
    input is the client."""
    name, _, message = data.partition(b"\n")
    client = name.decode("utf-8", "replace").replace("\0", "").strip() or "claude"
    if client.startswith("-"):
        return None  # an option; clients pass names
    words = [sys.executable, "-P", "-m", "ghp_agents", "hook", client[:100]]
    try:
        done = subprocess.run(
            words, cwd=repo, env=_environ(repo), input=message, capture_output=True,
            timeout=HANGS_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SlowError(f"a hook took more than {HANGS_S:.0f} s") from None
    _check(done.returncode == 0, f"exit code {done.returncode}", done.stderr)
    _check(b"Traceback" not in done.stderr, "a traceback", done.stderr)
    return json.loads(done.stdout or b"null")


def _requests() -> Iterator[Mapping[str, Any]]:
    calls: Mapping[str, Mapping[str, Any]] = {
        "status": {}, "issue": {"number": 1}, "check": {"paths": ["src/a.py"]},
        "send": {"to": ["w2"], "subject": "Hi", "body": "text"}, "ask": {"question": "Why?"},
    }  # fmt: skip
    for name, given in calls.items():
        params = {"name": name, "arguments": given}
        yield {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}
    yield {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
    yield {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}


def _serve(repo: Path, data: bytes) -> object:
    """A tool server that gets odd lines: it answers the request after them, and ends well."""
    begin = {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }  # fmt: skip
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    last = {"jsonrpc": "2.0", "id": _LAST, "method": "ping"}
    lines = [
        json.dumps(first).encode(),
        json.dumps(ready).encode(),
        data,
        json.dumps(last).encode(),
    ]
    words = [sys.executable, "-P", "-m", "ghp_agents", "agent-mcp"]
    with subprocess.Popen(
        words, cwd=repo, env=_environ(repo), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        end = Timer(HANGS_S, server.kill)
        end.start()
        try:
            server.stdin.write(b"\n".join(lines) + b"\n")
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            is_answered = any(answer.get("id") == _LAST for answer in answers)
            server.stdin.close()
            server.stdout.read()
            errors = server.stderr.read()
            server.wait()
        finally:
            end.cancel()
    _check(is_answered, "no answer to the request after an odd one", errors)
    _check(server.returncode == 0, f"exit code {server.returncode}", errors)
    _check(b"Traceback" not in errors, "a traceback", errors)
    return None


def _check(is_right: bool, what: str, errors: bytes) -> None:
    if not is_right:
        raise AssertionError(f"{what}: {errors[-2_000:].decode('utf-8', 'replace')}")
