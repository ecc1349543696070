"""Consent to commands, files and redirects that a repository configures: show, give, revoke."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from ghp_agents.cards.card import MACHINES, AgentCard, is_card
from ghp_agents.core import person
from ghp_agents.core.declared import Written
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.remote_url import masked
from ghp_agents.git import clone_files, default_branch, worktree, worktree_admin
from ghp_agents.git import process as git
from ghp_agents.git.default_branch import HEADS, REMOTES, DefaultBranch
from ghp_agents.git.refs import UnreadableRefsError
from ghp_agents.hotpath import own_name
from ghp_agents.settings import agreement, consent
from ghp_agents.settings import load as configuration
from ghp_agents.settings.consent import INCLUDE, KEYS, TASKS, TEMPLATES, Agreement
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.core.finding import Finding
    from ghp_agents.state.admin_port import Step


def _written(key: str) -> str:
    return KEYS[key].written if key in KEYS else key


class ConsentItem(NamedTuple):
    """A setting that needs consent. `counts`: whether it is active."""

    # The setting's key, or the path of a template, a card or a task.
    key: Annotated[str, Written(_written)]
    value: Any
    where: str  # "main (1a2b3c4d5e6f)"
    counts: bool

    @property
    def written(self) -> str:
        """The key as it is written in the file."""
        return _written(self.key)

    @property
    def does(self) -> str:
        """What the value does, for people."""
        if self.key in KEYS:
            return KEYS[self.key].does
        if self.key.startswith(TASKS):
            return "is run in the background as a task"
        if self.key == INCLUDE:
            return "names files that are copied into new worktrees"
        is_template = self.key.startswith(TEMPLATES)
        if not is_template and not self.value:
            return "is no longer on main: its agents lose the limits that you agreed to"
        return "is a template for texts" if is_template else "says what agents may do"


def wanted(ws: Workspace) -> list[ConsentItem]:
    """The values on main that need consent, remote and local. Raises GhpError, ConfigError."""
    answer = agreement.read(ws.environ, ws.common_dir)
    items: dict[tuple[str, str], ConsentItem] = {}
    for line in _branches(ws):
        for item in _items(ws, line, answer):
            items.setdefault((item.key, consent.digest(item.value)), item)
    return list(items.values())


def agree(ws: Workspace, values: Sequence[ConsentItem], *, owner: bool = False) -> None:
    """Store the person's consent to exactly these values. With `owner` it also covers later values
    by the owner of the remote. Raises GhpError."""
    agreed: dict[str, frozenset[str]] = {}
    for item in values:
        agreed[item.key] = agreed.get(item.key, frozenset()) | {consent.digest(item.value)}
    trusted = _address(ws) if owner else agreement.read(ws.environ, ws.common_dir).owner
    agreement.write(ws.environ, ws.common_dir, Agreement(agreed, trusted))


def covers(ws: Workspace, commit: str, path: str, text: str) -> bool:
    """Whether a person consented to a file of main's `commit`, or trusts the owner who wrote it."""
    answer = agreement.read(ws.environ, ws.common_dir)
    own = configuration.own_values(ws.ground)
    return answer.covers(path, consent.plain_text(text)) or configuration.is_of_owner(
        ws.ground, own, commit, answer
    )


def file_on_main(ws: Workspace, path: str) -> tuple[str, bool, str]:
    """The text of a file on main, whether a person consented to it, and where it is; empty without
    one. Raises GhpError."""
    for line in _branches(ws):
        text = consent.plain_text(default_branch.text(ws.folder, line.ref, path) or "")
        if text:
            commit = worktree_admin.tip(ws.folder, line.ref)
            where = line.ref.removeprefix(HEADS).removeprefix(REMOTES)
            return text, covers(ws, commit, path, text), where
    return "", False, ""


