"""Consent is shown, given by people, kept by value, and taken back."""

import os
from pathlib import Path

import pytest

from ghp_agents.consent import service as trust
from ghp_agents.consent.service import ConsentItem
from ghp_agents.core.errors import RefusedError
from ghp_agents.workspace import Workspace, open_workspace
from tests.support.consent import FILE, agree
from tests.support.git import commit, git

CHECKS = '{"agents": {"checks": ["make"]}}'


def at(folder: Path) -> Workspace:
    return open_workspace(folder, dict(os.environ))


def put(clone: Path, files: dict[str, str]) -> str:
    commit_id = commit(clone, files)
    git(clone, "push", "--quiet", "origin", "HEAD")
    return commit_id


def test_what_the_trunk_names_is_shown_with_where_it_is_from(clone: Path) -> None:
    files = {FILE: CHECKS, ".ghp/templates/handoff.md.j2": "{{ goal }}\n"}
    place = f"origin/main ({put(clone, files)[:12]})"
    template = ".ghp/templates/handoff.md.j2"
    assert trust.wanted(at(clone)) == [
        ConsentItem("checks", ("make",), place, False),
        ConsentItem(template, "{{ goal }}", place, False),
    ]
    agree(clone)
    assert [one.counts for one in trust.wanted(at(clone))] == [True, True]
    assert trust.revoke(at(clone))
    assert [one.counts for one in trust.wanted(at(clone))] == [False, False]


def test_agreeing_again_forgets_values_that_are_there_no_more(clone: Path) -> None:
    put(clone, {FILE: CHECKS})
    agree(clone)
    put(clone, {FILE: '{"agents": {"checks": ["make all"]}}'})
    agree(clone)
    assert at(clone).settings.checks == ("make all",)
    put(clone, {FILE: CHECKS})
    assert at(clone).settings.checks == ()


def test_a_trusted_owner_changes_values_on_the_remotes_trunk(clone: Path) -> None:
    put(clone, {FILE: CHECKS})
    trust.agree(at(clone), trust.wanted(at(clone)), owner=True)
    put(clone, {FILE: '{"agents": {"checks": ["make all"]}}'})
    assert at(clone).settings.checks == ("make all",)
    git(clone, "remote", "set-url", "origin", "/somewhere/else")
    assert at(clone).settings.checks == ()


def test_without_a_remote_there_is_no_owner(repo: Path) -> None:
    with pytest.raises(RefusedError, match="There is no remote whose owner you could trust"):
        trust.agree(at(repo), [], owner=True)


def test_ones_own_words_are_a_file_that_came_from_nobody(clone: Path) -> None:
    (clone / ".ghp").mkdir()
    (clone / FILE).write_text(CHECKS)
    assert [(one.key, one.value) for one in trust.own_words(at(clone))] == [("checks", ("make",))]
    git(clone, "add", FILE)
    assert trust.own_words(at(clone)) == []
    git(clone, "rm", "--quiet", "--cached", FILE)
    git(clone, "stash", "push", "--quiet", "--include-untracked")
    put(clone, {FILE: CHECKS})
    git(clone, "rm", "--quiet", "--cached", FILE)
    assert trust.own_words(at(clone)) == [], "the trunk has it"
