"""Git's hooks, with real git: what is checked, what is blocked, and that all else goes on."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import RefusedError
from ghp_agents.integrations.git_hooks import install as git_guard
from ghp_agents.integrations.git_hooks.script import ASIDE, HOOKS
from ghp_agents.integrations.git_hooks.script import block as hook_block
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.clock import ManualClock
from tests.support.git import commit, git, run_git
from tests.support.hooks_of_others import HUSKY_H, HUSKY_HOOK, framework_script
from tests.support.hosts import executable
from tests.support.setup import give_exclude

Worktree = Callable[[Path, str], Path]
AS = {"GHP_AGENT": "worker-1"}


def ws(folder: Path) -> Workspace:
    return open_workspace(folder, os.environ, ManualClock())


def install(folder: Path, python: Path | str = sys.executable) -> list[str]:
    """Put the guard in; what was done, in words."""
    steps = git_guard.to_put(ws(folder), str(python))
    for step in steps:
        step.act()
    assert git_guard.to_put(ws(folder), str(python)) == [], "a second time there is nothing to do"
    return [f"{step.did} {step.what}" for step in steps]


def remove(folder: Path) -> list[str]:
    steps = git_guard.to_take(ws(folder))
    for step in steps:
        step.act()
    assert git_guard.to_take(ws(folder)) == []
    return [f"{step.did} {step.what}" for step in steps]


@pytest.fixture
def checker(tmp_path: Path) -> Path:
    """An interpreter of the guard: it notes each call, and ends with the code in `code`."""
    (tmp_path / "code").write_text("0")
    return executable(
        tmp_path / "python",
        f'echo "$4 $5 $(git diff --cached --name-only HEAD | tr "\\n" " ")" >> {tmp_path}/calls\n'
        f'[ "$4" = agent-whoami ] && exec {sys.executable} "$@"\n'
        f'[ "$(cat {tmp_path}/code)" = 3 ] && echo "Error: it is leased" >&2\n'
        f"exit $(cat {tmp_path}/code)\n",
    )


@pytest.fixture
def guarded(repo: Path, checker: Path) -> Path:
    install(repo, checker)
    return repo


def answer(checker: Path, code: int) -> None:
    checker.with_name("code").write_text(str(code))


def checks(checker: Path) -> list[str]:
    """What the guard was asked to check, call by call; forgets them."""
    calls = checker.with_name("calls")
    lines = calls.read_text().splitlines() if calls.exists() else []
    calls.unlink(missing_ok=True)
    return [line.split("--staged ")[1].strip() for line in lines if "--staged" in line]


def message(folder: Path) -> str:
    return git(folder, "log", "-1", "--format=%B").rstrip("\n")


def head(folder: Path) -> str:
    return git(folder, "rev-parse", "HEAD")


def write(folder: Path, name: str, content: str = "x\n") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


# ------------------------------------------------------------------------------ pre-commit


@pytest.mark.slow
def test_a_refusal_stops_the_commit_and_nothing_else_does(guarded: Path, checker: Path) -> None:
    before = head(guarded)
    write(guarded, "a")
    git(guarded, "add", "a")
    answer(checker, 3)
    done = run_git(guarded, "commit", "-m", "A", env=AS)
    assert (done.returncode, done.stderr) == (1, "Error: it is leased\n")
    assert head(guarded) == before
    for code in (1, 2, 4, 5, 127):
        answer(checker, code)
        done = run_git(guarded, "commit", "--allow-empty", "-m", "A", env=AS)
        assert done.returncode == 0, f"our own failure ({code}) lets a commit pass"
        assert done.stderr == (
            f"Warning: ghp-agents: this commit was not checked (exit code {code}); it goes on.\n"
        )
    answer(checker, 0)
    assert run_git(guarded, "commit", "--allow-empty", "-m", "A", env=AS).stderr == ""


@pytest.mark.slow
def test_every_kind_of_commit_is_checked_for_what_it_will_hold(
    guarded: Path, checker: Path
) -> None:
    for name in ("a", "b"):
        write(guarded, name)
    git(guarded, "add", "a", "b")
    git(guarded, "commit", "--quiet", "-m", "Both")
    assert checks(checker) == ["a b"]
    for name in ("a", "b"):
        write(guarded, name, "changed\n")
    git(guarded, "add", "a")
    git(guarded, "commit", "--quiet", "-m", "Only b", "--", "b")
    assert checks(checker) == ["b"], "a partial commit has an index of its own"
    git(guarded, "commit", "--quiet", "-a", "-m", "All")
    assert checks(checker) == ["a"]
    write(guarded, "c")
    git(guarded, "add", "c")
    git(guarded, "commit", "--quiet", "--amend", "--no-edit")
    assert checks(checker) == ["c"]
    write(guarded, "c", "again\n")
    git(guarded, "commit", "--quiet", "--no-verify", "-am", "By force")
    assert checks(checker) == []


@pytest.mark.slow
def test_in_a_linked_worktree_it_is_the_same_guard(
    guarded: Path, checker: Path, worktree: Worktree
) -> None:
    linked = worktree(guarded, "147")
    write(linked, "deep/a")
    git(linked, "add", "deep")
    answer(checker, 3)
    assert run_git(linked / "deep", "commit", "-m", "A").returncode == 1
    answer(checker, 0)
    git(linked / "deep", "commit", "--quiet", "-m", "A")
    assert checks(checker) == ["deep/a", "deep/a"]


def test_when_the_interpreter_is_gone_commits_go_on_and_it_is_said(
    guarded: Path, checker: Path
) -> None:
    checker.unlink()
    done = run_git(guarded, "commit", "--allow-empty", "-m", "A")
    assert done.returncode == 0
    warning = f"Warning: ghp-agents: {checker} is gone, so this commit is not checked.\n"
    hint = "Hint: Run `ghp agent-init --hooks git` again, or with --remove.\n"
    assert done.stderr == 2 * (warning + hint)


def test_in_a_clone_without_this_program_the_block_does_nothing(
    guarded: Path, checker: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", str(guarded), "theirs")
    theirs = tmp_path / "theirs"
    hooks = theirs / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").write_bytes((guarded / ".git/hooks/pre-commit").read_bytes())
    (hooks / "pre-commit").chmod(0o755)
    answer(checker, 3)
    assert run_git(theirs, "commit", "--allow-empty", "-m", "A").stderr == ""


# ------------------------------------------------------------------------------ the trailer


@pytest.mark.slow
def test_an_agents_commits_name_it_and_a_persons_do_not(guarded: Path) -> None:
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "By a person")
    assert message(guarded) == "By a person"
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "By an agent", env=AS)
    assert message(guarded) == "By an agent\n\nAgent: worker-1"
    (guarded / ".git/ghp-agent").write_text("worker-2\n")
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "Fix\n\nText.\n\nFixes: #1")
    assert message(guarded) == "Fix\n\nText.\n\nFixes: #1\nAgent: worker-2"


@pytest.mark.slow
def test_amending_adds_nobody_twice_and_another_agent_once(guarded: Path) -> None:
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "A", env=AS)
    git(guarded, "commit", "--quiet", "--allow-empty", "--amend", "--no-edit", env=AS)
    assert message(guarded) == "A\n\nAgent: worker-1"
    other = {"GHP_AGENT": "worker-2"}
    git(guarded, "commit", "--quiet", "--allow-empty", "--amend", "--no-edit", env=other)
    assert message(guarded) == "A\n\nAgent: worker-1\nAgent: worker-2"


@pytest.mark.slow
def test_merges_squashes_and_rebases_keep_their_messages(guarded: Path) -> None:
    git(guarded, "checkout", "--quiet", "-b", "side")
    write(guarded, "side")
    git(guarded, "add", "side")
    git(guarded, "commit", "--quiet", "-m", "On the side")
    git(guarded, "checkout", "--quiet", "main")
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "On main")
    git(guarded, "checkout", "--quiet", "-b", "merged")
    git(guarded, "merge", "--quiet", "--no-edit", "side", env=AS)
    assert "Agent:" not in message(guarded)
    git(guarded, "checkout", "--quiet", "-b", "squashed", "main")
    git(guarded, "merge", "--quiet", "--squash", "side", env=AS)
    git(guarded, "commit", "--quiet", "--no-edit", env=AS)
    assert "Agent:" not in message(guarded)
    git(guarded, "checkout", "--quiet", "side")
    git(guarded, "rebase", "--quiet", "main", env=AS)
    assert message(guarded) == "On the side"
    git(guarded, "checkout", "--quiet", "-b", "picked", "main")
    git(guarded, "cherry-pick", "side", env=AS)
    assert message(guarded) == "On the side"


@pytest.mark.slow
def test_a_conflict_that_an_agent_solves_keeps_the_merges_message(guarded: Path) -> None:
    for branch in ("left", "right"):
        git(guarded, "checkout", "--quiet", "-b", branch, "main")
        write(guarded, "same", f"{branch}\n")
        git(guarded, "add", "same")
        git(guarded, "commit", "--quiet", "-m", branch)
    assert run_git(guarded, "merge", "left", env=AS).returncode == 1
    write(guarded, "same", "both\n")
    git(guarded, "commit", "--quiet", "-a", "--no-edit", env=AS)
    assert message(guarded).splitlines()[0] == "Merge branch 'left' into right"
    assert "Agent:" not in message(guarded)


def test_leaving_the_editor_without_a_message_still_makes_no_commit(guarded: Path) -> None:
    before = head(guarded)
    done = run_git(guarded, "commit", "--allow-empty", "--verbose", env=AS | {"GIT_EDITOR": "true"})
    assert done.returncode == 1
    assert "Aborting commit due to empty commit message" in done.stderr
    assert head(guarded) == before


@pytest.mark.slow
def test_a_name_that_is_none_adds_nothing(guarded: Path) -> None:
    git(guarded, "commit", "--quiet", "--allow-empty", "-m", "A", env={"GHP_AGENT": "../x; y"})
    assert message(guarded) == "A"


# ------------------------------------------------------------------------------ places


def test_where_there_are_no_hooks_they_are_made_and_taken_away(repo: Path) -> None:
    give_exclude(repo)
    (repo / ".git/hooks").mkdir()
    assert install(repo) == [
        *(f"Wrote .git/ghp/hooks/{name}, which the hook {name} calls" for name in HOOKS),
        *(f"Made the hook .git/hooks/{name}" for name in HOOKS),
    ]
    assert remove(repo) == [
        *(f"Removed the hook .git/hooks/{name}" for name in HOOKS),
        *(f"Removed .git/ghp/hooks/{name}" for name in HOOKS),
    ]
    assert not (repo / ".git/ghp/hooks").exists()


@pytest.mark.slow
def test_a_shell_hook_of_the_user_runs_after_the_check_and_is_left_as_it_was(
    repo: Path, checker: Path, tmp_path: Path
) -> None:
    hook = executable(repo / ".git/hooks/pre-commit", f"set -eu\necho own >> {tmp_path}/own\n")
    hook.chmod(0o750)
    before = hook.read_bytes()
    assert "Put a block into .git/hooks/pre-commit" in install(repo, checker)
    assert hook.stat().st_mode & 0o777 == 0o750
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    assert (tmp_path / "own").read_text() == "own\n"
    answer(checker, 3)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1
    assert (tmp_path / "own").read_text() == "own\n", "what is refused is not worth their check"
    remove(repo)
    assert (hook.read_bytes(), hook.stat().st_mode & 0o777) == (before, 0o750)


PYTHON_HOOK = "#!/usr/bin/env python3\nimport sys\nsys.exit('own' in sys.argv or 7)\n"


@pytest.mark.slow
def test_a_hook_in_another_language_is_moved_aside_and_called(repo: Path, checker: Path) -> None:
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(PYTHON_HOOK)
    hook.chmod(0o700)
    assert (
        "Moved .git/hooks/pre-commit aside to pre-commit.before-ghp-agents, and a hook that calls "
        "it in its place"
    ) in install(repo, checker)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1, "theirs refuses"
    assert checks(checker) == [""]
    hook.with_name("pre-commit" + ASIDE).write_text(PYTHON_HOOK.replace("7", "0"))
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    hook.with_name("pre-commit" + ASIDE).write_text(PYTHON_HOOK)
    assert f"Put pre-commit{ASIDE} back as .git/hooks/pre-commit" in remove(repo)
    assert (hook.read_text(), hook.stat().st_mode & 0o777) == (PYTHON_HOOK, 0o700)


@pytest.mark.slow
def test_a_hook_that_is_turned_off_stays_off(repo: Path, checker: Path, tmp_path: Path) -> None:
    hook = executable(repo / ".git/hooks/pre-commit", f"touch {tmp_path}/ran\n")
    hook.chmod(0o644)
    install(repo, checker)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    assert not (tmp_path / "ran").exists()
    remove(repo)
    assert hook.stat().st_mode & 0o777 == 0o644


@pytest.mark.slow
def test_a_link_stays_one_and_what_it_leads_to_is_not_written(repo: Path, checker: Path) -> None:
    commit(repo, {"tools/check": "#!/bin/sh\nexit 0\n"})
    (repo / "tools/check").chmod(0o755)
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to("../../tools/check")
    install(repo, checker)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    assert (repo / "tools/check").read_text() == "#!/bin/sh\nexit 0\n"
    remove(repo)
    assert hook.readlink() == Path("../../tools/check")


def test_what_is_in_the_way_of_moving_a_hook_is_refused(repo: Path) -> None:
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(PYTHON_HOOK)
    hook.with_name("pre-commit" + ASIDE).write_text("somebody's")
    with pytest.raises(RefusedError) as refused:
        install(repo)
    assert str(refused.value) == (f"Cannot move {hook} aside: pre-commit{ASIDE} already exists.")


OWN = "#!/bin/sh\necho own-$(basename $0) >> $(git rev-parse --git-common-dir)/own.log\n"


def own_calls(repo: Path) -> list[str]:
    """Which hooks of the project have run; forgets them."""
    log = repo / ".git/own.log"
    lines = log.read_text().split() if log.exists() else []
    log.unlink(missing_ok=True)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("where", ["relative", "absolute", "global"])
def test_hooks_that_are_configured_elsewhere_run_after_ours_and_stay_as_they_are(
    repo: Path, checker: Path, tmp_path: Path, worktree: Worktree, where: str
) -> None:
    folder = Path("hooks") if where == "relative" else tmp_path / "everywhere"
    for name in ("pre-commit", "commit-msg", "post-commit"):
        executable(repo / folder / name, OWN.partition("\n")[2])
    if where == "relative":
        git(repo, "add", "hooks")
        git(repo, "commit", "--quiet", "-m", "Hooks")
    linked = worktree(repo, "147")
    scope = ("--global",) if where == "global" else ()
    git(repo, "config", *scope, "core.hooksPath", str(folder))
    config = (repo / ".git/config").read_bytes()
    before = {path: path.read_bytes() for path in (repo / folder).iterdir()}
    install(repo, checker)
    later = worktree(repo, "148")  # made by any program, and not set up by us
    for place in (repo, linked, later):
        assert git(place, "status", "--porcelain") == ""
        answer(checker, 3)
        assert run_git(place, "commit", "--allow-empty", "-m", "A").returncode == 1
        assert own_calls(repo) == []
        answer(checker, 0)
        git(place, "commit", "--quiet", "--allow-empty", "-m", "A", env=AS)
        assert own_calls(repo) == ["own-pre-commit", "own-commit-msg", "own-post-commit"]
        assert message(place) == "A\n\nAgent: worker-1"
    remove(repo)
    assert {path: path.read_bytes() for path in (repo / folder).iterdir()} == before
    assert (repo / ".git/config").read_bytes() == config
    assert not (repo / ".git/ghp/all-hooks").exists()


@pytest.mark.slow
def test_who_installs_hooks_again_does_not_go_around_ours(repo: Path, checker: Path) -> None:
    git(repo, "config", "core.hooksPath", "first")
    install(repo, checker)
    git(repo, "config", "core.hooksPath", ".husky/_")  # as `npm install` does with husky
    executable(repo / ".husky/_/pre-commit", OWN.partition("\n")[2])
    answer(checker, 3)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1
    answer(checker, 0)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    assert own_calls(repo) == ["own-pre-commit"]


@pytest.mark.slow
def test_what_another_program_wrote_over_is_renewed(repo: Path, checker: Path) -> None:
    assert git_guard.to_renew(ws(repo)) == []  # nobody installed it
    install(repo, checker)
    hook = executable(repo / ".git/hooks/pre-commit", OWN.partition("\n")[2])
    for step in git_guard.to_renew(ws(repo)):
        step.act()
    answer(checker, 3)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1
    hook.unlink()
    git(repo, "config", "core.hooksPath", ".githooks")
    for step in git_guard.to_renew(ws(repo)):
        step.act()
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1


@pytest.mark.slow
def test_in_a_moved_clone_the_projects_hooks_run_until_ours_are_there_again(
    repo: Path, checker: Path
) -> None:
    executable(repo / ".githooks/pre-commit", OWN.partition("\n")[2])
    git(repo, "config", "core.hooksPath", ".githooks")
    install(repo, checker)
    moved = repo.rename(repo.with_name("moved [1]"))
    answer(checker, 3)
    git(moved, "commit", "--quiet", "--allow-empty", "-m", "A")
    assert own_calls(moved) == ["own-pre-commit"]
    install(moved, checker)
    assert run_git(moved, "commit", "--allow-empty", "-m", "A").returncode == 1
    assert (moved / ".git/config").read_text().lower().count("[includeif") == 1


@pytest.mark.slow
def test_what_git_tells_a_hook_reaches_the_projects_own(repo: Path, checker: Path) -> None:
    log = repo / ".git/fed.log"
    fed = f'cat > "{log}"\n'
    for folder in (".git/hooks", "elsewhere"):
        executable(repo / folder / "pre-push", fed)
    git(repo, "clone", "--quiet", "--bare", str(repo), "../remote.git")
    for branch in ("one", "two"):
        if branch == "two":
            git(repo, "config", "core.hooksPath", "elsewhere")
        install(repo, checker)
        git(repo, "push", "--quiet", "../remote.git", f"HEAD:refs/heads/{branch}")
        oid = head(repo)
        assert log.read_text() == f"HEAD {oid} refs/heads/{branch} {'0' * 40}\n"
        git(repo, "push", "--quiet", "../remote.git", f"HEAD:refs/heads/{branch}")
        assert log.read_text() == ""


@pytest.mark.slow
def test_with_husky_the_projects_script_runs_in_each_worktree_and_is_not_changed(
    repo: Path, checker: Path, worktree: Worktree
) -> None:
    commit(repo, {".husky/pre-commit": OWN.partition("\n")[2], ".gitignore": "*.log\n"})
    git(repo, "config", "core.hooksPath", ".husky/_")
    for name in ("pre-commit", "prepare-commit-msg"):
        executable(repo / ".husky/_" / name, HUSKY_HOOK.partition("\n")[2])
    (repo / ".husky/_/h").write_text(HUSKY_H)
    (repo / ".husky/_/.gitignore").write_text("*\n")
    install(repo, checker)
    linked = worktree(repo, "147")  # without `.husky/_`, which git ignores
    for place in (repo, linked):
        assert git(place, "status", "--porcelain") == ""
        git(place, "commit", "--quiet", "--allow-empty", "-m", "A", env=AS)
        assert message(place) == "A\n\nAgent: worker-1"
        assert len(own_calls(repo)) == 1
        git(place, "commit", "--quiet", "--allow-empty", "-m", "A", env={"HUSKY": "0"})
        assert own_calls(repo) == []
        answer(checker, 3)
        assert run_git(place, "commit", "--allow-empty", "-m", "A").returncode == 1
        answer(checker, 0)
    remove(repo)
    assert git(repo, "config", "core.hooksPath") == ".husky/_"


def test_a_block_that_a_team_has_committed_stays_and_is_named(repo: Path) -> None:
    put = "#!/bin/sh\n" + (block := hook_block("pre-commit").decode())
    commit(repo, {".githooks/pre-commit": put})
    git(repo, "config", "core.hooksPath", ".githooks")
    install(repo)
    assert block in (repo / ".githooks/pre-commit").read_text()
    assert [text for text, _ in git_guard.advice(ws(repo))] == [
        ".githooks/pre-commit is tracked by git and has our block, which is not needed any more."
    ]


@pytest.mark.slow
def test_the_pre_commit_framework_runs_after_the_check(
    repo: Path, checker: Path, tmp_path: Path
) -> None:
    framework = executable(tmp_path / "framework", f'echo "$2" >> {tmp_path}/ran\n')
    hook = repo / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_bytes(framework_script(str(framework)))
    hook.chmod(0o755)
    install(repo, checker)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    answer(checker, 3)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1
    assert (tmp_path / "ran").read_text() == "hook-impl\n"
    remove(repo)
    assert hook.read_bytes() == framework_script(str(framework))


LOCAL_HOOK = """\
repos:
- repo: local
  hooks:
  - id: own
    name: own
    language: system
    entry: sh -c 'echo own >> .git/own.log'
    pass_filenames: false
    always_run: true
