"""Commands in texts and hints: each that starts work runs as it is printed."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ghp import invoke, succeed
from tests.support.repos import Restored, Site

COMMAND = re.compile(r"ghp (agent-start [^`\n]*)")


def team(site: Site) -> None:
    """#1: an agent that has stopped; #2: nobody; #3: given to an agent that nobody knows."""
    repo = site.make_repo()
    for title in ("Parse", "Print", "Sort"):
        succeed(repo, f"agent-issue new {title}")
    succeed(repo, "agent-claim 1 --as w1", "agent-heartbeat --status stopped --as w1")
    succeed(repo, "agent-claim 3 --as w1", "agent-release 3 --to w9 --as w1")
    succeed(repo, "agent-heartbeat --status stopped --as w1")


@pytest.fixture
def repo(restored: Restored, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GHP_AGENT", raising=False)
    return restored(team).repo


def printed(repo: Path, command: str) -> Iterator[str]:
    done = invoke(command, repo)
    for text in COMMAND.findall(done.out + done.err):
        yield text.strip()


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("agent-where 2", ["agent-start 2 --as NAME"]),
        ("agent-where w9", ["agent-start --next --as w9"]),
        ("agent-explain 1", ["agent-start 1 --as w1"]),
        ("agent-explain 2", ["agent-start 2 --as NAME"]),
        ("agent-explain 3", ["agent-start 3 --as w9"]),
        ("agent-explain w1", ["agent-start 1 --as w1"]),
    ],
)
def test_each_command_that_starts_work_runs_as_printed(
    repo: Path, line: str, commands: list[str]
) -> None:
    assert list(printed(repo, line)) == commands
    for command in commands:
        done = invoke(command, repo)
        assert done.code == 0, done.err


def test_it_names_nobody_where_the_environment_does(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHP_AGENT", "w5")
    assert list(printed(repo, "agent-where 2")) == ["agent-start 2"]
    assert invoke("agent-start 2", repo).code == 0
