"""Everything that is not ours goes to the next `ghp` on PATH, with fake ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT

OURS = (
    f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
    "from ghp_agents.cli.main import main\nmain()\n"
)
UPSTREAM = '#!/bin/sh\necho "upstream:$#:$1:$2" && echo "to stderr" >&2\nexit 7\n'


def put(folder: Path, content: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ghp"
    path.write_text(content)
    path.chmod(0o755)
    return path


def run(path: Path, *args: str, folders: list[Path]) -> tuple[int, str, str]:
    environ = {**os.environ, "PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]])}
    done = subprocess.run([str(path), *args], env=environ, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_a_foreign_command_reaches_upstream_with_its_words_and_exit_code(tmp_path: Path) -> None:
    ours, theirs = put(tmp_path / "a", OURS), put(tmp_path / "b", UPSTREAM)
    folders = [ours.parent, theirs.parent]
    assert run(ours, "work", "--json me", folders=folders) == (
        7,
        "upstream:2:work:--json me\n",
        "to stderr\n",
    )


@pytest.mark.slow
def test_our_commands_never_leave(tmp_path: Path) -> None:
    ours, theirs = put(tmp_path / "a", OURS), put(tmp_path / "b", UPSTREAM)
    code, out, _ = run(ours, "agent-status", "--help", folders=[ours.parent, theirs.parent])
    assert code == 0
    assert out.startswith("Usage: ghp agent-status")


def test_ours_is_passed_over_wherever_it_lies(tmp_path: Path) -> None:
    ours, again = put(tmp_path / "a", OURS), put(tmp_path / "b", OURS)
    (tmp_path / "c").mkdir()
    (tmp_path / "c/ghp").symlink_to(ours)
    theirs = put(tmp_path / "d", UPSTREAM)
    folders = [ours.parent, again.parent, tmp_path / "c", theirs.parent]
    assert run(ours, "work", folders=folders)[0] == 7


@pytest.mark.slow
def test_two_installations_that_find_each_other_do_not_loop(tmp_path: Path) -> None:
    ours = put(tmp_path / "a", OURS)
    wrapper = put(tmp_path / "b", f'#!/bin/sh\nexec {ours} "$@"\n')
    code, out, err = run(ours, "work", folders=[ours.parent, wrapper.parent])
    assert (code, out) == (1, "")
    assert "would call each other" in err


@pytest.mark.slow
def test_two_installations_that_find_each_other_by_new_processes_do_not_loop(
    tmp_path: Path,
) -> None:
    ours = put(tmp_path / "a", OURS)
    wrapper = put(tmp_path / "b", f'#!/bin/sh\n{ours} "$@"\n')
    code, out, err = run(ours, "work", folders=[ours.parent, wrapper.parent])
    assert (code, out) == (1, "")
    assert err.count("would call each other") == 1


@pytest.mark.slow
def test_what_upstream_starts_can_call_upstream_again(tmp_path: Path) -> None:
    ours = put(tmp_path / "a", OURS)
    again = 'test "$1" = start && { ghp work; exit; }'
    starts_an_agent = put(tmp_path / "b", f'#!/bin/sh\n{again}\necho "upstream:$1"\n')
    folders = [ours.parent, starts_an_agent.parent]
    assert run(ours, "start", folders=folders) == (0, "upstream:work\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("launch", "Did you mean `ghp agent-start`? "),
        ("foo", ""),
        ("agnt-status", "Did you mean `ghp agent-status`? "),
        ("status", "Did you mean `ghp agent-status`? "),
        ("lease", "Did you mean `ghp agent-lease` or `ghp agent-leases`? "),
    ],
)
def test_without_upstream_the_error_says_what_may_have_been_meant(
    tmp_path: Path, word: str, meant: str
) -> None:
    ours = put(tmp_path / "a", OURS)
    assert run(ours, word, folders=[ours.parent]) == (
        2,
        "",
        f"Error: ghp-agents has no command `ghp {word}`, and no other `ghp` is on PATH.\n"
        f"Hint: {meant}Our commands start with `agent-`: see `ghp --help`. All others need "
        "upstream GHP.\n",
    )


def test_a_word_of_any_length_and_kind_is_said_back_on_one_short_line(tmp_path: Path) -> None:
    ours = put(tmp_path / "a", OURS)
    code, _, err = run(ours, "x" * 10_000 + "\n", folders=[ours.parent])
    assert (code, len(err) < 300, err.count("\n")) == (2, True, 2)


def test_what_cannot_be_started_is_said(tmp_path: Path) -> None:
    ours, broken = put(tmp_path / "a", OURS), put(tmp_path / "b", "#!/nonexistent/shell\n")
    code, _, err = run(ours, "work", folders=[ours.parent, broken.parent])
    assert code == 1
    assert "Cannot start " in err


def test_without_words_our_help_is_shown(tmp_path: Path) -> None:
    ours = put(tmp_path / "a", OURS)
    assert "agent-status" in run(ours, "--help", folders=[ours.parent])[1]
