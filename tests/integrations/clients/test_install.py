"""The guards in clients' files on the disk: modes, refusals, OpenCode's plugin, the status line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.core.jsonc import parse
from ghp_agents.integrations.clients import config_files as client_places
from ghp_agents.integrations.clients import install as guards
from ghp_agents.integrations.clients import statusline
from ghp_agents.integrations.clients.events import CLIENTS
from ghp_agents.integrations.clients.install import plugin, python_of_plugin
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.git import git
from tests.support.guard import machine_program
from tests.support.setup import give_exclude
from tests.support.thorough import mostly_slow

SETTINGS = ".claude/settings.local.json"


def put(folder: Path, client: str = "claude", python: str = "/py") -> list[str]:
    ws = open_workspace(folder, os.environ, ManualClock())
    targets = client_places.here(ws, [client])
    steps = guards.to_put(targets, python, os.environ, ws.common_dir)
    for step in steps:
        step.act()
    assert guards.to_put(targets, python, os.environ, ws.common_dir) == []
    return [f"{step.did} {step.what}" for step in steps]


def take(folder: Path, client: str = "claude") -> list[str]:
    ws = open_workspace(folder, os.environ, ManualClock())
    targets = client_places.here(ws, [client])
    steps = guards.to_take(targets, ws.common_dir)
    for step in steps:
        step.act()
    assert guards.to_take(targets, ws.common_dir) == []
    return [f"{step.did} {step.what}" for step in steps]


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_file_of_the_users_is_given_back_with_its_bytes_and_its_mode(repo: Path) -> None:
    give_exclude(repo)
    path = write(repo / SETTINGS, '{\r\n\t"env": {"TOKEN": "x"}\r\n}')
    path.chmod(0o600)
    before = path.read_bytes()
    assert put(repo) == [f"Put hooks for Claude Code into {SETTINGS}"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert take(repo) == [f"Removed the hooks of Claude Code from {SETTINGS}"]
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (before, 0o600)
    assert (repo / ".git/info/exclude").read_text() == "*.swp\n"


def test_a_file_that_was_made_goes_unless_the_user_put_something_into_it(repo: Path) -> None:
    give_exclude(repo)
    for added in (None, "model"):
        put(repo)
        if added:
            value = json.loads((repo / SETTINGS).read_text()) | {added: "x"}
            write(repo / SETTINGS, json.dumps(value, indent=2))
        take(repo)
        assert (repo / SETTINGS).exists() is bool(added)
        assert (repo / ".claude").exists() is bool(added)
    assert json.loads((repo / SETTINGS).read_text()) == {"model": "x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "a": 1,\n "b" 2\n}', "{path}, line 3: `:` is missing; the file was not changed."),
        ("", "{path}, line 1: the text ends too early; the file was not changed."),
        (
            '{\n "a": 1, // mine\n "b": 2\n}',
            "{path}, line 2: Claude Code ignores a file with comments or trailing commas; the file "
            "was not changed.",
        ),
        (
            '{\n "a": [1,\n ]\n}',
            "{path}, line 3: Claude Code ignores a file with comments or trailing commas; the file "
            "was not changed.",
        ),
        ('{"hooks": 1}', "{path}: `hooks` is not an object; the file was not changed."),
    ],
)
def test_what_cannot_be_understood_is_refused_and_left(repo: Path, text: str, message: str) -> None:
    path = write(repo / SETTINGS, text)
    with pytest.raises(GhpError) as refused:
        put(repo)
    assert str(refused.value) == message.format(path=path)
    assert refused.value.hint
    assert path.read_text() == text
    assert take(repo) == [], "what holds nothing of ours is not even read"


def test_a_link_in_the_repository_is_not_followed_out_of_it(repo: Path, tmp_path: Path) -> None:
    theirs = write(tmp_path / "elsewhere/hooks.json", "{}")
    (repo / ".codex").symlink_to(theirs.parent)
    git(repo, "add", ".codex")
    with pytest.raises(RefusedError) as refused:
        put(repo, "codex")
    assert str(refused.value) == (
        f"{repo}/.codex/hooks.json is a link in the repository to {theirs}, outside the worktree."
    )
    assert theirs.read_text() == "{}"
    git(repo, "rm", "--quiet", "--cached", ".codex")
    put(repo, "codex")
    assert theirs.read_text() != "{}", "a link that the user has made is theirs"
    take(repo, "codex")
    assert theirs.read_text() == "{}"


# ------------------------------------------------------------------------------ the status line


def line(path: Path) -> statusline.ParsedStatusLine | None:
    return statusline.ours(parse(path.read_text()).value.get("statusLine"))


@pytest.mark.slow
def test_the_status_line_that_counts_is_run_first(repo: Path, home: Path) -> None:
    own = {"type": "command", "command": "of the user"}
    write(home / ".claude/settings.json", json.dumps({"statusLine": own}))
    put(repo)
    assert line(repo / SETTINGS) == ("/py", "of the user", "")
    write(repo / ".claude/settings.json", '{"statusLine": {"command": "of the project"}}')
    put(repo)
    assert line(repo / SETTINGS) == ("/py", "of the project", "")
    take(repo)
    local = '{"statusLine": {"command": "of this worktree"}}'
    write(repo / SETTINGS, local)
    put(repo)
    assert line(repo / SETTINGS) == (
        "/py",
        "of this worktree",
        json.dumps({"command": "of this worktree"}),
    )
    take(repo)
    assert (repo / SETTINGS).read_text() == local


def test_where_ours_is_in_the_users_file_already_only_theirs_is_run(repo: Path, home: Path) -> None:
    before = '{"statusLine": {"type": "command", "command": "mine"}}'
    user = write(home / ".claude/settings.json", before)
    targets = client_places.of_user(os.environ, ["claude"])
    for step in guards.to_put(targets, "/py", os.environ, None):
        step.act()
    assert line(user) == ("/py", "mine", parse(before).value and before[15:-1])
    put(repo)
    assert line(repo / SETTINGS) == ("/py", "mine", "")
    take(repo)
    for step in guards.to_take(targets, None):
        step.act()
    assert user.read_text() == before


# ------------------------------------------------------------------------------ OpenCode

PLUGIN = ".opencode/plugins/ghp-agents.js"


def test_opencodes_plugin_is_a_file_of_ours_and_never_replaces_anothers(repo: Path) -> None:
    give_exclude(repo)
    assert put(repo, "opencode") == [f"Put hooks for OpenCode into {PLUGIN}"]
    assert python_of_plugin((repo / PLUGIN).read_text()) == "/py"
    assert put(repo, "opencode", "/new/py") == [f"Put hooks for OpenCode into {PLUGIN}"]
    assert python_of_plugin((repo / PLUGIN).read_text()) == "/new/py"
    assert take(repo, "opencode")[0] == f"Removed the hooks of OpenCode: {PLUGIN}"
    assert not (repo / ".opencode").exists()
    theirs = write(repo / PLUGIN, "export const Mine = 1 // not ghp_agents\n")
    with pytest.raises(GhpError, match="is not from ghp-agents; it was not changed"):
        put(repo, "opencode")
    assert take(repo, "opencode") == []
    assert theirs.exists()
    assert python_of_plugin(theirs.read_text()) is None


DRIVER = """\
import { GhpAgents } from "./plugin.mjs"
const get = async ({ path }) => ({ data: path.id === "s2" ? { parentID: "s1" } : {} })
const client = { session: { get } }
const hooks = await GhpAgents({ client, directory: process.cwd() })
const said = []
const say = async (sessionID, text) => {
  const message = { parts: [{ id: "prt_1", sessionID, messageID: "m", type: "text", text }] }
  await hooks["chat.message"]({ sessionID }, message)
  said.push(message.parts.map((part) => (part.synthetic ? "+" : "") + part.id + " " + part.text))
}
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s1" } } } })
await say("s1", "Do it.")
await say("s1", "Go on.")
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s2" } } } })
await say("s2", "Help.")
for (const [tool, filePath, sessionID] of [
  ["edit", "held", "s1"], ["edit", "free", "s1"], ["read", "held", "s1"], ["edit", "new", "s2"],
]) {
  const call = { tool, sessionID, callID: tool + filePath }
  try {
    await hooks["tool.execute.before"](call, { args: { filePath } })
    const done = { output: "done" }
    await hooks["tool.execute.after"](call, done)
    said.push(done.output)
  } catch (error) {
    said.push("thrown: " + error.message)
  }
}
const shell = { env: { A: "1" } }
await hooks["shell.env"]({ sessionID: "s2" }, shell)
said.push(shell.env)
for (const sessionID of ["s2", "s1"]) {
  await hooks.event({ event: { type: "session.idle", properties: { sessionID } } })
  await hooks["experimental.session.compacting"]({ sessionID }, {})
}
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "s2" } } } })
console.log(JSON.stringify(said))
"""

ANSWERS = """\
import json, sys
event = json.load(sys.stdin)
open("events.jsonl", "a").write(json.dumps([sys.argv[1:], event]) + "\\n")
name, given = event["hook_event_name"], event.get("tool_input", {})
said = {
    "session.start": {"context": "You are worker-1.", "env": {"GHP_AGENT": "worker-1"}},
    "chat.message": {"context": "An answer."},
    "tool.execute.before": {"deny": "leased"} if given.get("filePath") == "held" else {},
    "tool.execute.after": {"context": "News."},
}
print(json.dumps(said.get(name, {})))
"""


@pytest.fixture
def node() -> str:
    """The interpreter of OpenCode's plugins, or one that understands the same."""
    program = machine_program("node")
    if program is None:
        pytest.skip("needs node on PATH, to run the plugin of OpenCode")
    return program


