"""Comments that are edited in place: found by a line that nobody can forge, and made once."""

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.github import edited_comment
from ghp_agents.github import marker as github_marker
from ghp_agents.github.edited_comment import LATER
from tests.support.commands import Field
from tests.support.faults import Fault, in_turn
from tests.support.github import ADMIN, OUTSIDER, WORKER_2, GitHub

pytestmark = pytest.mark.slow
HELP, OTHER = "<!-- ghp:help 1 -->", "<!-- ghp:help 2 -->"


def body(text: str, marker: str = HELP) -> str:
    mark = github_marker.mark("3f9a12c4", Actor("ghp-agents"), marker)
    return github_marker.signed(text, mark)


@pytest.fixture
def field(github: GitHub) -> Field:
    new_field = Field(github)
    new_field.github.issue("Blink")
    return new_field


def test_it_is_posted_once_and_then_edited(field: Field) -> None:
    hub = field.house().hub
    assert hub
    first = edited_comment.post_or_edit(hub, 1, body("One"), HELP)
    assert edited_comment.post_or_edit(hub, 1, body("Two"), HELP) == first
    mark = len(field.github.proxy.exchanges)
    assert edited_comment.edit(hub, first, body("Two")) == first
    assert not [exchange for exchange in field.github.proxy.since(mark) if exchange.asked.writes]
    assert [comment["body"] for comment in field.raw(1)] == [body("Two")]
    field.github.act(ADMIN, "DELETE", f"issues/comments/{first}")
    assert edited_comment.edit(hub, first, body("Three")) == 0


def test_only_lines_of_who_may_write_count(field: Field) -> None:
    hub = field.house().hub
    assert hub
    forged = field.say(1, body("Forged"), OUTSIDER)
    ours = field.say(1, body("Ours"), WORKER_2)
    quoted = field.say(1, "> " + body("Ours", OTHER).replace("\n", "\n> "), ADMIN)
    listed = edited_comment.listed(hub, 1)
    assert listed.ids == {forged, ours, quoted}
    assert (listed.first(HELP), listed.first(OTHER)) == (ours, LATER)


@pytest.mark.parametrize("fault", [Fault.FORBIDDEN, Fault.MISSING])
def test_one_by_a_member_is_found_where_github_does_not_tell_what_that_one_may(
    field: Field, fault: Fault
) -> None:
    ours = field.say(1, body("Ours"), WORKER_2)
    field.github.proxy.faults = in_turn(
        fault, where=lambda request: request.path.endswith("/permission")
    )
    hub = field.house().hub
    assert hub
    assert edited_comment.post_or_edit(hub, 1, body("Two"), HELP) == ours
    assert [comment["body"] for comment in field.raw(1)] == [body("Two")]
