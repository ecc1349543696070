"""Consent to what a repository runs, places or redirects: shown, given, taken back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ghp_agents.core import finding, person
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.finding import Finding
from ghp_agents.core.remote_url import masked
from ghp_agents.git import default_branch, worktree, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.default_branch import HEADS, REMOTES, DefaultBranch
from ghp_agents.settings import agreement, consent
from ghp_agents.settings import load as configuration
from ghp_agents.settings.consent import KEYS, TEMPLATES, Agreement
from ghp_agents.workspace import Workspace


class ConsentItem(NamedTuple):
    """One value that the trunk's files name."""

    key: str  # of the setting, or the path of a template
    value: Any
    where: str  # "main (1a2b3c4d5e6f)"
    counts: bool

    @property
    def written(self) -> str:
        """The key as it is written in the file."""
        return KEYS[self.key].written if self.key in KEYS else self.key

    @property
    def does(self) -> str:
        """What it does."""
        return KEYS[self.key].does if self.key in KEYS else "is a template for texts"


def wanted(ws: Workspace) -> list[ConsentItem]:
    """What the trunk names, as it is on the remote and here. Raises GhpError, ConfigError."""
    answer = agreement.read(ws.environ, ws.common_dir)
    found: dict[tuple[str, str], ConsentItem] = {}
    for line in _lines(ws):
        for one in _at(ws, line, answer):
            found.setdefault((one.key, consent.digest(one.value)), one)
    return list(found.values())


def agree(ws: Workspace, values: Sequence[ConsentItem], *, owner: bool = False) -> None:
    """Keep that the person agreed to these values, and to no others. With `owner` to what the owner
    of the remote makes of them later, too. Raises GhpError."""
    agreed: dict[str, frozenset[str]] = {}
    for one in values:
        agreed[one.key] = agreed.get(one.key, frozenset()) | {consent.digest(one.value)}
    trusted = _address(ws) if owner else agreement.read(ws.environ, ws.common_dir).owner
    agreement.write(ws.environ, ws.common_dir, Agreement(agreed, trusted))


def covers(ws: Workspace, commit: str, path: str, text: str) -> bool:
    """Whether a person agreed to a file of the trunk's `commit`, or to whoever put it there."""
    answer = agreement.read(ws.environ, ws.common_dir)
    own = configuration.own_values(ws.ground)
    return answer.covers(path, consent.plain_text(text)) or configuration.is_of_owner(
        ws.ground, own, commit, answer
    )


def own_words(ws: Workspace) -> list[ConsentItem]:
    """What the person wrote here themselves: a file that git does not track, and that the trunk
    does not have, came from nobody else. Raises ConfigError."""
    from ghp_agents.settings import schema

    path = ws.root / configuration.FILE
    if not path.is_file() or path.is_symlink() or wanted(ws):
        return []
    listed = git.run(["ls-files", "--error-unmatch", "--", configuration.FILE], cwd=ws.root)
    if listed.code == 0:
        return []
    said = schema.values(str(path), path.read_text(encoding="utf-8"))
    return [
        ConsentItem(key, said[key], "your own file", counts=False) for key in KEYS if said.get(key)
    ]


def revoke(ws: Workspace) -> bool:
    """Take the consent back; whether there was any."""
    return agreement.forget(ws.environ, ws.common_dir)


def owner(ws: Workspace) -> str:
    """The address of the remote whose owner is trusted; empty where none is."""
    return agreement.read(ws.environ, ws.common_dir).owner


def refuse_agents(ws: Workspace) -> None:
    """Only a person agrees. Raises RefusedError."""
    variable = person.agent_here(ws.environ)
    if variable is not None:
        raise RefusedError(
            f"Only a person agrees to what a repository runs; {variable} says that an agent is at "
            "work here.",
            hint="Tell your user: a person runs it, in a terminal of their own.",
        )


