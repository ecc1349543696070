"""Concurrent changes of real projects (click, black, pytest), made by two agents in two clones of
one remote. The first agent makes its whole change; its clone reports which lines it touched, and a
real sync brings that to the other clone. The second agent makes its change edit by edit, each asked
of the real hook; git judges every state by merging. Each pair is replayed from both sides. A
conflict counts as announced if the hook refused or warned of the edit that makes it, or of an
earlier one of that file; a shell command that deletes a file is not asked about. Beside it: what a
sync takes longer where the report is new, and where nothing moved; and the hook as a whole process,
for a file that nobody else has changed, and for one of 2,000 lines that another clone reports."""

import json
import os
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path

from bench import pair
from bench.figure import Figure
from bench.pair import Pair
from bench.pair_replay import Moment, Replay, bases, judge
from bench.place import Place, git, open_app
from bench.timing import interleave, process, ratio, took
from bench.two_agents import (
    ALLOWED,
    DELETE,
    NAMES,
    REFUSED,
    TOLD,
    Agent,
    Answer,
    Hooks,
    Step,
    steps,
)
from ghp_agents.hotpath import heartbeat
from ghp_agents.presence import report_changes
from ghp_agents.sync import service as sync

EVERY, QUICK = 4, 60  # each n-th pair is replayed
MOST_NEEDLESS = 10.0  # per cent; equal changes cannot be known without their text
FREE_PASSES, SHARED_PASSES = 2.5, 6.0
LINES = 2_000
UNIT = "× python -c pass"


def measure(place: Place) -> list[Figure]:
    """Pairs that change a file in common, from both sides."""
    found = [each for pairs in pair.of_projects().values() for each in pairs if each.shared()]
    pairs = found[:: QUICK if place.quick else EVERY]
    clones = TwoClones(place)
    commits = clones.bases(pairs)
    replays = [
        clones.replay(each, commit, first)
        for (each, commit), first in product(zip(pairs, commits, strict=True), (0, 1))
    ]
    judge(place, replays)
    return [*_words(replays), *_cost(place, clones)]


class TwoClones:
    """Two clones of one remote, with an agent in each."""

    def __init__(self, place: Place) -> None:
        self.folders = place.clones(place.remote("across"), 2)
        self.agents = [Agent(*each) for each in zip(NAMES, self.folders, strict=True)]
        self.folder = self.folders[0]
        for agent in self.agents:
            git(agent.folder, "checkout", "-q", "-b", f"agent/{agent.name}")
            app = open_app(agent.folder)
            fields = {"branch": f"agent/{agent.name}", "status": "implementing"}
            beaten = heartbeat.beat(app.ws.folders, agent.name, fields, app.ws.clock.now(), epoch=1)
            assert beaten, "a heartbeat with an epoch always writes"
            sync.sync(app)

    def bases(self, pairs: Sequence[Pair]) -> list[str]:
        """The base of each pair, in both clones."""
        first, second = (bases(_Folder(folder), pairs) for folder in self.folders)  # type: ignore[arg-type]
        assert first == second, "equal commits have equal names"
        return first

    def begin(self, each: Pair, commit: str) -> None:
        """Both agents start again at the base, which is main."""
        base = each.base()
        for agent in self.agents:
            git(agent.folder, "update-ref", "refs/remotes/origin/main", commit)
            agent.begin(commit, base)

    def exchange(self, first: int) -> None:
        """What the first clone reports reaches the second one."""
        for number in (first, 1 - first):
            sync.sync(open_app(self.folders[number]))

    def replay(self, each: Pair, commit: str, first: int) -> Replay:
        """One agent makes its whole change, then the other one edit by edit."""
        self.begin(each, commit)
        done = Replay(each, f"{NAMES[first]} first")
        other, agent = self.agents[first], self.agents[1 - first]
        for step in steps(each.files, first):
            other.do(step)
        self.exchange(first)
        hooks, shared = Asking(), {*each.shared()}
        for step in steps(each.files, 1 - first):
            answer = hooks.before(agent, step)
            mine = {**agent.files, step.path: agent.after(step)}
            if answer.word != REFUSED:
                agent.do(step)
            if step.path in shared:
                states = (mine, {**other.files})
                done.moments.append(Moment(step.path, answer.word, states, answer.text))
        return done


