"""Notes end to end in one process: told once, changed, replaced, forgotten."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, NotFoundError, NotSetUpError, RefusedError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.issues.issue import IssueChange
from ghp_agents.notes import service as services
from ghp_agents.notes.note import TEXT_LIMIT, identity
from ghp_agents.notes.record import path_of, render, withdrawn
from ghp_agents.notes.service import edit, forget, withdraw
from ghp_agents.state.record import Record
from tests.support.clock import ManualClock
from tests.support.context import make_context
from tests.support.git import git
from tests.support.notes import NOW, PROJECT, Desk, RivalStore, make_desk, note
from tests.support.twins.state import MemoryRemote

ADA = Actor("Test Person", is_person=True)


@pytest.fixture
def here(repo: Path) -> Desk:
    """Where worker-1 works."""
    return make_desk(repo)


# --------------------------------------------------------------------------------- telling


def test_a_note_says_who_learnt_it_when_and_from_which_issue_and_commit(here: Desk) -> None:
    here.tracker.create(IssueChange(title="Parse"), ADA)
    result = here.tell(
        " It is\r\nso. \n", kind="gotcha", issue="1", paths=("/src/",), expires="2030-01-01"
    )
    head = git(here.ws.folder, "rev-parse", "HEAD")
    expected = note(
        "It is\nso.", kind="gotcha", issue=1, paths=("/src/",), expires="2030-01-01",
        branch="main", commit=head,
    )  # fmt: skip
    assert (result.is_new, result.note) == (True, expected)
    assert here.notes() == [expected]
    assert here.files() == {path_of(expected.id): render(expected)}
    (entry,) = here.store.ledger()
    assert (entry.event, entry.actor, entry.object, entry.issue, entry.text) == (
        "remember", "worker-1", expected.name, 1, "It is",
    )  # fmt: skip


def test_the_same_fact_told_by_eight_agents_is_one_note(here: Desk) -> None:
    results = [here.by(f"worker-{n}").tell(f"The  API needs a JWT{'.' * n}") for n in range(8)]
    assert [x.is_new for x in results] == [True] + [False] * 7
    assert {x.note.id for x in results} == {identity(PROJECT, "the api needs a jwt")}
    assert len(here.store.ledger()) == 1


def test_a_person_tells_notes_as_themselves(here: Desk) -> None:
    assert here.by(None).tell("So it is").note.by == ADA


def test_the_issue_in_hand_is_where_it_was_learnt(here: Desk) -> None:
    here.tracker.create(IssueChange(title="Parse"), ADA)
    git(here.ws.folder, "checkout", "--quiet", "-b", "agent/1-parse")
    assert here.tell("So it is").note.issue == 1
    git(here.ws.folder, "checkout", "--quiet", "-b", "agent/99-gone")
    assert here.tell("And so").note.issue is None
    with pytest.raises(NotFoundError):
        here.tell("Or so", issue="99")


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        (" \n", {}, "The note is empty."),
        ("x" * (TEXT_LIMIT + 1), {}, "The note has 8001 characters; the limit is 8000."),
        ("x", {"kind": "rumour"}, "'rumour' is not a kind of note."),
        ("x", {"expires": "soon"}, "'soon' is not a date."),
        ("x", {"expires": "2025-06-14"}, "2025-06-14 is in the past."),
        ("x", {"supersedes": "ffff"}, "There is no note ffff."),
    ],
)
def test_what_cannot_be_a_note_is_refused_and_nothing_is_recorded(
    here: Desk, text: str, words: dict[str, str], says: str
) -> None:
    with pytest.raises(GhpError) as caught:
        here.tell(text, **words)
    assert str(caught.value) == says
    assert caught.value.hint
    assert here.files() == {}


def test_a_secret_is_refused_and_shown_masked(here: Desk) -> None:
    with pytest.raises(UsageError) as caught:
        here.tell("Log in with password: hunter2-Hunter3")
    assert str(caught.value) == (
        "The note seems to contain a password or key: hunt…(15 characters). Notes are shared and "
        "cannot be withdrawn."
    )
    assert here.files() == {}


def test_control_sequences_are_not_kept(here: Desk) -> None:
    assert here.tell("a\x1b[31mb").note.text == "a�[31mb"


def test_nobody_tells_nothing(here: Desk) -> None:
    git(here.ws.folder, "config", "--global", "--unset", "user.name")
    with pytest.raises(NotSetUpError):
        here.by(None).tell("x")


def test_a_rival_who_tells_the_same_meanwhile_has_told_it(repo: Path) -> None:
    here = make_desk(repo)
    store = RivalStore(ManualClock(), "aaaa")
    here.store, rival = store, note("So it is", clock=1)
    files = ((path_of(rival.id), render(rival)),)
    store.rival = Record("remember", rival.by, rival.name, rival.id, NOW, 1, files)
    assert not here.tell("So it is").is_new
    assert len(here.notes()) == len(store.ledger()) == 1


# -------------------------------------------------------------------------------- replacing


def test_a_note_that_is_replaced_is_kept_and_not_active(here: Desk) -> None:
    old = here.tell("Port 80").note
    new = here.tell("Port 8080", supersedes=old.name)
    assert [x.id for x in new.replaced] == [old.id]
    assert services.active(here.ws, here.notes()) == [new.note]
    assert {x.id: x.superseded_by for x in here.notes()} == {
        old.id: new.note.id, new.note.id: None,
    }  # fmt: skip
    again = here.tell("Port 8080", supersedes=old.name)
    assert (again.is_new, again.replaced) == (False, ())
    assert len(here.store.ledger()) == 2


def test_replacing_the_other_way_round_brings_the_first_one_back(here: Desk) -> None:
    old = here.tell("Port 80").note
    new = here.tell("Port 8080", supersedes=old.name).note
    result = here.tell("port 80.")
    assert result.notes == (
        f"{old.name} was replaced by {new.name} and no longer appears in searches.",
    )
    back = here.tell("Port 80", supersedes=new.name)
    assert (back.is_new, back.note.superseded_by) == (False, None)
    assert [x.text for x in services.active(here.ws, here.notes())] == ["Port 80"]


def test_a_note_does_not_replace_itself(here: Desk) -> None:
    here.tell("Port 80")
    with pytest.raises(UsageError, match="cannot replace itself"):
        here.tell("Port 80", supersedes=here.notes()[0].name)


def test_telling_it_again_renews_its_last_day(here: Desk) -> None:
    here.tell("Port 80", expires="2025-06-20")
    assert here.tell("Port 80").note.expires == "2025-06-20"
    assert here.tell("Port 80", expires="2025-07-01").note.expires == "2025-07-01"
    here.ws.clock.wait(10 * 86_400)
    assert [x.text for x in services.active(here.ws, here.notes())] == ["Port 80"]
    here.ws.clock.wait(30 * 86_400)
    assert services.active(here.ws, here.notes()) == []


# --------------------------------------------------------------------------------- changing


def test_an_edit_changes_what_is_named_and_the_id_stays(here: Desk) -> None:
    saved = here.tell("Port 80", paths=("/src/",)).note
    changed = edit(
        make_context(here.by("worker-2").ws, here.store),
        saved.name,
        {"text": "Port 81 ", "kind": "howto"},
    )
    assert changed.is_new
    assert here.notes() == [changed.note]
    now = changed.note
    assert (now.id, now.text, now.kind, now.paths) == (saved.id, "Port 81", "howto", ("/src/",))
    assert now.changed is not None
    assert now.changed.by == Actor("worker-2")
    assert not edit(here.parts, saved.name, {"text": "Port 81"}).is_new
    with pytest.raises(UsageError):
        edit(here.parts, saved.name, {})
    with pytest.raises(UsageError, match="seems to contain"):
        edit(here.parts, saved.name, {"text": "ghp_" + "a1" * 20})


def test_edits_that_meet_end_the_same_in_all_clones(repo: Path) -> None:
    hub = MemoryRemote()
    one, two = make_desk(repo, hub, "aaaa"), make_desk(repo, hub, "bbbb", "worker-2")
    saved = one.tell("Port 80").note
    for desk in (one, two):
        desk.store.sync()
    edit(one.parts, saved.name, {"text": "Port 81"})
    edit(two.parts, saved.name, {"text": "Port 82"})
    edit(two.parts, saved.name, {"kind": "gotcha"})
    for desk in (one, two, one):
        desk.store.sync()
    assert one.notes() == two.notes()
    (now,) = one.notes()
    assert (now.text, now.kind) == ("Port 82", "gotcha")


# -------------------------------------------------------------------------------- forgetting


def test_forgetting_takes_every_text_of_the_note_out_and_says_who_did(here: Desk) -> None:
    saved = here.tell("Port 80").note
    edit(here.parts, saved.name, {"text": "Port 81"})
    kept = here.tell("Another").note
    gone = forget(make_context(here.by("worker-2").ws, here.store), saved.name)
    assert gone.is_new
    assert b"Port" not in b"".join(here.files().values())
    assert [(x.id, x.text) for x in here.notes()] == [
        (saved.id, ""), (kept.id, "Another"),
    ]  # fmt: skip
    assert here.notes()[0].forgotten is not None
    assert not forget(here.parts, saved.name).is_new


def test_what_was_forgotten_is_not_told_again_in_the_same_words(here: Desk) -> None:
    saved = here.tell("Port 80").note
    forget(here.parts, saved.name)
    with pytest.raises(RefusedError) as caught:
        here.tell("port 80!")
    assert str(caught.value) == f"This note was deleted by worker-1 ({saved.name})."
    with pytest.raises(RefusedError):
        edit(here.parts, saved.name, {"text": "Port 81"})
    assert here.tell("The port is 80").is_new


def test_every_clone_takes_its_own_copy_of_a_forgotten_text_out(repo: Path) -> None:
    hub = MemoryRemote()
    one, two = make_desk(repo, hub, "aaaa"), make_desk(repo, hub, "bbbb", "worker-2")
    saved = one.tell("Port 80").note
    two.tell("port 80")
    for desk in (one, two, one):
        desk.store.sync()
    edit(two.parts, saved.name, {"text": "Port 81"})  # not known to the other yet
    forget(one.parts, saved.name)
    one.store.sync()
    two.store.sync()

    assert withdraw(two.parts) == 1
    own = dict(two.store.snapshot().own(".ghp/notes/"))
    assert own[path_of(saved.id)] == withdrawn(saved.id)
    assert b"ort 8" not in b"".join(own.values())
    assert withdraw(two.parts) == withdraw(one.parts) == 0
    for desk in (two, one):
        desk.store.sync()
    assert one.notes() == two.notes()
    assert one.files() == two.files()
    assert b"ort 8" not in b"".join(one.files().values())