def drive(node: str, folder: Path, python: Path) -> list[Any]:
    (folder / "plugin.mjs").write_text(plugin("opencode", str(python)))
    (folder / "driver.mjs").write_text(DRIVER)
    done = subprocess.run(
        [node, "driver.mjs"], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    lines: list[Any] = json.loads(done.stdout)
    return lines


@pytest.mark.slow
def test_the_plugin_tells_what_happens_in_the_user_s_session_and_does_as_it_is_answered(
    node: str, tmp_path: Path
) -> None:
    python = write(tmp_path / "a python", f"#!{sys.executable}\n{ANSWERS}")
    python.chmod(0o755)
    assert drive(node, tmp_path, python) == [
        ["prt_1 Do it.", "+prt_10 You are worker-1.\n\nAn answer."],
        ["prt_1 Go on.", "+prt_10 An answer."],
        ["prt_1 Help."],
        "thrown: leased",
        "done\n\nNews.",
        "done\n\nNews.",
        "done\n\nNews.",
        {"A": "1", "GHP_AGENT": "worker-1"},
    ]
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    calls = [json.loads(x) for x in lines]
    assert {tuple(args) for args, _ in calls} == {("-P", "-m", "ghp_agents", "hook", "opencode")}
    events = [event for _, event in calls]
    assert [event["hook_event_name"] for event in events] == [
        "session.start", "chat.message", "chat.message",
        "tool.execute.before", "tool.execute.before", "tool.execute.after", "tool.execute.after",
        "tool.execute.before", "tool.execute.after",
        "session.idle", "session.compacting", "session.end",
    ]  # fmt: skip
    assert {x.event for x in CLIENTS["opencode"]} == {event["hook_event_name"] for event in events}
    assert {(event["session_id"], event["cwd"]) for event in events} == {("s1", str(tmp_path))}
    assert len({event["pid"] for event in events}) == 1
    assert (events[5]["tool_name"], events[5]["tool_input"]) == ("edit", {"filePath": "free"})
    assert (events[6]["tool_name"], events[6]["tool_input"]) == ("read", {"filePath": "held"})
    assert [event.get("agent_id") for event in events[6:9]] == [None, "s2", "s2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "script", mostly_slow([None, "print('no JSON')", "raise SystemExit(3)", "print(1)"], every=4)
)
def test_whatever_goes_wrong_with_us_opencode_goes_on(
    node: str, tmp_path: Path, script: str | None
) -> None:
    python = tmp_path / "python"
    if script is not None:
        write(python, f"#!{sys.executable}\n{script}\n").chmod(0o755)
    assert drive(node, tmp_path, python) == [
        ["prt_1 Do it."], ["prt_1 Go on."], ["prt_1 Help."], *["done"] * 4, {"A": "1"},
    ]  # fmt: skip
