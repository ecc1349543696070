"""`agent-stop` as people call it: the agent hears of it, its work is saved, its issue is free."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.ghp import Result, invoke, succeed
from tests.support.git import commit, git
from tests.support.hooks import SILENT, call, context, payload, write

BACKGROUND = {"GHP_BACKGROUND": "0"}
ORDER = (
    "«Test Person» (a person) told you to stop. Reason given: «Wrong approach». Change nothing "
    "more, for edits are refused, and end your turn. Your issues are free again, and the next "
    "agent continues your work."
)
REFUSED = (
    "«Test Person» (a person) told worker-1 to stop. Reason given: «Wrong approach».\n"
    "Next: End your turn. Only a person or an orchestrator can let you continue."
)
TOLD = "✓ Saved the work on #1 in H-ID; #1 is free again.\n✓ worker-1 is told to stop at its next "


def begin(folder: Path) -> Path:
    """worker-1 has a session here, and works on #1."""
    succeed(folder, "agent-init --agent worker-1", "agent-issue new Parse --as @me")
    call("claude", payload("claude-SessionStart-startup", folder), folder)
    succeed(folder, "agent-claim 1 --as worker-1")
    call("claude", payload("claude-UserPromptSubmit", folder), folder)
    (folder / "a.txt").write_text("work\n")
    return folder


def stop(
    folder: Path, words: str = "worker-1 --as @me", env: dict[str, str] | None = None
) -> Result:
    done = invoke(f"agent-stop {words}", folder, BACKGROUND | (env or {}))
    return Result(done.code, *(re.sub(r"H-[0-9a-f]+", "H-ID", text) for text in done[1:]))


def row(folder: Path, agent: str = "worker-1") -> tuple[object, ...]:
    shown = json.loads(invoke("agent-status --json", folder).out)["agents"][agent]
    return shown["status"], shown["issue"]


def event(folder: Path, name: str, **changes: object) -> str:
    done = call("claude", payload(f"claude-{name}", folder, **changes), folder)
    return "" if done == SILENT else context(done)


@pytest.mark.slow
def test_the_agent_reads_it_at_its_next_step_and_may_change_nothing_more(repo: Path) -> None:
    begin(repo)
    done = stop(repo, "worker-1 --reason 'Wrong approach' --as @me")
    assert done == (0, "", f"{TOLD}step.\n")
    assert row(repo) == ("stopping", None)
    assert ORDER in event(repo, "PostToolBatch")
    assert event(repo, "PostToolBatch") == ""
    denied = call("claude", write(repo / "b.txt", repo), repo).said["hookSpecificOutput"]
    assert denied["permissionDecisionReason"] == REFUSED
    assert invoke("agent-claim 1 --as worker-1", repo).code == 3
    assert event(repo, "Stop") == ""
    assert row(repo) == ("stopped", None)


@pytest.mark.background
@pytest.mark.slow
def test_a_turn_that_was_about_to_end_hears_it_and_then_ends(repo: Path) -> None:
    begin(repo)
    stop(repo, "worker-1 --reason 'Wrong approach' --as @me")
    assert ORDER in event(repo, "Stop")
    assert event(repo, "Stop", stop_hook_active=True) == ""
    assert row(repo) == ("stopped", None)


@pytest.mark.slow
def test_its_work_is_saved_and_another_agent_gets_it(repo: Path) -> None:
    begin(repo)
    stop(repo)
    assert invoke("agent-claim 1 --as worker-2", repo).code == 0
    resumed = invoke("agent-resume --issue 1 --as worker-2", repo).out
    assert "generation 1) and was stopped. This handoff was written for it" in resumed
    (repo / "a.txt").unlink()
    assert invoke("agent-resume --issue 1 --apply --as worker-2", repo).code == 0
    assert (repo / "a.txt").read_text() == "work\n"


@pytest.mark.slow
def test_what_could_not_be_saved_is_named(repo: Path) -> None:
    oid = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{oid},lib")
    git(repo, "commit", "--quiet", "--message", "Add a submodule")
    begin(repo)
    (repo / "lib").mkdir(exist_ok=True)
    (repo / "lib/precious.txt").write_text("hours\n")
    assert stop(repo).err == (
        "✓ Saved the work on #1 in H-ID; #1 is free again.\n"
        "Warning: Not saved, and only in the worktree of worker-1: lib/precious.txt (in the folder "
        "of a submodule that is not checked out).\n"
        "Hint: The worktree keeps it. Copy or commit what you need there.\n"
        "✓ worker-1 is told to stop at its next step.\n"
    )


@pytest.mark.slow
def test_again_it_changes_nothing(repo: Path) -> None:
    begin(repo)
    stop(repo)
    before = invoke("agent-log", repo).out
    assert stop(repo) == (0, "", "worker-1 was already told to stop.\n")
    event(repo, "Stop", stop_hook_active=True)
    assert stop(repo) == (0, "", "worker-1 has already stopped.\n")
    assert invoke("agent-log", repo).out.startswith(before)


