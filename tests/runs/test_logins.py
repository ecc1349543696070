"""A run's programs have no login for GitHub that its card does not give them; our own have it."""

import os
import sys
from pathlib import Path

import pytest

from ghp_agents.cards.card import AgentCard
from ghp_agents.runs import folder, launch, rights, runners
from ghp_agents.runs.launch import RunCommand
from ghp_agents.wiring import App
from tests.support.logins import SECRET, TRIES, store
from tests.support.runs import Shift, ended

OURS = f"""
{sys.executable} -c '
import os
from ghp_agents.git import process
asked = b"protocol=https\\nhost=github.com\\n\\n"
print("ours", process.run(["credential", "fill"], cwd=".", stdin=asked).text.split()[-1])'
"""


@pytest.fixture
def login(shift: Shift, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = store(shift.repo, Path(os.environ["HOME"]), tmp_path / "bin")
    monkeypatch.setenv("PATH", path)


def printed(shift: Shift, script: str, card: AgentCard, keep: tuple[str, ...] = ()) -> str:
    """What a run of this card prints."""
    path = shift.repo.parent / "agent.sh"
    path.write_text(script)
    runner = runners.find(f"sh {path} {{prompt_file}}")
    command = RunCommand(runner, card=card, keep=(*keep, *rights.kept(card)))

    def make(at: Path, name: str) -> App:
        return shift.app(name, at)

    ws = shift.app("worker-1").ws
    begun = launch.launch(make, ws, command, launch.prepare(make, ws, "worker-1", 1, ()), None)
    place = folder.of(ws, begun.run.id)
    ended(place)
    assert begun.child
    begun.child.kill()
    return (place / "log").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("login")
def test_a_run_without_the_right_finds_no_stored_login_and_our_own_git_does(shift: Shift) -> None:
    log = printed(shift, TRIES + OURS, AgentCard("worker-1"))
    assert log.splitlines()[-1] == f"ours password={SECRET}"
    assert log.count(SECRET) == 1
    assert log.count("could not read Username") == 2  # of both hosts
    assert "not logged in" in log


@pytest.mark.slow
@pytest.mark.usefixtures("login")
def test_a_card_with_the_right_or_a_token_of_the_person_keeps_the_login(shift: Shift) -> None:
    assert printed(shift, TRIES, AgentCard("worker-1", github=True)).count(SECRET) == 3


@pytest.mark.slow
@pytest.mark.usefixtures("login")
def test_checks_of_a_run_find_no_login_either(shift: Shift) -> None:
    """The environment of checks has no settings of git but these."""
    inner = f"""{sys.executable} -c '
import os, subprocess
from ghp_agents.core.child_env import for_commands
subprocess.run(["sh", "-c", os.environ["TRIES"]], env=for_commands(os.environ))'
"""
    path = shift.repo.parent / "tries.sh"
    path.write_text(TRIES)
    script = f'export TRIES="$(cat {path})"\n{inner}'
    log = printed(shift, script, AgentCard("worker-1"))
    assert SECRET not in log
    assert log.count("could not read Username") == 2
