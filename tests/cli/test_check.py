"""`agent-check`, as people, hooks and workflows call it."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, Result, invoke
from tests.support.git import commit, git, run_git
from tests.support.hooks import SILENT, call, write

ONE, TWO = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}


@pytest.fixture
def leased(repo: Path) -> Path:
    """A repository in which worker-2 has leased a folder, and both agents are at work."""
    commit(repo, {"lib/a.py": "1\n", "src/b.py": "1\n", ".gitignore": "*.log\n"})
    for agent in (ONE, TWO):
        assert invoke("agent-heartbeat", repo, env=agent).code == 0
    done = invoke(["agent-lease", "lib/", "--reason", "new parser"], repo, env=TWO)
    assert done.code == 0, done.err
    return repo


def said(result: Result) -> str:
    """What is printed, without times and ids that differ from run to run."""
    return re.sub(r"\d\d:\d\d UTC \(L-[0-9a-f]+", "10:31 UTC (L-3f9a", result.out)


def test_without_arguments_all_that_differs_from_the_last_commit_is_checked(leased: Path) -> None:
    assert invoke("agent-check", leased, env=ONE) == (
        0, "", "Checked 0 files for worker-1: none refused.\n",
    )  # fmt: skip
    (leased / "lib/a.py").write_text("2\n")
    (leased / "lib/new.py").write_text("\n")
    (leased / "lib/x.log").write_text("\n")
    (leased / "src/b.py").write_text("2\n")
    result = invoke("agent-check", leased, env=ONE)
    assert (result.code, result.err) == (3, "Checked 3 files for worker-1: 2 refused.\n")
    assert said(result) == (
        "lib/a.py is leased by worker-2 since 10:31 UTC (L-3f9a). "
        "worker-2 gave this reason: «new parser».\n"
        "  Next: Work on something else, wait for it with `ghp agent-lease lib/a.py --wait`, or "
        "ask: `ghp agent-escalate --file lib/a.py`.\n"
        "lib/new.py is leased by worker-2 since 10:31 UTC (L-3f9a). "
        "worker-2 gave this reason: «new parser».\n"
        "  Next: Work on something else, wait for it with `ghp agent-lease lib/new.py --wait`, or "
        "ask: `ghp agent-escalate --file lib/new.py`.\n"
    )
    assert invoke("agent-check", leased, env=TWO).code == 0


def test_json_is_a_list_of_what_is_refused(leased: Path) -> None:
    result = invoke("agent-check --json lib/a.py src/b.py", leased, env=ONE)
    assert result.code == 3
    (refused,) = json.loads(result.out)
    assert refused.pop("since").startswith("20")
    assert refused.pop("why").startswith("lib/a.py is leased by worker-2 since ")
    assert refused.pop("next").startswith("Work on something else")
    assert refused == {
        "schemaVersion": 1,
        "path": "lib/a.py", "decision": "deny", "kind": "lease", "holder": "worker-2",
    }  # fmt: skip
    assert invoke("agent-check --json src", leased, env=ONE).out == "[]\n"


def test_a_person_is_told_and_not_refused(leased: Path) -> None:
    result = invoke("agent-check lib", leased)
    assert (result.code, result.out) == (0, "")
    warning, summary = result.err.splitlines()
    assert warning.startswith("lib/a.py is leased by worker-2 since ")
    assert summary == "Checked 1 file for you: none refused."
    assert invoke("agent-check lib --as @me --json", leased).out == "[]\n"


def test_paths_are_meant_in_the_folder_where_they_are_said(leased: Path) -> None:
    assert invoke("agent-check a.py", leased / "lib", env=ONE).code == 3
    assert invoke("agent-check ../src/b.py", leased / "lib", env=ONE).code == 0
    assert invoke("agent-check .", leased / "lib", env=ONE).code == 3
    assert invoke("agent-check ../../elsewhere", leased / "lib", env=ONE) == (
        2, "",
        "Error: '../../elsewhere' is outside this repository.\n"
        f"Hint: Name files below {leased}.\n",
    )  # fmt: skip


def test_odd_names_are_shown_on_one_line(leased: Path) -> None:
    (leased / "lib/a\n\x1b[31m\udcff.py").write_text("")
    result = invoke("agent-check lib", leased, env=ONE)
    assert result.code == 3
    assert "\x1b" not in result.out
    assert len(result.out.splitlines()) == 4
    verdicts = json.loads(invoke("agent-check lib --json", leased, env=ONE).out)
    assert [verdict["path"] for verdict in verdicts] == ["lib/a\n\x1b[31m\\xff.py", "lib/a.py"]


def test_a_name_that_is_not_utf_8_is_written_by_its_bytes_and_json_is_utf_8(leased: Path) -> None:
    (leased / "lib/bad\udcff\udcfename.txt").write_text("")
    words = "agent-check lib/bad\udcff\udcfename.txt"
    assert invoke(words, leased, env=ONE).out.startswith(
        "«lib/bad\\xff\\xfename.txt» is leased by "
    )
    out = invoke(f"{words} --json", leased, env=ONE).out
    assert "\\ud" not in out.lower()
    out.encode("utf-8")
    assert json.loads(out)[0]["path"] == r"lib/bad\xff\xfename.txt"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("--staged lib", "Error: Paths, --staged and --base exclude each other."),
        ("--staged --base main", "Error: Paths, --staged and --base exclude each other."),
        ("--commits", "Error: --commits needs --base."),
        ("--base main --issue 3", "Error: --issue needs --commits."),
        ("--base nowhere", "Error: There is no commit 'nowhere' here."),
    ],
)
def test_words_that_do_not_fit_are_refused(leased: Path, words: str, error: str) -> None:
    result = invoke(f"agent-check {words}", leased, env=ONE)
    assert result.code == 2
    assert result.err.startswith(error)
    assert "\nHint: " in result.err


# ------------------------------------------------------------------------ in git's hook


@pytest.fixture
def hooked(leased: Path) -> Path:
    """With the check as git's own pre-commit hook."""
    hook = leased / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        f"#!/bin/sh\nexport PYTHONPATH={CHECKOUT}\n"
        f"exec {sys.executable} -m ghp_agents agent-check --staged\n"
    )
    hook.chmod(0o755)
    return leased


