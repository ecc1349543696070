"""The workspace: the repository, its folders, the settings, and the actor.

A `Workspace` is the first argument of most functions. Everything is read on first use.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ghp_agents.core.clock import SystemClock, to_text
from ghp_agents.core.errors import NotSetUpError
from ghp_agents.core.ids import Actor, AgentName, IssueNumber, agent_name, issue_of_branch
from ghp_agents.core.json_file import object_file
from ghp_agents.core.moment import Kept
from ghp_agents.git import discovery, main_worktree, plain_config
from ghp_agents.git import process as git
from ghp_agents.hotpath import fastjson, heartbeat, own_file, own_name, presence_file
from ghp_agents.hotpath.locate import Location, branch, locate
from ghp_agents.ports import Clock
from ghp_agents.settings import load as configuration
from ghp_agents.settings.load import ConfigPlaces
from ghp_agents.settings.settings import Settings

NAME_FILE = "ghp-agent"
PROVISIONS_FILE = "ghp-provisioned.json"
SLOT_FILE = "ghp-slot.json"
HOMES = "-homes"  # ends the name of a folder beside `spare_dir`, for agents in containers
MYSELF = "@me"  # the person, by --as
STEADY = "clock.json"


def agent_named_in(git_dir: str | Path) -> str:
    """The agent whose name was written into the worktree of this git folder; empty without one."""
    try:
        name = Path(git_dir, NAME_FILE).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return name if heartbeat.is_name(name) else ""


class Workspace:
    """A repository, seen from one of its worktrees. `chosen_name` is the agent's, by --as."""

    def __init__(
        self,
        place: Location,
        environ: Mapping[str, str],
        clock: Clock,
        chosen_name: str | None = None,
    ) -> None:
        self.place, self.environ, self.clock = place, environ, clock
        self.chosen_name = chosen_name
        self.kept = Kept()  # what was read of the shared state in this moment

    @cached_property
    def git_dir(self) -> Path:
        """This worktree's own git folder."""
        return Path(self.place.git_dir)

    @cached_property
    def common_dir(self) -> Path:
        """The git folder that all worktrees of the clone share."""
        return Path(self.place.common_dir)

    @cached_property
    def ghp_dir(self) -> Path:
        """Our folder in the clone: presence, outbox, the private repository, caches."""
        return self.common_dir / "ghp"

    @cached_property
    def cache_dir(self) -> Path:
        """Rebuildable files."""
        return self.ghp_dir / "cache"

    @cached_property
    def home_folder(self) -> str:
        """The clone's folder in the home: cached values that decide what runs, which no run in a
        sandbox can write."""
        return own_file.home_folder(self.place.common_dir, self.environ)

    @cached_property
    def spare_dir(self) -> Path:
        """The folder for presence and outbox if the clone's own cannot be written."""
        return Path(heartbeat.spare_folder(self.place.common_dir, self.environ))

    @cached_property
    def folders(self) -> list[str]:
        """The folders for presence and outbox, best first."""
        return [str(self.ghp_dir), str(self.spare_dir)]

    @property
    def folder(self) -> Path:
        """The working folder of git for this worktree. Relative remote addresses start at the main
        one."""
        return Path(self.place.toplevel or self.place.git_dir)

    @cached_property
    def main_worktree(self) -> Path | None:
        """The main worktree's folder; None for a bare repository, or if nothing names it."""
        return main_worktree.find(self.place)

    @cached_property
    def home_worktree(self) -> Path | None:
        """The worktree from which new ones get their files: the main one. In a bare repository, the
        one that has the default branch."""
        return self.main_worktree or main_worktree.of_default_branch(self.common_dir)

    @property
    def root(self) -> Path:
        """The folder that holds `.ghp/config.json`: the home worktree's, or this one's."""
        return self.home_worktree or self.folder

    def shown(self, path: Path) -> str:
        """A path for people: relative to the root, if it is below it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)

    def with_timeout(self, seconds: float) -> "Workspace":
        """The same with another limit for one exchange with the remote."""
        other = type(self)(self.place, self.environ, self.clock, self.chosen_name)
        vars(other).update(vars(self) | {"settings": self.settings._replace(timeout=seconds)})
        return other

    @property
    def ground(self) -> ConfigPlaces:
        """The places of the settings."""
        return configuration.ground(self.place, self.root, self.environ)

    @cached_property
    def settings(self) -> Settings:
        """Defaults, then the repository's configuration, then the user's. Settings of the
        repository that run, place or redirect something count only from the default branch and with
        consent. Raises ConfigError."""
        return configuration.load(self.ground)

    @cached_property
    def remotes(self) -> dict[str, str]:
        """The addresses of git's remotes by name, the same in all worktrees. Raises GhpError."""
        plain = plain_config.remotes(self.common_dir)
        if plain is not None:
            return plain
        return {
            name.removeprefix("remote.").removesuffix(".url"): addresses[0]
            for name, values in self._git_config.items()
            if name.startswith("remote.") and name.endswith(".url")
            if (addresses := [value for scope, value in values if scope != "worktree"])
        }

    @property
    def person(self) -> str | None:
        """The person's name in git's configuration."""
        return self.git_value("user.name")

    def git_value(self, name: str) -> str | None:
        """A value of git's configuration; `name` in lower case. Raises GhpError."""
        values = self._git_config.get(name)
        return values[-1][1] if values else None

    @cached_property
    def _git_config(self) -> git.Configuration:
        return git.configuration(self.folder, self.git_dir)

    @property
    def branch(self) -> str | None:
        """The branch of this worktree."""
        return branch(self.place.git_dir)

    def config_files(self) -> list[Path]:
        """The possible configuration files; later ones win."""
        return self.ground.files

    def agent(self) -> AgentName:
        """The agent that this command acts for. Raises NotSetUpError."""
        name = self.chosen_name or own_name.whoami(self.place, self.environ)
        if not name:
            raise NotSetUpError(
                "This command acts as an agent, but no agent is named here.",
                hint="Name it with --as NAME or GHP_AGENT=NAME. In a worktree of its own, an agent "
                "keeps its name: `ghp agent-whoami --set NAME`.",
            )
        return agent_name(name)

    def actor(self) -> Actor:
        """The named agent, else the person that git knows here. Raises NotSetUpError.

        `--as @me` is the person, also in an agent's worktree.
        """
        name = self.chosen_name or own_name.whoami(self.place, self.environ)
        if name and name != MYSELF:
            return Actor(agent_name(name))
        person = self.person
        if not person:
            raise NotSetUpError(
                "No identity found: no agent name and no git `user.name`.",
                hint="Set `git config user.name`, or name an agent with --as or GHP_AGENT.",
            )
        return Actor(person, is_person=True)

    def reader(self) -> str:
        """The name of who reads here; empty without one. Only changes need an actor."""
        try:
            return self.actor().name
        except NotSetUpError:
            return ""

    def steady(self) -> float:
        """The present time in seconds, on a monotonic clock of this clone, for measuring durations.

        It starts at the machine's time. After a reboot it returns to its start, so it never shows
        more elapsed time than there was.
        """
        boot, seconds = self.clock.interval()
        stored = fastjson.read_object(str(self.cache_dir / STEADY)) or {}
        match [stored.get(key) for key in ("boot", "zero", "base")]:
            case [str(last_boot), int() | float() as zero, int() | float() as base]:
                if last_boot == boot:
                    return base + max(0.0, seconds - zero)
            case _:
                base = self.clock.now()
        fresh = {"boot": boot, "zero": seconds, "base": base}
        object_file(self.cache_dir / STEADY).write(fresh)  # else nothing is measured
        return base

    def presence(self, agent: str) -> dict[str, Any] | None:
        """What this machine knows of its own agent."""
        return presence_file.newest(self.folders, agent)

    def issue_in_hand(self, agent: str | None) -> IssueNumber | None:
        """The current issue: from the agent's presence, the branch, or the spawn context."""
        presence = self.presence(agent) if agent else None
        if presence and isinstance(presence.get("issue"), int):
            return IssueNumber(presence["issue"])
        here = self.branch
        issue = issue_of_branch(here) if here else None
        return issue or _spawned_issue(self.environ)