@pytest.mark.slow
def test_one_that_stopped_may_start_again(repo: Path) -> None:
    begin(repo)
    stop(repo)
    event(repo, "Stop", stop_hook_active=True)
    assert "told you to stop" in event(repo, "UserPromptSubmit")  # the same life goes on
    event(repo, "Stop", stop_hook_active=True)
    assert "told you to stop" not in event(repo, "SessionStart-resume", source="resume")
    assert row(repo) == ("idle", None)


@pytest.mark.slow
def test_a_person_can_let_it_continue(repo: Path) -> None:
    begin(repo)
    stop(repo)
    done = stop(repo, "worker-1 --undo --as @me")
    text = "✓ worker-1 may continue. Its issues stay free until it claims them again.\n"
    assert done == (0, "", text)
    assert stop(repo, "worker-1 --undo --as @me").err == "worker-1 was not told to stop.\n"
    assert invoke("agent-claim 1 --as worker-1", repo).code == 0
    assert call("claude", write(repo / "b.txt", repo), repo) == SILENT


@pytest.mark.background
@pytest.mark.slow
def test_an_interrupted_agent_keeps_its_issue_and_goes_on(repo: Path) -> None:
    begin(repo)
    done = stop(repo, "worker-1 --keep --reason 'Wrong approach' --as @me")
    kept = "✓ Saved the work on #1 in H-ID; worker-1 keeps #1.\n✓ worker-1 is told to stop at its "
    assert done == (0, "", f"{kept}next step.\n")
    heard = event(repo, "PostToolBatch")
    assert "You keep your issues. Continue when a person lets you." in heard
    assert call("claude", write(repo / "b.txt", repo), repo) != SILENT
    assert invoke("agent-claim 1 --as worker-2", repo).code == 3
    again = stop(repo, "worker-1 --keep --as @me")
    assert again == (0, "", "worker-1 was already told to stop.\n")
    assert stop(repo, "worker-1 --undo --as @me").err == "✓ worker-1 may continue.\n"
    assert call("claude", write(repo / "b.txt", repo), repo) == SILENT
    assert row(repo)[1] == 1


@pytest.mark.slow
def test_a_stop_after_an_interrupt_frees_the_issue(repo: Path) -> None:
    begin(repo)
    stop(repo, "worker-1 --keep --as @me")
    (repo / "later.txt").write_text("later\n")
    assert stop(repo) == (0, "", f"{TOLD}step.\n")
    assert invoke("agent-claim 1 --as worker-2", repo).code == 0
    (repo / "later.txt").unlink()
    (repo / "a.txt").unlink()
    assert invoke("agent-resume --issue 1 --apply --as worker-2", repo).code == 0
    assert (repo / "later.txt").read_text() == "later\n"


@pytest.mark.slow
def test_an_interrupt_by_message_is_the_same(repo: Path) -> None:
    begin(repo)
    done = invoke("agent-send worker-1 '@interrupt Wrong approach' --as @me", repo, BACKGROUND)
    assert done.code == 0
    assert done.err.endswith(
        "✓ worker-1 is told to stop at its next step.\n"
        "`ghp agent-stop worker-1 --undo` lets it continue.\n"
    )
    assert "Reason given: «Wrong approach»." in event(repo, "PostToolBatch")
    assert invoke("agent-send worker-1 '@interrupt' --as worker-2", repo).code == 3
    group = invoke("agent-send @all '@interrupt Stop' --as @me", repo)
    assert (group.code, group.err.splitlines()[0]) == (
        2, "Error: @interrupt is for agents that you name."
    )  # fmt: skip


@pytest.mark.slow
def test_an_agent_stops_itself_and_no_other(repo: Path) -> None:
    begin(repo)
    assert stop(repo, "worker-1 --as worker-2") == (
        3,
        "",
        "Error: worker-2 is an agent and may not decide whether worker-1 stops.\n"
        "Hint: A person stops it with `--as @me`. Ask one: `ghp agent-escalate …`.\n",
    )
    assert row(repo) == ("planning", 1)
    done = stop(repo, "worker-1 --json --as worker-1")
    assert json.loads(done.out) == {
        "schemaVersion": 1, "agent": "worker-1", "stopped": True, "already": False, "issues": [1],
        "handoffs": ["H-ID"], "clientEnded": False, "kept": False,
    }  # fmt: skip
    assert stop(repo, "worker-1 --undo --as worker-1").code == 3