def make_commit(repo: Path, *words: str) -> tuple[int, str]:
    done = run_git(repo, "commit", "--quiet", "-m", "Change", *words, env=ONE)
    return done.returncode, done.stderr


@pytest.mark.slow
def test_a_commit_of_what_is_leased_is_stopped(hooked: Path) -> None:
    for name in ("lib/a.py", "src/b.py"):
        (hooked / name).write_text("2\n")
    git(hooked, "add", "--all")
    code, words = make_commit(hooked)
    assert code == 1
    assert "1 refused" in words
    git(hooked, "reset", "--quiet", "lib")
    assert make_commit(hooked) == (0, ""), "a commit that nobody minds is none of our business"


@pytest.mark.slow
def test_a_person_who_commits_what_is_leased_is_told(hooked: Path) -> None:
    (hooked / "lib/a.py").write_text("2\n")
    done = run_git(hooked, "commit", "--quiet", "--all", "-m", "Change")
    assert done.returncode == 0
    assert done.stderr.startswith("lib/a.py is leased by worker-2 since ")


@pytest.mark.slow
def test_a_commit_of_some_files_is_judged_by_those(hooked: Path) -> None:
    """Git makes an index of its own for it, and names that to its hook."""
    for name in ("lib/a.py", "src/b.py"):
        (hooked / name).write_text("2\n")
    assert make_commit(hooked, "src/b.py")[0] == 0
    assert make_commit(hooked, "lib/a.py")[0] == 1
    git(hooked, "add", "lib/a.py")
    (hooked / "src/b.py").write_text("3\n")
    assert make_commit(hooked, "src/b.py")[0] == 0
    assert make_commit(hooked, "--all")[0] == 1


@pytest.mark.slow
def test_a_commit_in_a_linked_worktree_is_judged_there(hooked: Path) -> None:
    linked = hooked.parent / "linked"
    git(hooked, "worktree", "add", "--quiet", "-b", "work", str(linked))
    (linked / "src/b.py").write_text("2\n")
    (linked / "lib/a.py").write_text("2\n")
    assert make_commit(linked / "src", "b.py")[0] == 0
    assert make_commit(linked, "--all")[0] == 1


# --------------------------------------------------------------------- in a workflow


