"""`--at WHEN` on every list: the past is shown as it was, and nothing is written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import FORMS
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.git import git, refs
from tests.support.leases import furnish
from tests.support.repos import Restored, Site

WORKER, OTHER = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
THEN = "2025-06-15T15:07:40Z"
AS_OF = f"As of {THEN} (2 h ago).\n"
ISSUES_AS_OF = (
    f"{AS_OF}Claims are not shown, because claims keep no history; see `ghp agent-log --event "
    "claim`.\n"
)
SHOW_AS_OF = (
    f"{AS_OF}Its claim, branch, pull requests and handoff are not shown; "
    "see `ghp agent-log --issue`.\n"
)
LEASES_AS_OF = f"{AS_OF}Strict leases are shown as recorded, because their locks keep no history.\n"
MESSAGES_AS_OF = (
    f"{AS_OF}Claims and read marks are shown as recorded, because neither keeps a history.\n"
)
WORKFLOWS_AS_OF = f"{AS_OF}The files of workflows are shown as they are now.\n"
SAME = {  # lists that show later with --at what they showed then, and what they say about it
    "agent-status --json": AS_OF,
    "agent-leases": LEASES_AS_OF,
    "agent-leases --json": LEASES_AS_OF,
    "agent-escalations": AS_OF,
    "agent-escalations --open --json": AS_OF,
    "agent-notes list": AS_OF,
    "agent-notes list --json": AS_OF,
    "agent-log": AS_OF,
    "agent-log --issue 1 --json": AS_OF,
    "agent-inbox --as worker-2": MESSAGES_AS_OF,
    "agent-inbox list --sent --json --as worker-1": MESSAGES_AS_OF,
    "agent-workflows": WORKFLOWS_AS_OF,
    "agent-workflows --json": WORKFLOWS_AS_OF,
}
LISTS = [
    "agent-status", "agent-issues", "agent-issue show 1", "agent-leases", "agent-escalations",
    "agent-notes list", "agent-log", "agent-pulls", "agent-jobs", "agent-inbox --as worker-2",
    "agent-workflows",
]  # fmt: skip


class Place:
    """A repository with a story, and a clock of its own."""

    def __init__(self, repo: Path) -> None:
        self.repo, self.clock = repo, ManualClock()

    def do(self, words: str, env: dict[str, str] | None = None) -> Result:
        """A command at the place's time."""
        return invoke(words, self.repo, env, clock=self.clock)

    def must(self, words: str, env: dict[str, str] | None = None) -> str:
        """A command that succeeds, and its output."""
        done = self.do(words, env)
        assert done.code == 0, done.err
        return done.out.strip()


def begun(site: Site) -> None:
    """Two agents at work."""
    place = Place(furnish(site.make_repo()))
    place.must("agent-issue new 'Parse files'")
    place.must("agent-claim 1", WORKER)
    place.must("agent-lease src/ --reason 'a new parser'", WORKER)
    place.must("agent-lease --name staging --strict", OTHER)
    place.must("agent-escalate 'Tabs or spaces?'", WORKER)
    place.must("agent-remember 'Tabs are 8 wide' --expires 2025-06-15", WORKER)
    place.must("agent-send worker-2 'Read the draft'", WORKER)
    place.must("agent-run question 'How wide is a tab?' --to worker-2", WORKER)


@pytest.fixture
def place(restored: Restored) -> Place:
    """A minute after they began."""
    place = Place(restored(begun).repo)
    place.clock.wait(60)
    return place


def go_on(place: Place) -> None:
    """Two hours in which all of it changes."""
    place.clock.wait(60)
    (question,) = json.loads(place.must("agent-escalations --json"))
    (note,) = json.loads(place.must("agent-notes list --json"))
    place.must(f"agent-answer {question['id']} spaces")
    place.must("agent-issue comment 1 'Nearly done'", WORKER)
    place.must("agent-release src/", WORKER)
    place.must("agent-release --name staging", OTHER)
    place.must("agent-issue close 1 --reason done", WORKER)
    place.must("agent-issue new 'Write docs'")
    place.must("agent-lease docs/", WORKER)
    place.must(f"agent-notes forget {note['id']}")
    for letter in json.loads(place.must("agent-inbox --json", OTHER)):
        if letter["kind"] == "question":
            place.must(f"agent-inbox done {letter['id']} --result 8", OTHER)
        else:
            place.must(f"agent-inbox read {letter['id']}", OTHER)
    place.must("agent-status --set stopped", OTHER)
    place.clock.wait(2 * 3_600 - 60)


