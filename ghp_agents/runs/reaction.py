"""Which agent is started again, and why: the causes that stand, and the runs that tried them. Pure.

A cause is tried by at most two runs, and by one if its agent looked and changed nothing. If it
still stands then, a person is asked. Nothing is counted elsewhere: each run's record names the
causes that it was started for.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.core.ids import Actor
from ghp_agents.handoffs import returned
from ghp_agents.handoffs.returned import Return
from ghp_agents.hotpath.quoting import clean, cut, fence, file, who
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import TEXT_LIMIT
from ghp_agents.runs.record import ASKS, FINISHED, INTERRUPTED, LIMITED, UNCHANGED, RunRecord

MOST_TRIES = 2  # runs for one cause
MOST_TEXT = 16_000  # characters of all texts of a prompt
MOST_CAUSES = 10  # in one run
_FIX = "In its worktree, fix it and commit; then run `ghp agent-finish`."


class RunCause(NamedTuple):
    """Why an agent should continue with an issue."""

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


APPROVES, REQUESTS, COMMENTS = "approve", "request-changes", "comment"


class PullVerdict(NamedTuple):
    """What a reviewer said about a pull request."""

    id: str
    by: Actor
    head: str  # the commit that was reviewed
    verdict: str  # APPROVES, REQUESTS or COMMENTS
    text: str


class PullNews(NamedTuple):
    """An open pull request, with its returns, reviews, failed checks and conflict."""

    pull: Pull
    issue: int
    tips: tuple[str, ...]  # its head, and its branch as this clone knows it
    returns: Sequence[tuple[Return, int]] = ()  # each with its round, oldest first
    verdicts: Sequence[PullVerdict] = ()  # oldest first
    failed: str = ""  # the checks that failed on its host, with their output
    conflict: str = ""  # with the main branch, in printable words


def of_pull(news: PullNews) -> list[RunCause]:
    """What keeps a pull request from its merge. Remarks on an older commit do not count."""
    causes = [_returned(news, *pair) for pair in news.returns[-1:] if pair[0].head in news.tips]
    causes += [_failed(news)] if news.failed else []
    causes += [_conflict(news)] if news.conflict else []
    verdicts = [verdict for verdict in news.verdicts if verdict.head in news.tips]
    last = {verdict.by: verdict for verdict in verdicts if verdict.verdict != COMMENTS}
    causes += [_changes_requested(news, x) for x in last.values() if x.verdict == REQUESTS]
    return causes + [_commented(news, x) for x in verdicts if x.verdict == COMMENTS]


def _returned(news: PullNews, entry: Return, number: int) -> RunCause:
    words = f"{returned.REASONS[entry.reason]}, pull request #{entry.pull}"
    text = returned.news(entry, number)
    return RunCause(f"{entry.reason}/{entry.pull}", news.issue, words, text)


def _failed(news: PullNews) -> RunCause:
    number = news.pull.number
    text = (
        f"Checks of pull request #{number} failed at {file(news.pull.head[:12])}:\n"
        f"{_quoted(news.failed)}\nEnd of the output. {_FIX}"
    )
    return RunCause(f"checks/{number}", news.issue, f"a check failed, pull request #{number}", text)


def _conflict(news: PullNews) -> RunCause:
    number = news.pull.number
    text = (
        f"main moved, and pull request #{number} no longer merges with it: {news.conflict}. Run "
        "`ghp agent-update` in its worktree: it shows both sides. Resolve the conflicts and "
        "commit; then run `ghp agent-finish`."
    )
    words = f"pull request #{number} conflicts with main"
    return RunCause(f"conflict/{number}", news.issue, words, text)


def _commented(news: PullNews, verdict: PullVerdict) -> RunCause:
    by, number = who(verdict.by.name, verdict.by.is_person), news.pull.number
    text = (
        f"A review of pull request #{number}:\n{_quoted(verdict.text)}\n"
        f"End of the review by {by}. If it asks for changes, commit them in its worktree and run "
        f"`ghp agent-finish`. Answer with `ghp agent-issue comment {news.issue} TEXT`."
    )
    words = f"{by} commented on pull request #{number}"
    return RunCause(f"comment/{number}/{verdict.id}", news.issue, words, text, is_heard=True)


def _quoted(text: str) -> str:
    return fence(cut(clean(text), TEXT_LIMIT, "cut"))


def unblocked(issue: int, blockers: Sequence[int]) -> RunCause:
    """The issues that an issue waited for are closed."""
    names = ", ".join(f"#{number}" for number in blockers)
    words = (
        f"nothing blocks #{issue} any more: {names} {'is' if len(blockers) == 1 else 'are'} closed"
    )
    key = "unblocked/" + ",".join(map(str, blockers))
    return RunCause(
        f"{key}/{issue}", issue, words, f"{words[:1].upper()}{words[1:]}. Continue.", True
    )


def answered(issue: int, question: str, by: Actor) -> RunCause:
    """A question of the agent was answered; the resumed issue quotes the answer."""
    words = f"{who(by.name, by.is_person)} answered {file(question)}"
    return RunCause(
        f"answer/{question}", issue, words, f"Your question was answered: {words}.", True
    )


def _changes_requested(news: PullNews, verdict: PullVerdict) -> RunCause:
    """Each review by a person is a cause of its own. All reviews by agents are one cause: else
    agents could continue for ever."""
    by, number = who(verdict.by.name, verdict.by.is_person), news.pull.number
    key = f"review/{number}" + (f"/{verdict.id}" if verdict.by.is_person else "")
    text = (
        f"Changes of pull request #{number} were requested:\n{_quoted(verdict.text)}\n"
        f"End of the review by {by}. Commit the changes in its worktree; then run "
        "`ghp agent-finish`. If you disagree, say why with `ghp agent-issue comment "
        f"{news.issue} TEXT`."
    )
    return RunCause(key, news.issue, f"{by} requested changes of pull request #{number}", text)


def choose(causes: Iterable[RunCause], runs: Iterable[RunRecord]) -> dict[int, Reaction]:
    """The reaction for each issue; `runs` are all that are recorded."""
    with_cause = [run for run in runs if run.cause]
    by_issue: dict[int, dict[str, RunCause]] = {}
    for cause in causes:
        if not (cause.is_heard and _is_heard(cause.key, with_cause)):
            by_issue.setdefault(cause.issue, {}).setdefault(cause.key, cause)
    return {issue: _reaction([*by_key.values()], with_cause) for issue, by_key in by_issue.items()}


def tries(key: str, runs: Iterable[RunRecord]) -> int:
    """The runs for a cause. The end of a supervisor is no failure of its agent, nor is a limit of
    its account."""
    return sum(
        run.outcome not in (INTERRUPTED, LIMITED) for run in runs if key in run.cause.split()
    )


def is_hopeless(key: str, runs: Sequence[RunRecord]) -> bool:
    """Whether no other run should try a cause: enough have, or one left the work as it was."""
    return tries(key, runs) >= MOST_TRIES or any(
        run.declined and key in run.cause.split() for run in runs
    )


def _is_heard(key: str, runs: Iterable[RunRecord]) -> bool:
    heard = (run for run in runs if run.outcome in (FINISHED, UNCHANGED, ASKS))
    return any(key in run.cause.split() for run in heard)


def _reaction(causes: Sequence[RunCause], runs: Sequence[RunRecord]) -> Reaction:
    hopeless = tuple(cause for cause in causes if is_hopeless(cause.key, runs))
    go_on = tuple(cause for cause in causes if cause not in hopeless)
    most = max((tries(cause.key, runs) for cause in hopeless), default=0)
    return Reaction(go_on[:MOST_CAUSES], hopeless, most)
