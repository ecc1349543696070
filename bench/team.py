"""`ghp agent-status` for a team in six clones, as a whole process, against `import click`: thirty
agents with claims, leases and questions, and a thousand agents of which thirty have them. Compared
are processor times, with those of git."""

import os
from functools import partial
from pathlib import Path

from bench.figure import Figure
from bench.place import Place, git, open_app
from bench.timing import interleave, processor, ratio
from ghp_agents.api import Project, connect
from ghp_agents.hotpath import heartbeat
from ghp_agents.issues.issue import IssueChange

CLONES, BUSY, MANY = 6, 30, 1_000
CLICKS, CLICKS_OF_MANY = 2.5, 6.0
STATUSES = ("implementing", "testing", "reviewing", "planning", "idle")
ACTIONS = ("Ran the tests: 412 passed", "Edited src/client.py", "Asked for review")
TITLES = (
    "Make the client's requests generic in their response",
    "The pool leaks a stream when a request is cancelled",
    "Retry idempotent requests once",
)


def measure(place: Place) -> list[Figure]:
    """Thirty agents, and a thousand."""
    few = _figure(place, BUSY, CLICKS)
    many = _figure(place, 90 if place.quick else MANY, CLICKS_OF_MANY)
    return [few, many]


def _figure(place: Place, agents: int, bound: float) -> Figure:
    clone, env = team(place, agents), dict(os.environ)
    python, ghp = place.installed.python, place.installed.ghp
    cases = {
        "click": partial(processor, [python, "-c", "import click"], cwd=clone, env=env),
        "status": partial(processor, [ghp, "agent-status"], cwd=clone, env=env),
    }
    times = interleave(cases, 3 if place.quick else 20)
    name = f"agent-status, {agents:,} agents in {CLONES} clones"
    unit = "× python -c 'import click'"
    return ratio("team", name, times["status"], times["click"], unit, bound)


def team(place: Place, agents: int) -> Path:
    """A clone that knows `agents` agents in six clones; the first BUSY of them have an issue."""
    clones = place.clones(place.remote("team"), CLONES)
    (clones[0] / "src").mkdir()
    for number in range(agents):
        (clones[0] / f"src/part{number}.py").write_text("")
    git(clones[0], "add", "src")
    for index, clone in enumerate(clones):
        for number in range(index, agents, CLONES):
            _work(connect(clone, agent=f"worker-{number + 1}"), number)
        open_app(clone).store.sync()
    open_app(clones[0]).store.sync()
    return clones[0]


def _work(project: Project, number: int) -> None:
    app = project._app
    fields = {
        "status": STATUSES[number % len(STATUSES)],
        "lastAction": ACTIONS[number % len(ACTIONS)],
        "kind": "claude",
        "branch": f"agent/worker-{number + 1}/{number + 1}-part",
        "worktree": f"{number + 1}-part",
    }
    heartbeat.beat(app.ws.folders, app.ws.agent(), fields, app.ws.clock.now(), epoch=1)
    if number >= BUSY:
        return
    issue = project.new_issue(IssueChange(title=f"{TITLES[number % len(TITLES)]}, {number}"))
    project.claim(issue.number)
    if number % 3 == 0:
        project.lease(f"/src/part{number}.py")
    if number % 5 == 0:
        project.escalate(f"Which of the two layouts for part {number}?", issue=issue.number)
    project.heartbeat(status=STATUSES[number % 4], action=ACTIONS[number % len(ACTIONS)])
