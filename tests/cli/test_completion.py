"""Completion: what a shell is told on the tab key, and that it is told by both names."""

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


def ask(folder: Path, name: str, env: dict[str, str]) -> list[str]:
    """The lines that the program answers a shell with, outside of any repository."""
    script = folder / name
    script.write_text(OURS)
    script.chmod(0o755)
    done = subprocess.run(
        [script], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("ghp agent-e", ["agent-escalate", "agent-escalations"]),
        ("ghp agent-issue re", ["reopen"]),
        ("ghp agent-escalate --u", ["--urgency"]),
        ("ghp agent-escalate --urgency ", ["low", "normal", "high"]),
    ],
)
def test_a_shell_is_told_what_may_come_next(tmp_path: Path, words: str, told: list[str]) -> None:
    count = words.count(" ")
    env = {"COMP_WORDS": words, "COMP_CWORD": str(count), "_GHP_COMPLETE": "bash_complete"}
    assert ask(tmp_path, "ghp", env) == [f"plain,{word}" for word in told]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_name_completes_itself(tmp_path: Path, shell: str) -> None:
    for name, variable in (("ghp", "_GHP_COMPLETE"), ("ghp-agents", "_GHP_AGENTS_COMPLETE")):
        script = "\n".join(ask(tmp_path, name, {variable: f"{shell}_source"}))
        assert f"{variable}={shell}_complete" in script
        assert f" {name}" in script
