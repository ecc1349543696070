"""What the real clients hand to hooks has the shape of the payloads that hooks are tested with.

`RECORD_PAYLOADS=1 pytest tests/clients/test_payloads.py` writes tests/hooks/payloads afresh.
"""

import json
import os
import re
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.integrations.clients.install import plugin
from tests.clients.steps import edit, replace, shell, start
from tests.support.clients import TIMEOUT_S, Bench, end
from tests.support.fake_models import Call, Request, Turn
from tests.support.git import commit
from tests.support.house import CHECKOUT

pytestmark = pytest.mark.slow

PAYLOADS = CHECKOUT / "tests/hooks/payloads"
RECORD = bool(os.environ.get("RECORD_PAYLOADS"))
RECORDER = Path(__file__).with_name("recorder.py")
CLAUDE_EVENTS = (
    "Notification", "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact",
    "PreToolUse", "SessionEnd", "SessionStart", "Stop", "SubagentStart", "SubagentStop",
    "UserPromptSubmit",
)  # fmt: skip
CODEX_EVENTS = (
    "Interrupt", "PostToolUse", "PreCompact", "PreToolUse", "SessionEnd", "SessionStart", "Stop",
    "SubagentStart", "SubagentStop", "UserPromptSubmit",
)  # fmt: skip
SHARED_EVENTS = (  # of Copilot CLI and Qwen Code
    "PostToolUse", "PreCompact", "PreToolUse", "SessionEnd", "SessionStart", "Stop",
    "SubagentStop", "UserPromptSubmit",
)  # fmt: skip
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
PATCH = """\
*** Begin Patch
*** Add File: new.txt
+new
*** Update File: a.txt
@@
-a
+b
*** Update File: moved.txt
*** Move to: sub/moved.txt
@@
-m
+n
*** Delete File: gone.txt
*** End Patch"""


def test_claude_code(bench: Bench, repo: Path, tmp_path: Path) -> None:
    files = {"a.txt": "a\n", "n.ipynb": json.dumps(NOTEBOOK), "leased.txt": "l\n"}
    commit(repo, files, "Files")
    recorded, settings = tmp_path / "recorded", tmp_path / "settings.json"
    recorded.mkdir()
    hook = [sys.executable, str(RECORDER), str(recorded)]
    settings.write_text(json.dumps(hooks({event: [] for event in CLAUDE_EVENTS}, hook)))

    is_done = threading.Event()  # a helper that is faster than its session ends in another way

    def finish(request: Request) -> Turn:
        is_done.set()
        return Turn("All done.")

    def help_after(request: Request) -> Turn:
        assert is_done.wait(TIMEOUT_S)
        return Turn("Helped.")

    def at(name: str, **more: Any) -> dict[str, Any]:
        return {"file_path": str(repo / name), **more}

    bench.models.script(
        "one",
        Turn(
            "Working.",
            [
                Call("Write", at("new.txt", content="new\n")),
                Call("Bash", {"command": "echo hello; false", "description": "Say hello"}),
                Call("Read", at("a.txt")),
            ],
        ),
        Turn(calls=[Call("Edit", at("a.txt", old_string="a", new_string="b"))]),
        Turn(calls=[Call("ToolSearch", {"query": "select:NotebookEdit"})]),
        Turn(calls=[Call("Read", at("n.ipynb"))]),
        Turn(
            calls=[
                Call(
                    "NotebookEdit",
                    {
                        "notebook_path": str(repo / "n.ipynb"),
                        "new_source": "x",
                        "cell_type": "code",
                        "edit_mode": "insert",
                    },
                )
            ]
        ),
        Turn(
            calls=[
                Call(
                    "Agent",
                    {
                        "description": "Help",
                        "prompt": "Help me.",
                        "subagent_type": "general-purpose",
                    },
                )
            ]
        ),
        finish,
    )
    bench.models.script(
        "one",
        Turn(calls=[Call("Write", at("sub.txt", content="sub\n"))]),
        help_after,
        prompt="Help me.",
    )
    ended = end(bench.claude(repo, "one", "--settings", str(settings)))
    assert ended.code == 0, ended
    going_on = ("--settings", str(settings), "--resume", ended.result["session_id"])
    again = end(bench.claude(repo, "two", *going_on, prompt="/compact"))
    assert again.code == 0, again
    compare("claude", collect(recorded, bench.home, repo))


