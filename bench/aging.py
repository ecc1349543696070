"""A clone with a year of ten agents' work against one with a week's: the processor time of whole
commands about the present, once the year's settled records left the tip. Printed beside it: the
same year before that."""

import os
import resource
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.figure import Figure, count
from bench.place import Place, open_app
from bench.timing import process
from ghp_agents.core.ids import Actor, AgentName, IssueNumber, Timestamp
from ghp_agents.core.ids import digest as an_id
from ghp_agents.escalations import record as escalations
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.delivered import mark_told
from ghp_agents.escalations.escalation import Answer, Escalation, Question
from ghp_agents.issues import record as issues
from ghp_agents.issues.record import IssueEvent
from ghp_agents.leases import record as leases
from ghp_agents.leases.record import LeaseEvent
from ghp_agents.state.git import repack
from ghp_agents.state.new_commits import NewCommit, add_commits
from ghp_agents.state.private_repo import StateRepository, open_repository
from ghp_agents.sync import compaction

AGENTS, ISSUES_A_DAY = 10, 30
WEEK, YEAR = 5, 260  # days of work
DAY = 86_400.0
AS_FAST = 1.25
COMMANDS = ("agent-status --as worker-1", "agent-check README.md --as worker-1", "agent-issues")


def measure(place: Place) -> list[Figure]:
    """The ratio of a year to a week, after and before the compaction."""
    days = 2 * WEEK if place.quick else YEAR
    week, year = _clone(place, WEEK), _clone(place, days)
    before = {command: _cost(place, year, command) for command in COMMANDS}
    app = open_app(year)
    records = 0
    while left := compaction.compact(app, app.ws.clock.now() - 7 * DAY):
        records += left
    repack.run(app.ws, open_repository(app.ws))
    figures: list[Figure] = []
    for command in COMMANDS:
        base, after = _cost(place, week, command), _cost(place, year, command)
        note = f"{count(after * 1000)} / {count(base * 1000)} ms"
        detail = {"baseMs": base * 1000, "thisMs": after * 1000, "records": records}
        name = f"{command.partition(' ')[0]}, a year's work"
        figures.append(
            Figure("aging", name, after / base, "× a week's", AS_FAST, note=note, detail=detail)
        )
        figures.append(
            Figure("aging", f"{name}, not compacted", before[command] / base, "× a week's")
        )
    return figures


def _clone(place: Place, days: int) -> Path:
    """A repository with the work of some days, all of it done, and packed."""
    folder = place.repository("aging")
    app = open_app(folder)
    repository = open_repository(app.ws)
    work_of_days(repository, days, app.ws.clock.now())
    for number in range(AGENTS):
        name = AgentName(f"worker-{number + 1}")
        news = escalation.news_for(app.world, name)
        mark_told(app.ws, name, [item.answer.id for item in news])
    repack.run(app.ws, repository)
    return folder


def _cost(place: Place, folder: Path, command: str) -> float:
    """The seconds of processor time that a whole command takes, the least of some runs."""
    words: list[str | Path] = [place.installed.ghp, *command.split()]
    taken: list[float] = []
    for _ in range(3 if place.quick else 9):
        started = _used()
        process(words, cwd=folder, env=dict(os.environ))
        taken.append(_used() - started)
    return min(taken)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def work_of_days(repository: StateRepository, days: int, now: float) -> None:
    """Write the records of `days` days until `now`, as one commit for each ten days."""
    clock = 0
    head = repository.commit_at(repository.ref)
    for first in range(0, days, 10):
        files: dict[str, bytes] = {}
        for day in range(first, min(days, first + 10)):
            began = now - (days - day) * DAY
            for number in range(day * ISSUES_A_DAY + 1, (day + 1) * ISSUES_A_DAY + 1):
                clock += 20
                files |= dict(_issue(repository, number, clock, began))
        message = f"Work of ten days\n\nClock: {clock}\nClone: {repository.clone}\n"
        commit = NewCommit(message, files, None, began)
        head = add_commits(repository, repository.ref, head, [commit], began)


def _issue(
    repository: StateRepository, number: int, clock: int, began: float
) -> Iterator[tuple[str, bytes]]:
    """The records of one issue, from its creation to its end."""
    clone, name = repository.clone, f"worker-{number % AGENTS + 1}"
    person, agent = Actor("Ada", is_person=True), Actor(name)
    at = Timestamp(datetime.fromtimestamp(began, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    issue = an_id("issue", str(number))[:12]
    lease = an_id("lease", str(number))[:12]
    question = an_id("question", str(number))[:12]

    def event(step: int, kind: str, by: Actor, **more: Any) -> tuple[str, bytes]:
        identity = an_id(issue, str(step))[:12]
        made = IssueEvent(issue, identity, kind, clock + step, clone, at, by)._replace(**more)
        return made.path, issues.encode(made)

    texts = {"title": f"Part {number} of the table", "body": "As the page of the table shows it."}
    yield event(0, "create", person, number=IssueNumber(number), texts=texts)
    yield event(1, "change", agent, added={"assignees": (name,)})
    yield event(2, "comment", agent, body="The table sorts by the time of the last heartbeat.")
    yield event(9, "change", agent, texts={"state": "closed"}, removed={"assignees": (name,)})
    request = LeaseEvent(
        lease, lease, "request", clock + 3, clone, at, agent,
        holder=agent, epoch=1, patterns=(f"/src/part{number}/",), granted=True,
    )  # fmt: skip
    release = leases.follow(request, "release", agent, at, clock + 8, clone)
    for each in (request, release):
        yield each.path, leases.encode(each)
    if number % 3 == 0:
        asked = Question(name, f"Which format does part {number} have?", number)
        yield (
            escalations.path_of(question),
            escalations.render(Escalation(question, asked, at, clock + 4, clone)),
        )
        answer = Answer(
            an_id(question)[:12], question, person, "The short one.", at, clock + 5, clone
        )
        path = escalations.answer_path_of(question, answer.id)
        yield path, escalations.render_answer(answer)