def open_workspace(
    cwd: Path, environ: Mapping[str, str], clock: Clock | None = None, name: str | None = None
) -> Workspace:
    """The workspace around `cwd`. Raises NotSetUpError outside of a repository, RefusedError in a
    repository that git or we do not accept."""
    if not cwd.is_dir():
        raise NotSetUpError(
            "The current folder was removed.", hint="Change to another folder and try again."
        )
    place = locate(str(cwd), environ) or discovery.find_with_git(cwd, environ)
    if place is None:
        if not cwd.exists():
            current_folder()  # says so, if it was removed
        raise NotSetUpError(
            f"{cwd} is not inside a git repository.",
            hint="Change to a repository, or create one with `git init`.",
        )
    return Workspace(place, environ, clock or SystemClock(), name)


def settings_at(ws: Workspace, commit: str) -> Settings:
    """The settings with the repository's configuration from a commit; without one there, the
    present settings. Raises GhpError."""
    return configuration.at(ws.ground, commit) or ws.settings


def _spawned_issue(environ: Mapping[str, str]) -> IssueNumber | None:
    """The issue in the JSON that upstream GHP passes to agents that it starts."""
    try:
        number = json.loads(environ.get("GHP_SPAWN_CONTEXT", ""))["issue"]["number"]
    except (ValueError, KeyError, TypeError):
        return None
    return IssueNumber(number) if isinstance(number, int) and number > 0 else None


def now_text(ws: Workspace) -> str:
    """The present time in the format of records."""
    return to_text(ws.clock.now())


def current_folder() -> Path:
    """The current folder. Raises NotSetUpError if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise NotSetUpError(
            "The current folder was removed.", hint="Change to another folder and try again."
        ) from None
