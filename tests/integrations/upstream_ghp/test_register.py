"""Our hooks with upstream's `ghp`: registered once by its own commands, and taken away again."""

import os
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError
from ghp_agents.integrations.upstream_ghp import register as services
from ghp_agents.integrations.upstream_ghp.hooks import EVENTS
from ghp_agents.integrations.upstream_ghp.register import Upstream
from tests.support import upstream as theirs

THEIRS = {
    "--event": "issue-started",
    "--command": "ragtime new-branch ${issue.number}",
    "--display-name": "Ragtime",
}


@pytest.fixture
def ghp(tmp_path: Path) -> Upstream:
    """Upstream's `ghp`, with a hook of somebody else's."""
    env = {**os.environ, **theirs.install(tmp_path / "bin"), "GITHUB_TOKEN": "secret"}
    upstream = Upstream(str(tmp_path / "bin/ghp"), tmp_path, env)
    upstream.call(["hooks", "add", "ragtime", *(word for pair in THEIRS.items() for word in pair)])
    return upstream


def register(ghp: Upstream, python: str = "/py") -> list[str]:
    steps = services.to_register(ghp, python)
    for step in steps:
        step.act()
    return [f"{step.did} {step.what}" for step in steps]


def take(ghp: Upstream) -> list[str]:
    steps = services.to_take(ghp)
    for step in steps:
        step.act()
    return [f"{step.did} {step.what}" for step in steps]


WITH = "with upstream's ghp"
NAMES = [
    *(f"the event hook ghp-agents-{event} {WITH}" for event in EVENTS),
    f"the dashboard hook ghp-agents {WITH}",
]


@pytest.mark.slow
def test_all_hooks_are_registered_once(ghp: Upstream, home: Path) -> None:
    assert register(ghp) == [f"Registered {name}" for name in NAMES]
    assert register(ghp) == []
    assert [hook["name"] for hook in theirs.hooks(home)] == [
        "ragtime", *(f"ghp-agents-{event}" for event in EVENTS),
    ]  # fmt: skip
    assert theirs.hooks(home)[-1] == {
        "name": "ghp-agents-pr-merged",
        "displayName": "Agents: pr-merged",
        "event": "pr-merged",
        "command": "/py -P -m ghp_agents agent-event pr-merged ${_event_file}",
        "enabled": True,
        "timeout": 30_000,
        "mode": "fire-and-forget",
    }
    assert theirs.hooks(home, "dashboard-hooks.json") == [
        {
            "name": "ghp-agents",
            "displayName": "Agents",
            "command": "/py -P -m ghp_agents agent-dashboard",
            "category": "agents",
            "enabled": True,
            "timeout": 5_000,
        }
    ]


@pytest.mark.slow
def test_a_second_look_starts_nothing(ghp: Upstream, home: Path) -> None:
    register(ghp)
    before = theirs.calls(home)
    assert services.to_register(ghp, "/py") == []
    assert theirs.calls(home) == before


@pytest.mark.slow
def test_another_interpreter_replaces_what_is_registered(ghp: Upstream, home: Path) -> None:
    register(ghp)
    assert len(register(ghp, "/new py")) == len(NAMES)
    assert all("'/new py'" in hook["command"] for hook in theirs.hooks(home)[1:])
    assert len(theirs.hooks(home)) == len(NAMES)


@pytest.mark.slow
def test_what_was_begun_is_gone_on_with(ghp: Upstream) -> None:
    services.to_register(ghp, "/py")[0].act()
    assert register(ghp) == [f"Registered {name}" for name in NAMES[1:]]


@pytest.mark.slow
def test_only_ours_are_taken_away(ghp: Upstream, home: Path) -> None:
    before = theirs.hooks(home)
    register(ghp)
    assert take(ghp) == [f"Removed {name}" for name in NAMES]
    assert take(ghp) == []
    assert theirs.hooks(home) == before
    assert theirs.hooks(home, "dashboard-hooks.json") == []


@pytest.mark.slow
def test_upstream_gets_no_token(ghp: Upstream, home: Path) -> None:
    register(ghp)
    assert theirs.tokens(home) == {None}


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 5}', "[" * 100_000])
def test_a_file_that_upstream_would_begin_anew_stops_it(
    ghp: Upstream, home: Path, text: str
) -> None:
    path = home / ".config/ghp-cli/event-hooks.json"
    path.write_text(text)
    with pytest.raises(GhpError, match="overwrite the file and lose all hooks in it"):
        services.to_register(ghp, "/py")
    with pytest.raises(GhpError, match="overwrite the file and lose all hooks in it"):
        services.to_take(ghp)
    assert path.read_text() == text


@pytest.mark.slow
def test_what_upstream_refuses_is_said_in_its_words(ghp: Upstream) -> None:
    register(ghp)
    with pytest.raises(GhpError) as caught:
        ghp.call(["hooks", "remove", "nobody"])
    assert str(caught.value) == ('`ghp hooks remove nobody` failed: Error: Hook "nobody" not found')


def program(folder: Path, text: str) -> Upstream:
    folder.mkdir()
    path = folder / "ghp"
    path.write_text(text)
    path.chmod(0o755)
    return Upstream(str(path), folder, os.environ)


def test_upstream_is_known_by_its_help(ghp: Upstream) -> None:
    ghp.check()


def test_another_program_of_that_name_is_not_asked_to_do_anything(tmp_path: Path) -> None:
    pages = program(tmp_path / "pages", '#!/bin/sh\necho "deploy to pages"\n')
    with pytest.raises(GhpError, match="is another program that is also called `ghp`"):
        pages.check()


def test_one_that_cannot_be_started_is_said(tmp_path: Path) -> None:
    broken = program(tmp_path / "broken", "#!/nonexistent/node\n")
    with pytest.raises(GhpError, match=r"Cannot start .+: No such file"):
        broken.check()
