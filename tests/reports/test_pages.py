"""The published pages: whole, equal in two clones, bounded, and safe whatever others wrote."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import Actor, CloneId, IssueNumber, Timestamp
from ghp_agents.escalations.escalation import Answer, Escalation, Outcome, Question
from ghp_agents.handoffs.handoff import HANDOFF, Handoff
from ghp_agents.issues.issue import Issue
from ghp_agents.notes.note import Note
from ghp_agents.pulls.pull import Pull
from ghp_agents.reports import pages
from ghp_agents.reports.pages import PageContents, render
from tests.support.ghp import invoke
from tests.support.git import commit, git, refs
from tests.support.road import Road
from tests.support.timelines import simulated_day

Clones = Callable[[int], list[Path]]
AT = Timestamp("2026-01-02T03:04:05Z")
CLONE = CloneId("0123456789ab")
ADA = Actor("Ada", is_person=True)
EVIL = "a|b\n`c` <script>x</script> @team #1 GH-2 https://x.org \u202e*" + "y" * 500
LARGEST = 512 * 1024  # bytes; GitHub renders no larger page


def state(**fields: object) -> PageContents:
    empty = PageContents({}, (), (), (), (), (), on_github=False)
    return empty._replace(**fields)  # type: ignore[arg-type]


def page(name: str, shown: PageContents) -> str:
    return render(shown)[name].decode()


def body(name: str, shown: PageContents) -> str:
    """A page without its heading and its menu."""
    return page(name, shown).split("\n\n", 2)[2]


# ------------------------------------------------------------------------------ whole pages


def test_without_records_every_page_says_so() -> None:
    shown = {name: content.decode() for name, content in render(state()).items()}
    assert (
        shown["README.md"]
        == """\
# Agents at work

Generated from the state of ghp-agents; do not edit.

| page | content |
|---|---|
| [Questions](questions.md) | 0 open, 0 answered |
| [Issues](issues.md) | 0 open, 0 closed |
| [Pull requests](pulls.md) | 0 open, 0 merged, 0 closed |
| [Handoffs](handoffs.md) | 0 in all |
| [Knowledge](notes.md) | 0 in all |

## Agents

No agents.
"""
    )
    assert (
        shown["questions.md"]
        == """\
# Questions

[Agents](README.md) · **Questions** · [Issues](issues.md) · [Pull requests](pulls.md) · \
[Handoffs](handoffs.md) · [Knowledge](notes.md)

## Open

No question waits for an answer.

## Answered

None.
"""
    )
    assert [*shown] == ["questions.md", "issues.md", "pulls.md", "handoffs.md", "notes.md",
                        "README.md"]  # fmt: skip


def test_the_last_day_is_a_picture_with_a_page_beside_it() -> None:
    shown = render(state(timeline=simulated_day(2, hours=2)))
    first = shown["README.md"].decode()
    assert (
        """
## Last day

![Who worked on what, and when](timeline.svg)

Download [the page](timeline.html), which zooms; or run `ghp agent-timeline`.

## Agents
"""
        in first
    )
    assert shown[pages.PICTURE].startswith(b"<svg ")
    assert shown[pages.TIMELINE].startswith(b"<!doctype html>")
    assert risks(first) == []


def test_agents_have_a_row_with_a_link_to_their_issue() -> None:
    beat = {"issue": 7, "status": "testing", "lastAction": "Ran `make` | <b>", "timestamp": "T"}
    shown = page("README.md", state(agents={"worker-1": beat, "worker-2": {}}))
    assert shown.splitlines()[-4:] == [
        "| agent | status | issue | last action | last beat |",
        "|---|---|---|---|---|",
        r"| worker-1 | testing | [#7](issues.md#issue-7) | Ran \`make\` \| \<b\> | T |",
        "| worker-2 |  |  |  |  |",
    ]


def test_an_open_question_is_shown_in_full_with_the_command_that_answers() -> None:
    open_question = question("Tabs?\nOr ``` spaces, @team?", issue=1, options=("tabs", "spaces"))
    settled = question("Database?")._replace(id="beef0000beef", answers=(answer("SQLite"),))
    result = Outcome("o1", "beef0000beef", "a1", ADA, AT, 3, CLONE, "Done | so", True)
    settled = settled._replace(outcomes=(result,))
    assert (
        body("questions.md", state(questions=(settled, open_question)))
        == """\
## Open

### E-3f9a1b2c3d4e

