"""What a repository's configuration may run and place: nothing that a person did not agree to, and
nothing of a branch that is only checked out."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ghp import Result, invoke
from tests.support.git import commit, git

ONE = {"GHP_AGENT": "worker-1"}
FILE = ".ghp/config.json"
BRANCH = "agent/worker-1/1-parse"


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A file that is there once a command of the repository's ran."""
    return tmp_path / "ran"


def hostile(trap: Path) -> dict[str, Any]:
    run = f"touch {trap}"
    return {
        "worktreeSetupCommand": run,
        "worktreePath": "~/.vim/pack/foo",
        "worktreeCopyFiles": ["secrets.txt"],
        "worktreeSymlinkFiles": ["secrets.txt"],
        "mainBranch": "evil",
        "agents": {"checks": [run], "orchestrators": ["worker-9"], "remote": "evil"},
    }


def put(clone: Path, said: dict[str, Any]) -> None:
    """Onto the trunk, as somebody who may push does."""
    commit(clone, {FILE: json.dumps(said)}, "Configure")
    git(clone, "push", "--quiet", "origin", "HEAD:main")


def begun(clone: Path) -> Result:
    assert invoke("agent-issue new Parse", clone).code == 0
    return invoke("agent-start 1", clone, ONE)


def worktree(home: Path) -> Path:
    return home / ".ghp/worktrees/remote/1-parse"


# ------------------------------------------------------------------------------ a fresh clone


@pytest.mark.parametrize(
    "command",
    ["status", "issues", "resume", "doctor", "init", "check README.md", "sync"],
)
def test_looking_around_in_a_hostile_clone_runs_nothing(
    clone: Path, trap: Path, home: Path, command: str
) -> None:
    put(clone, hostile(trap))
    invoke(f"agent-{command}", clone, ONE)
    assert not trap.exists()
    assert not (home / ".vim").exists()


@pytest.mark.slow
def test_a_start_in_a_hostile_clone_is_as_if_it_had_named_nothing(
    clone: Path, trap: Path, home: Path
) -> None:
    said = hostile(trap)
    del said["agents"]["remote"]  # nothing begins without it
    put(clone, said)
    (clone / "secrets.txt").write_text("mine\n")
    done = begun(clone)
    assert done.code == 0
    assert not trap.exists()
    assert not (home / ".vim").exists()
    assert sorted(path.name for path in worktree(home).iterdir()) == [".ghp", ".git", "README.md"]
    line = (
        f"Warning: `.ghp/config.json` on main sets `worktreeSetupCommand` to `touch {trap}`, but "
        "nobody has approved it in this clone; until then it is not run. A person can review "
        "and approve it with `ghp agent-trust`."
    )
    assert line in done.err.splitlines()


@pytest.mark.slow
def test_where_nobody_agreed_to_the_remote_no_work_goes_to_another(
    clone: Path, trap: Path, remote: Path
) -> None:
    put(clone, hostile(trap))
    before = git(remote, "for-each-ref")
    done = begun(clone)
    assert done.code == 3
    assert (
        "sets `agents.remote` to `evil`, but nobody has approved it in this clone; until then "
        "nothing is sent." in done.err
    )
    assert "nobody has approved the remote" in invoke("agent-sync", clone).err
    assert git(remote, "for-each-ref") == before


@pytest.mark.slow
def test_without_consent_checks_are_not_run_and_nothing_is_finished_or_merged(
    clone: Path, trap: Path, home: Path, remote: Path
) -> None:
    begun(clone)
    place = worktree(home)
    commit(place, {"a.txt": "a\n"}, "Work")
    put(clone, {"agents": {"checks": [f"touch {trap}"]}})
    done = invoke("agent-finish", place, ONE)
    assert (done.code, trap.exists()) == (3, False)
    assert (
        f"sets `agents.checks` to `touch {trap}`, but nobody has approved it in this clone"
        in done.err
    )
    assert "Hint: A person can review and approve it with `ghp agent-trust`." in done.err

    assert invoke("agent-trust --yes", clone).code == 0
    assert invoke("agent-finish", place, ONE).code == 0
    assert trap.exists()
    trap.unlink()
    put(clone, {"agents": {"checks": [f"touch {trap}", "true"]}})
    done = invoke("agent-merge --queue", clone, {"GHP_AGENT": "lead"})
    assert not trap.exists()
    assert "nobody has approved it in this clone" in done.err
    assert "a.txt" not in git(remote, "ls-tree", "--name-only", "main")


# ------------------------------------------------------------------------------ a branch


@pytest.mark.slow
def test_a_branch_that_is_checked_out_names_no_command_no_trunk_and_no_check(
    clone: Path, trap: Path, home: Path
) -> None:
    put(clone, {"agents": {"checks": ["true"]}})
    assert invoke("agent-trust --yes", clone).code == 0
    git(clone, "checkout", "--quiet", "-b", "pr-77")
    said = hostile(trap) | {"mainBranch": "pr-77"}
    said["agents"] |= {"trunk": "pr-77"}
    commit(clone, {FILE: json.dumps(said)}, "Innocent")
    done = begun(clone)
    assert done.code == 0
    assert FILE in git(worktree(home), "ls-files")
    assert git(worktree(home), "merge-base", "HEAD", "pr-77") == git(clone, "rev-parse", "main")
    commit(worktree(home), {"a.txt": "a\n"}, "Work")
    assert invoke("agent-finish", worktree(home), ONE).code == 0
    assert not trap.exists()
    assert not (home / ".vim").exists()
    assert invoke("agent-doctor", clone).code == 0, "nothing of it waits for consent either"


