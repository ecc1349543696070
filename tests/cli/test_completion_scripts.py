"""The static completion scripts, asked in real shells."""

import functools
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.cli.app import COMMANDS
from tests.support.ghp import CHECKOUT, invoke

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
PATH= _ghp_agents
printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh itself drops what does not begin with the last word.
ZSH = """
source "$1"; shift
emulate sh; setopt kshglob
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
PATH= _ghp_agents
last=${COMP_WORDS[$COMP_CWORD]}
for word in "${COMPREPLY[@]}"; do [[ $word != $last* ]] || printf '%s\\n' "$word"; done
"""
FISH = """
source $argv[1]
for line in (complete -C "$argv[2..]"); string split -m1 \\t -- $line | head -n1; end
"""
STARTS = {
    "bash": ["bash", "--norc", "-c", BASH, "bash"],
    "zsh": ["zsh", "-f", "-c", ZSH, "zsh"],
    "fish": ["fish", "--no-config", "-c", FISH],
}
Ask = Callable[..., list[str]]


@functools.cache
def printed(shell: str) -> str:
    return invoke(["completion", shell], CHECKOUT).out


@pytest.fixture(params=["bash", pytest.param("zsh", marks=pytest.mark.slow), "fish"])
def ask(request: pytest.FixtureRequest, tmp_path: Path) -> Ask:
    """What a shell completes after these words; the last one is begun."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / f"script.{shell}"
    script.write_text(printed(shell))

    def answer(*words: str, folder: Path = tmp_path) -> list[str]:
        done = subprocess.run(
            [*STARTS[shell], script, *words], cwd=folder, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return answer


def test_all_commands_are_completed_by_both_names(ask: Ask) -> None:
    for program in ("ghp", "ghp-agents"):
        assert sorted(ask(program, "agent-")) == sorted(COMMANDS)
        assert ask(program, "agent-escalat") == ["agent-escalate", "agent-escalations"]


def test_ghpa_completes_its_commands_without_the_prefix(ask: Ask) -> None:
    assert sorted(ask("ghpa", "")) == sorted(name.removeprefix("agent-") for name in COMMANDS)
    assert ask("ghpa", "stat") == ["status"]
    assert ask("ghpa", "issue", "re") == ["reopen"]
    assert ask("ghpa", "-C", "folder", "issue", "new", "Title", "--priority", "hi") == ["high"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("agent-issue", "re"), ["reopen"]),
        (("agent-issue", "new", "--pri"), ["--priority"]),
        (("agent-issue", "new", "-h"), ["-h"]),
        (("agent-issue", "new", "Title", "--priority", "hi"), ["high"]),
        (("agent-escalate", "Why?", "--urgency", "n"), ["normal"]),
        (("agent-escalate", "--urgency", "low", "--urg"), ["--urgency"]),
        (("agent-log", "--event", "issue-clo"), ["issue-close"]),
        (("agent-issue", "new", "--assign", "show", "--bod"), ["--body"]),
    ],
)
def test_subcommands_options_and_choices_are_completed(
    ask: Ask, words: tuple[str, ...], expected: list[str]
) -> None:
    assert ask("ghp", *words) == expected


def test_files_are_completed_where_a_command_takes_files(ask: Ask, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (folder / "parser.py").touch()
    assert ask("ghp", "agent-check", "par", folder=folder) == ["parser.py"]
    assert ask("ghp", "agent-status", "par", folder=folder) == []
