"""What tests with the real clients have: the clients themselves, and models to talk to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clients import Bench
from tests.support.fake_models import FakeModels, serve
from tools import clients


@pytest.fixture(scope="session")
def installed() -> clients.Clients:
    """The pinned clients; without a way to the registry there is nothing to test."""
    try:
        return clients.ready()
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