def test_the_status_line_of_claude_code(bench: Bench, repo: Path, tmp_path: Path) -> None:
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    command = f"{sys.executable} {RECORDER} {recorded} echo worker-1 is here"
    (bench.home / ".claude").mkdir()
    line = {"statusLine": {"type": "command", "command": command}}
    (bench.home / ".claude/settings.json").write_text(json.dumps(line))
    with bench.claude_at_a_terminal(repo, "one") as screen:
        screen.wait_for("worker-1 is here")
    compare("statusline", {"claude": collect(recorded, bench.home, repo)["StatusLine"]})


def test_codex(bench: Bench, repo: Path, tmp_path: Path) -> None:
    commit(repo, {"a.txt": "a\n", "moved.txt": "m\n", "gone.txt": "g\n"}, "Files")
    recorded = tmp_path / "recorded"
    recorded.mkdir()
    (bench.home / ".codex").mkdir()
    command = f"{sys.executable} {RECORDER} {recorded}"
    said = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": 60}]}]
        for event in CODEX_EVENTS
    }
    (bench.home / ".codex/hooks.json").write_text(json.dumps({"hooks": said}))
    bench.models.script(
        "one",
        Turn("Working.", [Call("apply_patch", PATCH)]),
        Turn(calls=[Call("exec_command", {"cmd": "echo hello"})]),
        Turn(calls=[Call("exec_command", {"cmd": HEREDOC})], tokens=100_000),
        Turn("A summary."),
        Turn("All done."),
    )
    small = ("-c", "model_auto_compact_token_limit=10000")
    bench.trust_hooks(repo)
    ended = end(bench.codex(repo, "one", *small))
    assert ended.code == 0, ended
    compare("codex", collect(recorded, bench.home, repo))


def test_copilot_cli(bench: Bench, repo: Path, tmp_path: Path) -> None:
    commit(repo, {"a.txt": "a\n"}, "Files")
    command = recorder(tmp_path / "recorded")
    (bench.home / ".copilot/hooks").mkdir(parents=True)
    said = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": 60}]}]
        for event in SHARED_EVENTS
    }
    (bench.home / ".copilot/hooks/all.json").write_text(json.dumps({"version": 1, "hooks": said}))
    helper = {"name": "helper", "agent_type": "general-purpose", "description": "Help"}
    bench.models.script(
        "one",
        Turn("Working.", [edit("copilot", repo / "new.txt")]),
        Turn(calls=[replace("copilot", repo / "a.txt", "a", "b")]),
        Turn(calls=[shell("copilot", "echo hello")]),
        Turn(calls=[Call("view", {"path": str(repo / "a.txt")})]),
        Turn(calls=[Call("task", {**helper, "prompt": "Help me.", "mode": "sync"})]),
        Turn(calls=[edit("copilot", repo / "sub.txt")]),  # the helper's
        Turn("Helped."),
        Turn("All done."),
    )
    ended = end(start(bench, "copilot", repo, "one"))
    assert ended.code == 0, ended.err
    model = {"COPILOT_MODEL": "gpt-5.4", "COPILOT_PROVIDER_WIRE_API": "responses"}
    patch = "*** Begin Patch\n*** Add File: patched.txt\n+x\n*** End Patch"
    bench.models.script("two", Turn(calls=[Call("apply_patch", patch)]))
    ended = end(bench.start("copilot", repo, "two", env=model))
    assert ended.code == 0, ended.err
    compare("copilot", collect(tmp_path / "recorded", bench.home, repo))


def test_qwen_code(bench: Bench, repo: Path, tmp_path: Path) -> None:
    commit(repo, {"a.txt": "a\n"}, "Files")
    command = recorder(tmp_path / "recorded")
    said = {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": 60_000}]}]
        for event in SHARED_EVENTS
    }
    (repo / ".qwen").mkdir()
    (repo / ".qwen/settings.json").write_text(json.dumps({"$version": 4, "hooks": said}))
    helper = {"subagent_type": "general-purpose", "description": "Help", "prompt": "Help me."}
    bench.models.script(
        "one",
        Turn("Working.", [edit("qwen", repo / "new.txt")]),
        Turn(calls=[Call("read_file", {"file_path": str(repo / "a.txt")})]),
        Turn(calls=[replace("qwen", repo / "a.txt", "a", "b")]),
        Turn(calls=[shell("qwen", "echo hello")]),
        Turn(calls=[Call("agent", helper)]),
        Turn(calls=[edit("qwen", repo / "sub.txt")]),  # the helper's
        Turn("Helped."),
        Turn("All done."),
    )
    ended = end(start(bench, "qwen", repo, "one"))
    assert ended.code == 0, ended.err
    compare("qwen", collect(tmp_path / "recorded", bench.home, repo))


