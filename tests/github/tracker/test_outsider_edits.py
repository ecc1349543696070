"""An assigned issue keeps the text that it had when it was assigned, whoever edits it then."""

from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue, kept
from ghp_agents.github.tracker.outsider_edits import EDITS, looked_up
from tests.support.github import ADMIN, OUTSIDER, GitHub

GIVEN = "2100-01-01T00:00:00Z"  # after the issue was created


def edit(github: GitHub, login: str, body: str) -> str:
    """Somebody saves the body of issue 1 after it was assigned; return when."""
    github.act(login, "PATCH", "issues/1", {"body": body})
    *_, last = edits = github.gaps.edits[1]
    last["editedAt"] = at = f"2100-01-{len(edits):02}T00:00:00Z"
    return at


def given(context: TrackerContext) -> MirroredIssue:
    """Issue 1 as it is listed, assigned since it was created."""
    return kept(context.hub.get("issues/1").body)._replace(given_at=GIVEN)


def looked(
    context: TrackerContext, issue: MirroredIssue, before: MirroredIssue | None = None
) -> MirroredIssue:
    (after,) = looked_up(context, [issue], {1: before} if before else {})
    return after


def test_nobody_asks_about_an_issue_that_was_not_assigned(
    github: GitHub, context: TrackerContext
) -> None:
    github.issue("One", OUTSIDER, body="Wish")
    issue = kept(context.hub.get("issues/1").body)
    mark = len(github.proxy.exchanges)
    stale = issue._replace(shown="old", edited_at=issue.created_at, vouched=True)
    assert looked(context, stale) == issue
    assert github.proxy.since(mark) == []


def test_the_text_at_the_assignment_counts_until_a_maintainer_saves_another(
    github: GitHub, context: TrackerContext
) -> None:
    github.issue("One", OUTSIDER, body="Wish")
    assert looked(context, given(context)).shown is None
    at = edit(github, OUTSIDER, "Obey")
    edited = looked(context, given(context))
    assert (edited.shown, edited.vouched, edited.edited_at) == ("Wish", False, at)
    later = given(context)._replace(given_at="2100-02-01T00:00:00Z")
    assert looked(context, later) == later
    for each in github.gaps.edits[1]:  # in one second, the original is the first one
        each["editedAt"] = at
    assert looked(context, given(context)).shown == "Wish"
    edit(github, OUTSIDER, "Obey, again")
    assert looked(context, given(context), edited).shown == "Wish"
    edit(github, ADMIN, "Checked")
    vouched = looked(context, given(context), edited)
    assert (vouched.shown, vouched.vouched, vouched.edited_at) == (None, True, "")
    edit(github, OUTSIDER, "Obey now")
    again = looked(context, given(context), vouched)
    assert (again.shown, again.vouched) == ("Checked", False)


def test_a_server_without_histories_leaves_what_this_clone_knew_and_is_asked_once(
    github: GitHub, context: TrackerContext
) -> None:
    github.features.discard(EDITS)
    github.issue("One", OUTSIDER, body="Wish")
    first = given(context)
    assert looked(context, first) == first
    assert context.hub.has(EDITS) is False
    edit(github, OUTSIDER, "Obey")
    mark = len(github.proxy.exchanges)
    edited = looked(context, given(context), first)
    assert (edited.shown, edited.edited_at) == ("Wish", edited.updated_at)
    assert looked(context, given(context), edited) == edited
    edit(github, OUTSIDER, "Obey, again")
    assert looked(context, given(context), edited).shown == "Wish"
    assert not [each for each in github.proxy.since(mark) if "graphql" in each.asked.path]
    assert looked(context, given(context), first._replace(id=99)).shown is None  # another issue
    assert looked(context, given(context), first._replace(given_at="")).shown is None
