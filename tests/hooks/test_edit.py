"""Before an edit: what another works on is refused with who, since when and what next."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks.edit import explain
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath.policy import DENY, Verdict
from tests.support.consent import anyone_steals, mine
from tests.support.ghp import invoke
from tests.support.git import commit, git
from tests.support.hooks import SILENT, Hooked, call, log, payload, presence, set_up, write
from tests.support.in_home import in_home

ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}


def edits(agent: dict[str, str], repo: Path, path: Path | str, content: str = "") -> Hooked:
    message = write(path, repo, session_id=agent["GHP_AGENT"])
    message["tool_input"] = {**message["tool_input"], "content": content}
    return call("claude", message, repo, agent)


def reason(hooked: Hooked) -> str:
    assert (hooked.code, hooked.err) == (0, b"")
    output = hooked.said["hookSpecificOutput"]
    assert set(output) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    assert (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "deny")
    text = output["permissionDecisionReason"]
    assert isinstance(text, str)
    return text


@pytest.mark.slow
def test_who_edits_a_file_first_has_it(repo: Path) -> None:
    set_up(repo, None)
    assert edits(ONE, repo, repo / "src/a.py") == SILENT
    assert edits(ONE, repo, repo / "src/a.py") == SILENT
    refused = reason(edits(TWO, repo, repo / "src/a.py"))
    assert refused.startswith("worker-1 has been editing src/a.py in this worktree since ")
    assert "\nNext: " in refused
    assert edits(TWO, repo, repo / "src/b.py") == SILENT
    assert log(repo) == []


@pytest.mark.slow
def test_an_agent_that_is_not_registered_is_before_it_edits(repo: Path) -> None:
    set_up(repo, None)
    assert edits(TWO, repo, repo / "a") == SILENT
    assert presence(repo, "worker-2")["kind"] == "claude"
    assert reason(edits(ONE, repo, repo / "a")).startswith("worker-2 has been editing a ")


@pytest.mark.slow
def test_a_file_is_the_same_by_every_way_that_leads_to_it(repo: Path, tmp_path: Path) -> None:
    set_up(repo, None)
    (repo / "src").mkdir()
    (repo / "src/a.py").touch()
    (repo / "alias.py").symlink_to("src/a.py")
    (repo / "folder").symlink_to("src")
    (tmp_path / "name").symlink_to(repo)
    assert edits(ONE, repo, repo / "src/a.py") == SILENT
    ways = ("alias.py", "folder/a.py", "src/../src/./a.py", f"{tmp_path}/name/src/a.py")
    for way in ways:
        refused = reason(edits(TWO, repo, repo / way))
        assert refused.startswith("worker-1 has been editing src/a.py in this worktree since ")


@pytest.mark.slow
def test_upper_and_lower_case_are_one_where_git_says_so(repo: Path) -> None:
    set_up(repo, None)
    git(repo, "config", "core.ignorecase", "true")
    assert edits(ONE, repo, repo / "src/a.py") == SILENT
    assert "worker-1 has been editing SRC/A.py" in reason(edits(TWO, repo, repo / "SRC/A.py"))
    git(repo, "config", "core.ignorecase", "false")
    assert edits(TWO, repo, repo / "SRC/A.py") == SILENT


@pytest.mark.parametrize(
    "path",
    [
        "/etc/hosts", "../beside", "out/a", ".git/config", "a\0b", "\ud800", "", "src/../../x",
        "/no/such/folder/a",
    ],
)  # fmt: skip
def test_what_is_none_of_ours_is_let_go(repo: Path, tmp_path: Path, path: str) -> None:
    set_up(repo, None)
    (tmp_path / "outside").mkdir()
    (repo / "out").symlink_to(tmp_path / "outside")
    for agent in (ONE, TWO):
        message = write(path, repo)
        assert call("claude", message, repo, agent) == SILENT
    assert not (repo / ".git/ghp/touched").exists()
    assert log(repo) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["line\nbreak.py", "tab\there", " ", "'; rm -rf ~ #", "é✓.py"])
def test_a_name_may_hold_anything_and_is_shown_in_one_line(repo: Path, name: str) -> None:
    set_up(repo, None)
    assert edits(ONE, repo, repo / name) == SILENT
    refused = reason(edits(TWO, repo, repo / name))
    shown = name.replace("\n", "�").replace("\t", "�")
    assert refused.startswith(f"worker-1 has been editing «{shown}» in this worktree since ")
    assert log(repo) == []


@pytest.mark.slow
def test_the_worktree_of_another_agent_is_not_edited(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    set_up(repo)
    other = set_up(worktree(repo, "147"), "worker-2")
    assert reason(edits(ONE, repo, other / "a.py")) == (
        "a.py is in the worktree of worker-2, which is working there.\n"
        "Next: Edit the copy in your own worktree."
    )
    assert edits(ONE, repo, repo / "a.py") == SILENT
    invoke("agent-status --set stopped --as worker-2", other)
    assert edits(ONE, repo, other / "b.py") == SILENT


def writes(agent: dict[str, str], folder: Path, path: str, text: str) -> Hooked:
    """An agent writes a file, if it may."""
    answer = edits(agent, folder, folder / path, content=text)
    if answer == SILENT:
        (folder / path).write_text(text)
    return answer


LINES = "".join(f"{number}\n" for number in range(1, 21))


def test_one_file_in_two_worktrees_is_refused_only_for_a_conflict(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    commit(repo, {"a.py": LINES})
    set_up(repo)
    other = set_up(worktree(repo, "147"), "worker-2")
    assert writes(ONE, repo, "a.py", LINES.replace("3\n", "three\n", 1)) == SILENT
    assert writes(TWO, other, "a.py", LINES.replace("17\n", "seventeen\n")) == SILENT
    refused = reason(writes(TWO, other, "a.py", LINES.replace("3\n", "III\n", 1)))
    assert refused.startswith(
        "This edit of a.py would conflict at your line 3. worker-1 has been editing it in another "
        "worktree since "
    )
    assert "worker-1 has there, at line 3:\n```\nthree\n```\nNext: Edit other lines" in refused
    invoke("agent-status --set stopped --as worker-1", repo)
    assert writes(TWO, other, "a.py", LINES.replace("3\n", "III\n", 1)) == SILENT
    assert log(repo) == []


def test_an_edit_by_its_old_and_new_text_is_judged_by_what_becomes_of_the_file(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    commit(repo, {"a.py": LINES})
    set_up(repo)
    other = set_up(worktree(repo, "147"), "worker-2")
    assert writes(ONE, repo, "a.py", LINES.replace("3\n", "three\n", 1)) == SILENT

    def edit(old: str, new: str) -> Hooked:
        given = {"file_path": str(other / "a.py"), "old_string": old, "new_string": new}
        message = write(other / "a.py", other, session_id="worker-2")
        return call("claude", {**message, "tool_name": "Edit", "tool_input": given}, other, TWO)

    assert edit("17", "seventeen") == SILENT
    assert "at your line 3." in reason(edit("\n3\n", "\nIII\n"))
    assert edit("no such line", "x") == SILENT  # the client itself refuses that
    assert "UndecidedError: what the edit writes is unknown" in log(repo)[-1]["error"]


def test_a_file_that_a_patch_moves_is_merged_where_it_goes(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    commit(repo, {"a.py": LINES})
    set_up(repo)
    other = set_up(worktree(repo, "147"), "worker-2")
    assert writes(ONE, repo, "a.py", LINES.replace("3\n", "three\n", 1)) == SILENT

    def move(old: str, new: str) -> Hooked:
        head = "*** Begin Patch\n*** Update File: a.py\n*** Move to: lib/b.py\n@@\n"
        return patch(other, TWO, f"{head}-{old}\n+{new}\n*** End Patch")

    assert move("17", "seventeen") == SILENT
    assert "at your line 3." in reason(move("3", "III"))


def test_a_conflict_is_refused_by_the_slow_check_too(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    commit(repo, {"a.py": LINES})
    set_up(repo)
    other = set_up(worktree(repo, "147"), "worker-2")
    assert writes(ONE, repo, "a.py", LINES.replace("3\n", "three\n", 1)) == SILENT
    conflicting = LINES.replace("3\n", "III\n", 1)
    for _ in range(2):
        in_home(repo, "rulebook.json").unlink(missing_ok=True)
        assert "at your line 3." in reason(writes(TWO, other, "a.py", conflicting))
    in_home(repo, "rulebook.json").unlink()
    assert writes(TWO, other, "a.py", LINES.replace("17\n", "seventeen\n")) == SILENT
    (other / "a.py").write_text(conflicting)
    checked = invoke("agent-check a.py --as worker-2", other)
    assert checked.code == 3
    assert "This edit of a.py would conflict at your line 3." in checked.out
    question = invoke("agent-escalate --file a.py --as worker-2", other)
    assert question.code == 0, question


def test_one_worktree_may_warn_instead_of_refusing(repo: Path) -> None:
    mine({"agents": {"sameWorktree": "warn"}})
    set_up(repo, None)
    assert edits(ONE, repo, repo / "a.py") == SILENT
    output = edits(TWO, repo, repo / "a.py").said["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    assert output["additionalContext"].startswith("worker-1 has been editing a.py in this worktree")
    assert "permissionDecision" not in output


@pytest.mark.slow
def test_who_lost_its_claim_is_told_at_its_next_edit(repo: Path) -> None:
    anyone_steals()
    set_up(repo, None)
    invoke("agent-issue new 'Parse the input' --as @me", repo)
    assert invoke("agent-claim 1 --as worker-1", repo).code == 0
    assert edits(ONE, repo, repo / "a.py") == SILENT
    stolen = invoke("agent-claim 1 --steal --reason 'it is urgent' --as worker-2", repo)
    assert stolen.code == 0, stolen
    lines = reason(patch(repo, ONE)).splitlines()
    assert lines[0].startswith("Your claim of #1 was taken: worker-2 has held it since ")
    assert lines[0].endswith(". worker-2 gave this reason: «stolen: it is urgent».")
    assert [line[:6] for line in lines[1:]] == ["Next: "]  # once, for all files of the patch
    batch = payload("claude-PostToolBatch", repo, session_id="worker-1")
    assert "Your claim of #1" not in call("claude", batch, repo, ONE).out.decode()  # not again


# ------------------------------------------------------------------------ several at once

PATCH = (
    "*** Begin Patch\n*** Update File: free.py\n@@\n-a\n+b\n*** Update File: mine.py\n"
    "*** Move to: src/theirs.py\n*** Delete File: gone.py\n*** End Patch"
)


def patch(repo: Path, agent: dict[str, str], command: str = PATCH) -> Hooked:
    message = payload("codex-PreToolUse-apply_patch", repo, tool_input={"command": command})
    return call("codex", message, repo, agent)


@pytest.mark.slow
def test_one_refused_file_refuses_the_patch_and_each_is_named(repo: Path) -> None:
    set_up(repo, None)
    for path in ("src/theirs.py", "gone.py"):
        assert edits(TWO, repo, repo / path) == SILENT
    lines = reason(patch(repo, ONE)).splitlines()
    assert [line.split(" since ")[0] for line in lines[:2]] == [
        "worker-2 has been editing src/theirs.py in this worktree",
        "worker-2 has been editing gone.py in this worktree",
    ]
    assert [line[:6] for line in lines[2:]] == ["Next: "] * (len(lines) - 2)
    invoke("agent-status --set stopped --as worker-2", repo)
    assert patch(repo, ONE) == SILENT


@pytest.mark.parametrize("strict", [True, False])
def test_a_refused_patch_leaves_nobody_with_its_other_files(repo: Path, strict: bool) -> None:
    set_up(repo, None)
    git(repo, "config", "core.ignoreCase", str(not strict).lower())
    assert edits(ONE, repo, repo / "Mine.py") == SILENT
    assert edits(TWO, repo, repo / "gone.py") == SILENT
    command = PATCH.replace("mine.py", "Mine.py").replace("free.py", "Free.py")
    assert "gone.py" in reason(patch(repo, ONE, command))
    left = {lease.path: lease.agent for lease in touched.list_all([f"{repo}/.git/ghp"])}
    assert left == {"Mine.py" if strict else "mine.py": "worker-1", "gone.py": "worker-2"}


def test_a_patch_in_the_shell_is_asked_as_any_other(repo: Path) -> None:
    set_up(repo, None)
    assert edits(TWO, repo, repo / "shell.txt") == SILENT
    message = payload("codex-PreToolUse-Bash-heredoc", repo)
    assert "worker-2 has been editing shell.txt" in reason(call("codex", message, repo, ONE))
    assert call("codex", payload("codex-PreToolUse-Bash", repo), repo, ONE) == SILENT


@pytest.mark.parametrize(
    ("client", "message", "answer"),
    [
        (
            "gemini",
            {"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "replace"},
            {"decision": "deny", "reason": ...},
        ),
        (
            "cursor",
            {"hook_event_name": "preToolUse", "conversation_id": "s", "tool_name": "Write"},
            {"permission": "deny", "user_message": ..., "agent_message": ...},
        ),
        (
            "opencode",
            {"hook_event_name": "tool.execute.before", "session_id": "s", "tool_name": "edit"},
            {"schemaVersion": 1, "deny": ...},
        ),
    ],
)
def test_every_client_is_refused_in_its_own_words(
    repo: Path, client: str, message: dict[str, Any], answer: dict[str, Any]
) -> None:
    set_up(repo, None)
    assert edits(TWO, repo, repo / "a.py") == SILENT
    given = {"file_path": str(repo / "a.py"), "filePath": str(repo / "a.py")}
    done = call(client, message | {"cwd": str(repo), "tool_input": given}, repo, ONE)
    assert (done.code, done.err) == (0, b"")
    why = {value for key, value in done.said.items() if answer[key] is ...}
    assert len(why) == 1
    assert why.pop().startswith("worker-2 has been editing a.py in this worktree since ")
    assert {key: ... if answer[key] is ... else value for key, value in done.said.items()} == answer


# ----------------------------------------------------------------------------- the words


def refused(number: int, hint: str = "Wait.") -> Verdict:
    return Verdict(DENY, f"p{number}", why=f"p{number} is leased.", next=hint)


def test_what_is_next_for_several_is_said_once() -> None:
    assert explain([refused(1), refused(2), refused(3, "Ask.")]) == (
        "p1 is leased.\np2 is leased.\np3 is leased.\nNext: Wait.\nNext: Ask."
    )


def test_of_very_many_files_the_rest_is_named() -> None:
    lines = explain([refused(number) for number in range(1, 24)]).splitlines()
    assert lines[19:] == ["p20 is leased.", "Also refused: p21, p22, p23", "Next: Wait."]
