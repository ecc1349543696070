"""Consent: settings of a repository that count only after a person agreed to them.

Settings that run, place or redirect something are read from the default branch's commit. They count
if the person agreed to exactly that value. The agreement is stored outside of the repository.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ghp_agents.core.light_hashes import sha256
from ghp_agents.hotpath.quoting import one_line
from ghp_agents.settings.settings import Settings

SHOWN = 200  # characters of a value in a message
TEMPLATES = ".ghp/templates/"
TASKS = (".ghp/tasks/", ".claude/commands/")  # files that declare tasks
INCLUDE = ".worktreeinclude"  # names files to copy into new worktrees
FILES_MOST = 200  # of each folder
# Of a task's front matter: the fields that decide what runs.
TASK_FIELDS = ("run", "runner", "permissions", "autonomous")
PROPOSED = "proposed"  # in `github`: a repository named by the repository's own file

HINT = "A person can review and approve it with `ghp agent-trust`."


class Key(NamedTuple):
    """A setting that needs consent: its name in files, its effect, and what happens without
    consent."""

    written: str
    does: str
    until: str
    holds: bool = False  # it only forbids, so it counts at once


# By the setting's internal name.
KEYS: dict[str, Key] = {
    "worktree_setup_command": Key(
        "worktreeSetupCommand", "is run by a shell in new worktrees", "until then it is not run"
    ),
    "checks": Key(
        "agents.checks", "are run by a shell before work is finished or merged",
        "until then nothing is finished or merged",
    ),
    "disposable": Key(
        "agents.disposable", "are deleted with a worktree if git ignores them",
        "until then only the default ones are",
    ),
    "worktree_path": Key(
        "worktreePath", "is the folder of new worktrees", "until then it is ~/.ghp/worktrees"
    ),
    "worktree_copy_files": Key(
        "worktreeCopyFiles", "are copied into new worktrees",
        "until then .env and .env.local are copied",
    ),
    "worktree_symlink_files": Key(
        "worktreeSymlinkFiles", "are linked into new worktrees", "until then nothing is linked"
    ),
    "main_branch": Key("mainBranch", "is the main branch", "until then it is detected"),
    "trunk": Key("agents.trunk", "is the main branch", "until then it is detected"),
    "remote": Key(
        "agents.remote", "is the remote that clones share state through",
        "until then nothing is sent",
    ),
    "github": Key("agents.github", "is the place of issues", "until then the remote decides"),
    "orchestrators": Key(
        "agents.orchestrators", "may change shared files and direct others",
        "until then it has no effect",
    ),
    "steal": Key(
        "agents.steal", "says who may steal an issue from a running agent",
        "until then only people and orchestrators may",
    ),
    "take_from": Key(
        "agents.takeFrom",
        "names people whose issues agents may claim",
        "until then agents claim only issues of people with write access",
    ),
    "lockdown": Key("agents.lockdown", "hides text by people without write access", "", holds=True),
    "review": Key("agents.review", "decides whether a merge needs an approval", "", holds=True),
    "shared": Key("agents.shared", "need approval to be changed", "", holds=True),
    "shared_owners": Key(
        "agents.sharedOwners", "own files that need approval to be changed", "", holds=True
    ),
}  # fmt: skip


class Agreement(NamedTuple):
    """What a person agreed to in this clone: digests of values by setting."""

    agreed: Mapping[str, frozenset[str]] = {}
    owner: str = ""  # the remote whose default branch may change values; empty: none

    def covers(self, key: str, value: object) -> bool:
        """Whether the person agreed to this value."""
        return digest(value) in self.agreed.get(key, ())


class Judged(NamedTuple):
    """The settings on the default branch that need consent."""

    kept: dict[str, Any]  # these count
    open: dict[str, Any]  # nobody agreed to these


def digest(value: object) -> str:
    """The digest that identifies a value."""
    text = json.dumps(value, sort_keys=True)
    return sha256(text.encode()).hexdigest()


def plain_text(text: str) -> str:
    """A file's text for consent: Windows line ends and final line ends are ignored."""
    return text.replace("\r\n", "\n").rstrip("\n")


def is_task_to_approve(text: str) -> bool:
    """Whether the text of a task's file says what runs. A mere prompt for a client does not."""
    if not text.startswith("---"):
        return False
    from ghp_agents.core import front_matter

    try:
        meta = front_matter.parse(f"{text}\n".encode()).meta
    except ValueError:
        return True  # unclear, so a person should see it
    return any(field in meta for field in TASK_FIELDS)


def ordinary(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a file that need no consent."""
    return {key: value for key, value in values.items() if key not in KEYS}


def judged(values: Mapping[str, Any], agreement: Agreement, *, is_owners: bool = False) -> Judged:
    """Which of a file's settings count. `is_owners`: they come from the trusted owner's remote."""
    kept: dict[str, Any] = {}
    left: dict[str, Any] = {}
    for key in KEYS:
        value = values.get(key)
        if value is None:
            continue
        counts = is_owners or is_harmless(key, value) or agreement.covers(key, value)
        (kept if counts else left)[key] = value
    if "github" in kept:
        kept["github"] = _proposed(kept["github"])
    return Judged(kept, left)


def is_harmless(key: str, value: object) -> bool:
    """Whether a value counts without consent: it is empty, the default, or it only forbids."""
    return (
        not value or KEYS[key].holds or _plain(value) == _plain(Settings._field_defaults.get(key))
    )


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _proposed(settings: Mapping[str, str]) -> dict[str, str]:
    """A repository's file may propose a repository; later it is compared with the remote."""
    return {PROPOSED if key == "repository" else key: value for key, value in settings.items()}


def shown(value: object) -> str:
    """A value for people, on one line."""
    if isinstance(value, str):
        text = f"`{value}`"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}: `{item}`" for key, item in sorted(value.items()))
    elif isinstance(value, Iterable):
        text = ", ".join(f"`{item}`" for item in value)
    else:
        text = str(value)
    return one_line(text, SHOWN)


def sentence(key: str, value: object, place: str) -> tuple[str, str]:
    """What does not count, and what to do. `place` names the default branch."""
    setting = KEYS[key]
    what = f"`.ghp/config.json` on {place} sets `{setting.written}` to {shown(value)}"
    return f"{what}, but nobody has approved it in this clone; {setting.until}.", HINT
