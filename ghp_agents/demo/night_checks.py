"""The ends of the night: figures read back from the repositories, each with a check."""

from collections.abc import Iterator, Sequence

from ghp_agents.core import process
from ghp_agents.demo import night_jobs as jobs
from ghp_agents.demo.checks import SummaryLine, equal
from ghp_agents.demo.night import AGENTS, CHECK, DAY
from ghp_agents.demo.night_jobs import ASKS, CONFLICT, KILLED, RED
from ghp_agents.demo.sandbox import Sandbox, dirty, run_git
from ghp_agents.escalations import service as escalation
from ghp_agents.handoffs import returned
from ghp_agents.issues.issue import Issue
from ghp_agents.runs import processes
from ghp_agents.runs.record import FAILED, FINISHED, RunRecord
from ghp_agents.wiring import App

TROUBLES = (KILLED, RED, ASKS, CONFLICT)  # each takes one run more
TIMEOUT_S = 120.0  # seconds for the tests of main


def summary(place: Sandbox, runs: Sequence[RunRecord]) -> list[SummaryLine]:
    """Run all checks."""
    app = place.app(DAY)
    app.store.sync()
    issues = {issue.title: issue for issue in app.tracker.list(closed=True)}
    return [
        *_jobs(app, issues),
        *_runs(app, issues, runs),
        *_main(place),
        *_left(place, runs),
    ]


def _jobs(app: App, issues: dict[str, Issue]) -> Iterator[SummaryLine]:
    closed = [issue for issue in issues.values() if issue.state == "closed"]
    count = len(jobs.JOBS)
    yield equal("jobs done", f"{len(closed)} of {count}", f"{count} of {count}")
    pulls = app.forge.list(closed=True)
    merged = [pull for pull in pulls if pull.state == "merged"]
    holds = len(merged) == len(pulls) == count
    yield SummaryLine("pull requests merged by the queue", str(len(merged)), holds)
    questions = escalation.questions(app.world)
    answers = ", ".join(question.answers[-1].text for question in questions if question.answers)
    figure = f"{len(questions)}, {answers}"
    yield equal("questions to the person, and the answer", figure, f"1, {jobs.ANSWER}")


def _runs(app: App, issues: dict[str, Issue], runs: Sequence[RunRecord]) -> Iterator[SummaryLine]:
    by_trouble = {
        job.trouble: [run for run in runs if run.issue == issues[job.title].number]
        for job in jobs.JOBS
    }
    agents, wanted = len({run.agent for run in runs}), len(jobs.JOBS) + len(TROUBLES)
    yield equal("agents, and their runs", f"{agents}, {len(runs)}", f"{AGENTS}, {wanted}")
    killed, red = by_trouble[KILLED], by_trouble[RED]
    yield _ends("the killed agent's job", killed, "ended from outside")
    yield _ends("the job whose check failed", red, "exited with code", "ended without")
    snapshot, pulls = app.store.snapshot(), app.forge.list(closed=True)
    back = [
        entry
        for pull in pulls
        for entry in returned.read_returns(snapshot.files(returned.folder_of(pull.number)))[0]
    ]
    conflicts = [issues[job.title].number for job in jobs.JOBS if job.trouble == CONFLICT]
    about = {pull.number: pull.issue for pull in pulls}
    words = ", ".join(f"#{entry.pull}: {returned.REASONS[entry.reason]}" for entry in back)
    holds = len(back) == 1 and about[back[0].pull] in conflicts
    yield SummaryLine("sent back by the queue", words or "nothing", holds)
    twice = [
        (first.issue, first.id)
        for first in runs
        for second in runs
        if first.id < second.id and first.issue == second.issue and _overlap(first, second)
    ]
    yield equal("jobs that two runs had at once", len(twice), 0)


def _ends(what: str, runs: Sequence[RunRecord], *why: str) -> SummaryLine:
    """A job whose first run failed so, and whose last one finished."""
    outcomes = [run.outcome for run in runs]
    holds = outcomes == [FAILED, FINISHED] and any(words in runs[0].why for words in why)
    return SummaryLine(what, ", then ".join(outcomes), holds)


def _overlap(first: RunRecord, second: RunRecord) -> bool:
    return max(first.seconds, second.seconds) < min(first.ended, second.ended)


def _main(place: Sandbox) -> Iterator[SummaryLine]:
    fresh = place.root / "fresh"
    run_git(place.root, "clone", "-q", str(place.remote), str(fresh))
    done = process.run(CHECK.split(), cwd=fresh, env=place.environ(), timeout=TIMEOUT_S)
    count = len(list(fresh.glob("test_*.py")))
    figure = f"{count} files, {'green' if done.code == 0 else 'red'}"
    yield equal("main's tests, in a new clone", figure, f"{len(jobs.JOBS) + 1} files, green")
    page = (fresh / jobs.PAGE).read_text(encoding="utf-8")
    lines = [job.module for job in jobs.JOBS if f"`{job.module}`" in page]
    wanted = [job.module for job in jobs.JOBS if job.trouble == CONFLICT]
    yield SummaryLine("lines kept of both sides of the conflict", str(len(lines)), lines == wanted)


def _left(place: Sandbox, runs: Sequence[RunRecord]) -> Iterator[SummaryLine]:
    alive = [pid for run in runs for pid in processes.marked(run.id)]
    yield equal("processes left", len(alive), 0)
    yield equal("main worktrees with changes", len(dirty(place)), 0)
