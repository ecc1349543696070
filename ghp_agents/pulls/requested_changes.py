"""The changes that reviewers requested of open pull requests, for every screen that shows them."""

from collections.abc import Collection, Iterable

from ghp_agents.core.ids import Actor, first_line
from ghp_agents.hotpath.quoting import named, phrase
from ghp_agents.ports import Snapshot
from ghp_agents.pulls.local_pulls import read_present
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import FOLDER, ReviewRecord, folder_of, read_reviews

TEXT_SHOWN = 200  # characters of a request


def standing(snapshot: Snapshot, pulls: Iterable[Pull]) -> list[ReviewRecord]:
    """Return the requests for changes to the present commits of pull requests, as recorded here.
    The last review of each reviewer counts."""
    requests: list[ReviewRecord] = []
    for pull in pulls:
        reviews, _ = read_reviews(snapshot.files(folder_of(pull.number)))
        last = {entry.by: entry for entry in reviews if entry.head == pull.head}
        requests += [entry for entry in last.values() if not entry.review.approves]
    return requests


def words(entry: ReviewRecord) -> str:
    """Return who requested changes to what, with the first line of the text."""
    return f"{_by(entry.by)} requested changes to #{entry.pull}{quoted(entry.text)}."


def quoted(text: str) -> str:
    """Return a colon and the first line of a request; empty without a text."""
    return f": {phrase(first_line(text), TEXT_SHOWN)}" if text.strip() else ""


def local_pulls(snapshot: Snapshot) -> list[Pull]:
    """Return the open pull requests that the state has, oldest first; those of a host are not
    there."""
    pulls = (entry.pull for entry in read_present(snapshot))
    return [pull for pull in pulls if pull.state == "open"]


def steps(snapshot: Snapshot, issues: Collection[int | None]) -> list[str]:
    """Return what reviewers of an issue's pull requests want, as next steps. `issues` are its
    numbers. It sends no request, so it knows local pull requests only."""
    if not snapshot.present(FOLDER):
        return []
    pulls = [pull for pull in local_pulls(snapshot) if pull.issue and pull.issue in issues]
    return [
        f"Read the review of #{entry.pull} by {_by(entry.by)}, who requested changes"
        f"{quoted(entry.text)}. `ghp agent-pull show {entry.pull}` shows all of it. After changes, "
        "run `ghp agent-finish`."
        for entry in standing(snapshot, pulls)
    ]


def _by(actor: Actor) -> str:
    return named(actor.name, actor.is_person)
