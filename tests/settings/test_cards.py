"""Cards count as the default branch has them: for what an agent can do, and with consent for what
it may do."""

import os
from pathlib import Path

from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import open_workspace
from tests.support.consent import agree
from tests.support.git import commit, git

CARD = ".ghp/agents/night.md"
RIGHTS = "---\ncapabilities: [rust]\ngithub: true\n---\n"


def settings(folder: Path) -> Settings:
    return open_workspace(folder, dict(os.environ)).settings


def test_what_an_agent_can_do_counts_at_once_and_what_it_gets_only_with_consent(
    clone: Path,
) -> None:
    commit(clone, {CARD: RIGHTS})
    assert settings(clone).card("night") is None  # not on the remote's default branch
    git(clone, "push", "--quiet", "origin", "HEAD")
    card = settings(clone).card("night")
    assert (settings(clone).capabilities, card and card.approved) == ({"night": ("rust",)}, False)
    agree(clone)
    card = settings(clone).card("night")
    assert card
    assert card.approved


def test_other_rights_are_asked_for_again(clone: Path) -> None:
    commit(clone, {CARD: RIGHTS})
    git(clone, "push", "--quiet", "origin", "HEAD")
    agree(clone)
    commit(clone, {CARD: RIGHTS.replace("rust", "go")})
    git(clone, "push", "--quiet", "origin", "HEAD")
    card = settings(clone).card("night")
    assert (settings(clone).capabilities, card and card.approved) == ({"night": ("go",)}, False)


def test_a_persons_setting_overrides_a_card(repo: Path) -> None:
    commit(repo, {CARD: RIGHTS, ".ghp/config.json": '{"agents": {"capabilities": {"night": []}}}'})
    assert settings(repo).capabilities == {"night": ()}
