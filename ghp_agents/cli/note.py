"""`agent-remember`, `agent-recall` and `agent-notes`: notes for future agents."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from ghp_agents.cli import json_choice, output, past
from ghp_agents.cli.context import acting, say_none, start_background
from ghp_agents.cli.group import Group
from ghp_agents.cli.params import LIMIT, limited, read_text
from ghp_agents.cli.terminal.pager import paged
from ghp_agents.cli.views import note as note_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core import glob_paths
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import count
from ghp_agents.notes import note as rules
from ghp_agents.notes import recall as recalling
from ghp_agents.notes import service as services
from ghp_agents.notes.note import DEFAULT_KIND, KINDS, TEXT_LIMIT
from ghp_agents.state.record import Problem
from ghp_agents.wiring import App

KIND = click.option("--kind", type=click.Choice(KINDS), help="The kind of note.")
PATHS = click.option(
    "--path", "paths", metavar="PATTERN", multiple=True,
    help="A path that it is about, in .gitignore syntax; repeatable.",
)  # fmt: skip
EXPIRES = click.option("--expires", metavar="DATE", help="The last day on which it is valid.")
AS_JSON = json_choice.option("Print it as JSON.")


@click.command(
    "agent-remember",
    epilog="Example: ghp agent-remember 'Staging drops OPTIONS requests' --kind gotcha",
)
@click.argument("text")
@KIND
@click.option(
    "--issue", metavar="N", help="The issue where you learned it (default: your current issue)."
)
@PATHS
@click.option("--supersedes", metavar="ID", help="The note that this one replaces.")
@EXPIRES
@click.option(
    "--verbatim", is_flag=True, help="Save it word for word, even if a model extracts facts."
)
@acting
def remember(
    app: App,
    text: str,
    kind: str | None,
    issue: str | None,
    paths: tuple[str, ...],
    supersedes: str | None,
    expires: str | None,
    verbatim: bool,
) -> None:
    """Save one fact for later agents, and print the note's id.

    TEXT is the note, or `-` to read it from standard input. A fact that several agents save is one
    note. Notes are kept in git and shared by `ghp agent-sync`.
    """
    text = services.tidied(read_text(text, 4 * TEXT_LIMIT + 4, "The note on standard input"))
    facts: Sequence[str] = [text]
    if not verbatim and app.ws.settings.notes.get("infer"):
        with output.busy("Extracting the facts"):
            facts = app.knowledge.extract_facts(text)
    spelled = _spelled(app, paths)
    for fact in facts:
        result = services.remember(
            app, fact, project=app.project,
            kind=kind or DEFAULT_KIND, issue=issue, paths=spelled, supersedes=supersedes,
            expires=expires,
        )  # fmt: skip
        supersedes = None  # only the first fact replaces it
        _report_note(result)
    start_background(app)


def _report_note(result: services.RememberResult) -> None:
    output.result(result.note.name)
    if result.is_new:
        output.done(f"Saved {result.note.name}: {result.note.title}")
    else:
        output.say(f"Already saved as {result.note.name}.")
    for old in result.replaced:
        if old.id != result.note.id:
            output.done(f"It replaces {old.name}, which no longer appears in searches.")
    for note in result.notes:
        output.warn(note, "To restore it, run the command again with --supersedes.")


def _spelled(app: App, words: Sequence[str]) -> tuple[str, ...]:
    return glob_paths.spelled_all(words, _current_folder(app))


def _current_folder(app: App) -> str:
    """The current folder relative to the worktree; patterns are relative to it."""
    top = app.ws.place.toplevel
    here = os.path.relpath(app.cwd.resolve(), Path(top).resolve()) if top else "."
    return "" if here == "." else here.replace(os.sep, "/")


@click.command(
    "agent-recall", epilog="Example: ghp agent-recall 'how do we authenticate to the API'"
)
@click.argument("query")
@click.option("--issue", metavar="N", help="Only notes learned on this issue.")
@click.option("--path", metavar="PATH", help="Only notes about this file.")
@click.option(
    "-L", "--limit", type=click.IntRange(1, 100), default=recalling.LIMIT, show_default=True,
    help="Print at most this many notes.",
)  # fmt: skip
@AS_JSON
@click.pass_obj
def recall(
    app: App, query: str, issue: str | None, path: str | None, limit: int, as_json: bool
) -> None:
    """Search the notes, best match first: by meaning if mem0 is installed, else by words."""
    place = _place(app, path) if path else None
    remote_news.hear(app)
    with output.busy("Searching the notes"):
        result = recalling.recall(
            app, app.knowledge, query,
            issue=issue, path=place, limit=limit,
        )  # fmt: skip
    if as_json:
        output.as_json(note_view.hits(result, services.today(app.ws)))
    elif result.notes:
        output.page(note_view.answers(result, app.ws.clock.now()))
    elif result.total:
        output.say("No note matches.")
    else:
        say_none(app, "No notes yet. Save one with `ghp agent-remember TEXT`.")
    _say_shortcomings(app, result)
    _warn_of(result.problems)


def _place(app: App, path: str) -> str:
    """The file's path relative to the worktree. Raises UsageError."""
    place = os.path.normpath(os.path.join(_current_folder(app), path)).replace(os.sep, "/")  # noqa: PTH118
    if place.startswith(("../", "/")) or place == "..":
        raise UsageError(
            f"{path!r} is outside this repository.", hint="Name a file in the repository."
        )
    return place