@pytest.mark.slow
def test_one_that_must_stop_is_told_to_begin_nothing_and_gets_no_lease(repo: Path) -> None:
    begin(repo)
    stop(repo, "worker-1 --reason 'Wrong approach' --as @me")
    succeed(repo, "agent-issue new Print --as @me", "agent-issue assign 2 worker-1 --as @me")
    heard = event(repo, "UserPromptSubmit")
    assert (ORDER in heard, "agent-start" in heard) == (True, False)
    assert "assigned #2 «Print» to you." in heard
    for words in ("agent-claim 2", "agent-lease a.txt", "agent-lease --name gpu --wait"):
        refused = invoke(f"{words} --as worker-1", repo)
        assert refused.code == 3
        assert "told worker-1 to stop. Reason given: «Wrong approach»." in refused.err
    assert invoke("agent-leases", repo).out == ""
    assert invoke("agent-check a.txt b.txt --as worker-1", repo).out == (
        f"{REFUSED}\n".replace("Next:", "  Files: a.txt, b.txt\n  Next:")
    )
    stop(repo, "worker-1 --undo --as @me")
    succeed(repo, "agent-lease a.txt --as worker-1")


def test_an_unknown_agent_is_an_error(repo: Path) -> None:
    begin(repo)
    assert stop(repo, "worker-9 --as @me") == (
        1,
        "",
        "Error: There is no agent worker-9.\n"
        "Hint: `ghp agent-status` lists agents; `ghp agent-sync` gets news from other clones.\n",
    )
    assert stop(repo, "worker-1 --undo --now").code == 2


@pytest.mark.slow
def test_its_leases_end(repo: Path) -> None:
    begin(repo)
    succeed(repo, "agent-lease src/ --as worker-1", "agent-lease --name database --as worker-1")
    stop(repo)
    assert json.loads(invoke("agent-leases --json", repo).out) == []


@pytest.mark.slow
def test_in_another_clone_it_is_told_after_one_sync(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    begin(other)
    succeed(other, "agent-sync")
    succeed(one, "agent-sync")
    assert stop(one, "worker-1 --reason 'Wrong approach' --as @me").err == (
        "✓ Saved what is known here of #1 in H-ID; #1 is free again.\n"
        "Warning: What worker-1 did not commit or push is not saved yet: it is in another clone.\n"
        "Hint: That clone saves it in another handoff after its next sync; `ghp agent-stop "
        "worker-1 --now` there does it at once.\n"
        "✓ worker-1 is told to stop at its next step.\n"
    )
    assert row(one) == ("stopping", None)
    succeed(other, "agent-sync --as @me")
    assert ORDER in event(other, "PostToolBatch")
    assert event(other, "Stop", stop_hook_active=True) == ""
    succeed(other, "agent-sync --as @me")
    succeed(one, "agent-sync --as @me")
    assert row(one) == ("stopped", None)


@pytest.fixture
def client(repo: Path, tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A client that `agent-start --run` has started for worker-1; with a child."""
    hosts.executable(tmp_path / "bin/claude", "echo ready; sleep 60 & wait")
    succeed(repo, "agent-issue new Parse --as @me")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    popen = subprocess.Popen(
        [sys.executable, "-m", "ghp_agents", "agent-start", "1", "--as=worker-1", "--run=claude"],
        cwd=repo, env={**os.environ, **BACKGROUND, "PATH": path}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert popen.stdout
    assert popen.stdout.readline() == "ready\n"
    yield popen
    popen.kill()
    popen.wait()
    popen.stdout.close()


@pytest.mark.slow
def test_now_the_client_ends_and_the_agent_has_stopped(
    repo: Path, client: "subprocess.Popen[str]"
) -> None:
    place = Path(invoke("agent-where 1", repo).out.strip())
    (place / "a.txt").write_text("work\n")
    assert stop(repo, "worker-1 --now --as @me") == (
        0,
        "",
        "✓ Ended the client of worker-1.\n"
        "✓ Saved the work on #1 in H-ID; #1 is free again.\n"
        "✓ worker-1 has stopped.\n",
    )
    assert client.wait(timeout=10) != 0
    assert client.stdout
    assert client.stdout.read() == ""  # its child has ended, too
    assert row(repo) == ("stopped", None)
    assert stop(repo, "worker-1 --now --as @me").err == "worker-1 has already stopped.\n"


def test_now_a_client_that_was_not_started_here_is_not_ended(repo: Path) -> None:
    begin(repo)
    assert stop(repo, "worker-1 --now --as @me") == (
        0,
        "",
        f"{TOLD}step.\n"
        "Warning: Nothing was ended: `agent-start --run` started no client of worker-1 in this "
        "clone.\n"
        "Hint: If its client runs elsewhere, end it there.\n",
    )


@pytest.mark.slow
def test_what_git_ignores_is_named_with_where_it_stays(repo: Path) -> None:
    commit(repo, {".gitignore": "*.env\nnotes/\nnode_modules/\n"})
    succeed(repo, "agent-issue new Parse --as @me", "agent-start 1 --as worker-1")
    place = Path(invoke("agent-where 1", repo).out.strip())
    for name in ("own.env", "notes/plan.md", "node_modules/m.js"):
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("1\n")
    said = (
        f"Git ignores notes, own.env, so no handoff has it. It stays in {place}. When that is "
        "removed, it is kept for 30 days in .kept beside it."
    )
    for words in ("worker-1 --now --as @me", "worker-1 --as @me"):
        assert said in stop(repo, words).err.splitlines()
