"""Rights as refs keep the contract: within a clone, around a remote, and as branches."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.contracts.lock_service import STEPS, LockContract, RemoteLockContract, Steps, play
from tests.locks.fields import CloneField, LocalField
from tests.support import repos
from tests.support.git import refs
from tests.support.hosts import ONLY_BRANCHES, hook

Clones = Callable[[int], list[Path]]


class TestWithoutRemote(LockContract):
    crowd = 12

    @pytest.fixture
    def field(self, repo: Path) -> LocalField:
        return LocalField(repo)


@pytest.mark.sample(20)
class TestAroundARemote(RemoteLockContract):
    @pytest.fixture
    def field(self, remote: Path, clones: Clones) -> CloneField:
        return CloneField(remote, clones)


@pytest.mark.slow
@pytest.mark.cases(10)
class TestOnAHostThatTakesOnlyBranches(RemoteLockContract):
    crowd = 4

    @pytest.fixture
    def field(self, remote: Path, clones: Clones) -> CloneField:
        hook(remote, "update", ONLY_BRANCHES)
        return CloneField(remote, clones)

    @pytest.fixture(autouse=True)
    def nothing_elsewhere(self, field: CloneField) -> object:
        yield
        kinds = {ref.split("/ghp/")[0] for ref in refs(field.remote) if "/ghp/" in ref}
        assert kinds <= {"refs/heads"}


PLAYED = settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.slow
@given(steps=STEPS)
@PLAYED
def test_a_right_in_one_clone_goes_as_one_chain_whatever_the_rivals_do(
    templates: repos.Templates, tmp_path: Path, steps: Steps
) -> None:
    shutil.rmtree(tmp_path / "repo", ignore_errors=True)
    play(LocalField(repos.copy_alone(templates, tmp_path / "repo")), steps)


@pytest.mark.slow
@given(steps=STEPS)
@PLAYED
def test_a_right_around_a_remote_goes_as_one_chain_whatever_the_rivals_do(
    templates: repos.Templates, tmp_path: Path, steps: Steps
) -> None:
    shutil.rmtree(tmp_path / "field", ignore_errors=True)
    place = tmp_path / "field"
    place.mkdir()
    remote = repos.copy_remote(templates, place / "remote.git")
    folders: list[Path] = []

    def clones(count: int) -> list[Path]:
        new = [place / f"clone-{len(folders) + number}" for number in range(count)]
        folders.extend(repos.copy_clone(templates, path, remote) for path in new)
        return new

    play(CloneField(remote, clones), steps)
