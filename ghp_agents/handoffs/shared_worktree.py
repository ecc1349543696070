"""A worktree that agents share: which of its files others edit, as far as it is known."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ghp_agents.core.file_names import as_code
from ghp_agents.core.ids import count, listed
from ghp_agents.hotpath import alive, heartbeat, implicit_leases
from ghp_agents.hotpath.quoting import named
from ghp_agents.presence.here import agents_here
from ghp_agents.workspace import Workspace

LISTED = 5


class Sharing(NamedTuple):
    """The other living agents of a worktree, and who edits which of its files."""

    others: tuple[str, ...] = ()
    editors: Mapping[str, str] = {}
    fold: bool = False  # paths are compared in lower case

    def editor(self, path: str) -> str:
        """Return the agent that edits a path; empty if nobody is known to."""
        return self.editors.get(path.lower() if self.fold else path, "")

    def is_others(self, path: str) -> bool:
        """Return whether another agent of this worktree edits a path."""
        return self.editor(path) in self.others

    def describe(self, left_out: Iterable[str], kept: Iterable[str]) -> str:
        """Return in one line what was left out, and what was kept although nobody is known to have
        edited it."""
        names, is_single = ", ".join(map(named, self.others)), len(self.others) == 1
        foreign = [*map(as_code, sorted(left_out))]
        unknown = [as_code(path) for path in sorted(kept) if not self.editor(path)]
        lines = []
        if foreign:
            edit = "edits" if is_single else "edit"
            lines.append(f"Left out, because {names} {edit} them here: {listed(foreign, LISTED)}.")
        if unknown:
            work, files = "works" if is_single else "work", count(len(unknown), "stored file")
            lines.append(
                f"{names} {work} here, too, and nobody is known to have edited {files}: "
                f"{listed(unknown, LISTED)}."
            )
        return " ".join(lines)


def sharing(ws: Workspace, agent: str | None) -> Sharing:
    """Return with whom `agent` shares this worktree. A person (None) shares it with nobody."""
    if agent is None or ws.place.toplevel is None:
        return Sharing()
    now, limits = ws.clock.now(), (ws.settings.dead_after, ws.settings.gone_after)
    here = heartbeat.surroundings(ws.place)
    others = tuple(
        name
        for name in agents_here(ws)
        if name != agent
        and _is_at(ws, name, here)
        and alive.lives(ws.folders, name, now, *limits) is True
    )
    if not others:
        return Sharing()
    fold = ws.git_value("core.ignorecase") == "true"
    touches = implicit_leases.list_all(ws.folders)
    editors = {
        touch.path: touch.agent
        for touch in touches
        if touch.is_in(ws.place.git_dir)
        and (touch.agent == agent or implicit_leases.is_active(ws.folders, touch, now, *limits))
    }
    return Sharing(others, editors, fold)


def _is_at(ws: Workspace, agent: str, here: Mapping[str, object]) -> bool:
    fields = ws.presence(agent) or {}
    return all(fields.get(key) == value for key, value in here.items())
