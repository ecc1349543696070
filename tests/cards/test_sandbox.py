"""A run in bubblewrap writes to its worktree and to git, and to nothing else."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.cards import sandbox
from ghp_agents.cards.sandbox import Bind, BoxView
from ghp_agents.core.errors import NotSetUpError
from tests.support import boxes, logins
from tests.support.ghp import run_ghp
from tests.support.git import git
from tests.support.runs import Shift, shift_of, states

TRIES = f"""\
for place in ../outside "$HOME/outside" {{repo}}/outside {{repo}}/.git/hooks/post-commit \
    {{repo}}/.git/config "$HOME/.claude/settings.json"; do
    (echo x >>"$place") 2>/dev/null
done
(echo x >>"$1") 2>/dev/null && echo "wrote its prompt"
echo new >new.txt; git add . && git commit -qm "Add a file" && echo "committed"
{sys.executable} -m ghp_agents agent-finish 2>&1
"""
SENT_LATER = [
    "committed",
    "✓ agent/night/1-one is checked. `ghp agent-work` sends it when this run has ended.",
    "Commit nothing more, and end your turn.",
]
FINISHES = f"""
echo new >new.txt; git add . && git commit -qm "Add a file"
{sys.executable} -m ghp_agents agent-finish >/dev/null 2>&1
"""


@pytest.fixture
def shift(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    new_shift = shift_of(repo, "One")
    yield new_shift
    new_shift.end_all()


@pytest.mark.slow
@boxes.works
def test_a_boxed_run_finishes_its_work_and_writes_nowhere_else(shift: Shift) -> None:
    path = shift.repo / ".git/agent.sh"
    path.write_text(TRIES.format(repo=shift.repo))
    runner = f"sh {path} {{prompt_file}}"
    for key, value in (("name", "Ann"), ("email", "ann@example.org")):
        git(shift.repo, "config", f"user.{key}", value)
    before = (shift.repo / ".git/config").read_text()
    settings = Path(os.environ["HOME"]) / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    # The tests' home and programs may be below /dev/shm, which the run has for itself.
    env = boxes.ENV
    args = ["agent-work", "--agent", "night", "--once", "--runner", runner]
    done = run_ghp(args, shift.repo, env)
    assert done.code == 0, done.err
    assert states(shift.runs()) == [("night", 1, "finished")]
    assert run_ghp("agent-logs night", shift.repo).out.splitlines() == SENT_LATER
    assert (shift.repo / ".git/config").read_text() == before
    outside = (shift.repo, Path(shift.last().path).parent, Path(os.environ["HOME"]))
    assert [place for place in outside if (place / "outside").exists()] == []
    assert not (shift.repo / ".git/hooks/post-commit").exists()
    assert settings.read_text() == "{}"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that a sandbox does not hide as a whole."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        monkeypatch.setenv("HOME", folder)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", f"{folder}/.gitconfig")
        for key, value in (("name", "Ann"), ("email", "ann@example.org")):
            git(Path(folder), "config", "--global", f"user.{key}", value)
        yield Path(folder)


@boxes.works
@pytest.mark.slow
def test_a_boxed_run_reads_no_stored_login_and_its_supervisor_sends_its_work(
    clone: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it undoes the variables."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    path = logins.store(clone, home, home / "bin")
    shift = shift_of(clone, "One")
    script = clone / ".git/agent.sh"
    undo = "unset GH_CONFIG_DIR GIT_CONFIG_COUNT\n"
    files = 'cat "$HOME/.config/gh/hosts.yml" "$HOME/.git-credentials"\n'
    mine_too = "git config --global user.name\n"
    script.write_text(f"{undo}{logins.TRIES}{files}{mine_too}{FINISHES}")
    args = ["agent-work", "--agent", "night", "--once", "--runner", f"sh {script} {{prompt_file}}"]
    done = run_ghp(args, clone, {"PATH": f"{path}:{boxes.ENV['PATH']}"})
    assert done.code == 0, done.err
    log = run_ghp("agent-logs night", clone).out
    assert logins.SECRET not in log
    assert (log.count("could not read Username"), log.count("Ann")) == (2, 1)
    assert states(shift.runs()) == [("night", 1, "finished")]
    assert git(clone, "ls-remote", "origin", "refs/heads/agent/night/1-one")
    shift.end_all()


def test_without_bubblewrap_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "trouble", lambda _: "no such program")
    with pytest.raises(NotSetUpError) as caught:
        sandbox.required({})
    assert str(caught.value) == (
        "The setting `runs.sandbox` is bwrap, but it cannot be used: no such program."
    )


def test_sockets_of_other_programs_are_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docker.sock").touch()
    (tmp_path / "user").mkdir()
    places = [str(tmp_path / name) for name in ("user", "docker.sock", "none")]
    monkeypatch.setattr(sandbox, "SOCKETS", places)
    words = " ".join(sandbox.wrap(["a"], tmp_path, [], BoxView()))
    assert f"--tmpfs {places[0]} --bind /dev/null {places[1]} " in words
    assert places[2] not in words


def test_what_a_box_has_for_itself_shows_what_its_command_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script with what is beside it, but no file that is nobody's, and no device."""
    monkeypatch.setattr(sandbox, "PRIVATE", (str(tmp_path), "/dev"))
    (tmp_path / "bin").mkdir()
    for name in ("bin/agent.sh", "alone.sh"):
        (tmp_path / name).touch()
    named = [str(tmp_path / name) for name in ("bin/agent.sh", "alone.sh", "none.sh", "")]
    words = sandbox.wrap([*named, "/dev/null", "a\0b"], Path("/tree"), [], BoxView())
    shown = [words[at + 1] for at, word in enumerate(words) if word == "--ro-bind"]
    assert {path for path in shown if path.startswith(str(tmp_path))} == {
        str(tmp_path / "bin"), str(tmp_path / "alone.sh"),
    }  # fmt: skip
    assert "/dev/null" not in shown


def test_the_command_line() -> None:
    binds = [
        Bind(Path("/repo/.git"), Path("/repo/.git"), is_writable=False),
        Bind(Path("/repo/.git/cache"), Path("/own"), is_writable=True),
    ]
    words = sandbox.wrap(["a", "b"], Path("/tree"), binds, BoxView())
    assert words[:11] == [
        "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc",
    ]  # fmt: skip
    assert words[-11:] == [
        "--ro-bind", "/repo/.git", "/repo/.git", "--bind", "/own", "/repo/.git/cache",
        "--chdir", "/tree", "--", "a", "b",
    ]  # fmt: skip
