"""`agent-work` with the real Claude Code and Codex: from an issue to a pull request, and no process
is left after a stall, a stop, or the death of the supervisor."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.runs import processes
from tests.clients.steps import run
from tests.support.clients import TIMEOUT_S, Bench, ghp
from tests.support.fake_models import Call, Request, Turn
from tests.support.ghp import run_ghp
from tests.support.runs import shift_of, states

pytestmark = pytest.mark.slow

KEY = "one"
FINISHES = (
    "echo new > new.txt",
    "git add . && git commit -qm 'Add a file'",
    ghp("agent-finish"),
)
FULL = "--dangerously-bypass-approvals-and-sandbox"  # there may be a sandbox around already


class Night:
    """Supervisors of one real client."""

    def __init__(self, bench: Bench, repo: Path, client: str) -> None:
        self.bench, self.client = bench, client
        self.shift = shift_of(repo, "One")
        self.args = (
            ["-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never"]
            if client == "codex"
            else []
        )
        if client == "claude":
            self.args = ["--allowedTools=Bash"]
        self.env = {**self._environment(), "GHP_BACKGROUND": "0"}
        path = Path(bench.command(client)[0]).parent
        self.env["PATH"] = f"{path}{os.pathsep}{os.environ['PATH']}"

    def _environment(self) -> dict[str, str]:
        if self.client == "claude":
            return self.bench.claude_environment(KEY)
        return self.bench.codex_environment(KEY)

    def call(self, command: str) -> Call:
        """The client's call of a shell command."""
        if self.client == "claude":
            return Call("Bash", {"command": command, "description": "Run it"})
        return Call("exec_command", {"cmd": command})

    def start(self, *options: str) -> "subprocess.Popen[str]":
        """A supervisor."""
        command = [sys.executable, "-m", "ghp_agents", "agent-work", "--agent", "night"]
        args = [*command, "--runner", self.client, *options, "--keep-env", "FAKE_KEY", "--"]
        return subprocess.Popen(
            [*args, *self.args], cwd=self.shift.repo, env=self.env,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def work(self, *options: str) -> tuple[int, str]:
        """A supervisor from its beginning to its end."""
        with self.start(*options) as supervisor:
            _, lines = supervisor.communicate(timeout=TIMEOUT_S)
        return supervisor.returncode, lines

    def nothing_is_left(self) -> None:
        """No process of any run is in its group or has its mark."""
        for each in self.shift.runs():
            assert processes.marked(each.id) == []
            assert in_group(each.pid) == []


def in_group(leader: int) -> list[str]:
    """The running processes of a group. One that has only to be reaped does not run."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, group, *_ = path.read_text("utf-8", "replace").rpartition(")")[2].split()
            found += [path.parent.name] if int(group) == leader and state not in "ZX" else []
    return found


@pytest.fixture(params=["claude", "codex"])
def night(request: pytest.FixtureRequest, bench: Bench, repo: Path) -> Iterator[Night]:
    made = Night(bench, repo, request.param)
    yield made
    made.shift.end_all()


def thinking(night: Night) -> tuple[threading.Event, Callable[[Request], Turn]]:
    """A line of the model that begins a long command, and whether it was asked for."""
    asked = threading.Event()

    def think(_: Request) -> Turn:
        asked.set()
        return Turn("", (night.call("tail -f /dev/null"),))

    return asked, think


def test_from_an_issue_to_a_pull_request(night: Night) -> None:
    turns = [Turn("I write.", (night.call(line),)) for line in FINISHES]
    night.bench.models.script(KEY, *turns, Turn("All is done."))
    code, lines = night.work("--once")
    assert code == 0, lines
    last = night.shift.last()
    assert (last.outcome, last.why) == ("finished", "pull request #2")
    assert last.session
    assert "You are agent night. You work alone" in night.bench.models.said(KEY)
    assert "All is done." in run("agent-logs", "night", cwd=night.shift.repo)
    night.nothing_is_left()


def test_what_a_run_uses_counts_and_ends_at_a_budget(night: Night) -> None:
    repo = night.shift.repo
    config = repo / ".ghp/config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"agents": {"budgets": {"repository": {"turns": 1}}}}))
    turns = [Turn("I write.", (night.call(line),)) for line in FINISHES]
    night.bench.models.script(KEY, *turns, Turn("All is done."))
    assert night.work("--once")[0] == 0
    (used,) = json.loads(run("agent-report", "--cost", "--json", cwd=repo))["agents"]
    last = night.shift.last()
    assert (used["agent"], used["turns"]) == ("night", last.turns)
    assert used["runSeconds"] > 0
    assert used["usd"] == (round(last.cost, 6) or None)
    assert (last.cost > 0) is (night.client == "claude")
    code, lines = night.work("--once")
    assert code == 0, lines
    assert "turns by all agents (agents.budgets.repository.turns). No new work starts" in lines
    assert len(night.shift.runs()) == 1
    night.nothing_is_left()


def test_claude_is_ended_by_a_limit_in_dollars_and_its_agents_budget_stops_the_next_run(
    bench: Bench, repo: Path
) -> None:
    """Claude Code counts what the fake model's tokens cost."""
    night = Night(bench, repo, "claude")
    config = repo / ".ghp/config.json"
    config.parent.mkdir(exist_ok=True)
    budgets = {"run": {"usd": 0.05}, "agent": {"usd": 0.05}}
    config.write_text(json.dumps({"agents": {"budgets": budgets}}))
    turn = Turn("I think.", (night.call("echo again"),), written=1_000)
    night.bench.models.script(KEY, *[turn] * 100)
    code, lines = night.work("--once")
    assert code == 0, lines
    (last,) = night.shift.runs()
    assert last.outcome == "failed"
    assert last.why in {  # who sees it first
        "it cost more than 0.05 dollars",
        "it exited with code 1: it reached the limit in dollars",
    }
    assert 0.05 <= last.cost < 0.15
    assert len(night.bench.models.requests(KEY)) < 20
    (used,) = json.loads(run("agent-report", "--cost", "--json", cwd=repo))["agents"]
    assert used["usd"] == round(last.cost, 6)
    assert "of $0.05 today by this agent (agents.budgets.agent.usd). No new work" in lines
    night.nothing_is_left()
    night.shift.end_all()


def test_an_agent_does_one_issue_after_the_other(night: Night) -> None:
    run("agent-issue", "new", "Two", "--as", "@me", cwd=night.shift.repo)
    turns = [
        Turn("I write.", (night.call(line.replace("new", name)),))
        for name in ("new", "more")
        for line in FINISHES
    ]
    night.bench.models.script(KEY, *turns[:3], Turn("Done."), *turns[3:], Turn("Done."))
    with night.start() as supervisor:
        assert supervisor.stderr
        for line in supervisor.stderr:
            if "#2: " in line:
                supervisor.send_signal(signal.SIGTERM)
    assert states(night.shift.runs()) == [("night", 1, "finished"), ("night", 2, "finished")]
    assert len({each.session for each in night.shift.runs()}) == 2
    night.nothing_is_left()


def test_a_failed_run_goes_on_in_its_session(night: Night) -> None:
    night.bench.models.script(KEY, Turn("I give up at banana."))
    code, lines = night.work("--once", "--tries", "3", "--pause", "0s")
    assert code == 1, lines
    assert [state[2] for state in states(night.shift.runs())] == ["failed", "failed", "escalated"]
    assert len({each.session for each in night.shift.runs()}) == 1
    last = night.bench.models.requests(KEY)[-1].said
    assert "I give up at banana." in last
    assert "You worked on this before. That run ended: «it ended without 'ghp agent-finish'" in last
    night.nothing_is_left()


def test_a_client_that_stalls_is_ended(night: Night) -> None:
    _, think = thinking(night)
    night.bench.models.script(KEY, think)
    code, lines = night.work("--once", "--silence", "6s", "--tries", "1")
    assert code == 1, lines
    assert night.shift.last().why == "it printed nothing for 6 s"
    night.nothing_is_left()


def test_a_client_is_stopped_at_once(night: Night) -> None:
    asked, think = thinking(night)
    night.bench.models.script(KEY, think)
    with night.start("--once") as supervisor:
        assert asked.wait(TIMEOUT_S)
        run("agent-stop", "night", "--now", "--as", "@me", cwd=night.shift.repo)
        supervisor.communicate(timeout=TIMEOUT_S)
    assert states(night.shift.runs()) == [("night", 1, "stopped")]
    night.nothing_is_left()


def test_a_client_ends_at_its_next_step_when_its_agent_is_stopped(night: Night) -> None:
    def stop(_: Request) -> Turn:
        assert run_ghp("agent-stop night --as @me", night.shift.repo).code == 0
        return Turn("", (night.call("echo more"),))

    steps = [Turn("", (night.call("tail -f /dev/null & sleep 1"),))] * 20
    night.bench.models.script(KEY, Turn("", (night.call("true"),)), stop, *steps)
    code, lines = night.work("--once")
    assert code == 0, lines
    assert states(night.shift.runs()) == [("night", 1, "stopped")]
    assert len(night.bench.models.requests(KEY)) < 20
    night.nothing_is_left()


def test_the_next_supervisor_goes_on_with_a_client(night: Night) -> None:
    asked, think = thinking(night)
    night.bench.models.script(KEY, think)
    with night.start() as first:
        assert asked.wait(TIMEOUT_S)
        first.kill()
        first.communicate()
    before = night.shift.last()
    assert processes.lives(before)
    with night.start() as second:
        assert second.stderr
        while " continues R-" not in second.stderr.readline():
            assert second.poll() is None
        second.send_signal(signal.SIGTERM)
        second.communicate(timeout=TIMEOUT_S)
    assert states(night.shift.runs()) == [("night", 1, "interrupted")]
    night.nothing_is_left()


def test_a_run_in_the_agent_view_of_claude_code(bench: Bench, repo: Path) -> None:
    night = Night(bench, repo, "claude")
    bench.welcome_claude(KEY, repo)
    turns = [Turn("I write.", (night.call(line),)) for line in FINISHES]
    bench.models.script(KEY, *turns, Turn("All is done."))
    night.client = "claude-bg"
    claude = bench.command("claude")
    try:
        code, lines = night.work("--once")
        assert code == 0, lines
        last = night.shift.last()
        assert (last.outcome, last.why) == ("finished", "pull request #2")
        logs = run("agent-logs", "night", cwd=repo)
        assert "I write." in logs
        assert "All is done." in logs
        listed = subprocess.run(
            [*claude, "agents", "--json", "--all"], env=night.env, cwd=repo,
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert [(x["name"], x["state"]) for x in json.loads(listed)] == [("night", "stopped")]
        night.nothing_is_left()
    finally:
        subprocess.run([*claude, "daemon", "stop", "--any"], env=night.env, cwd=repo, check=True)
        night.shift.end_all()
