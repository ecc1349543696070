"""What is asked of GitHub is counted, and where nothing has changed nothing is asked twice."""

from pathlib import Path

import pytest

from bench import requests
from bench.place import Place
from tests.support.github import World


@pytest.mark.slow
def test_a_few_issues_cost_no_more_requests_than_a_thousand_may(
    github_world: World, tmp_path: Path
) -> None:
    figures = requests.measure(Place(tmp_path, quick=True))
    assert [figure.name for figure in figures] == [
        "sweep of 30 issues, 4 agents: the first",
        "sweep of 30 issues, 4 agents: nothing changed",
        "sync, nothing changed",
        "what of these two was not 304",
        "an hour of 2 × 2 agents: most writes in an hour",
        "an hour of 2 × 2 agents: most writes in a minute",
        "an hour of 2 × 2 agents: refused by a limit",
        "action, 30 issues: the first job",
        "action, 30 issues: nothing changed",
    ]
    assert [figure for figure in figures if not figure.holds] == []