class _Folder:
    """A clone as `bases` wants it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder


class Asking(Hooks):
    """The hook before an edit, whose warnings count, too."""

    def before(self, agent: Agent, step: Step) -> Answer:
        """What the hook says before the step. A shell command counts as told: nothing is asked."""
        if step.kind == DELETE:
            return Answer(TOLD, "", 0.0)
        reply = self._reply(agent, {"hook_event_name": "PreToolUse", **agent.tool(step)})
        if reply.get("permissionDecision") == "deny":
            return Answer(REFUSED, reply["permissionDecisionReason"], 0.0)
        text = reply.get("additionalContext", "")
        return Answer(TOLD if text else ALLOWED, text, 0.0)


def _words(replays: Sequence[Replay]) -> list[Figure]:
    torn = [x for x in replays if any(x.conflicts)]
    missed = [x for x in replays if x.missed()]
    refused = [
        (moment, conflicts)
        for each in replays
        for moment, conflicts in zip(each.moments, each.conflicts, strict=True)
        if moment.word == REFUSED
    ]
    needless = sum(moment.path not in conflicts for moment, conflicts in refused)
    share = 100 * needless / len(refused) if refused else 0.0
    note = f"of {len(torn):,} with a conflict, in {len(replays):,} replays"
    return [
        Figure("across", "conflicts not announced", len(missed), "replays", 0, note=note),
        Figure(
            "across", "needless refusals", share, "%", MOST_NEEDLESS,
            note=f"{needless:,} of {len(refused):,} refused edits",
        ),
    ]  # fmt: skip


def _cost(place: Place, clones: TwoClones) -> list[Figure]:
    """What publishing and the hook cost, in a clone with a file of 2,000 lines."""
    rounds = 3 if place.quick else 40
    one, other = clones.folders
    lines = [f"line {number} of a long file\n" for number in range(LINES)]
    for folder in clones.folders:
        git(folder, "checkout", "-q", "--orphan", "long")
        git(folder, "rm", "-q", "-rf", "--cached", ".")
        (folder / "long.py").write_text("".join(lines))
        (folder / "free.py").write_text("".join(lines))
        git(folder, "add", "long.py", "free.py")
        git(folder, "commit", "-q", "-m", "Long", "--date=2026-01-02T03:04:05Z")
        git(folder, "branch", "-q", "-f", f"agent/{NAMES[clones.folders.index(folder)]}")
        git(folder, "checkout", "-q", f"agent/{NAMES[clones.folders.index(folder)]}")
        git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    lines[100:110] = ["another line\n"] * 10
    (one / "long.py").write_text("".join(lines))
    clones.exchange(0)
    python, env = place.installed.python, {**os.environ, "GHP_AGENT": NAMES[1]}
    hook: list[str | Path] = [python, "-P", "-m", "ghp_agents", "hook", "claude"]
    cases = {"pass": partial(process, [python, "-c", "pass"], cwd=other, env=env)}
    for name, path, line in (
        ("hook, file of nobody else", "free.py", 50),
        ("hook, other lines of a file changed elsewhere", "long.py", 500),
        ("hook, refused", "long.py", 105),
    ):
        stdin = _event(other, path, line)
        cases[name] = partial(process, hook, cwd=other, env=env, stdin=stdin)
        cases[name]()
    app = open_app(one)
    report_changes.report_changes(app)
    status: list[str | Path] = ["git", "status", "--porcelain"]
    cases["git status"] = partial(process, status, cwd=one, env=env)
    cases["report, nothing moved"] = partial(took, partial(report_changes.report_changes, app))
    cases["report, a file moved"] = partial(_moved, one / "long.py", app)
    times = interleave(cases, rounds)
    bounds = {"hook, file of nobody else": FREE_PASSES, "git status": None}
    found = [
        ratio("across", name, times[name], times["pass"], UNIT, bounds.get(name, SHARED_PASSES))
        for name in cases
        if name.startswith("hook")
    ]
    return found + [
        ratio("across", name, times[name], times["git status"], "× git status", None)
        for name in cases
        if name.startswith("report")
    ]


def _moved(path: Path, app: object) -> float:
    with path.open("a") as file:
        file.write("one more line\n")
    return took(partial(report_changes.report_changes, app))  # type: ignore[arg-type]


def _event(folder: Path, path: str, line: int) -> Path:
    """The message of Claude Code before an edit of a line."""
    fields = {
        "session_id": "0b9e4d7c-1111-4c1e-9d61-000000000001",
        "transcript_path": "/nowhere",
        "cwd": str(folder),
        "hook_event_name": "PreToolUse",
        "tool_name": "Edit",
        "tool_input": {
            "file_path": str(folder / path),
            "old_string": f"line {line} of a long file\n",
            "new_string": "mine\n",
        },
    }
    stdin = folder.parent / f"event-{path}-{line}.json"
    stdin.write_text(json.dumps(fields))
    return stdin