"""


@pytest.mark.slow
def test_the_real_pre_commit_framework_runs_after_the_check(
    repo: Path, checker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "library"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(library)]
    installed = subprocess.run(
        [*pip, "pre-commit==4.7.0"], capture_output=True, text=True, timeout=300
    )
    if installed.returncode != 0:
        pytest.skip(f"needs pre-commit (by pip): {installed.stderr.strip()[-200:]}")
    monkeypatch.setenv("PYTHONPATH", str(library))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "cache"))
    framework = [sys.executable, "-m", "pre_commit", "install"]
    commit(repo, {".pre-commit-config.yaml": LOCAL_HOOK})
    subprocess.run(framework, cwd=repo, capture_output=True, check=True, timeout=60)
    hook = repo / ".git/hooks/pre-commit"
    assert hook.read_bytes() == framework_script(sys.executable), "as we know its script"
    install(repo, checker)
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "A")
    answer(checker, 3)
    assert run_git(repo, "commit", "--allow-empty", "-m", "A").returncode == 1
    assert (repo / ".git/own.log").read_text() == "own\n"
    remove(repo)
    assert hook.read_bytes() == framework_script(sys.executable)


def test_a_bare_repository_with_worktrees_is_guarded(
    remote: Path, checker: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(remote), "bare.git")
    linked = tmp_path / "linked"
    git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(linked), "main")
    install(linked, checker)
    answer(checker, 3)
    assert run_git(linked, "commit", "--allow-empty", "-m", "A").returncode == 1