def test_pi(bench: Bench, repo: Path, tmp_path: Path) -> None:
    """What our extension sends."""
    commit(repo, {"a.txt": "a\n"}, "Files")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nexec {recorder(tmp_path / 'recorded')}\n")
    program.chmod(0o755)
    (repo / ".pi/extensions").mkdir(parents=True)
    (repo / ".pi/extensions/ghp-agents.ts").write_text(plugin("pi", str(program)))
    bench.models.script(
        "one",
        Turn("Working.", [edit("pi", repo / "new.txt")]),
        Turn(calls=[replace("pi", repo / "a.txt", "a", "b")]),
        Turn(calls=[shell("pi", "echo hello")]),
    )
    ended = end(start(bench, "pi", repo, "one"))
    assert ended.code == 0, ended.err
    compare("pi", collect(tmp_path / "recorded", bench.home, repo))


def recorder(folder: Path) -> str:
    """The command of a hook that keeps what it is given in a new folder."""
    folder.mkdir()
    return shlex.join([sys.executable, str(RECORDER), str(folder)])


HEREDOC = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: shell.txt\n+x\n*** End Patch\nEOF\n"


def hooks(events: Mapping[str, Any], command: list[str]) -> dict[str, Any]:
    """Settings of Claude Code in which every event goes to one command."""
    handler = {"type": "command", "command": command[0], "args": command[1:]}
    return {"hooks": {event: [{"hooks": [handler]}] for event in events}}


def collect(recorded: Path, home: Path, repo: Path) -> dict[str, Any]:
    """The payloads by event, tool and the like, the first of each, without this machine in them."""
    names: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"00000000-0000-4000-8000-{len(names) + 1:012}")

    found: dict[str, Any] = {}
    for path in sorted(recorded.iterdir()):
        text = path.read_text()
        payload = json.loads(text)
        words = [
            payload.get("hook_event_name", "StatusLine"),
            payload.get("tool_name"),
            payload.get("source"),
        ]
        is_helpers = "agent_id" in payload and not str(words[0]).startswith("Subagent")
        words.append("subagent" if is_helpers else None)
        words.append("again" if payload.get("prompt") == "" else None)
        given = payload.get("tool_input", {})
        if isinstance(given, str):
            words.append("patch")
        elif "apply_patch <<" in given.get("command", ""):
            words.append("heredoc")
        if "task-notification" in payload.get("prompt", ""):
            words.append("notification")
        text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", number, text)
        text = re.sub(r"\ba[0-9a-f]{16}\b", lambda found: names.setdefault(found[0], "a1"), text)
        text = re.sub(r"\d{4}/\d\d/\d\d/rollout-[\dT-]+-0", "2026/01/02/rollout-0", text)
        text = re.sub(r"/tmp/[^\"<]*/tasks/", "/tmp/claude/tasks/", text)
        text = re.sub(r"(toolu|call)_\d+_\d+_(\d+)", r"\1_\2", text)
        text = re.sub(r"\b(toolu|call)_\d+_[0-9a-z]{9}\b", r"\1_1", text)
        text = re.sub(r"Group PGID: \d+", "Group PGID: 4321", text)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-01-02T03:04:05.678Z", text)
        text = re.sub(r'("pid": ?)\d+', r"\1 4321", text)
        text = re.sub(r'(duration_ms(?:":|>))\d+', r"\1 7", text)
        text = text.replace(str(repo), "/repo").replace(str(home), "/home/person")
        text = text.replace(str(repo).replace("/", "-").replace("_", "-"), "-repo")
        found.setdefault("-".join(word for word in words if word), json.loads(text))
    return found


def compare(client: str, found: dict[str, Any]) -> None:
    """With what is kept; or keep it."""
    if RECORD:
        for name, payload in found.items():
            path = PAYLOADS / f"{client}-{name}.json"
            path.write_text(json.dumps(payload, indent=2, ensure_ascii=False) + "\n")
    kept = {
        path.stem.removeprefix(f"{client}-"): json.loads(path.read_text())
        for path in PAYLOADS.glob(f"{client}-*.json")
    }
    assert found.keys() == kept.keys()
    for name, payload in found.items():
        assert sorted(shape(payload)) == sorted(shape(kept[name])), name


def shape(value: Any, place: str = "") -> Iterator[str]:
    """Every field with its kind; what a tool answers, and what goes on beside, varies."""
    if isinstance(value, dict) and not place.endswith(".tool_response"):
        for name, each in value.items():
            yield from shape(each, f"{place}.{name}")
    elif isinstance(value, list) and not place.endswith(".background_tasks"):
        for each in value:
            yield from {*shape(each, f"{place}[]")}
    else:
        yield f"{place}: {type(value).__name__}"
