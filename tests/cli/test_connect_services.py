"""`agent-init --github`, `--labels` and `--ghp`."""

import os
from pathlib import Path

import pytest

from tests.support import upstream
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git

FILES = [
    ".github/ISSUE_TEMPLATE/config.yml",
    ".github/ISSUE_TEMPLATE/epic.yml",
    ".github/ISSUE_TEMPLATE/escalation.yml",
    ".github/ISSUE_TEMPLATE/task.yml",
    ".github/PULL_REQUEST_TEMPLATE/agent.md",
    ".github/workflows/agents.yml",
]
ACTION = "--action acme/ghp-agents@08c6903cd8c0fde910a37f88322edcfb5dd907a8"
COMMIT_THEM = (
    "Commit these files: GitHub reads them from the default branch. The forms need labels: `ghp "
    "agent-init --labels` creates them.\n"
)

# ------------------------------------------------------------------------------ --github


def test_files_are_written_once_and_taken_away_again(repo: Path) -> None:
    wrote = "".join(f"✓ Wrote {path}.\n" for path in FILES)
    assert invoke(f"agent-init --github {ACTION}", repo) == (0, "", wrote + COMMIT_THEM)
    assert git(repo, "status", "--porcelain") == "?? .github/"
    assert not (repo / ".git/ghp/state.git").exists()
    assert invoke(f"agent-init --github {ACTION}", repo) == (
        0,
        "",
        "✓ Nothing to do: the files exist.\n",
    )
    removed = "".join(f"✓ Removed {path}.\n" for path in FILES)
    assert invoke("agent-init --github --remove", repo) == (0, "", removed)
    assert git(repo, "status", "--porcelain") == ""
    assert invoke("agent-init --github --remove", repo) == (
        0,
        "",
        "✓ Nothing to do: ghp-agents has no files there.\n",
    )


def test_without_an_action_no_workflow_is_written_and_it_says_why(repo: Path) -> None:
    wrote = "".join(f"✓ Wrote {path}.\n" for path in FILES[:-1])
    warning = (
        "Warning: Cannot write a safe .github/workflows/agents.yml: ghp-agents was not "
        "installed from a commit on GitHub, so there is no action to pin.\n"
        "Hint: Name one: `ghp agent-init --github --action OWNER/NAME@COMMIT`.\n"
    )
    assert invoke("agent-init --github", repo) == (0, "", wrote + COMMIT_THEM + warning)
    named = (0, "", f"✓ Wrote {FILES[-1]}.\n" + COMMIT_THEM)
    assert invoke(f"agent-init --github {ACTION}", repo) == named


def test_an_action_is_named_by_its_commit_and_only_for_github(repo: Path) -> None:
    assert invoke("agent-init --github --action acme/ghp-agents@v1", repo) == (
        2,
        "",
        "Error: 'acme/ghp-agents@v1' is not an action with a full commit.\n"
        "Hint: Use --action OWNER/NAME@COMMIT with all 40 digits of the commit.\n",
    )
    assert invoke(f"agent-init {ACTION}", repo) == (
        2,
        "",
        "Error: --action needs --github.\nHint: See `ghp agent-init --help`.\n",
    )


def test_a_dry_run_only_says_it(repo: Path) -> None:
    would = "".join(f"Would write {path}.\n" for path in FILES)
    assert invoke(f"agent-init --github {ACTION} --dry-run", repo) == (0, would, "")
    assert not (repo / ".github").exists()
    invoke(f"agent-init --github {ACTION}", repo)
    would = "".join(f"Would remove {path}.\n" for path in FILES)
    assert invoke("agent-init --github --remove --dry-run", repo) == (0, would, "")
    assert all((repo / path).exists() for path in FILES)


def test_a_users_file_is_named_and_what_ours_would_change_is_shown(repo: Path) -> None:
    mine = ".github/ISSUE_TEMPLATE/config.yml"
    commit(repo, {mine: "blank_issues_enabled: false\n\x1b[31m\n"})
    done = invoke(f"agent-init --github {ACTION}", repo)
    assert done.code == 0
    assert done.out.startswith(f"--- a/{mine}\n+++ b/{mine}\n")
    assert "-blank_issues_enabled: false\n-�[31m\n" in done.out
    assert done.out.endswith("+blank_issues_enabled: true\n")
    assert (
        f"Warning: Kept {mine}: you wrote or changed it. Our version differs by:\n"
        "Hint: Copy what you want by hand, or delete the file and run the command again.\n"
    ) in done.err
    again = invoke(f"agent-init --github {ACTION}", repo)
    assert again.out == done.out
    assert "Nothing to do" not in again.err
    taken = invoke("agent-init --github --remove", repo)
    assert f"Kept {mine}: you wrote or changed it.\n" in taken.err
    assert git(repo, "status", "--porcelain") == ""


def test_outside_of_a_repository_there_is_nowhere_to_write(tmp_path: Path) -> None:
    assert invoke("agent-init --github", tmp_path).code == 5


