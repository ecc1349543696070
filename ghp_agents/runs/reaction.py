"""Which agent is started again, and why: the causes that stand, and the runs that tried them. Pure.

A cause is tried by at most two runs. If it still stands then, a person is asked. Nothing is counted
elsewhere: each run's record names the causes that it was started for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import Return
from ghp_agents.hotpath.quoting import clean, cut, fence, who
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import TEXT_LIMIT
from ghp_agents.runs.record import ASKS, FINISHED, INTERRUPTED, RunRecord

MOST_TRIES = 2  # runs for one cause
MOST_TEXT = 16_000  # characters of all texts of a prompt
MOST_CAUSES = 10  # in one run


class RunCause(NamedTuple):
    """Why an agent should go on with an issue."""

    key: str  # one cause has one key, whatever new form it takes; no spaces
    issue: int
    words: str  # what is wrong, as the end of a sentence; printable
    text: str = ""  # what the agent reads; others' words are quoted in it
    is_heard: bool = False  # over as soon as an agent has heard of it


class Reaction(NamedTuple):
    """What stands in the way of an issue, and what follows."""

    causes: tuple[RunCause, ...]  # to start a run for
    hopeless: tuple[RunCause, ...] = ()  # that runs have tried often enough
    tried: int = 0  # the most runs that tried one of `hopeless`

    @property
    def keys(self) -> str:
        """The value of a run's `cause`."""
        return " ".join(cause.key for cause in self.causes)

    @property
    def text(self) -> str:
        """What the agent reads: each cause in whole, or in one line where there is no room."""
        room, parts = MOST_TEXT, []
        for cause in self.causes:
            fits = 0 < len(cause.text) <= room
            parts.append(cause.text if fits else f"{cause.words}.")
            room -= len(parts[-1])
        return "\n\n".join(parts)

    @property
    def words(self) -> str:
        """All causes in one line."""
        return "; ".join(cause.words for cause in (*self.causes, *self.hopeless))


class PullVerdict(NamedTuple):
    """What a reviewer last said about a pull request."""

    id: str
    by: Actor
    head: str  # the commit that was reviewed
    approves: bool
    text: str


class PullNews(NamedTuple):
    """An open pull request, and what was said of it."""

    pull: Pull
    issue: int
    tips: tuple[str, ...]  # its head, and its branch as this clone knows it
    returns: Sequence[tuple[Return, int]] = ()  # each with its round, oldest first
    verdicts: Sequence[PullVerdict] = ()  # oldest first


def of_pull(news: PullNews) -> list[RunCause]:
    """What keeps a pull request from its merge. What was said of an older commit is over."""
    found = [_returned(news, *pair) for pair in news.returns[-1:] if pair[0].head in news.tips]
    last = {verdict.by: verdict for verdict in news.verdicts}
    return found + [
        _changes_requested(news, verdict)
        for verdict in last.values()
        if not verdict.approves and verdict.head in news.tips
    ]


def _returned(news: PullNews, entry: Return, number: int) -> RunCause:
    words = f"{returned.REASONS[entry.reason]}, pull request #{entry.pull}"
    text = returned.news(entry, number)
    return RunCause(f"{entry.reason}/{entry.pull}", news.issue, words, text)


def _changes_requested(news: PullNews, verdict: PullVerdict) -> RunCause:
    """Each review by a person is a cause of its own; agents could go on for ever."""
    by, number = who(verdict.by.name, verdict.by.is_person), news.pull.number
    key = f"review/{number}" + (f"/{verdict.id}" if verdict.by.is_person else "")
    quoted = fence(cut(clean(verdict.text), TEXT_LIMIT, "cut"))
    text = (
        f"Changes of pull request #{number} were requested:\n{quoted}\n"
        f"End of the review by {by}. Commit the changes in its worktree; then run "
        "`ghp agent-finish`. If you disagree, say why with `ghp agent-issue comment "
        f"{news.issue} TEXT`."
    )
    return RunCause(key, news.issue, f"{by} requested changes of pull request #{number}", text)


def choose(causes: Iterable[RunCause], runs: Iterable[RunRecord]) -> dict[int, Reaction]:
    """What follows for each issue; `runs` are all known ones."""
    tried: dict[str, list[RunRecord]] = {}
    for run in runs:
        for key in run.cause.split():
            tried.setdefault(key, []).append(run)
    found: dict[int, list[RunCause]] = {}
    for cause in causes:
        if not (cause.is_heard and _is_heard(tried.get(cause.key, ()))):
            found.setdefault(cause.issue, []).append(cause)
    return {issue: _reaction(each, tried) for issue, each in found.items()}


def _is_heard(runs: Iterable[RunRecord]) -> bool:
    return any(run.outcome in (FINISHED, ASKS) for run in runs)


def _reaction(causes: Sequence[RunCause], tried: Mapping[str, Sequence[RunRecord]]) -> Reaction:
    counts = {cause.key: sum(map(_counts, tried.get(cause.key, ()))) for cause in causes}
    go_on = tuple(cause for cause in causes if counts[cause.key] < MOST_TRIES)
    hopeless = tuple(cause for cause in causes if counts[cause.key] >= MOST_TRIES)
    most = max((counts[cause.key] for cause in hopeless), default=0)
    return Reaction(go_on[:MOST_CAUSES], hopeless, most)


def _counts(run: RunRecord) -> bool:
    """Whether a run was a try: the end of its supervisor is no failure of its agent."""
    return run.outcome != INTERRUPTED
