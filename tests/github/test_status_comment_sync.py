"""The comment about an issue's state: found or made, changed where it differs, else left alone."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.errors import UnknownError
from ghp_agents.core.ids import AgentName, IssueNumber
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.status_comment_sync import refresh
from ghp_agents.issues.issue import Issue
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from tests.support import hubs
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.hubs import Script, cut, says
from tests.support.twins.locks import Board, MemoryLocks
from tests.support.twins.state import MemoryStore

AT = "/repos/acme/widgets/issues"
LIST = f"GET {AT}/1/comments?per_page=100"
ISSUE = Issue("3f9a12c4", IssueNumber(1), "Blink")


class Clone:
    """A clone in which worker-1 holds #1."""

    def __init__(self, repo: Path, script: Script) -> None:
        self.script, self.clock = script, ManualClock()
        self.ws = hubs.workspace(repo, self.clock)
        self.store = MemoryStore(self.clock, "c1")
        self.locks = MemoryLocks(self.clock, Board())
        self.lease = self.locks.acquire("issue/1", "worker-1", expected=None, epoch=1)
        self.status = "implementing"

    def refresh(self, *, here: bool = True, also: Sequence[int] = (), issue: Issue = ISSUE) -> None:
        fields = {"issue": 1, "status": self.status}
        view = AgentView(AgentName("worker-1"), fields, Liveness.ACTIVE, 0.0, here)
        hub = GitHubRepository(self.ws, hubs.access(self.script.address))
        refresh(
            make_context(self.ws, locks=self.locks),
            hub,
            self.store.snapshot(),
            [issue],
            [view],
            {*also},
        )

    def requests(self) -> list[str]:
        """What was asked since, and nothing else."""
        lines = self.script.lines
        assert self.script.left == 0
        self.script.restart()
        return lines

    def written(self) -> str:
        """The body that was sent last."""
        return str(next(x.body["body"] for x in reversed(self.script.asked) if x.body))

    def make(self) -> str:
        """The comment is made, as 7; its body."""
        self.script.then(says(200, []), says(201, {"id": 7}), says(200, []))
        self.refresh()
        body = self.written()
        assert self.requests() == [LIST, f"POST {AT}/1/comments", LIST]
        return body


@pytest.fixture
def clone(repo: Path) -> Iterator[Clone]:
    script = Script()
    yield Clone(repo, script)
    script.close()


def comment_json(number: int, body: str, login: str = "octocat") -> dict[str, Any]:
    return {"id": number, "body": body, "user": {"login": login}}


VIEWER = says(200, {"login": "octocat"})


def test_it_is_made_once_and_then_left_alone(clone: Clone) -> None:
    assert clone.make().startswith("**worker-1** holds this issue: implementing.\n\n")
    clone.refresh()
    assert clone.requests() == []


def test_it_is_changed_when_the_state_did(clone: Clone) -> None:
    body = clone.make()
    clone.clock.wait(601)
    clone.status = "testing"
    clone.script.then(says(200, comment_json(7, body)), says(200, {}))
    clone.refresh()
    assert clone.written() == body.replace("implementing", "testing")
    assert clone.requests() == [f"GET {AT}/comments/7", f"PATCH {AT}/comments/7"]


def test_a_mere_status_waits_for_ten_minutes(clone: Clone) -> None:
    clone.make()
    clone.status = "testing"
    clone.clock.wait(590)
    clone.refresh()
    assert clone.requests() == []


def test_a_mere_status_is_not_shown_after_many_writes(clone: Clone) -> None:
    clone.make()
    clone.status = "testing"
    clone.clock.wait(601)
    access = hubs.access(clone.script.address)
    folder = clone.ws.spare_dir.parent / "github" / access.token.fingerprint(access.api)
    (folder / "written").write_text(json.dumps([clone.clock.now() - 1.0] * 200))
    clone.refresh()
    clone.refresh()
    assert clone.requests() == []


def test_what_another_clone_has_written_so_already_is_not_written_again(clone: Clone) -> None:
    body = clone.make()
    clone.locks.release("issue/1", expected=clone.lease)
    free = body.partition("\n\n")
    now = "No agent holds this issue.\n\n" + free[2].partition("\n\n")[2]
    clone.script.then(says(200, comment_json(7, now)))
    clone.refresh()
    assert clone.requests() == [f"GET {AT}/comments/7"]


