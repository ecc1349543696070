"""`agent-status` as people and programs call it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import AgentName
from ghp_agents.presence import service as services
from ghp_agents.wiring import App
from tests.state import strangers
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT, invoke, run_ghp
from tests.support.git import git

AS = {"GHP_AGENT": "worker-1"}


def test_status_of_a_fresh_repository_says_that_nobody_is_known(repo: Path) -> None:
    assert invoke("agent-status", repo) == (
        0,
        "",
        "No agents yet. Start one with `ghp agent-start --next --as NAME`.\n",
    )


def test_status_as_json_of_a_fresh_repository_is_an_empty_document(repo: Path) -> None:
    code, out, err = invoke("agent-status --json", repo)
    assert (code, err) == (0, "")
    assert out == '{\n  "schemaVersion": 1,\n  "agents": {}\n}\n'


def test_status_set_tells_everybody(repo: Path) -> None:
    assert invoke("agent-status --set blocked", repo, AS) == (0, "", "✓ worker-1 is blocked.\n")
    document = json.loads(invoke("agent-status --json", repo).out)
    assert document["agents"]["worker-1"]["status"] == "blocked"
    (entry,) = json.loads(invoke("agent-log --json", repo).out)
    assert (entry["event"], entry["actor"], entry["object"]) == ("presence", "worker-1", "blocked")


def test_the_joined_document_has_the_specified_fields_first(repo: Path) -> None:
    invoke("agent-status --set idle", repo, AS)
    document = json.loads(invoke("agent-status --json", repo).out)
    assert list(document) == ["schemaVersion", "agents"]
    fields = list(document["agents"]["worker-1"])
    assert fields[:4] == ["issue", "status", "lastAction", "timestamp"]


def test_an_unknown_agent_is_not_found(repo: Path) -> None:
    code, out, err = invoke("agent-status nobody", repo)
    assert (code, out) == (1, "")
    assert err == (
        "Error: There is no agent nobody.\n"
        "Hint: `ghp agent-status` lists agents; `ghp agent-sync` gets news from other clones.\n"
    )


def test_the_past_can_be_looked_at(repo: Path) -> None:
    invoke("agent-status --set testing", repo, AS)
    code, out, err = invoke("agent-status --at 2020-01-01T00:00:00Z", repo)
    assert (code, out, err.partition(" (")[0], err.splitlines()[1:]) == (
        0, "", "As of 2020-01-01T00:00:00Z", ["There were no agents at that time."]
    )  # fmt: skip
    assert invoke("agent-status --at 0s --json", repo).out.count("worker-1") == 1


def test_who_was_alive_then_is_shown_although_it_is_gone_now(repo: Path) -> None:
    clock = ManualClock()  # in June 2025
    house = App(repo, {**os.environ, **AS}, clock=clock)
    services.heartbeat(house.ws, house.store, house.ws.agent(), {"status": "testing"})
    assert house.store.fold() == 1
    (repo / ".git/ghp/agents/worker-1.json").unlink()
    now, then = invoke("agent-status", repo), "agent-status --at 2025-06-15T15"
    assert now == (
        0, "", "No agent is alive; `ghp agent-status NAME` shows one that is gone.\n"
    )  # fmt: skip
    rows = {
        minute: invoke(f"{then}:{minute}:40Z", repo).out.splitlines()[1].split()
        for minute in (11, 16, 36)
    }
    assert rows == {
        11: ["worker-1", "active", "testing", "5m", "main", "«Started»"],
        16: ["worker-1", "stale", "testing", "10m", "main", "«Started»"],
        36: ["worker-1", "dead", "testing", "30m", "main", "«Started»"],
    }
    assert list(json.loads(invoke(f"{then}:11:40Z --json", repo).out)["agents"]) == ["worker-1"]
    clock.wait(3_600)
    assert invoke("agent-status --at 2025-06-15T15:00:00Z", repo, clock=clock).err == (
        "As of 2025-06-15T15:00:00Z (66 min ago).\nThere were no agents at that time.\n"
    )
    assert invoke("agent-status --at 0001-01-01", repo, clock=clock).err == (
        "As of 1970-01-01T00:00:00Z (20254 d ago).\nThere were no agents at that time.\n"
    )


def test_a_process_that_ended_is_stale_as_json_too(repo: Path) -> None:
    ended = subprocess.run(["sh", "-c", "echo $$"], capture_output=True, text=True).stdout.strip()
    invoke("agent-status --set testing", repo, {**AS, "GHP_AGENT_PID": ended})
    assert invoke("agent-status --stale", repo).out.splitlines()[1].split()[:2] == [
        "worker-1",
        "dead",
    ]
    stale = json.loads(invoke("agent-status --stale --json", repo).out)
    assert list(stale["agents"]) == ["worker-1"]


def test_a_time_that_is_none_is_refused(repo: Path) -> None:
    code, out, err = invoke("agent-status --at yesterdayish", repo)
    assert (code, out) == (2, "")
    assert "Error: 'yesterdayish' is not a time." in err


def test_a_long_action_is_cut_in_the_table_and_whole_for_one_agent(repo: Path) -> None:
    action = "word " * 40
    invoke(["agent-heartbeat", "--action", action], repo, AS)
    short = "  «" + "word " * 15 + "word…»"
    assert invoke("agent-status", repo).out.splitlines()[1].endswith(short)
    assert f"last action: «{action.strip()}»\n" in invoke("agent-status worker-1", repo).out


def test_escapes_in_an_action_do_not_reach_the_terminal(repo: Path) -> None:
    run_ghp(["agent-heartbeat", "--action", "\x1b[31mred\x07 and\nmore"], repo, AS)
    out = invoke("agent-status", repo).out
    assert "\x1b" not in out
    assert "\x07" not in out


def test_escapes_of_another_clone_do_not_reach_the_terminal(clone: Path, remote: Path) -> None:
    fields = {
        "status": "\x1b[31m",
        "lastAction": "\x9b31m",
        "branch": "\x07",
        "timestamp": "\x1b[2J",
    }
    eve = {**fields, "epoch": 1, "seq": 1, "capabilities": ["\x1b[5m"], "\x1b[1mkey": "\x1b"}
    tree = strangers.tree(remote, {".ghp/agent-status.json": strangers.document({"eve": eve})})
    message = "presence eve \x1b[31m\n\nEvent: presence\nMoved: eve \x1b[31m 3 \x1b[2J\nClock: 7\n"
    head = strangers.commit(remote, tree, f"{message}Clone: ev\x1b[31m\n")
    git(remote, "update-ref", "refs/ghp/clone/eve", head)
    assert invoke("agent-sync", clone).code == 0
    for command in ("agent-status eve", "agent-status", "agent-status --json", "agent-log"):
        for options in ("", " --json") if "json" not in command else ("",):
            code, out, _ = invoke(command + options, clone)
            assert (code, "eve" in out) == (0, True), command
            assert [char for char in out if not (char.isprintable() or char == "\n")] == []
    assert (
        json.loads(invoke("agent-status --json", clone).out)["agents"]["eve"].items() >= eve.items()
    )


@pytest.mark.parametrize("option", ["--limit 2", "-L 2"])
def test_a_limit_shows_the_first_agents(repo: Path, option: str) -> None:
    for name in ("worker-2", "worker-1", "worker-3"):
        invoke(f"agent-status --set testing --as {name}", repo)
    shown = invoke(f"agent-status {option}", repo)
    assert [line.split()[0] for line in shown.out.splitlines()] == ["AGENT", "worker-1", "worker-2"]
    assert shown.err == "The first 2 of 3; --limit shows more.\n"
    result = invoke(f"agent-status {option} --json agent,status", repo)
    assert [agent_json["agent"] for agent_json in json.loads(result.out)] == [
        "worker-1",
        "worker-2",
    ]
    assert invoke("agent-status -L 3", repo).err == ""


def test_watch_without_a_terminal_says_what_to_use_instead(repo: Path) -> None:
    code, _, err = invoke("agent-status --watch", repo)
    assert code == 2
    assert "Hint: For a script, use `ghp agent-log --follow --json`." in err


@pytest.mark.slow
def test_watching_shows_what_changes_until_it_is_interrupted(repo: Path) -> None:
    invoke("agent-status --set testing", repo, AS)
    ours, theirs = os.openpty()
    watcher = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", "agent-status", "--watch"],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "TERM": "xterm", "COLUMNS": "120"},
        stdout=theirs,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(theirs)
    with watcher:
        shown = b""
        while b"testing" not in shown:
            shown += os.read(ours, 1_000)
        assert b"worker-1" in shown
        invoke("agent-status --set blocked", repo, AS)
        while b"blocked" not in shown:
            shown += os.read(ours, 1_000)
        watcher.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # how Linux says that the last writer has gone
            while os.read(ours, 1_000):
                pass
        assert watcher.stderr is not None
        assert watcher.stderr.read() == ""
    os.close(ours)
    assert watcher.returncode == 0


def test_what_an_agent_can_do_is_what_the_configuration_says(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text(
        '{"agents": {"capabilities": {"worker-1": ["code", "tests"]}}}'
    )
    invoke("agent-status --set testing", repo, AS)
    invoke("agent-status --set testing --as worker-2", repo)
    agents = json.loads(invoke("agent-status --json", repo).out)["agents"]
    assert agents["worker-1"]["capabilities"] == ["code", "tests"]
    assert "capabilities" not in agents["worker-2"]


def test_the_status_says_how_many_questions_wait_for_an_answer(repo: Path) -> None:
    agent = {"GHP_AGENT": "worker-1"}
    invoke("agent-heartbeat --status idle", repo, agent)
    assert "open" not in invoke("agent-status", repo).err
    names = [invoke(["agent-escalate", text], repo, agent).out.strip() for text in ("One?", "Two?")]
    hint = "questions open: `ghp agent-escalations --open`."
    assert f"2 {hint}\n" in invoke("agent-status", repo).err
    invoke(["agent-answer", names[0], "Yes."], repo)
    assert "1 question open: " in invoke("agent-status", repo).err
    invoke(["agent-answer", names[1], "No."], repo)
    assert "open" not in invoke("agent-status", repo).err


def test_of_an_agent_elsewhere_it_says_when_this_clone_heard_of_its_last_beat(
    clones: Callable[[int], list[Path]],
) -> None:
    here, other = clones(2)
    clock = ManualClock()
    elsewhere = App(other, os.environ, name="worker-2", clock=clock)
    services.heartbeat(elsewhere.ws, elsewhere.store, AgentName("worker-2"), {"status": "testing"})
    elsewhere.store.sync()
    house = App(here, os.environ, clock=clock)
    never = invoke("agent-status --offline", here).err
    assert never == (
        "No agents yet. Start one with `ghp agent-start --next --as NAME`.\n"
        "Last news from origin: never (0 other clones); run `ghp agent-sync` to get news.\n"
    )
    house.store.sync()
    services.list_agents(house, house.store.snapshot())
    clock.wait(180)
    (view,) = services.list_agents(house, house.store.snapshot())
    assert (view.is_here, view.heard) == (False, 180.0)
    shown = invoke("agent-status --offline", here, clock=clock).out.splitlines()[1].split()
    assert shown == ["worker-2", "active", "testing", "3m", "main", "«Started»"]


def test_a_state_that_is_the_status_too_is_named_once(repo: Path) -> None:
    invoke("agent-heartbeat --status stopped --as worker-1", repo)
    assert invoke("agent-status worker-1", repo).out.startswith("worker-1: stopped\n")
