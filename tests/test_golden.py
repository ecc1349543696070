"""Every kind of record is written byte for byte as it was: with all its fields, and with few.

`RECORD_GOLDEN=1 pytest tests/test_golden.py` writes tests/golden anew. A file there changes only
with the format, which others' clones read; then read the difference. What commands print, and what
else they write, is in tests/recorded.
"""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ghp_agents.cli.outputs.table import OUTPUTS
from ghp_agents.core.fields import dump
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import record as escalation_record
from ghp_agents.escalations.escalation import Answer, Escalation, Outcome
from ghp_agents.github import marker
from ghp_agents.github.tokenless import place, published, request
from ghp_agents.github.tracker.mapping import MirroredComment, MirroredIssue
from ghp_agents.guard import override
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath import implicit_leases
from ghp_agents.issues import comment_commands
from ghp_agents.issues import record as issue_record
from ghp_agents.leases import record as lease_record
from ghp_agents.locks import lock
from ghp_agents.messages import record as message_record
from ghp_agents.messages.message import Message
from ghp_agents.messages.topics import subscription
from ghp_agents.notes import record as note_record
from ghp_agents.notes.note import Note, NoteChange
from ghp_agents.parts.lists import RECORDS
from ghp_agents.presence import stop_order
from ghp_agents.pulls import record as pull_record
from ghp_agents.pulls import review
from ghp_agents.pulls.branches import branch_records
from ghp_agents.runs import record as run_record
from ghp_agents.state import ledger, presence
from ghp_agents.state import record as state_record
from ghp_agents.state.events import EVENTS
from ghp_agents.state.record import Movement, Record
from tests.support.filled import AT, CLONE, ID, bare, full
from tests.support.ghp import CHECKOUT
from tools import schemas
from tools.record import RECORDED

GOLDEN = CHECKOUT / "tests/golden"
PERSON = Actor("Ann", True)
Written = bytes | str | Record


def _stored(entry: Record) -> str:
    """A record as it is committed: its files, and the message of the commit."""
    files = "".join(f"-- {path}\n{data.decode()}" for path, data in entry.files)
    return f"{files}-- commit\n{ledger.message(entry, entry.clock, CLONE)}"


def _each(kind: Any, write: Callable[[Any], Written], **given: Any) -> Iterator[Written]:
    yield write(full(kind, **given))
    yield write(bare(kind, **given))


def _presence() -> Iterator[Written]:
    fields = {name: f"the {name}" for name in presence.AgentFields.__annotations__}
    yield presence.encode({"worker-2": {"status": "idle"}, "worker-1": fields}, {"more": [1]})
    yield presence.encode({})


def _leases() -> Iterator[Written]:
    event = full(lease_record.LeaseEvent, kind="request")
    yield lease_record.entry(event, event)
    waiting = bare(lease_record.LeaseEvent, kind="request", patterns=("src/**",))
    yield lease_record.entry(waiting, waiting)
    for kind in ("grant", "renew", "release"):
        yield lease_record.entry(bare(lease_record.LeaseEvent, kind=kind, id="ba" * 6), event)


def _locks() -> Iterator[Written]:
    taken = full(lock.Lock, name="issue/12", holder="worker-1")
    yield lock.encode(taken)
    yield lock.encode(bare(lock.Lock, name="numbers"))
    yield lock.encode(lock.given_back("issue/12", taken, "the nonce", "the reason"))


def _requests() -> Iterator[Written]:
    for kind in request.KINDS:
        yield request.request_record(full(request.WriteRequest, kind=kind))
        yield request.request_record(bare(request.WriteRequest, kind=kind, issue=7))


def _results() -> Iterator[Written]:
    asked = bare(request.WriteRequest, kind=request.COMMENT, issue=7)
    yield request.result_record(full(request.RequestResult), asked)
    yield request.result_record(full(request.RequestResult, why="", number=0, by=PERSON), asked)


def _published() -> Iterator[Written]:
    issues = [
        published.PublishedIssue(full(MirroredIssue), (full(MirroredComment),)),
        published.PublishedIssue(bare(MirroredIssue)),
    ]
    yield published.bucket_file(full(place.Tracker), 7, issues)[1]


def _implicit_leases() -> Iterator[Written]:
    touch = implicit_leases.ImplicitLease("worker-1", 7, AT, "src/a b.py", "/r/.git")
    yield implicit_leases._encoded(touch)


def _outbox() -> Iterator[Written]:
    yield state_record.encode(full(Record, files=(("a.json", b"{}\n"), ("b.md", b"B\n"))))
    yield state_record.encode(bare(Record, files=()))


def _ledger() -> Iterator[Written]:
    yield ledger.message(full(Record), 7, CLONE)
    yield ledger.message(bare(Record, actor=PERSON), 7, CLONE)
    for event in sorted({*EVENTS} - {ledger.PRESENCE}):
        yield ledger.message(bare(Record, event=event), 7, CLONE)
    yield ledger.presence_message([full(Movement)], 1, 7, CLONE)
    yield ledger.presence_message([full(Movement), bare(Movement)], 3, 7, CLONE)


