"""What a box can write of a repository is a short list; all else in git's folder is closed."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.runs.boxes import box_paths
from tests.support import boxes
from tests.support.ghp import run_ghp
from tests.support.git import git
from tests.support.runs import Shift, shift_of, states

# Homes of agents, worktrees, and what commands outside keep.
OURS = (".local/", ".ghp/", ".config/ghp-cli/clones/")
# Git outside would read, run or follow each of these.
CLOSED = (
    "commondir", "config", "config.worktree", "HEAD", "packed-refs", "hooks/pre-push",
    "info/attributes", "info/exclude", "ghp/hub/outbox/new.json", "ghp/hub/pending-comments/new",
    "ghp/landing-1/x", "ghp/overrides/x", "ghp/sessions/x", "ghp/merge-undone.json",
    "ghp/claims-owed.json", "ghp/log.jsonl", "ghp/runs/new/run.json",
    "modules/m/config", "modules/new/config", "objects/info/alternates", "refs/heads/main",
    "worktrees/other/commondir", "worktrees/other/gitdir", "worktrees/new/gitdir",
    "worktrees/1-one/commondir", "worktrees/1-one/gitdir", "worktrees/1-one/config.worktree",
    "worktrees/1-one/modules/m/config", "worktrees/1-one/ghp-agent", "ghp/checked.json",
    "ghp/hooks/pre-push", "ghp/clients/night.json", "ghp/runs/new", "ghp/new",
    "ghp/state.git/config",
    "ghp/state.git/commondir", "ghp/state.git/hooks/x", "ghp/state.git/objects/info/alternates",
)  # fmt: skip
TRIES = """\
for name in {names}; do
  path={git}/$name
  mkdir -p "${{path%/*}}" 2>/dev/null
  (echo x >>"$path") 2>/dev/null && echo "wrote $name"
  ln -sf /etc/passwd "$path.new" 2>/dev/null &&
    mv -T "$path.new" "$path" 2>/dev/null && echo "replaced $name"
done
(rm -f .git && echo x >.git) 2>/dev/null && echo "replaced the worktree's link"
mv {git}/worktrees/1-one {git}/worktrees/moved 2>/dev/null && echo "moved its folder"
for name in .cache/pre-commit/x .npm/x .claude/settings.json .claude/plugins/x .bashrc .new; do
  mkdir -p "$HOME/${{name%/*}}" 2>/dev/null; (echo x >>"$HOME/$name") 2>/dev/null
done
mkdir -p "$HOME/.config/ghp-cli/clones/x"; echo forged >"$HOME/.config/ghp-cli/clones/x/policy"
echo forged >{git}/ghp/cache/forged
ln -s "$HOME/.bashrc" {git}/worktrees/1-one/logs/link; mkfifo {git}/ghp/outbox/pipe
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with settings of a client, and a file that a shell runs."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        monkeypatch.setenv("HOME", folder)
        for name in (".claude/plugins/p", ".cache/pre-commit/hook", ".bashrc"):
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text("mine\n")
        yield Path(folder)


@pytest.fixture
def shift(repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    for key, value in (("name", "Ann"), ("email", "ann@example.org")):
        git(repo, "config", f"user.{key}", value)
    new_shift = shift_of(repo, "One")
    yield new_shift
    new_shift.end_all()


def content(folder: Path) -> dict[str, bytes]:
    """All plain files of a folder, by name."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@boxes.works
@pytest.mark.slow
def test_a_box_changes_nothing_that_git_or_a_shell_outside_would_run(
    shift: Shift, home: Path
) -> None:
    folder = shift.repo / ".git"
    git(shift.repo, "worktree", "add", "-q", "-b", "other", str(home / "other"))
    script = folder / "agent.sh"
    work = 'echo new >new.txt; git add . && git commit -qm "Add a file" && echo committed\n'
    script.write_text(TRIES.format(names=" ".join(CLOSED), git=folder) + work)
    before = content(home)
    runner = f"sh {script} {{prompt_file}}"
    done = run_ghp(
        ["agent-work", "--agent", "night", "--once", "--tries", "1", "--runner", runner],
        shift.repo, boxes.ENV,
    )  # fmt: skip
    assert done.code in (0, 1), done.err
    assert run_ghp("agent-logs night", shift.repo).out.splitlines() == ["committed"]
    after = {name: text for name, text in content(home).items() if not name.startswith(OURS)}
    assert {name: before.get(name) for name in after} == after
    assert not (home / ".config/ghp-cli/clones/x").exists()
    assert not (folder / "ghp/cache/forged").exists()
    assert not [path for path in folder.rglob("*") if path.is_symlink() or path.is_fifo()]
    assert not list(folder.rglob(box_paths.KEPT))
    assert git(shift.repo, "log", "--format=%s", "-1", "agent/night/1-one") == "Add a file"


@boxes.works
@pytest.mark.slow
def test_a_box_ends_with_all_its_processes_whatever_they_left(shift: Shift) -> None:
    script = shift.repo / ".git/agent.sh"
    script.write_text("env -u GHP_RUN setsid sh -c 'exec sleep 1234' >/dev/null 2>&1 &\nexit 3\n")
    args = [
        "--agent",
        "night",
        "--once",
        "--tries",
        "1",
        "--runner",
        f"sh {script} {{prompt_file}}",
    ]
    run_ghp(["agent-work", *args], shift.repo, boxes.ENV)
    assert [state[2] for state in states(shift.runs())] != ["running"]
    shown = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert "sleep 1234" not in shown.stdout.splitlines()


def test_a_task_in_the_main_worktree_writes_neither_gits_folder_nor_another_worktree(
    repo: Path,
) -> None:
    git(repo, "worktree", "add", "-q", "-b", "agent/a/1", str(repo / "trees/1"))
    paths = box_paths.of(repo, repo / ".git", "main", repo / ".git/ghp/runs/1")
    ours = repo / ".git/ghp"
    assert [path for path in paths.writable if not path.is_relative_to(ours)] == []
    assert paths.locked == (repo / "trees", ours / "state.git/objects/info")
    inner = box_paths.of(repo / "trees/1", repo / ".git", "flat", repo / "run")
    assert not [path for path in inner.writable if path.is_relative_to(repo / ".git/refs")]


def test_what_a_box_leaves_for_the_person_is_never_behind_a_link(repo: Path) -> None:
    git(repo, "worktree", "add", "-q", "-b", "agent/a/1", str(repo.parent / "1"))
    out, mine = repo / ".git/ghp/agent-out", repo.parent / "mine"
    out.parent.mkdir(exist_ok=True)
    out.symlink_to(mine)
    paths = box_paths.of(repo.parent / "1", repo / ".git", "agent/a/1", repo / ".git/ghp/run")
    box_paths.prepare(paths)
    assert (out.is_symlink(), out.read_bytes(), mine.exists()) == (False, b"", False)
    assert out in paths.writable
