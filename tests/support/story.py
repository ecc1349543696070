"""The story of an issue, told to GitHub by real commands: people, agents, clones, and one clock.

Each command is repeated while its answer is "unknown" (exit code 4), after the rest that our own
standing names. What was waited is kept beside what GitHub had asked for.
"""

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.escalations.comments import owed
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.faults import Fault
from tests.support.ghp import Result, invoke
from tests.support.git import git
from tests.support.github import ADMIN, GitHub

UNKNOWN = 4
TRIES = 300  # of one command; where most requests fail, the longest needs dozens
MARKER = "<!-- ghp-agents:{"
ONCE = re.compile(r'"once":"\w+"')  # what may be said once about an issue
OWN_WAIT = 5.0  # seconds: between two writes, and until lists show what was created
OUTAGE = 60.0  # after which a server that could not be reached is asked again at the latest
# Where GitHub does not say for how long, it advises a minute at least, and more each time.
MINUTE, LONGEST = 60.0, 900.0


class Waits(ManualClock):
    """A clock that keeps what it was asked to wait."""

    def __init__(self, now: float) -> None:
        super().__init__(now)
        self.waits: list[tuple[float, float]] = []  # since when, and for how many seconds

    def wait(self, seconds: float) -> None:
        self.waits.append((self.now(), seconds))
        super().wait(seconds)

    def pass_by(self, seconds: float) -> None:
        """Time that passes without anybody of ours waiting."""
        super().wait(seconds)


class Actor(NamedTuple):
    """Who acts: an agent in its clone under an account, or a person, who has no agent. Without a
    `login` the clone has no token."""

    login: str
    folder: Path
    agent: str = ""