def lacks_machines(ws: Workspace, line: DefaultBranch) -> bool:
    """Whether a person agreed to the file with many agents, and it has changed since."""
    answer = agreement.read(ws.environ, ws.common_dir)
    text = default_branch.text(ws.folder, line.ref, MACHINES) or ""
    return MACHINES in answer.agreed and not covers(ws, line.ref, MACHINES, text)


def own_words(ws: Workspace) -> list[ConsentItem]:
    """The values in an untracked file that is not on main: the person wrote it, or an agent here.
    Raises ConfigError."""
    from ghp_agents.settings import schema

    path = ws.root / configuration.FILE
    if not path.is_file() or path.is_symlink() or wanted(ws):
        return []
    listed = git.run(["ls-files", "--error-unmatch", "--", configuration.FILE], cwd=ws.root)
    if listed.code == 0:
        return []
    values = schema.values(str(path), path.read_text(encoding="utf-8"))
    return [
        ConsentItem(key, values[key], "your own file", counts=False)
        for key in KEYS
        if values.get(key)
    ]


def revoke(ws: Workspace) -> bool:
    """Revoke the consent; return whether there was any."""
    return agreement.forget(ws.environ, ws.common_dir)


def owner(ws: Workspace) -> str:
    """The address of the remote whose owner is trusted; empty if none is."""
    return agreement.read(ws.environ, ws.common_dir).owner


def refuse_agents(ws: Workspace) -> None:
    """Refuse agents: only a person can consent. Raises RefusedError."""
    variable = person.agent_here(ws.environ)
    if variable is not None:
        raise RefusedError(
            f"Only a person can allow what a repository runs, but {variable} says that this is an "
            "agent.",
            hint="Tell your user to run it in their own terminal.",
        )
    name = own_name.whoami(ws.place, ws.environ)
    if name and ws.folder != ws.root:
        raise RefusedError(
            f"Only a person can allow what a repository runs, and this is the worktree of {name}.",
            hint=f"Run it in {ws.root}.",
        )


def pending(ws: Workspace, *keys: str) -> tuple[str, ...]:
    """A line for each of the settings `keys` (default: all) without consent."""
    settings = ws.settings
    open_keys = [key for key in settings.unagreed if not keys or key in keys]
    place = settings.trunk_place
    return tuple(
        " ".join(consent.sentence(key, settings.unagreed[key], place)) for key in open_keys
    )


def summary(ws: Workspace) -> str:
    """The settings without consent, on one line; empty if there are none."""
    settings = ws.settings
    names = ", ".join(f"`{KEYS[key].written}`" for key in settings.unagreed)
    if not names:
        return ""
    return (
        f"Nobody in this clone has approved these settings of `.ghp/config.json` on "
        f"{settings.trunk_place}: {names}."
    )


def check(ws: Workspace) -> "Iterator[Finding]":
    """Report the settings that need consent, and whether they have it. Raises ConfigError."""
    from ghp_agents.core import finding

    values = wanted(ws)
    for key, value in ws.settings.unagreed.items():
        yield finding.warning("consent", *consent.sentence(key, value, ws.settings.trunk_place))
    counting = ", ".join(dict.fromkeys(f"`{item.written}`" for item in values if item.counts))
    if counting:
        yield finding.ok("consent", f"Active settings from main that needed consent: {counting}.")
    address = owner(ws)
    if address:
        text = f"The owner of {masked(address)} is trusted to change them on main."
        yield finding.info("consent", text, "Withdraw this with `ghp agent-trust --revoke`.")


def _branches(ws: Workspace) -> Iterator[DefaultBranch]:
    """The default branch, and the one that its own configuration names."""
    own = configuration.own_values(ws.ground)
    named = _trunk_named(own)
    line = configuration.main_line(ws.ground, own)
    if line is None:
        return
    names = [line.name]
    other = _trunk_named(_values(ws, line.ref))
    names += [other] if other and not named and other != line.name else []
    refs = worktree.branches(ws.folder, *names)
    for name in names:
        places = (f"{REMOTES}{line.remote}/{name}", f"{HEADS}{name}")
        yield from (DefaultBranch(name, place, line.remote) for place in places if place in refs)