worker-1 asked this about [#1](issues.md#issue-1) at 2026-01-02T03:04:05Z. Urgency: normal.

````
Tabs?
Or ``` spaces, @team?

Options:
1. tabs
2. spaces
````

To answer: `ghp agent-answer E-3f9a1b2c3d4e TEXT`

## Answered

| question | issue | asked by | answer | answered by | at | result |
|---|---|---|---|---|---|---|
| E-beef0000beef: Database? |  | worker-1 | SQLite | Ada | 2026-01-02T03:04:05Z | Done \\| so |
"""
    )


def test_issues_and_pull_requests_are_linked_with_each_other() -> None:
    first = Issue("aa", IssueNumber(1), "Parse", priority="low", assignees=("worker-1",))
    second = Issue("bb", IssueNumber(2), "a|b", blocked_by=(IssueNumber(1),), priority="high")
    third = Issue("cc", IssueNumber(3), "Old", state="closed", other_numbers=(IssueNumber(9),))
    draft = pull(4, issue=1)._replace(draft=True)
    shown = state(issues=(first, second, third), pulls=(draft, pull(5, issue=3, state="merged")))
    head = """\
| issue | title | priority | assigned to | blocked by | part of | work |
|---|---|---|---|---|---|---|"""
    ids = '<a id="issue-3"></a><a id="issue-9"></a>'
    assert (
        body("issues.md", shown)
        == rf"""## Open

{head}
| <a id="issue-2"></a>[#2](#issue-2) | a\|b | high |  | [#1](issues.md#issue-1) |  |  |
| <a id="issue-1"></a>[#1](#issue-1) | Parse | low | worker-1 |  |  | [#4](pulls.md#pull-4) |

## Closed

{head}
| {ids}[#3](#issue-3) | Old | medium |  |  |  | [#5](pulls.md#pull-5) |
"""
    )
    head = """\
| pull request | title | state | issue | branch | author | changed |
|---|---|---|---|---|---|---|"""
    assert (
        body("pulls.md", shown)
        == f"""## Open

{head}
| <a id="pull-4"></a>[#4](#pull-4) | Work | draft | [#1](issues.md#issue-1) | agent/a | w | {AT} |

## Merged and closed

{head}
| <a id="pull-5"></a>[#5](#pull-5) | Work | merged | [#3](issues.md#issue-3) | agent/a | w | {AT} |
"""
    )


def test_handoffs_and_notes_come_newest_first_without_what_was_replaced() -> None:
    first = Handoff("aa", HANDOFF, ADA, "worker-2", 1, AT, 1, "", note="Go | on\nnow")
    kept = note("A tab is eight columns", issue=1)
    shown = state(
        handoffs=(first, Handoff("bb", HANDOFF, ADA, None, None, AT, 2, "")),
        notes=(kept, kept._replace(id="bb" * 8, superseded_by=kept.id)),
    )
    assert (
        body("handoffs.md", shown)
        == r"""`ghp agent-resume --handoff ID` prints one in full.

| handoff | kind | issue | from | to | branch | note | at |
|---|---|---|---|---|---|---|---|
| H-bb | handoff |  | Ada |  |  |  | 2026-01-02T03:04:05Z |
| H-aa | handoff | [#1](issues.md#issue-1) | Ada | worker-2 |  | Go \| on | 2026-01-02T03:04:05Z |
"""
    )
    path = ".ghp/notes/aa/aaaaaaaaaaaaaaaa.md"
    assert (
        body("notes.md", shown)
        == f"""\
| note | kind | text | issue | by | valid until |
|---|---|---|---|---|---|
| [N-aaaaaaaaaaaaaaaa]({path}) | fact | A tab is eight columns | [#1](issues.md#issue-1) | Ada |  |
"""
    )


def test_where_the_issues_are_on_github_the_pages_lead_there() -> None:
    shown = state(on_github=True, questions=(question("Tabs?", issue=12),))
    assert body("issues.md", shown) == "[The issues are on GitHub.](../../issues)\n"
    assert body("pulls.md", shown) == "[The pull requests are on GitHub.](../../pulls)\n"
    assert "asked this about [#12](../../issues/12) at" in page("questions.md", shown)
    assert "| [Issues](issues.md) | on GitHub |" in page("README.md", shown)


# ------------------------------------------------------------------------------ bounds


@pytest.mark.slow
def test_pages_of_any_state_are_bounded_and_count_the_rest() -> None:
    rendered = render(large(2_000, EVIL))
    assert {name: len(content) < LARGEST for name, content in rendered.items()} == dict.fromkeys(
        rendered, True
    )
    assert b"\n\xe2\x80\xa6 and 1800 more.\n" in rendered["issues.md"]
    assert b"1950 more: `ghp agent-escalations --open`" in rendered["questions.md"]
    for content in rendered.values():
        assert risks(content.decode()) == []
    tables = [line for line in rendered["issues.md"].decode().splitlines() if line[:1] == "|"]
    assert {line.replace(r"\|", "").count("|") for line in tables} == {8}


# ------------------------------------------------------------------------------ real git


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.mark.usefixtures("quiet")
@pytest.mark.slow
def test_two_clones_publish_the_same_bytes_and_nothing_is_written_twice(
    clones: Clones, remote: Path
) -> None:
    one, other = clones(2)
    road = Road(one)
    road.issue(EVIL[:100])
    road.done("worker-1", 1, {"a.txt": "mine\n"})
    place = road.start("worker-2", road.issue("Write docs").number).path
    commit(place, {"b.txt": "b\n"})
    invoke(["agent-handoff", "--note", EVIL], place, {"GHP_AGENT": "worker-2"}, clock=road.clock)
    invoke(["agent-escalate", EVIL, "--issue", "1", "--as", "worker-1"], one, clock=road.clock)
    invoke(["agent-remember", "A tab is eight columns", "--as", "@me"], one, clock=road.clock)
    assert "Published" in invoke("agent-sync --publish", one, clock=road.clock).err
    head = refs(remote)["refs/heads/ghp-state"]
    road.clock.wait(100)
    assert "up to date" in invoke("agent-sync --publish", other, clock=road.clock).err
    assert refs(remote)["refs/heads/ghp-state"] == head
    listed = git(remote, "ls-tree", "-r", "--name-only", "ghp-state").splitlines()
    files = [*pages.NAMES, pages.PICTURE, pages.TIMELINE]
    assert [name for name in listed if not name.startswith(".ghp/")] == sorted(files)
    for name in (pages.PICTURE, pages.TIMELINE):
        content = git(remote, "show", f"ghp-state:{name}")
        assert "worker-2" in content
        assert str(one.parent) not in content
    shown = {name: git(remote, "show", f"ghp-state:{name}") for name in pages.NAMES}
    assert "1 open, 0 answered" in shown["README.md"]
    assert "1 open, 0 merged, 0 closed" in shown["README.md"]
    assert "H-" in shown["handoffs.md"]
    assert "A tab is eight columns" in shown["notes.md"]
    for content in shown.values():
        assert str(one.parent) not in content
        assert risks(content) == []


# ------------------------------------------------------------------------------ values


def risks(shown: str) -> list[str]:
    """What could act on its reader or on a host, outside of code blocks."""
    text = re.sub(r"(?ms)^(`{3,})\n.*?^\1$", "", shown)
    return re.findall(
        r"(?<!\\)<(?!a id=|/a>|!-- ghp-agents).|@\w|(?<![\[&])#\d|GH-\d|://|\u202e", text
    )


