"""People who command agents on GitHub, and the clones that obey: one clock, real commands."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ghp_agents.issues.comment_commands import FOLDER, Obeyed, read_commands
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke
from tests.support.git import git
from tests.support.github import ADMIN, WORKER_1, GitHub

_HIDDEN = re.compile(r"(?:\s*<sub>A program \(ghp-agents\)[^\n]*)?\s*<!--.*", re.DOTALL)


class Field:
    """Clones around one repository on GitHub."""

    def __init__(self, github: GitHub) -> None:
        self.github = github
        self.github.proxy.clock = self.clock = ManualClock()

    def clone(self, name: str = "one", **settings: Any) -> Path:
        """A clone; the same name is the same clone."""
        folder = self.github.folder / name
        if not folder.exists():
            self.github.clone(name, settings)
            git(folder, "config", "user.name", "Ann Example")
        return folder

    def ghp(
        self,
        words: str | Sequence[str],
        name: str = "one",
        agent: str = "",
        login: str = WORKER_1,
        code: int = 0,
    ) -> Result:
        """A command in a clone, by an agent or by the person there."""
        env = self.github.environment(login) | ({"GHP_AGENT": agent} if agent else {})
        self.clock.wait(10)
        done = invoke(words, self.clone(name), env, clock=self.clock)
        assert done.code == code, f"{words}: {done.code}\n{done.out}\n{done.err}"
        return done

    def sync(self, name: str = "one", login: str = WORKER_1) -> str:
        """`agent-sync` in a clone; what it says to people."""
        return self.ghp("agent-sync", name, login=login).err

    def house(self, name: str = "one", agent: str = "", login: str = WORKER_1) -> App:
        """The parts of a clone."""
        env = {**os.environ, **self.github.environment(login)}
        return App(self.clone(name), env, name=agent or None, clock=self.clock)

    def say(self, number: int, body: str, login: str = ADMIN) -> int:
        """A comment on GitHub's own pages; its id."""
        comment = self.github.act(login, "POST", f"issues/{number}/comments", {"body": body})
        return int(comment["id"])

    def edit(self, comment: int, body: str, login: str = ADMIN) -> None:
        """Somebody changes a comment."""
        self.github.act(login, "PATCH", f"issues/comments/{comment}", {"body": body})

    def comments(self, number: int) -> list[str]:
        """What was said on an issue, without what is hidden."""
        comments = self.github.act(ADMIN, "GET", f"issues/{number}/comments", per_page="100")
        return [_HIDDEN.sub("", comment["body"]) for comment in comments]

    def raw(self, number: int) -> list[dict[str, Any]]:
        """The comments as GitHub tells them."""
        return list(self.github.act(ADMIN, "GET", f"issues/{number}/comments", per_page="100"))

    def reactions(self, comment: int) -> list[str]:
        """How it was reacted to."""
        reactions = self.github.act(ADMIN, "GET", f"issues/comments/{comment}/reactions")
        return [reaction["content"] for reaction in reactions]

    def labels(self, number: int) -> list[str]:
        """The labels of an issue."""
        issue = self.github.act(ADMIN, "GET", f"issues/{number}")
        return sorted(label["name"] for label in issue["labels"])

    def people(self, number: int) -> list[str]:
        """The accounts that are assigned to an issue."""
        issue = self.github.act(ADMIN, "GET", f"issues/{number}")
        return sorted(person["login"] for person in issue["assignees"])

    def obeyed(self, name: str = "one") -> list[Obeyed]:
        """What a clone knows of commands."""
        return read_commands(self.house(name).store.snapshot().files(FOLDER))[0]

    def held(self, number: int, name: str = "one") -> tuple[str | None, int, str]:
        """Who has the right to an issue, by which generation, and why."""
        lease = self.house(name).locks.read(f"issue/{number}")
        assert lease
        return lease.holder, lease.generation, lease.reason

    def acts(self, name: str = "one") -> list[tuple[str, str, str]]:
        """What became of each command: what it was, done or refused, and the words."""
        return [
            (act.command, act.fate, act.words)
            for record in self.obeyed(name)
            for act in record.acts
        ]
