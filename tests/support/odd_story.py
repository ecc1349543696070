"""The life of an issue in steps, each with faults of its own, and what GitHub shows in the end.

A command is repeated as a person would repeat it. After each step everybody syncs until the clone
owes nothing. What GitHub shows then is compared with what it shows without faults.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.support.faults import Asked, Fault
from tests.support.git import commit
from tests.support.github import ADMIN, WORKER_1, WORKER_2, GitHub
from tests.support.story import Actor, Story

# What may wait the longest: a job without permission is tried again after an hour.
LONG = 3_700.0
REFUSALS = (Fault.UNAUTHORIZED, Fault.FORBIDDEN, Fault.MISSING)
SOON = 70.0
BREAK = 300.0  # after two limits without a time
TRIES = 12
# What differs from run to run: ids, times, and the account that happened to write.
NEW = re.compile(
    r"[0-9a-f]{7,40}|\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ \w{3} \d{4}, \d\d:\d\d UTC|\d+ (s|min|h)\b"
    r'|,"account":"[\w-]+"|<sub>.*?</sub>'
)
BLOCKED, PART = (
    re.compile(r"^\*\*Blocked by:\*\* #", re.M),
    re.compile(r"^\*\*Parent:\*\* #(\d+)", re.M),
)


class Plan(NamedTuple):
    """A fault at some of the requests of one step."""

    step: str
    faults: Mapping[int, Fault]


class OddStory:
    """The story around one repository."""

    def __init__(self, github: GitHub, now: float) -> None:
        self.github, self.story = github, Story(github, now)
        self.plans: dict[str, Mapping[int, Fault]] = {}
        self.shown: dict[str, Any] = {}  # what GitHub shows after each step
        self.asked: Counter[str] = Counter()  # requests by step
        self._step = ""
        github.proxy.faults = self._fault
        self.one = self.story.actor(WORKER_1, "one", "worker-1")
        self.two = self.story.actor(WORKER_2, "two", "worker-2")
        self.person = self.story.actor(ADMIN, "person")
        self.here = self.one
        self.question = ""

    def tell(self, plans: Sequence[Plan] = ()) -> None:
        """All steps, one after another."""
        self.plans = {plan.step: plan.faults for plan in plans}
        for step in STEPS:
            self._step = step.__name__.strip("_")
            step(self)
            self._settle()
            self.shown[self._step] = self._look()
        self._step = ""

    def _fault(self, request: Asked) -> Fault | None:
        self.asked[self._step] += 1
        fault = self.plans.get(self._step, {}).get(self.asked[self._step])
        is_creation = request.verb == "POST" and request.path.endswith(("/issues", "/comments"))
        return Fault.ERROR if fault is Fault.TOO_QUICKLY and not is_creation else fault

    def run(self, who: Actor, words: str | Sequence[str]) -> str:
        """A command, until it says that it is done."""
        lines = []
        for _ in range(TRIES):
            result = self.story.try_to(who, words)
            lines.append(f"{result.code}: {result.err}")
            if result.code == 0:
                return result.out
            self.story.clock.pass_by(SOON)
        raise AssertionError(f"{words} does not succeed:\n" + "".join(lines))

    def _settle(self) -> None:
        """Everybody syncs until nothing is owed; a little later, and an hour later where needed."""
        faults = {*self.plans.get(self._step, {}).values()}
        late = (LONG,) if faults & {*REFUSALS} else (BREAK,) if faults else ()
        for rest in (SOON, *late):
            self.story.clock.pass_by(rest)
            for who in (self.one, self.two._replace(agent=""), self.person):
                self.story.try_to(who, "agent-sync")

    def _look(self) -> Any:
        """What GitHub shows, without ids and times."""
        act = self.github.act
        state: dict[str, Any] = {}
        listed = act(ADMIN, "GET", "issues", state="all", per_page="100")
        bodies = "\n".join(x["body"] or "" for x in listed)
        for issue in listed:
            number = issue["number"]
            comments = act(ADMIN, "GET", f"issues/{number}/comments", per_page="100")
            state[f"{number} {issue['title']}"] = {
                "state": issue["state"],
                "labels": sorted(x["name"] for x in issue["labels"]),
                "people": sorted(x["login"] for x in issue["assignees"]),
                "comments": [NEW.sub("…", x["body"]) for x in comments],
                "reactions": [
                    {k: v for k, v in x["reactions"].items() if v and k not in ("url",)}
                    for x in comments
                ],
                # As a relation, or as a line where GitHub seemed to have none.
                "waits": bool(
                    issue["issue_dependencies_summary"]["blocked_by"]
                    or BLOCKED.search(issue["body"] or "")
                ),
                "parts": issue["sub_issues_summary"]["total"]
                + PART.findall(bodies).count(str(number)),
            }
        state["labels"] = [x["name"] for x in act(ADMIN, "GET", "labels", per_page="100")]
        state["trunk"] = self.story.trunk()
        return state


# ---------------------------------------------------------------- the steps


def _labels(of: OddStory) -> None:
    of.run(of.person, "agent-init --labels")


def _new(of: OddStory) -> None:
    of.run(of.person, "agent-issue new Shine")
    of.run(of.person, "agent-issue new Blink --parent 1")
    of.run(of.person, "agent-issue new Gleam --blocked-by 2 --parent 1")


def _assign(of: OddStory) -> None:
    body = {"body": "/agent assign worker-1"}
    of.github.act(ADMIN, "POST", "issues/2/comments", body)
    of.run(of.person, "agent-sync")


def _claim(of: OddStory) -> None:
    started = json.loads(of.run(of.one, "agent-start 2 --json"))
    of.here = of.one._replace(folder=type(of.one.folder)(started["path"]))


def _escalate(of: OddStory) -> None:
    words = ["agent-escalate", "How fast?", "--option", "1 Hz", "--option", "2 Hz"]
    of.question = of.run(of.here, words).strip()


def _answer(of: OddStory) -> None:
    body = {"body": f"/agent answer {of.question} 2 Hz"}
    of.github.act(ADMIN, "POST", "issues/2/comments", body)
    of.run(of.here, "agent-sync")


def _handoff(of: OddStory) -> None:
    of.run(of.here, "agent-handoff --checkpoint --note 'Half of it blinks'")


def _finish(of: OddStory) -> None:
    if not (of.here.folder / "blink.py").exists():
        commit(of.here.folder, {"blink.py": "BLINK = True\n"}, "Add blink")
    of.run(of.here, "agent-finish")


def _merge(of: OddStory) -> None:
    of.run(of.here, "agent-merge 2 --unchecked")


def _die(of: OddStory) -> None:
    of.run(of.two, "agent-start 1 --json")
    of.run(of.two, "agent-sync")


def _sweep(of: OddStory) -> None:
    of.run(of.person, "agent-sweep")
    for _ in range(2):
        of.story.clock.pass_by(31 * 60.0)
        of.run(of.person, "agent-sweep")


STEPS: tuple[Callable[[OddStory], None], ...] = (
    _labels, _new, _assign, _claim, _escalate, _answer, _handoff, _finish, _merge, _die, _sweep,
)  # fmt: skip
