"""A clone without a token has the tracker that others recorded, not one of its own."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.github.tokenless.forge import TokenlessForge
from ghp_agents.github.tokenless.tracker import TokenlessTracker
from ghp_agents.issues.local import LocalTracker
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.wiring import App
from tests.github.tokenless.conftest import Clone
from tests.support import hubs


def app(repo: Path, **agents: object) -> App:
    if agents:
        (repo / ".ghp").mkdir(exist_ok=True)
        (repo / ".ghp/config.json").write_text(json.dumps({"agents": agents}))
    return App(repo, {"HOME": str(repo.parent), "PATH": "/usr/bin:/bin"})


def test_the_recorded_tracker_counts_without_a_token(repo: Path, clone: Clone) -> None:
    here = app(repo)
    assert here.hub is None
    assert here.place_without_token == clone.tracker._replace(clock=1)
    assert isinstance(here.tracker, TokenlessTracker)
    assert isinstance(here.knowing_tracker, TokenlessTracker)
    assert isinstance(here.forge, TokenlessForge)


def test_github_may_be_required_without_a_token_once_it_is_recorded(
    repo: Path, clone: Clone
) -> None:
    assert isinstance(app(repo, tracker="github").tracker, TokenlessTracker)


@pytest.mark.parametrize("agents", [{"tracker": "local"}, {"push": False}])
def test_settings_that_keep_issues_here_do(
    repo: Path, clone: Clone, agents: dict[str, object]
) -> None:
    assert isinstance(app(repo, **agents).tracker, LocalTracker)


def test_where_nobody_recorded_one_issues_are_in_the_state(repo: Path) -> None:
    assert isinstance(app(repo).tracker, LocalTracker)


def test_a_clone_of_githubs_that_never_fetched_does_so_before_it_numbers_issues(
    clones: Callable[[int], list[Path]], clone: Clone
) -> None:
    """Else its own #1 would have the claims of GitHub's #1."""
    one, two = clones(2)
    ws = hubs.workspace(one)
    store = GitRefsStore(ws)
    Clone(ws, store, clone.tracker).publish()
    assert store.sync().pushed
    assert isinstance(app(two, tracker="github").tracker, TokenlessTracker)
