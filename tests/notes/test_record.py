"""Notes as files: read back as they were written, and whatever else lies there hides nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, CloneId, Timestamp
from ghp_agents.notes.note import NoteChange
from ghp_agents.notes.record import (
    change_path_of,
    forgotten_in,
    path_of,
    read_notes,
    render,
    render_change,
    texts_of,
    withdrawn,
)
from ghp_agents.state.join import join_files
from ghp_agents.state.record import Problem
from tests.support.notes import NOW, note

ADA = Actor("Ada", is_person=True)
TOLD = note(
    "Line one\n\n---\nid: no", kind="gotcha", issue=7, paths=("/src/", "!*.md"),
    expires="2026-01-01", branch="main", commit="a" * 40,
)  # fmt: skip


def change(identity: str, event: str = "edit", clock: int = 5, **values: object) -> NoteChange:
    return NoteChange(identity, TOLD.id, event, ADA, Timestamp(NOW), clock, CloneId("bbbb"), values)


def files(*changes: NoteChange) -> dict[str, bytes]:
    contents = {change_path_of(change): render_change(change) for change in changes}
    return {path_of(TOLD.id): render(TOLD), **contents}


def test_a_note_lies_under_the_first_two_digits_of_its_id_and_is_for_people_to_read() -> None:
    path = path_of(TOLD.id)
    assert path == f".ghp/notes/{TOLD.id[:2]}/{TOLD.id}.md"
    text = render(TOLD).decode()
    assert text.startswith(
        f'---\nschemaVersion: 1\nid: "N-{TOLD.id}"\nkind: "gotcha"\nby: "worker-1"\n'
    )
    assert text.endswith("\n---\n\nLine one\n\n---\nid: no\n")


def test_what_was_written_is_read_back() -> None:
    assert read_notes(files()) == ([TOLD], [])


def test_changes_are_folded_into_their_note() -> None:
    edited = change("0000aaaa", text="New\ntext", paths=["/docs/"], expires=None)
    replaced = change("0000bbbb", "supersede", clock=6, supersededBy="ffff0000")
    (now,), problems = read_notes(files(edited, replaced))
    assert problems == []
    assert (now.text, now.paths, now.expires) == ("New\ntext", ("/docs/",), None)
    assert (now.kind, now.superseded_by, now.changed) == ("gotcha", "ffff0000", replaced)


def test_what_a_newer_version_changes_is_passed_over() -> None:
    (now,), problems = read_notes(files(change("0000aaaa", mood="bright", kind="howto")))
    assert (now.kind, problems) == ("howto", [])


def test_a_change_of_a_note_that_is_not_here_yet_waits() -> None:
    contents = files(change("0000aaaa", text="New"))
    del contents[path_of(TOLD.id)]
    assert read_notes(contents) == ([], [])


def test_what_cannot_be_read_is_reported_and_hides_no_other() -> None:
    good, bad = files(), f".ghp/notes/00/{'0' * 16}.md"
    empty, odd = f".ghp/notes/11/{'1' * 16}.md", f".ghp/notes/{TOLD.id[:2]}/{TOLD.id}/22222222.md"
    nobody = render(TOLD).replace(b'"worker-1"', b'"../x"')
    notes, problems = read_notes({
        **good, bad: b"\xff", empty: b'---\nby: "x"\n---\n\n \n', odd: render(TOLD),
        f".ghp/notes/33/{'3' * 16}.md": nobody, ".ghp/notes/readme.txt": b"?",
    })  # fmt: skip
    assert notes == [TOLD]
    assert problems[:2] == [
        Problem(bad, "not UTF-8 text (byte 0)"), Problem(empty, "a note without a text"),
    ]  # fmt: skip
    assert problems[2].reason.startswith("'../x' is not a valid agent name.")
    assert problems[3] == Problem(odd, "it does not say what it does to the note")


NAMES = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=9)


@pytest.mark.slow
@given(st.text(min_size=1, max_size=200), st.sampled_from(["fact", "howto"]), NAMES)
def test_what_is_withdrawn_wins_over_every_text_in_every_order(
    text: str, kind: str, branch: str
) -> None:
    saved, path = note(text, id=TOLD.id, kind=kind, branch=branch), path_of(TOLD.id)
    edit = render_change(change("0000aaaa", text=text, kind=kind))
    for content in (render(saved), edit):
        for order in ([content, withdrawn(TOLD.id)], [withdrawn(TOLD.id), content]):
            joined = join_files({path: x} for x in order)
            assert joined[path] == withdrawn(TOLD.id)


def test_a_forgotten_note_has_no_text_and_says_who_let_it_be_forgotten() -> None:
    gone = change("0000cccc", "forget")
    contents = files(gone) | {path_of(TOLD.id): withdrawn(TOLD.id)}
    (now,), problems = read_notes(contents)
    assert (now.text, now.forgotten, problems) == ("", gone, [])
    assert change_path_of(gone) == f".ghp/notes/forgotten/{TOLD.id}/0000cccc.md"
    assert forgotten_in(contents) == {TOLD.id: gone}


def test_the_texts_of_a_note_are_its_own_and_those_of_its_changes() -> None:
    edited = change("0000aaaa", text="New")
    other = note("Another")
    contents = files(edited) | {path_of(other.id): render(other)}
    assert texts_of(TOLD.id, contents) == sorted([path_of(TOLD.id), change_path_of(edited)])
    blank = dict.fromkeys(texts_of(TOLD.id, contents), withdrawn(TOLD.id))
    assert texts_of(TOLD.id, contents | blank) == []