def _say_shortcomings(app: App, result: recalling.Recalled) -> None:
    if result.trouble:
        output.warn(f"{result.trouble} Searched by words instead.", result.trouble.hint)
    for finding in result.shortcomings:
        if note_view.is_news(app.ws, finding):
            output.warn(finding.text, finding.remedy)


def _warn_of(problems: Sequence[Problem]) -> None:
    for problem in problems:
        output.warn(f"Cannot read {problem.place}: {problem.reason}.")


@click.group("agent-notes", cls=Group, epilog="Example: ghp agent-notes list --kind decision")
def notes() -> None:
    """List, show, change and delete notes. ID is a note's id or the start of one (N-3f9a)."""


@notes.command("list", epilog="Example: ghp agent-notes list --kind gotcha --path src/")
@click.option("--kind", type=click.Choice(KINDS), help="Only notes of this kind.")
@click.option("--issue", metavar="N", help="Only notes learned on this issue.")
@click.option("--path", metavar="PATH", help="Only notes about this file.")
@click.option("--all", "everything", is_flag=True, help="Also replaced, expired and deleted notes.")
@LIMIT
@past.AT
@AS_JSON
@click.pass_obj
def list_notes(
    app: App,
    kind: str | None,
    issue: str | None,
    path: str | None,
    everything: bool,
    limit: int | None,
    at: str | None,
    as_json: bool,
) -> None:
    """List notes, oldest first."""
    then = past.time_of(app, at)
    if then is None:
        remote_news.hear(app)
    now = app.ws.clock.now() if then is None else then
    day = to_text(now)[:10]
    all_notes, problems = services.read_all(app.store.snapshot(then))
    chosen = (
        all_notes if everything else [note for note in all_notes if note.state(day) == "active"]
    )
    if kind:
        chosen = [note for note in chosen if note.kind == kind]
    if issue is not None:
        numbers = app.tracker.get(issue).numbers
        chosen = [note for note in chosen if note.issue in numbers]
    if path is not None:
        place = _place(app, path)
        chosen = [note for note in chosen if recalling.concerns(note, [place])]
    chosen = limited(chosen, limit)
    if as_json:
        output.as_json([rules.as_json(note, day) for note in chosen])
    elif chosen:
        with paged():
            note_view.table(chosen, all_notes, now, day)
    else:
        say_none(app, "No notes.")
    _warn_of(problems)


@notes.command("show", epilog="Example: ghp agent-notes show N-3f9a")
@click.argument("id")
@AS_JSON
@click.pass_obj
def show(app: App, id: str, as_json: bool) -> None:
    """Show a note in full: who learned it, when, on which issue and commit."""
    remote_news.hear(app)
    all_notes, _ = services.read_all(app.store.snapshot())
    note, day = rules.find(all_notes, id), services.today(app.ws)
    if as_json:
        output.as_json(rules.as_json(note, day))
    else:
        with paged():
            output.page(note_view.page(note, day))


@notes.command("edit", epilog="Example: ghp agent-notes edit N-3f9a 'Staging drops PATCH, too'")
@click.argument("id")
@click.argument("text", required=False)
@KIND
@PATHS
@click.option(
    "--expires", metavar="DATE", help="The last day on which it is valid; `never` for no limit."
)
@acting
def edit(
    app: App,
    id: str,
    text: str | None,
    kind: str | None,
    paths: tuple[str, ...],
    expires: str | None,
) -> None:
    """Change a note; its id stays. TEXT is the new text, or `-` to read it from standard input.

    If two people change it at once, the later change wins in every clone.
    """
    values: dict[str, Any] = {}
    if text is not None:
        values["text"] = read_text(text, 4 * TEXT_LIMIT + 4, "The note on standard input")
    if kind is not None:
        values["kind"] = kind
    if paths:
        values["paths"] = _spelled(app, paths)
    if expires is not None:
        values["expires"] = None if expires == "never" else expires
    changed = services.edit(app, id, values)
    if changed.is_new:
        output.done(f"Changed {changed.note.name}: {changed.note.title}")
    else:
        output.say(f"{changed.note.name} is already like that.")
    start_background(app)


@notes.command("forget", epilog="Example: ghp agent-notes forget N-3f9a")
@click.argument("id")
@acting
def forget(app: App, id: str) -> None:
    """Delete a note's text from the state and the index. Its author stays recorded."""
    changed = services.forget(app, id)
    name = changed.note.name
    if not changed.is_new:
        output.say(f"{name} is already deleted.")
    else:
        output.done(f"Deleted {name}.")
        output.warn(
            "git's history still has its text, here and in every clone that has synced.",
            "If it was a secret, change the secret.",
        )
    _remove_from_index(app)
    start_background(app)


def _remove_from_index(app: App) -> None:
    """Remove the note from the index; it is forgotten even if that fails."""
    if note_view.has_index(app.ws):
        with output.busy("Removing it from the index"):
            recalling.reindex(app, app.knowledge)


@notes.command("reindex", epilog="Example: ghp agent-notes reindex")
@click.pass_obj
def reindex(app: App) -> None:
    """Rebuild the search index from the notes. `agent-recall` does this by itself; use it after a
    repair, or to check the index.
    """
    with output.busy("Indexing the notes"):
        update = recalling.reindex(app, app.knowledge)
    if update.nothing_new:
        output.done(f"Nothing to do: {count(update.total, 'note')} indexed.")
    else:
        output.done(
            f"Indexed {count(update.total, 'note')}: {update.added} added, {update.changed} "
            f"changed, {update.removed} removed."
        )
    for finding in app.knowledge.health():
        output.warn(finding.text, finding.remedy)