@pytest.mark.slow
def test_a_branch_is_checked_in_a_fresh_clone(leased: Path, tmp_path: Path) -> None:
    bare, fresh = tmp_path / "hub.git", tmp_path / "fresh"
    git(tmp_path, "clone", "--quiet", "--bare", str(leased), str(bare))
    git(leased, "remote", "add", "origin", str(bare))
    assert invoke("agent-issue new 'Parse files'", leased).code == 0
    assert invoke("agent-claim 1", leased, env=ONE).code == 0
    assert invoke("agent-sync", leased).code == 0
    git(tmp_path, "clone", "--quiet", str(bare), str(fresh))
    git(fresh, "switch", "--quiet", "-c", "agent/worker-1/1-parse")
    commit(fresh, {"src/b.py": "2\n"}, "Parse\n\nAgent: worker-1")
    assert invoke("agent-check --base origin/main --commits", fresh) == (
        0, "", "Checked 1 file and 1 commit for worker-1: none refused.\n",
    )  # fmt: skip
    oid = commit(fresh, {"lib/a.py": "2\n"}, "More\n\nAgent: worker-2")
    result = invoke("agent-check --base origin/main --commits --json", fresh)
    assert result.code == 3
    path, stranger = json.loads(result.out)
    assert (path["path"], path["holder"]) == ("lib/a.py", "worker-2")
    assert stranger == {
        "schemaVersion": 1, "commit": oid, "decision": "deny", "kind": "commit",
        "agent": "worker-2",
        "why": f"{oid[:12]} is by worker-2, which never claimed #1 (worker-1 did).",
        "next": "Claim #1 before you work on it, or name its holder in the trailer `Agent:`.",
    }  # fmt: skip
    shown = invoke("agent-check --base origin/main --commits", fresh)
    assert shown.err == "Checked 2 files and 2 commits for worker-1: 2 refused.\n"
    bare.rename(tmp_path / "away.git")
    assert invoke("agent-check --base origin/main", fresh).code == 3
    git(fresh, "clone", "--quiet", str(fresh), str(tmp_path / "alone"))
    (tmp_path / "fresh").rename(tmp_path / "gone")
    result = invoke("agent-check --base HEAD", tmp_path / "alone")
    assert result.code == 4
    assert result.err.startswith(
        "Error: This clone has never synced with origin, which does not answer: "
    )


def test_an_agent_goes_on_where_another_one_edits(leased: Path) -> None:
    edit(leased, TWO)
    refused = invoke("agent-check src/b.py", leased, env=ONE)
    assert refused.code == 3
    done = invoke(["agent-check", "--override", "it is\na rename", "src/b.py"], leased, env=ONE)
    assert done == (
        0, "",
        "✓ You may edit src/b.py, although worker-2 is editing it.\n"
        "worker-2 will be notified at its next step.\n",
    )  # fmt: skip
    assert invoke("agent-check src/b.py", leased, env=ONE).code == 0
    again = invoke(["agent-check", "--override", "it is a rename", "src/b.py"], leased, env=ONE)
    assert again == (0, "", "✓ You may edit src/b.py, although worker-2 is editing it.\n")
    shown = invoke("agent-check --json src/b.py", leased, env=ONE)
    (entry,) = json.loads(shown.out)
    assert entry.pop("since").startswith("20")
    assert (shown.code, entry) == (0, {
        "schemaVersion": 1, "path": "src/b.py", "decision": "allow", "kind": "override",
        "holder": "worker-2", "next": "",
        "why": "You may edit src/b.py, although worker-2 is editing it. "
               "Reason given: «it is a rename».",
    })  # fmt: skip
    same = ["agent-check", "--override", "it is a rename", "--json", "src/b.py"]
    assert invoke(same, leased, env=ONE).out == shown.out


def test_an_override_names_its_files(leased: Path) -> None:
    edit(leased, TWO)
    assert invoke("agent-check --override src/b.py", leased, env=ONE) == (
        2, "",
        "Error: --override needs the files to edit.\n"
        'Hint: Use `ghp agent-check --override "They fix a typo, I rename it" PATH`.\n',
    )  # fmt: skip
    assert invoke("agent-check src/b.py", leased, env=ONE).code == 3


def edit(repo: Path, agent: dict[str, str]) -> None:
    """The agent begins to edit src/b.py."""
    message = write(repo / "src/b.py", repo, session_id=agent["GHP_AGENT"])
    assert call("claude", message, repo, agent) == SILENT


def test_an_override_of_what_is_reserved_is_refused(leased: Path) -> None:
    result = invoke("agent-check --override urgent lib/a.py", leased, env=ONE)
    assert result.code == 3
    assert re.sub(r"\d\d:\d\d UTC \(L-[0-9a-f]+", "10:31 UTC (L-3f9a", result.err) == (
        "Error: lib/a.py is leased by worker-2 since 10:31 UTC (L-3f9a). worker-2 gave this "
        "reason: «new parser». This cannot be overridden. Only worker-2 can release it; a person "
        "can end it.\n"
        "Hint: Work on something else, wait for it with `ghp agent-lease lib/a.py --wait`, or ask: "
        "`ghp agent-escalate --file lib/a.py`.\n"
    )


def test_an_override_of_nothing_records_nothing(leased: Path) -> None:
    assert invoke("agent-check --override urgent src/b.py", leased, env=ONE) == (
        0, "", "Nobody else is editing these files, so nothing was recorded.\n",
    )  # fmt: skip


@pytest.mark.parametrize("option", ["--staged", "--base main", "--verify"])
def test_an_override_is_of_files(leased: Path, option: str) -> None:
    assert invoke(f"agent-check --override x {option}", leased, env=ONE) == (
        2, "",
        "Error: --override excludes --staged, --base and --verify.\n"
        "Hint: Use `ghp agent-check --override REASON PATH`.\n",
    )  # fmt: skip
