"""Settings come from what is checked out, from the trunk, and from the person's own file."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.git import process as git_door
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import open_workspace, settings_at
from tests.support.consent import FILE, agree, configure, mine
from tests.support.ghp import succeed
from tests.support.git import commit, git


def settings(folder: Path) -> Settings:
    return open_workspace(folder, dict(os.environ)).settings


def test_what_runs_something_counts_from_the_trunk_and_the_rest_as_checked_out(
    clone: Path,
) -> None:
    configure(clone, {"agents": {"checks": ["make test"], "throttle": 1}})
    (clone / FILE).write_text(json.dumps({"agents": {"checks": ["sh evil"], "throttle": 2}}))
    loaded = settings(clone)
    assert (loaded.checks, loaded.throttle, loaded.unagreed) == (("make test",), 2.0, {})


def test_a_commit_here_counts_when_it_is_on_the_remotes_trunk(clone: Path) -> None:
    commit(clone, {FILE: '{"agents": {"checks": ["make"]}}'})
    agree(clone)
    assert settings(clone).checks == ()
    git(clone, "push", "--quiet", "origin", "HEAD")
    assert settings(clone).checks == ("make",)


def test_other_values_on_the_trunk_are_asked_for_again_and_the_same_stay_good(clone: Path) -> None:
    configure(clone, {"agents": {"checks": ["make"], "orchestrators": ["lead"]}})
    commit(clone, {FILE: '{"agents": {"checks": ["make", "sh"], "orchestrators": ["lead"]}}'})
    git(clone, "push", "--quiet", "origin", "HEAD")
    loaded = settings(clone)
    assert (loaded.checks, loaded.orchestrators) == ((), ("lead",))
    assert (loaded.unagreed, loaded.trunk_place) == ({"checks": ("make", "sh")}, "main")
    assert settings(clone) == loaded, "the cache has the same"


@pytest.mark.slow
def test_the_trunk_names_another_trunk_only_with_consent(clone: Path) -> None:
    git(clone, "push", "--quiet", "origin", "HEAD:dev")
    git(clone, "fetch", "--quiet")
    commit(clone, {FILE: '{"agents": {"trunk": "dev"}}'})
    git(clone, "push", "--quiet", "origin", "HEAD:main")
    assert settings(clone).trunk is None
    agree(clone)
    assert settings(clone).trunk == "dev"
    git(clone, "checkout", "--quiet", "-b", "next", "origin/dev")
    commit_id = commit(clone, {FILE: '{"agents": {"checks": ["make"]}}'})
    git(clone, "push", "--quiet", "origin", "HEAD:dev")
    assert settings(clone).unagreed == {"checks": ("make",)}
    agree(clone)
    assert (settings(clone).checks, settings(clone).trunk) == (("make",), "dev")
    assert settings_at(open_workspace(clone, {"HOME": "/nonexistent"}), commit_id).checks == ()


def test_what_would_be_found_without_the_key_needs_no_consent(clone: Path) -> None:
    commit(clone, {FILE: '{"mainBranch": "main", "agents": {"remote": "origin"}}'})
    git(clone, "push", "--quiet", "origin", "HEAD")
    loaded = settings(clone)
    assert (loaded.trunk, loaded.remote, loaded.unagreed) == ("main", "origin", {})


def test_the_persons_own_word_goes_before_all(clone: Path) -> None:
    commit(clone, {FILE: '{"agents": {"trunk": "dev", "checks": ["sh"], "remote": "x"}}'})
    git(clone, "push", "--quiet", "origin", "HEAD")
    mine({"mainBranch": "main", "agents": {"checks": ["make"], "remote": "origin"}})
    loaded = settings(clone)
    assert (loaded.trunk, loaded.checks, loaded.remote) == ("main", ("make",), "origin")
    assert loaded.unagreed == {}


def test_a_file_on_the_trunk_that_cannot_be_read_counts_as_it_was(clone: Path) -> None:
    configure(clone, {"agents": {"checks": ["make"]}})
    commit(clone, {FILE: "{"})
    git(clone, "push", "--quiet", "origin", "HEAD")
    (clone / FILE).write_text("{}")
    assert settings(clone).checks == ("make",)  # as when it could be read


def test_a_trunk_that_did_not_move_costs_no_process(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(clone, {"agents": {"checks": ["make"]}})
    first = settings(clone)
    started: list[object] = []
    real = git_door.run

    def counted(*args: Any, **how: Any) -> git_door.Result:
        started.append(args)
        return real(*args, **how)

    monkeypatch.setattr(git_door, "run", counted)
    assert settings(clone) == first
    git(clone, "pack-refs", "--all")
    assert settings(clone) == first
    assert started == []


@pytest.mark.slow
def test_a_copied_clone_reads_its_own_main_and_not_that_of_its_original(
    clone: Path, tmp_path: Path
) -> None:
    succeed(clone, "agent-init", "agent-status")
    copy = Path(shutil.copytree(clone, tmp_path / "copy", symlinks=True))
    commit(copy, {".ghp/agents/night.md": "---\nmodel: opus\n---\n"})
    git(copy, "push", "--quiet", "origin", "HEAD:main")
    card = open_workspace(copy, dict(os.environ)).settings.card("night")
    assert card is not None
    assert card.model == "opus"
