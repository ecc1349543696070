"""What tests with the real clients have: the clients themselves, and models to talk to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import outside
from tests.support.clients import Bench
from tests.support.fake_models import FakeModels, serve
from tools import clients


def command(name: str) -> list[str]:
    """The command of a pinned client; without it there is nothing to test."""
    return outside.need(f"the client {name}", lambda home: clients.ready(name, home))


@pytest.fixture
def models() -> Iterator[FakeModels]:
    """A model API for one test."""
    with serve() as models:
        yield models


@pytest.fixture
def bench(models: FakeModels, home: Path) -> Bench:
    """Everything that a session is started with."""
    return Bench(command, models, home)


@pytest.fixture(autouse=True)
def nothing_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hooks keep their failures to themselves; here they come out."""
    log = None
    if "repo" in request.fixturenames:
        log = Path(request.getfixturevalue("repo"), ".git/ghp/log.jsonl")
    yield
    assert log is None or not log.exists(), log.read_text()
