"""The state in git keeps the contract, also where refs must be branches and in sha256."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.contracts.state_store import StateStoreContract
from tests.state.clones import GitField
from tests.support.git import commit, git, refs
from tests.support.hosts import ONLY_BRANCHES, hook

Clones = Callable[[int], list[Path]]


@pytest.mark.sample(20)
class TestInGit(StateStoreContract):
    @pytest.fixture
    def field(self, remote: Path, clones: Clones, repo: Path) -> GitField:
        return GitField(remote, clones, repo)


@pytest.mark.slow
@pytest.mark.cases(10)
class TestOnAHostThatTakesOnlyBranches(StateStoreContract):
    @pytest.fixture
    def field(self, remote: Path, clones: Clones, repo: Path) -> Iterator[GitField]:
        hook(remote, "update", ONLY_BRANCHES)
        field = GitField(remote, clones, repo)
        yield field
        assert {ref.split("/")[1] for ref in refs(field.remote)} <= {"heads"}


@pytest.mark.slow
@pytest.mark.cases(10)
class TestInSha256(StateStoreContract):
    @pytest.fixture
    def field(self, tmp_path: Path) -> GitField:
        remote, alone = tmp_path / "remote.git", tmp_path / "alone"
        git(tmp_path, "init", "--quiet", "--object-format=sha256", str(alone))
        commit(alone, {"README.md": "# A project\n"})
        git(tmp_path, "clone", "--quiet", "--bare", str(alone), str(remote))

        def make(count: int) -> list[Path]:
            folders = [
                tmp_path / f"clone-{len(list(tmp_path.glob('clone-*')))}" for _ in range(count)
            ]
            for folder in folders:
                git(tmp_path, "clone", "--quiet", str(remote), str(folder))
            return folders

        return GitField(remote, make, alone)