# ------------------------------------------------------------------------------ --labels


def test_labels_need_github(repo: Path) -> None:
    assert invoke("agent-init --labels", repo) == (
        5,
        "",
        "Error: Issues of this repository are not on GitHub, so there are no labels to create.\n"
        "Hint: It needs a remote on GitHub and a token: `ghp agent-doctor` names what is "
        "missing.\n",
    )


def test_labels_are_never_taken_away(repo: Path) -> None:
    done = invoke("agent-init --labels --remove", repo)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "Error: --labels cannot be used with --remove, because issues may use the labels.\n"
    )


# ------------------------------------------------------------------------------ the words


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("--github --agent worker-1", "--agent cannot be used with --github."),
        ("--labels --config", "--config cannot be used with --labels."),
        ("--ghp --hooks claude", "--hooks cannot be used with --ghp."),
        ("--ghp --user", "--user cannot be used with --ghp."),
        ("--github --no-probe", "--no-probe cannot be used with --github."),
        ("--github --remove --remote-refs", "--remote-refs cannot be used with --github."),
        ("--github --remove --force", "--force cannot be used with --github."),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything(
    repo: Path, words: str, wrong: str
) -> None:
    done = invoke(f"agent-init {words}", repo)
    assert done == (2, "", f"Error: {wrong}\nHint: See `ghp agent-init --help`.\n")
    assert git(repo, "status", "--porcelain", "--ignored") == ""


# ------------------------------------------------------------------------------ --ghp

EVENTS = ["issue-started", "worktree-created", "worktree-removed", "pr-created", "pr-merged"]
WHAT = [
    *(f"the event hook ghp-agents-{event} with upstream's ghp" for event in EVENTS),
    "the dashboard hook ghp-agents with upstream's ghp",
]


@pytest.fixture
def path(tmp_path: Path) -> dict[str, str]:
    """Upstream's `ghp` is on PATH."""
    return upstream.install(tmp_path / "bin")


@pytest.mark.slow
def test_hooks_are_registered_once_and_taken_away_again(
    tmp_path: Path, home: Path, path: dict[str, str]
) -> None:
    registered = "".join(f"✓ Registered {what}.\n" for what in WHAT)
    assert invoke("agent-init --ghp", tmp_path, path) == (0, "", registered)
    nothing = (0, "", "✓ Nothing to do: the hooks are installed.\n")
    assert invoke("agent-init --ghp", tmp_path, path) == nothing
    removed = "".join(f"✓ Removed {what}.\n" for what in WHAT)
    assert invoke("agent-init --ghp --remove", tmp_path, path) == (0, "", removed)
    nothing = (0, "", "✓ Nothing to do: no hooks are installed.\n")
    assert invoke("agent-init --ghp --remove", tmp_path, path) == nothing
    assert upstream.hooks(home) == upstream.hooks(home, "dashboard-hooks.json") == []


def test_a_dry_run_registers_nothing(tmp_path: Path, home: Path, path: dict[str, str]) -> None:
    would = "".join(f"Would register {what}.\n" for what in WHAT)
    assert invoke("agent-init --ghp --dry-run", tmp_path, path) == (0, would, "")
    assert upstream.calls(home) == [["--help"]]


def test_without_upstream_it_says_so(tmp_path: Path) -> None:
    assert invoke("agent-init --ghp", tmp_path, upstream.without()) == (
        1,
        "",
        "Error: Upstream `ghp` is not installed: PATH has only the `ghp` of ghp-agents.\n"
        "Hint: Install GHP (see github.com/bretwardjames/ghp), then run this again. Everything "
        "else works without it.\n",
    )
    nothing = (0, "", "✓ Nothing to do: no hooks are installed.\n")
    assert invoke("agent-init --ghp --remove", tmp_path, upstream.without()) == nothing


@pytest.mark.slow
def test_hooks_that_outlive_upstream_need_it_to_go(tmp_path: Path, path: dict[str, str]) -> None:
    invoke("agent-init --ghp", tmp_path, path)
    assert invoke("agent-init --ghp --remove", tmp_path, upstream.without()).code == 1


def test_another_program_called_ghp_is_asked_for_its_help_and_nothing_else(
    tmp_path: Path,
) -> None:
    other = tmp_path / "other/ghp"
    other.parent.mkdir()
    other.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/said\n')
    other.chmod(0o755)
    env = {"PATH": f"{other.parent}{os.pathsep}{os.environ['PATH']}"}
    done = invoke("agent-init --ghp", tmp_path, env)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"Error: {other} is another program that is also called `ghp`.")
    assert (tmp_path / "said").read_text() == "--help\n"


@pytest.mark.slow
def test_all_can_be_asked_for_at_once(repo: Path, home: Path, path: dict[str, str]) -> None:
    done: Result = invoke("agent-init --github --ghp", repo, path)
    assert done.code == 0
    assert (repo / FILES[0]).exists()
    assert len(upstream.hooks(home)) == len(EVENTS)