def pending(ws: Workspace, *keys: str) -> tuple[str, ...]:
    """A line for each of the settings `keys` (all, if none is named) that nobody agreed to."""
    settings = ws.settings
    open_keys = [key for key in settings.unagreed if not keys or key in keys]
    place = settings.trunk_place
    return tuple(
        " ".join(consent.sentence(key, settings.unagreed[key], place)) for key in open_keys
    )


def summary(ws: Workspace) -> str:
    """What does not count here, on one line; empty where there is nothing of the kind."""
    settings = ws.settings
    names = ", ".join(f"`{KEYS[key].written}`" for key in settings.unagreed)
    if not names:
        return ""
    return f"Nobody agreed here to what `.ghp/config.json` on {settings.trunk_place} sets: {names}."


def check(ws: Workspace) -> Iterator[Finding]:
    """Which settings need consent here, and whether they have it. Raises ConfigError."""
    values = wanted(ws)
    for key, value in ws.settings.unagreed.items():
        yield finding.warning("consent", *consent.sentence(key, value, ws.settings.trunk_place))
    counting = ", ".join(dict.fromkeys(f"`{one.written}`" for one in values if one.counts))
    if counting:
        yield finding.ok("consent", f"Of the trunk's settings that need consent count: {counting}.")
    address = owner(ws)
    if address:
        text = f"The owner of {masked(address)} is trusted to change them on the trunk."
        yield finding.info("consent", text, "`ghp agent-trust --revoke` ends it.")


# ------------------------------------------------------------------------------ what the trunk has


def _lines(ws: Workspace) -> Iterator[DefaultBranch]:
    """Where the trunk is, and where it would be if its own word for it counted."""
    own = configuration.own_values(ws.ground)
    named = _trunk_named(own)
    line = default_branch.find(ws.folder, remote=own.get("remote"), named=named)
    if line is None:
        return
    names = [line.name]
    other = _trunk_named(_said(ws, line.ref))
    names += [other] if other and not named and other != line.name else []
    refs = worktree.branches(ws.folder, *names)
    for name in names:
        places = (f"{REMOTES}{line.remote}/{name}", f"{HEADS}{name}")
        yield from (DefaultBranch(name, place, line.remote) for place in places if place in refs)


def _trunk_named(said: Mapping[str, Any]) -> str | None:
    return said.get("trunk") or said.get("main_branch")


def _said(ws: Workspace, commit: str) -> dict[str, Any]:
    from ghp_agents.settings import schema

    text = default_branch.text(ws.folder, commit, configuration.FILE)
    return schema.values(f"{commit}:{configuration.FILE}", text) if text else {}


def _at(ws: Workspace, line: DefaultBranch, answer: Agreement) -> Iterator[ConsentItem]:
    commit = worktree_admin.tip(ws.folder, line.ref)
    where = f"{line.ref.removeprefix(HEADS).removeprefix(REMOTES)} ({commit[:12]})"
    left = configuration.judge(ws.ground, line, answer).open
    said = _said(ws, line.ref)
    for key in KEYS:
        if said.get(key):
            yield ConsentItem(key, said[key], where, key not in left)
    for path in _templates(ws, commit):
        content = consent.plain_text(default_branch.text(ws.folder, commit, path) or "")
        yield ConsentItem(path, content, where, covers(ws, commit, path, content))


def _templates(ws: Workspace, commit: str) -> list[str]:
    args = ["ls-tree", "-z", "--name-only", "--full-tree", commit, TEMPLATES]
    names = git.run(args, cwd=ws.folder).text.split("\0")
    return [name for name in names if name.endswith(".j2")]


def _address(ws: Workspace) -> str:
    """The address of the remote that the trunk comes from. Raises RefusedError."""
    line = default_branch.find(ws.folder, remote=configuration.own_values(ws.ground).get("remote"))
    found = git.config(ws.folder, f"remote.{line.remote}.url") if line else None
    if not found:
        raise RefusedError(
            "There is no remote whose owner could be trusted.",
            hint="Add one and fetch its trunk, or agree to what is here: `ghp agent-trust`.",
        )
    return found