@pytest.mark.slow
def test_a_file_that_is_only_changed_and_not_committed_names_nothing(
    clone: Path, trap: Path
) -> None:
    put(clone, {"agents": {"throttle": 1}})
    (clone / FILE).write_text(json.dumps(hostile(trap)))
    begun(clone)
    assert not trap.exists()


def test_shared_files_are_those_of_the_trunk_and_need_no_consent(clone: Path) -> None:
    put(clone, {"agents": {"shared": ["/README.md"]}})
    git(clone, "checkout", "--quiet", "-b", "pr-77")
    commit(clone, {FILE: '{"agents": {"shared": [], "orchestrators": ["worker-1"]}}'}, "Innocent")
    assert invoke("agent-status --set testing", clone, ONE).code == 0
    assert invoke("agent-check README.md", clone, ONE).code == 3


# ------------------------------------------------------------------------------ who agrees


@pytest.mark.slow
def test_other_values_of_the_trunk_are_asked_for_again(clone: Path, trap: Path, home: Path) -> None:
    put(clone, {"worktreeSetupCommand": "true"})
    assert invoke("agent-trust --yes", clone).code == 0
    put(clone, {"worktreeSetupCommand": f"true; touch {trap}"})
    done = begun(clone)
    assert not trap.exists()
    assert "nobody has approved it in this clone; until then it is not run" in done.err


@pytest.mark.parametrize("words", ["--yes", "--revoke", ""])
@pytest.mark.parametrize("variable", ["GHP_AGENT", "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"])
def test_an_agent_cannot_agree(clone: Path, trap: Path, words: str, variable: str) -> None:
    put(clone, hostile(trap))
    done = invoke(f"agent-trust {words}", clone, {variable: "worker-1"})
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith(
        f"Error: Only a person can allow what a repository runs, but {variable} says that this is "
        "an agent.\n"
    )
    refused = invoke("agent-init --trust", clone, {variable: "worker-1"})
    assert refused.code == 3


@pytest.mark.slow
def test_where_nobody_is_there_to_ask_nothing_is_agreed_to(clone: Path, trap: Path) -> None:
    put(clone, {"worktreeSetupCommand": f"touch {trap}"})
    done = invoke("agent-trust", clone)
    assert done.code == 3
    assert f"    touch {trap}\n" in done.err, "it is shown whole"
    begun(clone)
    assert not trap.exists()


@pytest.mark.slow
def test_the_answer_is_kept_outside_of_the_repository_and_for_this_clone_alone(
    clone: Path, trap: Path, home: Path, tmp_path: Path
) -> None:
    put(clone, {"worktreeSetupCommand": f"touch {trap}"})
    before = {path for path in clone.rglob("*") if path.is_file()}
    assert invoke("agent-trust --yes", clone).code == 0
    assert {path for path in clone.rglob("*") if path.is_file()} - before <= set(
        clone.glob(".git/ghp/cache/*")
    )
    (kept,) = (home / ".config/ghp-cli/trust").iterdir()
    assert str(trap) not in kept.read_text()
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", "remote.git", "other")
    done = begun(other)
    assert not trap.exists()
    assert "nobody has approved it in this clone" in done.err


# ------------------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("~/.vim/pack/foo", "is inside a settings folder of your home directory"),
        ("~/.config", "is inside a settings folder of your home directory"),
        ("~/../{home}/.local/lib", "is inside a settings folder of your home directory"),
        (".git/hooks", "is inside a git folder"),
        (".GIT/x", "is inside a git folder"),
        ("../other/sub", "is inside another repository"),
        ("link", "is inside a settings folder of your home directory"),
    ],
)
@pytest.mark.slow
def test_worktrees_go_to_no_place_where_files_mean_something(
    clone: Path, home: Path, tmp_path: Path, path: str, why: str
) -> None:
    git(tmp_path, "init", "--quiet", "other")
    (clone / "link").symlink_to(home / ".bash")
    put(clone, {"worktreePath": path.format(home=home.name)})
    assert invoke("agent-trust --yes", clone).code == 0
    done = begun(clone)
    assert done.code == 3
    assert f", which {why}.\n" in done.err
    assert git(clone, "worktree", "list").count("\n") == 0


@pytest.mark.slow
def test_a_place_beside_the_repository_is_allowed(clone: Path, tmp_path: Path) -> None:
    put(clone, {"worktreePath": "../.worktrees"})
    assert invoke("agent-trust --yes", clone).code == 0
    assert begun(clone).code == 0
    assert (tmp_path / ".worktrees/remote/1-parse/README.md").exists()


@pytest.mark.parametrize("name", ["..", ".vim", "-x", "a b;c", "..git", "\u202egit"])
@pytest.mark.slow
def test_a_repositorys_name_in_a_path_is_one_plain_folder(
    clone: Path, home: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "remote.git").rename(tmp_path / f"{name}.git")
    git(clone, "remote", "set-url", "origin", f"{tmp_path}/{name}.git")
    assert begun(clone).code == 0
    (folder,) = (home / ".ghp/worktrees").iterdir()
    assert folder.name.strip(".-") == folder.name
    assert folder.name.isascii()
    assert " " not in folder.name
    assert (folder / "1-parse/README.md").exists()