def question(text: str, issue: int | None = None, options: tuple[str, ...] = ()) -> Escalation:
    text_of = Question("worker-1", text, issue, options)
    return Escalation("3f9a1b2c3d4e", text_of, AT, 1, CLONE)


def answer(text: str) -> Answer:
    return Answer("a1", "3f9a1b2c3d4e", ADA, text, AT, 2, CLONE)


def pull(number: int, issue: int, state: str = "open") -> Pull:
    return Pull(number, "agent/a", "main", "f" * 40, "Work", "", issue, False, state, "w", AT, AT)


def note(text: str, issue: int | None = None) -> Note:
    return Note("aa" * 8, text, "fact", ADA, AT, 1, CLONE, issue=issue)


def large(size: int, text: str) -> PageContents:
    """A state with `size` of everything, all with this text."""
    counted = range(1, size + 1)
    someone = Actor(text)
    return PageContents(
        agents={f"{number}{text}": {"lastAction": text, "status": text} for number in counted},
        questions=[question(text * 20, 1, (text,) * 50) for _ in counted]
        + [question(text)._replace(answers=(answer(text),)) for _ in counted],
        issues=[
            Issue(f"{number:012x}", IssueNumber(number), text, assignees=(text,) * 9, priority=text,
                  state=("open", "closed")[number > size], blocked_by=(IssueNumber(1),) * 99)
            for number in range(1, 2 * size + 1)
        ],
        pulls=[
            Pull(number, text, "main", "", text, issue=1, author=text, updated_at=AT,
                 state=("open", "merged")[number % 2])
            for number in counted
        ],
        handoffs=[Handoff("aa", HANDOFF, someone, text, 1, AT, 1, "", text, "", text)] * size,
        notes=[note(text * 10)] * size,
        on_github=False,
    )  # fmt: skip
