"""The guides for several clones, hand-overs and sandboxes: their commands work as typed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.git import git
from tests.support.house import CHECKOUT
from tools import first_session

DOES = {  # what a reader does in place of a line
    "ghp agent-trust": "ghp agent-trust --yes",
    "export GHP_STATE_DIR=/var/tmp/ghp-state": "export GHP_STATE_DIR=$HOME/ghp-state",
}
# Twelve issues by one process instead of twelve.
TASKS = (
    "from ghp_agents.cli.app import run; "
    "print([run(['agent-issue', 'new', f'Task-{n}']) for n in range(1, 13)])"
)


def blocks(page: str, language: str = "sh") -> list[str]:
    """The code of a guide, without remarks."""
    text = (CHECKOUT / "docs" / page).read_text(encoding="utf-8")
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [re.sub(r" +#\s.*", "", block) for block in found]


class World:
    """A person with a clone of a project, whose remote has the address that the guides name."""

    def __init__(self, root: Path) -> None:
        self.env = first_session.environment(root)
        self.home = Path(self.env["HOME"])
        remote = root / "project.git"
        git(root, "init", "-q", "--bare", "-b", "main", str(remote))
        with (self.home / ".gitconfig").open("a") as file:
            file.write(f'[url "{remote}"]\n\tinsteadOf = git@example.org:team/project.git\n')
        client = root / "bin/claude"
        client.write_text('#!/bin/sh\nprintf %s "$1" > ~/prompt\n')
        self.folder = self.home / "project"
        self.types("git clone -q git@example.org:team/project.git", self.home)
        self.types("git commit -q --allow-empty -m Start && git push -q origin HEAD:main")

    def types(self, script: str, folder: Path | None = None) -> str:
        """What a script of the shell prints; every line of it must end with 0."""
        lines = (DOES.get(line, line) for line in script.splitlines())
        done = subprocess.run(
            ["bash", "-ec", "\n".join(lines)], cwd=folder or self.folder, env=self.env,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def at_work(self) -> Path:
        """worker-1 works on #12, with uncommitted changes; returns its worktree."""
        self.types(f'"{sys.executable}" -P -c "{TASKS}"')
        self.types("ghp agent-start 12 --as worker-1")
        place = Path(self.types("ghp agent-where 12").strip())
        (place / "lexer").write_bytes(b"half\r\n\0")
        return place


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


@pytest.mark.slow
def test_work_is_handed_to_another_agent_in_another_clone(world: World) -> None:
    give, start, *_ = blocks("hand-over.md")
    world.types(give, world.at_work())
    other = world.home / "other"
    world.types("git clone -q git@example.org:team/project.git other", world.home)
    world.types(f"ghp agent-sync\n{start}", other)
    place = Path(world.types("ghp agent-where 12", other).strip())
    prompt = (world.home / "prompt").read_text()
    assert prompt.startswith("You are agent worker-2. ")
    assert "The lexer is half done." in prompt
    world.types("ghp agent-resume --apply", place)
    assert (place / "lexer").read_bytes() == b"half\r\n\0"


@pytest.mark.slow
def test_an_agent_keeps_its_issue_over_a_checkpoint(world: World) -> None:
    _, _, keep, _ = blocks("hand-over.md")
    world.types(keep, world.at_work())
    assert "Lunch." in world.types("ghp agent-resume --issue 12")


@pytest.mark.slow
def test_an_agent_is_stopped_and_another_gets_its_issue(world: World) -> None:
    *_, stop = blocks("hand-over.md")
    world.at_work()
    world.types(stop)
    assert (world.home / "prompt").read_text().startswith("You are agent worker-2. ")
    assert "Wrong approach." in world.types("ghp agent-log")


@pytest.mark.slow
def test_a_clone_is_added_and_all_clones_are_seen(world: World) -> None:
    add, look = blocks("fleet.md")
    world.at_work()
    world.types("ghp agent-sync")
    machine = world.home / "machine"
    machine.mkdir()
    world.types(add, machine)
    shown = world.types(look, machine / "project")
    assert "worker-1" in shown
    assert "origin answers; " in shown
    assert (machine / "project/.claude/settings.local.json").exists()


@pytest.mark.slow
def test_codex_may_write_to_the_folder_that_the_guide_names(world: World) -> None:
    (wanted,) = blocks("sandboxes.md", "toml")
    assert "cannot write to" in world.types("ghp agent-init --hooks codex 2>&1")
    (world.home / ".codex").mkdir(exist_ok=True)
    lines = wanted.replace("/path/to/the/repository", str(world.folder))
    (world.home / ".codex/config.toml").write_text(lines)
    assert "cannot write to" not in world.types("ghp agent-init --hooks codex 2>&1")


@pytest.mark.slow
def test_a_container_keeps_presence_in_a_folder_of_its_own(world: World) -> None:
    (export,) = blocks("sandboxes.md")
    shown = world.types(f"{export}ghp agent-heartbeat --as worker-1\nghp agent-status --plain")
    assert "worker-1" in shown