def _markers() -> Iterator[Written]:
    whole = full(marker.Mark, is_person=False)
    yield marker.signed("Text.\n<!-- ghp-agents: no -->", whole)
    yield marker.signed("", marker.mark(ID, PERSON, "posted once", "ann"))


def _handoff(entry: Handoff) -> Written:
    return handoff_record.render(entry, "The body.\n")


KINDS: dict[str, Callable[[], Iterator[Written]]] = {
    "presence": _presence,
    "issue": lambda: _each(
        issue_record.IssueEvent, issue_record.encode,
        texts={"title": "A title", "parent": None, "metadata": '{"ticket":"X-1"}'},
        added={"labels": ("bug", "docs")},
    ),
    "lease": _leases,
    "question": lambda: _each(Escalation, escalation_record.render),
    "answer": lambda: _each(Answer, escalation_record.render_answer),
    "decision": lambda: _each(Outcome, escalation_record.render_outcome),
    "handoff": lambda: _each(Handoff, _handoff),
    "note": lambda: _each(Note, note_record.render),
    "note-change": lambda: iter((
        note_record.render_change(full(NoteChange, values={"text": "New.", "kind": "gotcha"})),
        note_record.render_change(bare(NoteChange, values={})),
        note_record.withdrawn(ID),
    )),
    "pull": lambda: _each(pull_record.PullEvent, pull_record.encode, fields={"title": "A title"}),
    "return": lambda: _each(returned.Return, returned.encode, reason=min(returned.REASONS)),
    "review": lambda: _each(review.ReviewRecord, lambda entry: review.encode(entry, 12)),
    "commands": lambda: _each(comment_commands.Obeyed, comment_commands.encode),
    "branch": lambda: _each(branch_records.BranchRecord, branch_records.encode),
    "stop": lambda: _each(stop_order.StopOrder, stop_order.encode),
    "override": lambda: _each(override.OverrideRecord, override.encode),
    "subscription": lambda: _each(subscription.Subscription, subscription.encode),
    "github-request": _requests,
    "github-result": _results,
    "github-tracker": lambda: iter((place.tracker_file(full(place.Tracker))[1],)),
    "github-issues": _published,
    "lock": _locks,
    "implicit-lease": _implicit_leases,
    "outbox": _outbox,
    # without a schema: they are no JSON, or do not leave the clone
    "message": lambda: _each(Message, message_record.render_message),
    "run": lambda: _each(run_record.RunRecord, lambda run: dump(run_record.encode(run))),
    "commit": _ledger,
    "comment-on-github": _markers,
}  # fmt: skip
BESIDE = {  # what has no function that only makes it
    "restored",  # a recording has one
    "sweep-memory",  # the files of a cache as they are
}
NOT_RECORDED = {  # outputs of which no recording has an example
    "agent-tasks progress",  # a running task prints it
}
PLAYED = "".join(path.read_text(encoding="utf-8") for path in sorted(RECORDED.glob("*.txt")))


def written(kind: str) -> str:
    """All examples of a kind, one after the other."""
    return "".join(
        f"== {number}\n{_text(example)}\n" for number, example in enumerate(KINDS[kind]())
    )


def _text(example: Written) -> str:
    if isinstance(example, Record):
        return _stored(example)
    return example if isinstance(example, str) else example.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_written_as_it_was(kind: str) -> None:
    path = GOLDEN / f"{kind}.txt"
    if os.environ.get("RECORD_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(written(kind), encoding="utf-8")
    assert written(kind) == path.read_text(encoding="utf-8")


def test_every_kind_of_record_has_examples() -> None:
    places = re.findall(r"^-- (\.ghp/.+)$", PLAYED, re.MULTILINE)
    recorded = {
        name
        for name, (place, _, _) in schemas.RECORDS.items()
        if any(re.fullmatch(place, path) for path in places)
    }
    assert "restored" in recorded
    assert schemas.RECORDS.keys() - KINDS.keys() == BESIDE, "Add examples to KINDS."
    assert {path.stem for path in GOLDEN.glob("*.txt")} == KINDS.keys()
    folders = {path.split("/")[1] for path in places}
    folders |= {place.split("/")[1] for place, _, _ in schemas.RECORDS.values() if "/" in place}
    assert RECORDS.keys() - {"inbox"} <= folders  # nobody writes there


def test_every_output_has_an_example() -> None:
    commands = re.findall(r"^\S+@\S+ \$ ghp (.+)\n[\[{]\n", PLAYED, re.MULTILINE)
    missing = {
        name for name in OUTPUTS if not any(f"{line} ".startswith(f"{name} ") for line in commands)
    }
    assert missing == NOT_RECORDED, "Add it to a recording: `python -m tools.record`."
