"""A session from its beginning to its end: presence, identity, what to go on with, and leaving."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks import start_text
from ghp_agents.worktrees import slots
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import (
    SESSION,
    SILENT,
    Hooked,
    call,
    context,
    log,
    payload,
    presence,
    set_up,
    write,
)

START = "claude-SessionStart-startup"
PROGRAM = Path(sys.executable).parent / "ghp"
IDENTITY = "ghp-agents coordinates this repository. This session is agent `worker-1`."


def begins(repo: Path, name: str = START, env: dict[str, str] | None = None, **more: Any) -> Hooked:
    return call("claude", payload(name, repo, **more), repo, env)


def ends(repo: Path, **more: Any) -> None:
    assert call("claude", payload("claude-SessionEnd", repo, **more), repo) == SILENT


# ------------------------------------------------------------------------------ beginning


def test_a_session_that_begins_is_registered(repo: Path, tmp_path: Path) -> None:
    set_up(repo, None)
    (repo / ".git/ghp-agent").write_text("worker-1\n")
    env = {"CLAUDE_PID": "4321", "CLAUDE_ENV_FILE": str(tmp_path / "env")}
    text = context(begins(repo, env=env))
    assert text.startswith(f"{IDENTITY}\nNo other agent is at work.\n")
    fields = presence(repo)
    names = ("kind", "status", "session", "epoch", "worktree", "branch", "lastAction")
    assert [fields[name] for name in names] == [
        "claude", "idle", SESSION, 1, "repo", "main", "Started",
    ]  # fmt: skip
    assert fields["local"]["pid"] == 4321
    assert log(repo) == []


@pytest.mark.slow
def test_what_its_shell_commands_need_is_written_once(repo: Path, tmp_path: Path) -> None:
    set_up(repo)
    file = tmp_path / "env"
    file.write_text("export OTHER=1")  # another hook's, without an end
    env = {"CLAUDE_ENV_FILE": str(file), "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    for name in (START, "claude-SessionStart-resume", "claude-SessionStart-compact"):
        begins(repo, name, env)
    assert file.read_text() == "export OTHER=1\nexport GHP_AGENT=worker-1\n"
    begins(repo, START, {**env, "GHP_AGENT": "worker-2"})
    begins(repo, START, env)
    assert file.read_text().splitlines()[1:] == [
        "export GHP_AGENT=worker-1", "export GHP_AGENT=worker-2", "export GHP_AGENT=worker-1",
    ]  # fmt: skip


def test_the_shell_in_a_worktree_gets_its_port_and_its_name(
    repo: Path, worktree: Callable[[Path, str], Path], tmp_path: Path
) -> None:
    set_up(repo)
    place, file = worktree(repo, "w1"), tmp_path / "env"
    begins(place, START, {"CLAUDE_ENV_FILE": str(file), "GHP_AGENT": "worker-1"})
    own = slots.variables(place)
    assert file.read_text().splitlines()[-2:] == [
        f"export {name}={own[name]}" for name in slots.NAMES
    ]


def test_a_file_that_cannot_be_written_is_done_without(repo: Path) -> None:
    set_up(repo)
    text = context(begins(repo, env={"CLAUDE_ENV_FILE": str(repo / "no/such/file")}))
    assert "Its shell commands need `--as worker-1`." in text


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("codex", {"hook_event_name": "SessionStart", "session_id": "s-1"}),
        ("gemini", {"hook_event_name": "SessionStart", "session_id": "s-1"}),
        ("cursor", {"hook_event_name": "sessionStart", "conversation_id": "s-1"}),
        ("opencode", {"hook_event_name": "session.start", "session_id": "s-1", "pid": 4321}),
        ("copilot", {"hook_event_name": "SessionStart", "session_id": "s-1"}),
        ("pi", {"hook_event_name": "session_start", "session_id": "s-1", "pid": 4321}),
        ("qwen", {"hook_event_name": "UserPromptSubmit", "session_id": "s-1", "prompt": "Do it."}),
    ],
)
def test_every_client_begins(repo: Path, client: str, message: dict[str, Any]) -> None:
    set_up(repo)
    done = call(client, message | {"cwd": str(repo)}, repo)
    assert (done.code, done.err) == (0, b"")
    heard = {
        "codex": lambda out: out["hookSpecificOutput"]["additionalContext"],
        "gemini": lambda out: out["hookSpecificOutput"]["additionalContext"],
        "cursor": lambda out: out["additional_context"],
        "opencode": lambda out: out["context"],
        "copilot": lambda out: out["additionalContext"],
        "pi": lambda out: out["context"],
        "qwen": lambda out: out["hookSpecificOutput"]["additionalContext"],
    }[client](done.said)
    assert "This session is agent `worker-1`." in heard
    assert ("`--as worker-1`" in heard) == (client not in ("copilot", "opencode", "pi"))
    assert "No other agent is at work." in heard
    fields = presence(repo)
    assert (fields["kind"], fields["session"]) == (client, "s-1")
    assert log(repo) == []


def test_a_session_of_qwen_begins_with_its_first_prompt_alone(repo: Path) -> None:
    set_up(repo)
    ends = {"hook_event_name": "SessionEnd", "session_id": "s-1", "cwd": str(repo)}
    asks = {**ends, "hook_event_name": "UserPromptSubmit", "prompt": "Do it."}
    assert "This session is agent" in context(call("qwen", asks, repo))
    assert presence(repo)["status"] == "implementing"
    assert call("qwen", asks, repo) == SILENT
    assert call("qwen", ends, repo) == SILENT
    assert "This session is agent" in context(call("qwen", asks, repo))


@pytest.mark.slow
def test_a_new_session_of_an_agent_goes_on_with_its_issue(repo: Path) -> None:
    set_up(repo)
    invoke("agent-issue new 'Parse the input' --as @me", repo)
    begins(repo)
    assert (
        invoke("agent-claim 1 --as worker-1", repo, {"CLAUDE_CODE_SESSION_ID": SESSION}).code == 0
    )
    ends(repo)
    text = context(begins(repo, session_id="00000000-0000-4000-8000-00000000000f"))
    assert "# Resume: #1 «Parse the input»" in text
    fields = presence(repo)
    assert (fields["issue"], fields["generation"], fields["epoch"]) == (1, 1, 2)
    assert call("claude", write(repo / "a", repo), repo) == SILENT  # and it has the claim


@pytest.mark.slow
def test_a_session_that_is_resumed_lives_again(repo: Path) -> None:
    set_up(repo)
    begins(repo)
    ends(repo)
    assert presence(repo)["status"] == "stopped"
    begins(repo, "claude-SessionStart-resume")
    fields = presence(repo)
    assert (fields["status"], fields["epoch"]) == ("idle", 2)


@pytest.mark.slow
def test_a_session_that_is_compacted_stays_what_it_was(repo: Path) -> None:
    set_up(repo)
    begins(repo)
    call("claude", payload("claude-UserPromptSubmit", repo), repo)
    before = presence(repo)
    assert IDENTITY in context(begins(repo, "claude-SessionStart-compact"))
    after = presence(repo)
    assert (after["status"], after["epoch"]) == ("implementing", before["epoch"])


@pytest.mark.slow
def test_what_the_agent_was_told_as_it_began_is_no_news_later(repo: Path) -> None:
    set_up(repo)
    name = invoke("agent-escalate 'Which database?' --as worker-1", repo).out.split()[0]
    invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo)
    assert "Answer to your question" in context(begins(repo))
    again = context(begins(repo, "claude-SessionStart-resume"))
    still = IDENTITY.replace("is agent", "is still agent")
    assert again.splitlines()[0].startswith(still)
    assert again.splitlines()[1:] == ["No other agent is at work."]
    assert call("claude", payload("claude-PostToolBatch", repo), repo) == SILENT


@pytest.mark.slow
@pytest.mark.parametrize("letter", ["x", "é", "😀"])
def test_the_text_is_short_whatever_there_is_to_read(repo: Path, letter: str) -> None:
    set_up(repo)
    begins(repo)
    (repo / "a").write_text("work\n")
    note = " ".join([letter * 50] * 400)
    assert invoke(["agent-handoff", "--note", note, "--as", "worker-1"], repo).code == 0
    text = context(begins(repo))
    assert 2_000 < len(text) <= start_text.LIMIT
    assert log(repo) == []


def test_an_issue_that_cannot_be_found_hides_nothing_else(repo: Path) -> None:
    set_up(repo)
    git(repo, "switch", "--quiet", "-c", "feature/77-gone")
    text = context(begins(repo))
    assert text.startswith(IDENTITY)
    assert "77" in text


# --------------------------------------------------------------------------------- prompts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("idle", "implementing"),
        ("waiting", "implementing"),
        ("stopped", "implementing"),
        ("planning", "planning"),
        ("blocked", "blocked"),
        ("testing", "testing"),
    ],
)
def test_an_agent_that_is_asked_something_is_at_work(repo: Path, before: str, after: str) -> None:
    set_up(repo)
    begins(repo)
    invoke(f"agent-status --set {before} --as worker-1", repo)
    assert call("claude", payload("claude-UserPromptSubmit", repo), repo) == SILENT
    assert presence(repo)["status"] == after


@pytest.mark.slow
def test_a_prompt_brings_news_though_no_bell_rang(repo: Path) -> None:
    set_up(repo)
    begins(repo)
    name = invoke("agent-escalate 'Which database?' --as worker-1", repo).out.split()[0]
    invoke(["agent-answer", name, "SQLite", "--as", "@me"], repo)
    (repo / ".git/ghp/cache/bell/worker-1").unlink()
    assert "\nSQLite\n" in context(call("claude", payload("claude-UserPromptSubmit", repo), repo))
    assert call("claude", payload("claude-UserPromptSubmit", repo), repo) == SILENT


# ------------------------------------------------------------------------------------- end


@pytest.mark.slow
def test_a_session_that_ends_leaves_nothing_held(repo: Path) -> None:
    set_up(repo, None)
    begins(repo)
    assert call("claude", write(repo / "a", repo), repo) == SILENT
    ends(repo)
    fields = presence(repo, "claude-0001")
    assert (fields["status"], fields["lastAction"]) == ("stopped", "Started")
    names = [path.name for path in (repo / ".git/ghp/touched").iterdir() if path.name[0] != "."]
    assert names == []
    assert call("claude", write(repo / "a", repo), repo, {"GHP_AGENT": "worker-2"}) == SILENT
    assert log(repo) == []


@pytest.mark.slow
def test_a_beat_that_is_stuck_holds_up_no_end(repo: Path) -> None:
    set_up(repo)
    begins(repo)
    with (repo / ".git/ghp/agents/.worker-1.lock").open("w") as stuck:
        fcntl.flock(stuck, fcntl.LOCK_EX)
        ends(repo)
        assert presence(repo)["status"] == "stopped"


def test_an_end_without_a_beginning_is_nothing(repo: Path) -> None:
    set_up(repo, None)
    ends(repo)
    assert not (repo / ".git/ghp/agents").exists() or not list(
        (repo / ".git/ghp/agents").glob("*.json")
    )
    assert log(repo) == []


@pytest.mark.slow
def test_ten_sessions_in_ten_worktrees_are_ten_agents(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    set_up(repo, None)
    commit(repo, {"a.py": "a\n"}, "Files")
    places = [worktree(repo, str(number)) for number in range(10)]
    ids = [f"00000000-0000-4000-8000-00000000{number:04x}" for number in range(0xA00, 0xA0A)]
    for place, session in zip(places, ids, strict=True):
        begins(place, session_id=session)
    names = sorted(path.stem for path in (repo / ".git/ghp/agents").glob("*.json"))
    assert names == [f"claude-0a0{number}" for number in range(10)]
    refused: list[bool] = []
    for place, session in zip(places, ids, strict=True):
        edit = {"file_path": str(place / "a.py"), "content": f"{session}\n"}
        sent = payload("claude-PreToolUse-Write", place, tool_input=edit, session_id=session)
        refused.append(call("claude", sent, place).out != b"")
        if not refused[-1]:
            (place / "a.py").write_text(edit["content"])
    assert refused == [False] + [True] * 9
    shown = json.loads(invoke("agent-status --json", repo).out)["agents"]
    assert [shown[name]["worktree"] for name in names] == [place.name for place in places]


# ------------------------------------------------------------------------ one name, one session


OTHER = "00000000-0000-4000-8000-00000000bbbb"
TO_SECOND = (
    "Another running session has the name worker-1 in worktree repo, so this one is worker-1-bbbb."
    " The files that worker-1 edits stay its own: do other work. When it has ended, a new "
    "session gets the name."
)
TO_FIRST = (
    "ghp-agents has news for this agent:\nAnother session started under the name worker-1 in "
    "worktree repo. It is worker-1-bbbb now. The files that you edit and your claim stay yours."
)


@pytest.fixture
def process() -> Iterator[str]:
    """The process of another client."""
    with subprocess.Popen(["sleep", "600"]) as running:
        yield str(running.pid)
        running.kill()


def edits(repo: Path, name: str, session: str, pid: str = "") -> Hooked:
    return call("claude", write(repo / name, repo, session_id=session), repo, {"CLAUDE_PID": pid})


def prompts(repo: Path, session: str) -> Hooked:
    return call("claude", payload("claude-UserPromptSubmit", repo, session_id=session), repo)


@pytest.mark.slow
def test_a_second_session_under_a_living_name_gets_its_own_and_both_are_told_once(
    repo: Path, tmp_path: Path, process: str
) -> None:
    set_up(repo)
    mine = {"CLAUDE_PID": str(os.getpid()), "CLAUDE_ENV_FILE": str(tmp_path / "env")}
    begins(repo, env={"CLAUDE_PID": process})
    assert edits(repo, "a", SESSION, process) == SILENT
    assert TO_SECOND in context(begins(repo, env=mine, session_id=OTHER))
    assert (tmp_path / "env").read_text().endswith("export GHP_AGENT=worker-1-bbbb\n")
    assert TO_FIRST in context(prompts(repo, SESSION))
    assert [prompts(repo, session) for session in (SESSION, OTHER)] == [SILENT, SILENT]

    refused = edits(repo, "a", OTHER).said["hookSpecificOutput"]["permissionDecisionReason"]
    assert refused.startswith("worker-1 has been editing a in this worktree since ")
    assert edits(repo, "b", OTHER) == SILENT
    refused = edits(repo, "b", SESSION).said["hookSpecificOutput"]["permissionDecisionReason"]
    assert refused.startswith("worker-1-bbbb has been editing b in this worktree since ")

    # The second ends: the first goes on, and what it edits is refused to a third.
    ends(repo, session_id=OTHER)
    sessions = presence(repo), presence(repo, "worker-1-bbbb")
    assert [x["status"] for x in sessions] == ["implementing", "stopped"]
    third = {"GHP_AGENT": "worker-3"}
    assert call("claude", write(repo / "a", repo, session_id="x"), repo, third).out != b""
    assert edits(repo, "b", SESSION) == SILENT
    assert log(repo) == []


@pytest.mark.slow
def test_the_end_of_the_first_session_leaves_the_second_what_it_has(
    repo: Path, process: str
) -> None:
    set_up(repo)
    begins(repo, env={"CLAUDE_PID": process})
    begins(repo, env={"CLAUDE_PID": str(os.getpid())}, session_id=OTHER)
    assert edits(repo, "b", OTHER) == SILENT
    ends(repo)
    sessions = presence(repo), presence(repo, "worker-1-bbbb")
    assert [x["status"] for x in sessions] == ["stopped", "idle"]
    begins(repo, session_id="00000000-0000-4000-8000-00000000cccc")
    assert presence(repo)["status"] == "idle"  # the name is free again
    assert edits(repo, "b", "00000000-0000-4000-8000-00000000cccc").out != b""


def test_a_session_that_crashed_frees_its_name_at_once(repo: Path, process: str) -> None:
    set_up(repo)
    begins(repo, env={"CLAUDE_PID": process})
    assert edits(repo, "a", SESSION, process) == SILENT
    os.kill(int(process), 9)
    os.waitid(os.P_PID, int(process), os.WEXITED | os.WNOWAIT)
    text = context(begins(repo, env={"CLAUDE_PID": str(os.getpid())}, session_id=OTHER))
    assert "This session is agent `worker-1`." in text
    assert edits(repo, "a", OTHER) == SILENT


@pytest.mark.parametrize("agent", ["worker-1", None])
@pytest.mark.sample(1)
def test_a_session_that_is_cleared_keeps_its_name_its_claim_and_its_files(
    repo: Path, process: str, agent: str | None
) -> None:
    set_up(repo, agent)
    env = {"CLAUDE_PID": process}
    name = agent or "claude-0001"
    begins(repo, env=env)
    invoke("agent-issue new 'Parse the input' --as @me", repo)
    claim = invoke("agent-claim 1", repo, {"CLAUDE_CODE_SESSION_ID": SESSION, **env})
    assert claim.code == 0, claim.err
    assert edits(repo, "a", SESSION, process) == SILENT
    before = presence(repo, name)

    gone = payload("claude-SessionEnd", repo, reason="clear")
    assert call("claude", gone, repo, env) == SILENT
    text = context(begins(repo, env=env, source="clear", session_id=OTHER))
    assert f"This session is agent `{name}`." in text
    assert "# Resume: #1 «Parse the input»" in text
    after = presence(repo, name)
    assert [after[key] for key in ("session", "issue", "generation", "epoch")] == [
        OTHER, 1, 1, before["epoch"],
    ]  # fmt: skip
    assert edits(repo, "a", OTHER, process) == SILENT
    third = {"GHP_AGENT": "worker-3", "CLAUDE_PID": str(os.getpid())}
    assert call("claude", write(repo / "a", repo, session_id="x"), repo, third).out != b""
    assert invoke("agent-whoami", repo, {"CLAUDE_CODE_SESSION_ID": OTHER}).out == f"{name}\n"
    assert [path.stem for path in (repo / ".git/ghp/agents").glob("claude-*")] in ([], [name])
    assert log(repo) == []


# ------------------------------------------------------------------------------ the program


def without_ghp() -> str:
    """The PATH without the folders that have our program."""
    folders = os.environ["PATH"].split(":")
    return ":".join(folder for folder in folders if not os.access(f"{folder}/ghp", os.X_OK))


def test_the_shell_finds_the_program_also_in_an_environment_that_is_not_active(
    repo: Path, tmp_path: Path
) -> None:
    set_up(repo)
    (file := tmp_path / "env").touch()
    begins(repo, START, {"CLAUDE_ENV_FILE": str(file), "PATH": without_ghp()})
    script = f". {file}; command -v ghp; echo $GHP_AGENT"
    done = subprocess.run(
        ["sh", "-c", script], env={"PATH": without_ghp()}, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout.decode() == f"{PROGRAM}\nworker-1\n"


def test_without_a_file_for_its_shell_the_agent_is_told_the_whole_path(repo: Path) -> None:
    set_up(repo)
    sent = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": str(repo)}
    done = call("gemini", sent, repo, {"PATH": without_ghp()})
    assert f"Its shell does not find `ghp`: run `{PROGRAM}` instead." in done.out.decode()
    hooked = call("gemini", sent, repo, {"PATH": f"{PROGRAM.parent}:{without_ghp()}"})
    assert "does not find" not in hooked.out.decode()