def _trunk_named(values: Mapping[str, Any]) -> str | None:
    return values.get("trunk") or values.get("main_branch")


def _values(ws: Workspace, commit: str) -> dict[str, Any]:
    from ghp_agents.settings import schema

    text = default_branch.text(ws.folder, commit, configuration.FILE)
    return schema.values(f"{commit}:{configuration.FILE}", text) if text else {}


def _items(ws: Workspace, line: DefaultBranch, answer: Agreement) -> Iterator[ConsentItem]:
    commit = worktree_admin.tip(ws.folder, line.ref)
    where = f"{line.ref.removeprefix(HEADS).removeprefix(REMOTES)} ({commit[:12]})"
    left = configuration.judge(ws.ground, line, answer).open
    values = _values(ws, line.ref)
    for key in KEYS:
        if values.get(key):
            yield ConsentItem(key, values[key], where, key not in left)
    tasks = [path for folder in TASKS for path in _files(ws, commit, folder, ".md")]
    for path in _files(ws, commit, TEMPLATES, ".j2"):
        content = consent.plain_text(default_branch.text(ws.folder, commit, path) or "")
        yield ConsentItem(path, content, where, covers(ws, commit, path, content))
    for path in tasks:
        content = consent.plain_text(default_branch.text(ws.folder, commit, path) or "")
        if consent.is_task_to_approve(content):
            yield ConsentItem(path, content, where, covers(ws, commit, path, content))
    if content := consent.plain_text(default_branch.text(ws.folder, commit, INCLUDE) or ""):
        yield ConsentItem(INCLUDE, content, where, covers(ws, commit, INCLUDE, content))
    granting = (card.path for card in _granting(ws, line, answer))
    for path in dict.fromkeys((*granting, *filter(is_card, answer.agreed))):
        content = consent.plain_text(default_branch.text(ws.folder, commit, path) or "")
        counts = covers(ws, commit, path, content)
        if content or not counts:  # that an agreed file is gone needs consent, too
            yield ConsentItem(path, content, where, counts)


def _granting(ws: Workspace, line: DefaultBranch, answer: Agreement) -> list[AgentCard]:
    """The agents' cards that give more than an agent without a card has."""
    cards = configuration.cards(ws.ground, line, answer).by_agent
    return [card for card in cards.values() if card.grants]


def _files(ws: Workspace, commit: str, folder: str, suffix: str) -> list[str]:
    """The files of a folder on main."""
    with suppress(UnreadableRefsError):
        if clone_files.lacks(ws.folder, commit, folder.rstrip("/")):
            return []
    args = ["ls-tree", "-z", "--name-only", "--full-tree", commit, folder]
    names = git.run(args, cwd=ws.folder).text.split("\0")
    return [name for name in names if name.endswith(suffix)][: consent.FILES_MOST]


def _address(ws: Workspace) -> str:
    """The address of main's remote. Raises RefusedError."""
    line = configuration.main_line(ws.ground, configuration.own_values(ws.ground))
    address = git.config(ws.folder, f"remote.{line.remote}.url") if line else None
    if not address:
        raise RefusedError(
            "There is no remote whose owner you could trust.",
            hint="Add one and fetch its main branch, or agree to the current values: `ghp "
            "agent-trust`.",
        )
    return address


def consent_to_take(ws: Workspace) -> "list[Step]":
    """The step that deletes what the person agreed to for this clone."""
    from ghp_agents.state.admin_port import Step

    path = agreement.place(ws.environ, ws.common_dir)
    if not path.exists():
        return []
    act = partial(agreement.forget, ws.environ, ws.common_dir)
    return [Step("remove", "Removed", f"{path}: what you agreed to for this clone", act)]
