"""What tests with the real clients have: the clients themselves, and models to talk to."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import guard
from tests.support.clients import Bench
from tests.support.fake_models import FakeModels, serve
from tools import clients


@pytest.fixture(scope="session")
def installed() -> clients.Clients:
    """The pinned clients; without a way to the registry there is nothing to test."""
    try:
        # Tests have a home of their own; npm is set up in the user's.
        with guard.machine_path():
            return clients.ready(home=pwd.getpwuid(os.getuid()).pw_dir)
    except clients.UnreachableError as error:
        pytest.skip(f"the registry of npm cannot be reached: {str(error).splitlines()[0]}")


@pytest.fixture
def models() -> Iterator[FakeModels]:
    """A model API for one test."""
    with serve() as models:
        yield models


@pytest.fixture
def bench(installed: clients.Clients, models: FakeModels, home: Path) -> Bench:
    """Everything that a session is started with."""
    return Bench(installed, models, home)


@pytest.fixture(autouse=True)
def nothing_logged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hooks keep their failures to themselves; here they come out."""
    log = None
    if "repo" in request.fixturenames:
        log = Path(request.getfixturevalue("repo"), ".git/ghp/log.jsonl")
    yield
    assert log is None or not log.exists(), log.read_text()