def test_one_that_is_there_is_found_and_changed(clone: Clone) -> None:
    body = clone.make()
    (clone.ws.cache_dir / "hub/state-comments.json").unlink()
    old = comment_json(9, body.replace("implementing", "planning"))
    forged = comment_json(3, body, "eve")
    clone.script.then(
        says(200, [forged, old]), VIEWER, says(200, {"permission": "read"}),
        says(200, old), says(200, {}),
    )  # fmt: skip
    clone.refresh()
    assert clone.requests() == [
        LIST, "GET /user", "GET /repos/acme/widgets/collaborators/eve/permission",
        f"GET {AT}/comments/9", f"PATCH {AT}/comments/9",
    ]  # fmt: skip


def test_one_that_a_sweep_of_the_repositorys_own_made_is_not_made_a_second_time(
    clone: Clone,
) -> None:
    body = clone.make()
    (clone.ws.cache_dir / "hub/state-comments.json").unlink()
    old = comment_json(9, body, "github-actions[bot]")
    clone.script.then(says(200, [old]), says(200, old))
    clone.refresh()
    assert clone.requests() == [LIST, f"GET {AT}/comments/9"]


def test_of_two_that_were_made_at_once_the_younger_is_taken_back(clone: Clone) -> None:
    body = clone.make()
    (clone.ws.cache_dir / "hub/state-comments.json").unlink()
    both = [comment_json(5, body), comment_json(7, body)]
    clone.script.then(
        says(200, []), says(201, {"id": 7}), says(200, both), VIEWER, says(200, both[0]),
        says(204),
    )  # fmt: skip
    clone.refresh()
    assert clone.requests()[-2:] == [f"GET {AT}/comments/5", f"DELETE {AT}/comments/7"]
    clone.refresh()
    assert clone.requests() == []


def test_one_that_was_deleted_is_made_again_with_the_next_news(clone: Clone) -> None:
    clone.make()
    clone.script.then(says(404), says(200, []), says(201, {"id": 8}), says(200, []))
    clone.refresh(also=[1])
    assert clone.requests() == [f"GET {AT}/comments/7", LIST, f"POST {AT}/1/comments", LIST]


def test_who_may_not_write_there_does_not_try_again_and_again(clone: Clone) -> None:
    clone.script.then(says(200, []), says(403, {"message": "Resource not accessible"}))
    clone.refresh()
    assert clone.requests() == [LIST, f"POST {AT}/1/comments"]
    clone.refresh()
    assert clone.requests() == []


def test_what_could_not_be_sent_is_sent_by_the_next_sync(clone: Clone) -> None:
    clone.script.then(cut, cut, cut, cut, cut, cut)
    with pytest.raises(UnknownError):
        clone.refresh()
    clone.script.restart()
    clone.clock.wait(3_600)
    clone.make()


def test_an_issue_of_another_clones_agent_is_left_to_that(clone: Clone) -> None:
    clone.refresh(here=False)
    assert clone.requests() == []
    clone.make()
    clone.refresh(here=False)
    closed = ISSUE._replace(state="closed")
    clone.locks.release("issue/1", expected=clone.lease)
    clone.refresh(here=False, issue=closed)
    assert clone.requests() == []


def test_an_issue_that_nobody_here_had_is_shown_on_request(clone: Clone) -> None:
    clone.locks.release("issue/1", expected=clone.lease)
    clone.refresh()
    assert clone.requests() == []
    clone.script.then(says(200, []), says(201, {"id": 7}), says(200, []))
    clone.refresh(also=[1])
    assert clone.written().startswith("No agent holds this issue.")


@pytest.mark.parametrize("content", ["[", '{"repository": 1}', '{"comments": []}'])
def test_what_was_kept_and_cannot_be_read_is_looked_for(clone: Clone, content: str) -> None:
    clone.make()
    (clone.ws.cache_dir / "hub/state-comments.json").write_text(content)
    clone.make()
