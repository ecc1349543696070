"""Whom the tracker believes: hidden lines, labels and assignments by their events."""

from typing import Any

import pytest

from ghp_agents.github.marker import BEGIN
from ghp_agents.github.tracker import trust
from ghp_agents.github.tracker.context import TrackerContext
from ghp_agents.github.tracker.mapping import MirroredIssue, kept
from tests.support.github import ADMIN, OUTSIDER, WORKER_1, GitHub

AT = "2026-03-01T10:00:00Z"
LABEL = "agent:worker-1"
ISSUE = MirroredIssue(2, 20, "T", "", "open", (), (), OUTSIDER, AT, AT)


def asked(github: GitHub, mark: int, part: str = "") -> list[str]:
    """The paths of the requests since then that have a part."""
    paths = [each.asked.path for each in github.proxy.since(mark)]
    return [path for path in paths if part in path]


def listed(context: TrackerContext, number: int) -> MirroredIssue:
    return kept(context.hub.get(f"issues/{number}").body)


def test_another_issue_with_its_number_is_not_an_earlier_form_of_it() -> None:
    assert trust.earlier(ISSUE, {2: ISSUE}) == ISSUE
    assert trust.earlier(ISSUE, {2: ISSUE._replace(id=21)}) is None
    assert trust.earlier(ISSUE, {}) is None


@pytest.mark.parametrize(
    ("missing", "now", "due"),
    [
        ((), 100.0, False),
        ((100.0, 100.0), 100.0 + trust.SOON - 0.1, False),
        ((100.0, 100.0), 100.0 + trust.SOON, True),
        ((100.0, 160.0), 219.0, False),  # as long as it is missing already
        ((100.0, 160.0), 220.0, True),
        ((100.0, 160.0), 90.0, True),  # the clock was set back
        ((100.0, 100.0 + trust.MISSING_FOR), 90_000.0, False),
    ],
)
def test_a_missing_event_is_asked_for_ever_more_rarely_and_then_no_more(
    missing: tuple[float, ...], now: float, due: bool
) -> None:
    issue = ISSUE._replace(event_missing=missing)
    assert trust.is_due(issue, now) is due
    assert not trust.is_due(issue._replace(state="closed"), now)


def test_an_event_is_missing_since_the_issue_last_changed() -> None:
    before = ISSUE._replace(event_missing=(10.0, 20.0))
    assert trust.with_missing_event(ISSUE, before, 30.0).event_missing == (10.0, 30.0)
    assert trust.with_missing_event(ISSUE, before, 5.0).event_missing == (5.0, 5.0)
    changed = before._replace(updated_at="2026-03-01T09:00:00Z")
    for previous in (None, ISSUE, changed):
        assert trust.with_missing_event(ISSUE, previous, 30.0).event_missing == (30.0, 30.0)


@pytest.mark.parametrize(
    ("event", "key"),
    [
        ({"event": "labeled", "label": {"name": "Agent:W"}}, "agent:w"),
        ({"event": "unlabeled", "label": {"name": "bug"}}, "bug"),
        ({"event": "assigned", "assignee": {"login": "Tess"}}, "@tess"),
        ({"event": "unassigned", "assignee": None}, "@"),
        ({"event": "labeled", "label": None}, ""),
        ({"event": "renamed", "label": {"name": "bug"}}, ""),
        ({}, ""),
    ],
)
def test_an_event_is_about_a_label_or_an_account(event: dict[str, Any], key: str) -> None:
    assert trust.about(event) == key


def test_who_may_write_is_trusted_and_so_are_we_and_the_repositorys_workflows(
    github: GitHub, context: TrackerContext
) -> None:
    assert context.viewer == ADMIN
    mark = len(github.proxy.exchanges)
    assert trust.trusted(context, "github-actions[bot]")
    assert trust.trusted(context, ADMIN.upper())
    assert asked(github, mark) == []
    assert trust.trusted(context, WORKER_1)
    assert not any(trust.trusted(context, who) for who in ("tess", OUTSIDER, "some-app[bot]"))


