"""GitHub's pull requests are seen by the same commands as local ones."""

import pytest

from tests.support.clock import ManualClock
from tests.support.faults import Asked, Fault
from tests.support.ghp import Result, invoke
from tests.support.git import git
from tests.support.github import ADMIN, WORKER_1, GitHub
from tests.support.road import Road

BRANCH = "agent/worker-1/1-parse-files"


@pytest.fixture
def road(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Road:
    """A clone, and issue #1 with the open pull request #2 of an agent."""
    for name, value in {**github.environment(ADMIN), "GHP_BACKGROUND": "0"}.items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = clock = ManualClock()
    github.issue("Parse files")
    road = Road(github.clone("clone"), clock)
    road.done("worker-1", 1, {"a.txt": "mine\n"})
    return road


def ghp(road: Road, args: str) -> Result:
    return invoke(args, road.folder, clock=road.clock)


@pytest.mark.slow
def test_an_agents_pull_request_is_listed_and_shown(road: Road, github: GitHub) -> None:
    assert ghp(road, "agent-pulls") == Result(
        0,
        f"""\
PULL  STATE  ISSUE  BRANCH                        AUTHOR    TITLE
#2    open   #1     {BRANCH}  worker-1  Parse files
""",
        "",
    )
    page = ghp(road, "agent-pull show 2").out.split("\n\n")[0].splitlines()
    assert (page[0], page[4:6]) == ("#2 «Parse files»", ["issue: #1", "fits main: yes"])
    assert page[6].startswith("url: http")
    assert "+mine" in ghp(road, "agent-pull show 2 --diff").out.splitlines()
    assert "\npull request: #2 (open) «Parse files»\n" in ghp(road, "agent-issue show 1").out


@pytest.mark.slow
def test_a_persons_pull_request_is_by_their_account(road: Road, github: GitHub) -> None:
    git(road.folder, "push", "--quiet", "origin", f"{BRANCH}:refs/heads/ann/fix")
    body = {"title": "Fix\x1b[2J", "head": "ann/fix", "base": "main", "body": "<!-- hidden -->"}
    number = github.act(WORKER_1, "POST", "pulls", body)["number"]
    shown = ghp(road, f"agent-pull show {number}").out
    assert f"open · by «@{WORKER_1}»" in shown
    assert shown.endswith(f"── «@{WORKER_1}»\n> &lt;!-- hidden -->\n")
    assert "\x1b" not in shown


@pytest.mark.slow
def test_an_issue_is_shown_also_if_its_pull_requests_are_unknown(
    road: Road, github: GitHub
) -> None:
    def cut(request: Asked) -> Fault | None:
        return Fault.CUT if request.path.endswith("/pulls") else None

    github.proxy.faults = cut
    shown = ghp(road, "agent-issue show 1")
    assert shown.code == 0
    assert shown.err.startswith("Warning: The pull requests of #1 are unknown: ")
    assert f"\nbranch: {BRANCH}\nworktree: " in shown.out
    assert ghp(road, "agent-pulls").code == 4


@pytest.mark.slow
def test_numbers_of_the_other_kind_name_the_command_for_them(road: Road) -> None:
    assert ghp(road, "agent-issue show 2") == Result(
        1, "", "Error: #2 is a pull request.\nHint: Show it: `ghp agent-pull show 2`.\n"
    )
    assert ghp(road, "agent-pull show 1").err.startswith("Error: #1 is an issue.\n")
    assert ghp(road, "agent-pull show 9").err.startswith("Error: There is no pull request #9.\n")
