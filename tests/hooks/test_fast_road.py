"""A hook runs with every edit and after every batch of tools: it must cost little more than
starting Python, so it imports nothing but its own few modules."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.git import git
from tests.support.hooks import SILENT, call, payload, presence, set_up, write
from tests.support.house import CHECKOUT

HOOKS = (
    "hooks", "hooks.claude", "hooks.deadline", "hooks.entry", "hooks.event", "hooks.handlers",
    "hooks.paths",
)  # fmt: skip
EVERY = {"cli", "cli.main", *HOOKS, "hooks.scene", "hotpath"}
HOT = (
    "boot_clock", "fastjson", "heartbeat", "light_dataclass", "locate", "own_file", "own_name",
    "presence_file", "process_start",
)  # fmt: skip
EVERY |= {f"hotpath.{name}" for name in HOT}
BATCH = {
    "hooks.action", "hooks.batch", "hooks.presence", "hooks.session_file",
    "hooks.usage", "hotpath.background", "hotpath.news_flag", "hotpath.usage",
}  # fmt: skip
# What looks at the files that a shell command changed.
SHELL = BATCH | {
    "hooks.changed_files", "hooks.shell_writes", "hotpath.git_calls", "hotpath.ignored_files",
}  # fmt: skip
EDIT = {"hooks.edit", "hooks.persons_files"} | {
    f"hotpath.{name}"
    for name in (
        "alive", "check_edit", "ignored_files", "implicit_leases", "policy", "policy_cache",
        "policy_stamp", "quoting",
    )
}  # fmt: skip
END = {"hooks.presence", "hooks.session", "hooks.session_file", "hooks.usage"} | {
    f"hotpath.{name}"
    for name in ("alive", "background", "error_log", "implicit_leases", "news_flag", "usage")
}
IN_C = {"_json", "_sha2", "_sha256", "fcntl", "gc", "select", "time"}  # and free


def imported(args: list[str], cwd: Path, message: object, path: str) -> set[str]:
    """The modules that a Python program imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-P", *args],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path},
        input=json.dumps(message),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()[1:]}


@pytest.fixture
def ready(repo: Path) -> Path:
    """A repository in which a session is at work, and its rulebook is made."""
    set_up(repo)
    git(repo, "update-index", "--refresh")  # a copied repository's index has other files' times
    call("claude", payload("claude-SessionStart-startup", repo), repo)
    assert call("claude", write(repo / "a", repo), repo) == SILENT
    assert call("claude", write(repo / "a", repo), repo) == SILENT
    return repo


@pytest.mark.slow
@pytest.mark.parametrize(
    ("event", "modules"),
    [
        ("PreToolUse-Write", EDIT),
        ("PostToolBatch", BATCH),
        ("PostToolBatch", SHELL),
        ("SessionEnd", END),
    ],
)
def test_what_happens_all_the_time_imports_its_own_few_modules(
    ready: Path, tmp_path: Path, event: str, modules: set[str]
) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing/__main__.py").touch()
    path, message = f"{CHECKOUT}:{tmp_path}", payload(f"claude-{event}", ready)
    if modules is BATCH:  # the first call is no shell command
        message["tool_calls"] = message["tool_calls"][:1]
    before: Any = presence(ready)["seq"]
    bare = imported(["-m", "nothing"], ready, message, path)
    ours = imported(["-m", "ghp_agents", "hook", "claude"], ready, message, path) - bare
    named = {name.removeprefix("ghp_agents.") for name in ours if name.startswith("ghp_agents.")}
    assert named == EVERY | modules
    assert {name for name in ours if name.partition(".")[0] != "ghp_agents"} <= IN_C
    assert (presence(ready)["seq"] > before) == (event != "PreToolUse-Write")  # it did its work


@pytest.mark.slow
def test_an_event_that_is_none_of_ours_imports_next_to_nothing(ready: Path, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing/__main__.py").touch()
    path, message = f"{CHECKOUT}:{tmp_path}", payload("codex-PreToolUse-Bash", ready)
    bare = imported(["-m", "nothing"], ready, message, path)
    ours = imported(["-m", "ghp_agents", "hook", "codex"], ready, message, path) - bare
    assert {name for name in ours if name.startswith("ghp_agents.")} == {
        f"ghp_agents.{name}"
        for name in ("cli", "cli.main", "hooks", "hooks.codex", "hooks.deadline", "hooks.entry",
                     "hooks.event", "hotpath", "hotpath.fastjson", "hotpath.light_dataclass")
    }  # fmt: skip