def test_a_hidden_line_is_judged_once_for_each_text_and_author(
    github: GitHub, context: TrackerContext
) -> None:
    signed = ISSUE._replace(body=f"T\n{BEGIN}x", author=WORKER_1)
    mark = len(github.proxy.exchanges)
    assert not trust.believed(context, ISSUE, ISSUE._replace(believed=True))
    for verdict in (True, False):
        assert trust.believed(context, signed, signed._replace(believed=verdict)) is verdict
    assert asked(github, mark) == []
    assert trust.believed(context, signed, signed._replace(body=signed.body + "y"))
    assert trust.believed(context, signed, None)
    stolen = signed._replace(author=OUTSIDER)
    assert not trust.believed(context, stolen, signed._replace(believed=True))


def test_a_label_assigns_by_the_last_event_of_somebody_who_may_write(
    github: GitHub, context: TrackerContext
) -> None:
    numbers = [github.issue(title, OUTSIDER) for title in ("One", "Two")]
    for number, who in zip(numbers, (WORKER_1, "tess"), strict=True):
        github.act(who, "POST", f"issues/{number}/labels", {"labels": [LABEL]})
    fresh = [listed(context, number) for number in numbers]
    by_writer, by_triager = trust.with_trust(context, fresh, {})
    assert (by_writer.proven, by_writer.asked_at) == ((LABEL,), by_writer.updated_at)
    assert (by_triager.proven, by_triager.event_missing) == ((), ())
    mark = len(github.proxy.exchanges)
    known = {issue.number: issue for issue in (by_writer, by_triager)}
    again = trust.with_trust(context, fresh, known)
    assert again == [by_writer, by_triager]
    assert asked(github, mark, "events") == []  # the answer stands until the issue changes
    (bare,) = trust.with_trust(context, [fresh[0]._replace(labels=())], known)
    assert bare.proven == ()
    closed = fresh[1]._replace(state="closed")
    assert trust.with_trust(context, [closed], {})[0].asked_at == ""


def test_only_the_last_event_of_a_label_counts(github: GitHub, context: TrackerContext) -> None:
    number = github.issue("One", OUTSIDER)
    labels = f"issues/{number}/labels"
    for who in ("tess", WORKER_1):
        github.act(who, "POST", labels, {"labels": [LABEL]})
        (issue,) = trust.with_trust(context, [listed(context, number)], {})
        github.act(ADMIN, "DELETE", f"{labels}/{LABEL}")
    assert issue.proven == (LABEL,)
    late = listed(context, number)._replace(labels=(LABEL,))  # set again; its event comes later
    (missed,) = trust.with_trust(context, [late], {})
    assert (missed.proven, len(missed.event_missing)) == ((), 2)


def test_our_own_assignment_needs_no_event(github: GitHub, context: TrackerContext) -> None:
    number = github.issue("One", OUTSIDER)
    github.act("tess", "POST", f"issues/{number}/labels", {"labels": [LABEL]})
    fresh = listed(context, number)
    mark = len(github.proxy.exchanges)
    (ours,) = trust.with_trust(context, [fresh], {}, given=["worker-1"])
    assert ours.proven == (LABEL,)
    assert asked(github, mark, "events") == []


def test_without_an_event_the_labels_of_an_unchanged_issue_are_its_authors_word(
    github: GitHub, context: TrackerContext
) -> None:
    for login in (OUTSIDER, WORKER_1):
        github.gaps.ask("POST", "issues", {"title": "T", "labels": [LABEL]}, login)
    theirs, ours = trust.with_trust(context, [listed(context, number) for number in (1, 2)], {})
    assert (theirs.proven, theirs.by_author) == ((), ())
    assert (ours.proven, ours.by_author) == ((LABEL,), (LABEL,))
    now = context.ws.clock.now()
    assert theirs.event_missing == ours.event_missing == (now, now)
    (changed,) = trust.with_trust(context, [ours._replace(created_at=AT)], {2: ours})
    assert changed.proven == ()  # the word of an author does not outlive a change
