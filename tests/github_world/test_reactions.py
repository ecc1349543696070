"""A whole loop on GitHub: a failed check and a review start the agent again, and it is merged."""

import pytest

from tests.support.clock import ManualClock
from tests.support.faults import Asked, Said
from tests.support.git import git
from tests.support.github import ADMIN, WORKER_2, GitHub
from tests.support.road import Road, merged
from tests.support.runs import WORKS, Shift

pytestmark = pytest.mark.slow
BUILD = {"name": "build", "status": "completed"}
OUTPUT = {"title": "2 errors", "summary": "a.py:7: undefined name", "text": "```\nstop"}


@pytest.fixture
def shift(github: GitHub, monkeypatch: pytest.MonkeyPatch) -> Shift:
    """A clone, and issue #1."""
    for name, value in {**github.environment(ADMIN), "GHP_BACKGROUND": "0"}.items():
        monkeypatch.setenv(name, value)
    github.proxy.clock = clock = ManualClock()
    github.issue("Parse files")
    return Shift(github.clone("clone"), clock, [], [])


def requests_changes(github: GitHub, head: str) -> None:
    """A person with write access requests changes of a commit."""
    raw, ours = github.act(ADMIN, "GET", "pulls/2"), github.proxy.behind

    def reviewed(request: Asked) -> Said:
        answer = ours(request)
        if request.path.endswith("/reviews"):
            answer.body.append(
                {
                    "id": 7, "node_id": "R", "user": {**raw["user"], "login": WORKER_2},
                    "body": "Use tabs.", "state": "CHANGES_REQUESTED", "commit_id": head,
                    "html_url": raw["html_url"], "pull_request_url": raw["url"],
                    "_links": {"html": {"href": ""}, "pull_request": {"href": ""}},
                    "author_association": "MEMBER", "submitted_at": raw["created_at"],
                }
            )  # fmt: skip
        return answer

    github.proxy.behind = reviewed


def test_an_agent_hears_of_checks_and_reviews_until_it_is_merged(
    shift: Shift, github: GitHub
) -> None:
    supervisor = shift.supervisor(WORKS, keep=[*github.environment(ADMIN)])

    def run() -> str:
        """Look again; the commit of the pull request after a run."""
        shift.clock.wait(120)
        supervisor.step()
        supervisor.step()
        shift.ended()
        supervisor.step()
        return git(github.remote, "rev-parse", shift.last().branch)

    first = run()
    failed = {**BUILD, "head_sha": first, "conclusion": "failure", "output": OUTPUT}
    github.act(ADMIN, "POST", "check-runs", failed)
    second = run()
    assert second != first
    assert (shift.last().cause, shift.last().outcome) == ("checks/2", "finished")
    output = "````\nbuild: failure\n2 errors\na.py:7: undefined name\n```\nstop\n"
    assert output in shift.prompt()
    passed = {**BUILD, "head_sha": second, "conclusion": "success"}
    github.act(ADMIN, "POST", "check-runs", passed)
    run()
    assert len(shift.runs()) == 2
    requests_changes(github, second)
    third = run()
    assert (shift.last().cause, len(shift.runs())) == ("review/2/7", 3)
    assert "```\nUse tabs.\n```\nEnd of the review by person «" in shift.prompt()
    github.act(ADMIN, "POST", "check-runs", {**passed, "head_sha": third})
    run()
    assert len(shift.runs()) == 3
    merged(Road(shift.repo, shift.clock).merge(1))
    shift.clock.wait(120)
    supervisor.step()
    supervisor.step()
    assert len(shift.runs()) == 3