@pytest.mark.no_background
@pytest.mark.slow
def test_each_list_shows_later_what_it_showed_then(place: Place) -> None:
    then = {words: place.must(words) for words in SAME}
    go_on(place)
    for words, note in SAME.items():
        code, out, err = place.do(f"{words} --at {THEN}")
        assert (words, code, out.strip(), err) == (words, 0, then[words], note)
        assert place.must(words) != then[words]


@pytest.mark.slow
def test_issues_are_shown_as_they_were_without_the_claims(place: Place) -> None:
    shown, page = place.must("agent-issues --json"), place.must("agent-issue show 1")
    go_on(place)
    (issue,) = json.loads(shown)
    assert issue.pop("claim")["holder"] == "worker-1"
    for words, expected, note in (
        ("agent-issues", [issue], ISSUES_AS_OF),
        ("agent-issue show 1", {**issue, "parts": []}, SHOW_AS_OF),
    ):
        code, out, err = place.do(f"{words} --json --at {THEN}")
        assert (code, json.loads(out), err) == (0, expected, note)
    lines = [line for line in page.split("\n") if not line.startswith("claimed by: ")]
    assert place.must(f"agent-issue show 1 --at {THEN}").split("\n") == lines
    assert len(lines) == len(page.split("\n")) - 1
    assert place.do(f"agent-issues --at {THEN}") == (
        0,
        "ISSUE  PRIORITY  STATE  ASSIGNED  BLOCKED BY  LABELS  TITLE\n"
        "#1     medium    open   worker-1                      Parse files\n",
        ISSUES_AS_OF,
    )
    assert place.do(f"agent-issues --ready --at {THEN}") == (
        0, "", f"{ISSUES_AS_OF}No issue matched at that time.\n"
    )  # fmt: skip
    assert place.do(f"agent-issue show 2 --at {THEN}") == (
        1, "",
        f"{SHOW_AS_OF}Error: There is no issue 2.\n"
        "Hint: `ghp agent-issues --all` lists issues, `ghp agent-pulls` pull requests. `ghp "
        "agent-sync` fetches those of other clones.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_jobs_are_shown_as_they_were_and_those_in_progress_as_assigned(place: Place) -> None:
    (job,) = json.loads(place.must("agent-jobs --json"))
    assert (job["state"], job["holder"]) == ("in_progress", "worker-1")
    go_on(place)
    note = (
        f"{AS_OF}Jobs in progress are shown as assigned, because claims keep no history; see "
        "`ghp agent-log --event claim`.\n"
    )
    code, out, err = place.do(f"agent-jobs --json --at {THEN}")
    assert (code, json.loads(out), err) == (
        0, [{**job, "state": "assigned", "holder": None}], note
    )  # fmt: skip
    assert place.do(f"agent-jobs --state completed --at {THEN}") == (
        0, "", f"{note}No job matched at that time.\n"
    )  # fmt: skip


@pytest.mark.slow
def test_a_question_in_full_is_shown_without_its_later_answer(place: Place) -> None:
    (question,) = json.loads(place.must("agent-escalations --json"))
    page = place.must(f"agent-escalations {question['id']}")
    go_on(place)
    head = page.rpartition("\n\n")[0]
    shown = place.must(f"agent-escalations {question['id']} --at {THEN}")
    assert shown == f"{head}\n\nNobody had answered by then."


def test_a_note_that_has_expired_since_was_valid_then(place: Place) -> None:
    then = place.must("agent-notes list")
    place.clock.wait(86_400)
    assert place.do("agent-notes list") == (0, "", "No notes.\n")
    assert place.must(f"agent-notes list --at {THEN}") == then


@pytest.mark.slow
def test_between_two_times_the_log_shows_what_happened_there(place: Place) -> None:
    go_on(place)
    window = f"agent-log --since 2025-06-15T15:08:00Z --at {THEN[:11]}15:10:00Z --event issue-close"
    (entry,) = json.loads(place.must(f"{window} --json"))
    assert (entry["at"], entry["issue"]) == ("2025-06-15T15:08:40Z", 1)
    assert place.must(f"agent-log --since 2025-06-15T15:08:00Z --at {THEN}") == ""


@pytest.mark.parametrize("words", LISTS)
@pytest.mark.sample(3)
def test_looking_back_writes_nothing(place: Place, words: str) -> None:
    def written() -> tuple[object, dict[Path, bytes]]:
        files = {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}
        return refs(place.repo), files

    state = place.repo / ".git/ghp"
    place.must(words)  # caches that the first look may write
    before = written()
    place.clock.wait(3_600)
    place.must(f"{words} --at {THEN}")
    assert written() == before


@pytest.mark.parametrize("words", LISTS)
def test_a_time_that_is_none_is_refused_and_the_forms_are_named(repo: Path, words: str) -> None:
    for typed, shown in (("someday", "'someday'"), ("''", "''")):
        assert invoke(f"{words} --at {typed}", repo) == (
            2, "", f"Error: {shown} is not a time.\nHint: Use {FORMS}.\n"
        )  # fmt: skip


def test_times_are_typed_as_people_speak_and_a_day_begins_in_the_machines_zone(
    repo: Path,
) -> None:
    clock = ManualClock()  # 2025-06-15T15:06:40Z; the zone of the tests is 5:45 ahead of it

    def as_of(words: str) -> str:
        return invoke(["agent-status", "--at", words], repo, clock=clock).err.splitlines()[0]

    assert [as_of(words) for words in ("yesterday", "last night", "14:30", "2h ago")] == [
        "As of 2025-06-13T18:15:00Z (44 h ago).",
        "As of 2025-06-14T16:15:00Z (22 h ago).",
        "As of 2025-06-15T08:45:00Z (6 h ago).",
        "As of 2025-06-15T13:06:40Z (2 h ago).",
    ]
    assert as_of("2100-01-01T00:00:00Z") == "As of 2100-01-01T00:00:00Z (in the future)."


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            "agent-log --follow",
            "Error: --follow shows what happens from now on.\nHint: Use it without --at.\n",
        ),
        (
            "agent-leases --implicit",
            "Error: --implicit cannot be used with --at: past edits are not recorded.\n"
            "Hint: Leave out --implicit.\n",
        ),
        (
            "agent-inbox --follow",
            "Error: --follow excludes --all, --sent, --topic and --at.\nHint: Leave them out.\n",
        ),
    ],
)
def test_what_only_the_present_has_is_refused_for_the_past(
    repo: Path, words: str, error: str
) -> None:
    assert invoke(f"{words} --at 2h", repo) == (2, "", error)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("agent-issues", "issues"),
        ("agent-issue show 1", "issues"),
        ("agent-pulls", "pull requests"),
        ("agent-jobs", "issues"),
        ("agent-workflows", "issues and pull requests of workflows"),
    ],
)
def test_what_is_on_github_has_no_past_and_the_log_is_named(
    repo: Path, words: str, what: str
) -> None:
    git(repo, "remote", "add", "origin", "https://github.com/octo/repo.git")
    assert invoke(f"{words} --at 2h", repo, {"GITHUB_TOKEN": "none"}) == (
        2, "",
        f"Error: The {what} are on GitHub, and this clone keeps only their present state. --at "
        "cannot show the past.\n"
        "Hint: `ghp agent-log --at WHEN` lists what happened up to then.\n",
    )  # fmt: skip


@pytest.mark.slow
def test_what_another_clone_did_is_shown_as_of_then_too(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    clock = ManualClock()
    begun = "agent-issue new 'Parse files'", "agent-claim 1", "agent-lease src/", "agent-sync"
    for words in begun:
        assert invoke(words, one, WORKER, clock=clock).code == 0
    clock.wait(60)
    leases = invoke("agent-leases --json", one, clock=clock).out
    clock.wait(60)
    for words in ("agent-release src/", "agent-issue close 1 --reason done", "agent-sync"):
        assert invoke(words, one, WORKER, clock=clock).code == 0
    assert invoke("agent-sync", two, clock=clock).code == 0
    assert invoke("agent-issues", two, clock=clock).out == ""
    (issue,) = json.loads(invoke(f"agent-issues --json --at {THEN}", two, clock=clock).out)
    assert (issue["number"], issue["state"], issue["assignees"]) == (1, "open", ["worker-1"])
    assert invoke(f"agent-leases --json --at {THEN}", two, clock=clock).out == leases
