"""Upstream's `ghp`, as far as hooks go: a program for PATH that takes, refuses and stores what the
real one does, and the way in which that one calls hooks.

The rules are those of upstream's commands `hooks` and `dashboard hooks`: their options, names,
events and modes, one hook of a name, and files that only their owner reads.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.ghp import CHECKOUT, Result

PROGRAM = r'''
import json, os, re, sys

EVENTS = ["issue-created", "issue-started", "pre-pr", "pr-creating", "pr-created", "pr-merged",
          "worktree-created", "worktree-removed"]
MODES = ["fire-and-forget", "blocking", "interactive"]
HELP = """Usage: ghp [options] [command]

Commands:
  start|s [options] <issue>      Start working on an issue
  dashboard|db [options]         Show comprehensive view of branch changes
  hooks                          Manage event hooks
  worktree|wt                    Manage parallel worktrees
"""
OF_EVENTS = {"--event": "event", "-e": "event", "--command": "command", "-c": "command",
             "--display-name": "displayName", "-d": "displayName", "--timeout": "timeout",
             "-t": "timeout", "--mode": "mode", "-m": "mode",
             "--continue-prompt": "continuePrompt"}
OF_DASHBOARD = {"--command": "command", "-c": "command", "--display-name": "displayName",
                "-d": "displayName", "--category": "category", "--timeout": "timeout",
                "-t": "timeout"}


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(1)


def options(words, known):
    found = {}
    words = iter(words)
    for word in words:
        if word not in known:
            fail("error: unknown option '%s'" % word)
        value = next(words, None)
        if value is None:
            fail("error: option '%s <value>' argument missing" % word)
        found[known[word]] = value
    return found


def load(path):
    try:
        with open(path) as file:
            hooks = json.load(file)["hooks"]
            return hooks if isinstance(hooks, list) else []
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError):
        return []  # begins anew, silently


def save(path, hooks):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        json.dump({"hooks": hooks}, file, indent=2)
    os.chmod(path, 0o600)


def add(path, name, said, is_event):
    if is_event and said.get("event") not in EVENTS:
        fail("Error: Invalid event: %s" % said.get("event"))
    if not said.get("command"):
        fail('Error: Command is required. Use --command "<cmd>"')
    if is_event and said.get("mode", MODES[0]) not in MODES:
        fail("Error: Invalid mode: %s" % said["mode"])
    timeout = said.get("timeout", "30000" if is_event else "5000")
    if not timeout.isdigit() or int(timeout) == 0:
        fail("Error: Timeout must be a positive number")
    hooks = load(path)
    if any(hook["name"] == name for hook in hooks):
        fail('Error: Hook "%s" already exists' % name)
    if not re.fullmatch(r"[\w-]{1,63}", name):
        fail("Error: Hook name must contain only letters, numbers, dashes, and underscores")
    hook = {"name": name, "displayName": said.get("displayName", name)}
    if is_event:
        hook["event"] = said["event"]
    hook["command"] = said["command"]
    if not is_event:
        hook["category"] = said.get("category", "other")
    hook |= {"enabled": True, "timeout": int(timeout)}
    if is_event:
        hook["mode"] = said.get("mode", MODES[0])
    save(path, [*hooks, hook])
    print("Note: Hooks execute shell commands. Only add commands from trusted sources.")
    print('Added hook "%s"' % name)


def remove(path, name):
    hooks = load(path)
    left = [hook for hook in hooks if hook["name"] != name]
    if len(left) == len(hooks):
        fail('Error: Hook "%s" not found' % name)
    save(path, left)
    print('Removed hook "%s"' % name)


words = sys.argv[1:]
home = os.path.expanduser("~")
with open(os.path.join(home, "upstream-calls.jsonl"), "a") as log:
    log.write(json.dumps({"words": words, "token": os.environ.get("GITHUB_TOKEN")}) + "\n")
if words == ["--help"]:
    print(HELP)
    sys.exit(0)
is_event = words[:1] == ["hooks"]
if not is_event and words[:2] != ["dashboard", "hooks"]:
    fail("error: unknown command '%s'" % " ".join(words[:1]))
words = words[1:] if is_event else words[2:]
name = "event-hooks.json" if is_event else "dashboard-hooks.json"
path = os.path.join(home, ".config", "ghp-cli", name)
if words[0] == "add" and len(words) > 1:
    add(path, words[1], options(words[2:], OF_EVENTS if is_event else OF_DASHBOARD), is_event)
elif words[0] == "remove" and len(words) == 2:
    remove(path, words[1])
else:
    fail("error: unknown command '%s'" % words[0])
'''


def install(folder: Path) -> dict[str, str]:
    """Put it into a folder; answers the environment that finds it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ghp"
    path.write_text(f"#!{sys.executable}\n{PROGRAM}")
    path.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def without() -> dict[str, str]:
    """The environment in which no `ghp` is found at all."""
    folders = os.environ["PATH"].split(os.pathsep)
    return {
        "PATH": os.pathsep.join(folder for folder in folders if not Path(folder, "ghp").exists())
    }


def calls(home: Path) -> list[list[str]]:
    """What it was called with, in order."""
    path = home / "upstream-calls.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line)["words"] for line in lines]


def tokens(home: Path) -> set[str | None]:
    """The tokens that it was given."""
    lines = (home / "upstream-calls.jsonl").read_text().splitlines()
    return {json.loads(line)["token"] for line in lines}


def hooks(home: Path, name: str = "event-hooks.json") -> list[dict[str, Any]]:
    """What is registered with it."""
    path = home / ".config/ghp-cli" / name
    entries = json.loads(path.read_text())["hooks"] if path.exists() else []
    assert isinstance(entries, list)
    return entries


def fire(home: Path, event: str, payload: Mapping[str, Any], cwd: Path) -> list[Result]:
    """What it does at an event: each hook's command by a shell, with the event in a file."""
    file = home / "event's file.json"
    file.write_text(json.dumps(payload))
    fitting = [hook for hook in hooks(home) if hook["event"] == event and hook["enabled"]]
    ended = [
        _shell(hook["command"].replace("${_event_file}", shlex.quote(str(file))), cwd)
        for hook in fitting
    ]
    file.unlink()
    return ended


def ask(home: Path, branch: str, repository: str, cwd: Path) -> list[Result]:
    """What its dashboard does: each hook's command by a shell, with two options behind it."""
    words = f"--branch {shlex.quote(branch)} --repo {shlex.quote(repository)}"
    registered = hooks(home, "dashboard-hooks.json")
    return [_shell(f"{hook['command']} {words}", cwd) for hook in registered if hook["enabled"]]


def _shell(command: str, cwd: Path) -> Result:
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=cwd, env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    return Result(done.returncode, done.stdout, done.stderr)