class Story:
    """What happens around one repository."""

    def __init__(self, github: GitHub, now: float) -> None:
        self.github, self.clock = github, Waits(now)
        self.rests: list[tuple[float, float]] = []  # where a breaker kept us from asking at all
        self.tries: Counter[str] = Counter()
        github.proxy.clock = self.clock

    def actor(self, login: str, clone: str, agent: str = "", **settings: Any) -> Actor:
        """Somebody with a clone."""
        return Actor(login, self.github.clone(clone, settings), agent)

    def ghp(self, who: Actor, words: str | Sequence[str], code: int = 0) -> Result:
        """A command, until GitHub has answered it; it has to end with `code`."""
        lines: list[str] = []
        for _ in range(TRIES):
            result = self.try_to(who, words)
            lines.append(f"{result.code}: {result.err}")
            if result.code != UNKNOWN or code == UNKNOWN:
                assert result.code == code, f"{who.agent} {words}\n{result.out}\n" + "".join(lines)
                return result
            self._rest(who)
        raise AssertionError(f"{words} does not end:\n" + "".join(lines))

    def try_to(self, who: Actor, words: str | Sequence[str]) -> Result:
        """A command, once."""
        self.tries[_verb(words)] += 1
        return invoke(words, who.folder, self._environment(who), clock=self.clock)

    def json(self, who: Actor, words: str) -> Any:
        """What a command says as JSON."""
        return json.loads(self.ghp(who, f"{words} --json").out)

    def start(self, who: Actor, issue: int) -> Actor:
        """Start on an issue; who works in its worktree from now on."""
        return who._replace(folder=Path(self.json(who, f"agent-start {issue}")["path"]))

    def standing(self, who: Actor) -> Any:
        """How a clone stands with GitHub."""
        hub = self._house(who).hub
        assert hub
        return hub.status()

    def settle(self, *actors: Actor) -> None:
        """Sync until nothing waits to be sent and everybody knows everything."""
        for who in actors * 2:
            for _ in range(TRIES):
                self.ghp(who, "agent-sync")
                if not self._owes(who):
                    break
                self._rest(who)
            assert not self._owes(who)
            assert self.standing(who).refused == 0

    def _owes(self, who: Actor) -> bool:
        """Whether something waits to be said, or could be without our knowing."""
        standing = self.standing(who)
        return bool(standing.queued or standing.paused_until or owed(self._house(who).ws))

    def _rest(self, who: Actor) -> None:
        """Wait for as long as the clone itself says that it must."""
        until = self.standing(who).paused_until
        rest = max(0.0, until - self.clock.now()) if until else 0.0
        self.rests.append((self.clock.now(), rest))
        self.clock.pass_by(rest + 1.0)

    def _environment(self, who: Actor) -> Mapping[str, str]:
        agent = {"GHP_AGENT": who.agent} if who.agent else {}
        account = self.github.environment(who.login) if who.login else {}
        return {**account, **agent}

    def _house(self, who: Actor) -> App:
        return App(who.folder, {**os.environ, **self._environment(who)}, clock=self.clock)

    # ------------------------------------------------------------ what must hold in the end

    def comments(self, number: int) -> list[str]:
        """What was said about an issue."""
        comments = self.github.act(ADMIN, "GET", f"issues/{number}/comments", per_page="100")
        return [comment["body"] for comment in comments]

    def labels(self, number: int) -> list[str]:
        """The labels of an issue."""
        issue = self.github.act(ADMIN, "GET", f"issues/{number}")
        return sorted(label["name"] for label in issue["labels"])

    def trunk(self) -> list[str]:
        """The subjects of the trunk's own commits, oldest first, without merges."""
        log = git(self.github.remote, "log", "--no-merges", "--reverse", "--format=%s", "main")
        return log.splitlines()

    def twice(self) -> list[str]:
        """Everything on GitHub that is there twice."""
        listed = self.github.act(ADMIN, "GET", "issues", state="all", per_page="100")
        things = [f"issue {x['title']}" for x in listed if "pull_request" not in x]
        for x in listed:
            texts, at = self.comments(x["number"]), f"comment on {x['number']}"
            things += [f"{at}: {_bare(body)}" for body in texts]
            things += [f"{at}: {once}" for body in texts for once in ONCE.findall(body)]
        pulls = self.github.act(ADMIN, "GET", "pulls", state="all", per_page="100")
        things += [f"pull request of {x['head']['ref']}" for x in pulls]
        names = self.github.act(ADMIN, "GET", "labels", per_page="100")
        things += [f"label {x['name'].lower()}" for x in names]
        return [x for x, count in Counter(things).items() if count > 1]

    def impatient(self) -> list[str]:
        """Every wait that was longer than GitHub had asked for, or than our own few seconds."""
        requests = []
        for name, own, waits in (
            ("wait", OWN_WAIT, self.clock.waits),
            ("rest", OUTAGE, self.rests),
        ):
            for start, seconds in waits:
                if seconds > own and start + seconds > self._may_rest_until(start) + 1:
                    requests.append(f"a {name} of {seconds:g} s at {start:.0f}")
        return requests

    def _may_rest_until(self, moment: float) -> float:
        """The latest time that GitHub has asked anybody to wait for."""
        latest, strikes = 0.0, Counter[str]()
        for x in self.github.proxy.exchanges:
            if x.at > moment:
                break
            login = x.asked.login
            if x.fault and x.fault.is_limit:
                silent = min(MINUTE * 2 ** strikes[login], LONGEST)
                pause = silent if x.fault in SILENT else self.github.proxy.retry_after
                latest = max(latest, x.at + pause)
            strikes[login] = strikes[login] + 1 if x.fault else 0
        return latest

    @property
    def faults(self) -> Counter[Fault]:
        """What went wrong, how often."""
        return Counter(x.fault for x in self.github.proxy.exchanges if x.fault)


SILENT = (Fault.SECONDARY_SILENT, Fault.TOO_MANY_SILENT)


def _verb(words: str | Sequence[str]) -> str:
    return (shlex.split(words) if isinstance(words, str) else words)[0]


def _bare(text: str) -> str:
    """A comment without its hidden marker: whoever says the same twice has said it twice."""
    return text.partition(MARKER)[0]
