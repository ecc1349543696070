"""`agent-init --labels`: labels that are missing on GitHub are made, and nothing else happens."""

from pathlib import Path

import pytest

from ghp_agents.github.labels import standard
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.github import ADMIN, GitHub

NAMES = [label.name for label in standard()]


@pytest.fixture
def clone(github: GitHub) -> Path:
    return github.clone("here")


def ghp(github: GitHub, clone: Path, words: str) -> Result:
    github.proxy.clock = clock = ManualClock()
    return invoke(words, clone, github.environment(), clock=clock)


def there(github: GitHub) -> dict[str, tuple[str, str]]:
    listed = github.act(ADMIN, "GET", "labels", per_page="100")
    return {label["name"]: (label["color"], label["description"]) for label in listed}


def test_missing_ones_are_made_with_their_looks_and_others_stay(
    github: GitHub, clone: Path
) -> None:
    github.act(ADMIN, "POST", "labels", {"name": "epic", "color": "000000", "description": "Mine"})
    before = there(github)
    missing = [name for name in NAMES if name not in before]
    assert ghp(github, clone, "agent-init --labels --dry-run") == (
        0,
        "".join(f"Would create the label {name} in {github.repository}.\n" for name in missing),
        "",
    )
    assert there(github) == before
    assert ghp(github, clone, "agent-init --labels") == (
        0,
        "",
        "".join(f"✓ Created the label {name}.\n" for name in missing),
    )
    looks = {label.name: (label.color, label.description) for label in standard()}
    assert there(github) == {**looks, **before}


def test_a_second_time_there_is_nothing_to_do(github: GitHub, clone: Path) -> None:
    ghp(github, clone, "agent-init --labels")
    again = ghp(github, clone, "agent-init --labels")
    assert again == (0, "", f"✓ Nothing to do: {github.repository} has the labels.\n")
