"""The settings that the program runs with, after defaults, repository and user were merged."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Thresholds(NamedTuple):
    """Seconds without a beat."""

    stale: float = 600.0
    dead: float = 1_800.0
    gone: float = 86_400.0


class Settings(NamedTuple):
    """Every setting with its default; `docs/COMMANDS.md` lists them. Times are in seconds."""

    remote: str | None = None  # the coordination remote; None: origin, or the only one
    push: bool = True  # False keeps everything in this clone
    view: bool = True  # the file .ghp/agent-status.json in the main worktree
    background: bool = True  # beats may start folds and syncs in the background
    throttle: float = 5.0  # a beat that says nothing new within this time writes nothing
    fold_every: float = 60.0
    sync_every: float = 15.0  # the least; 10 s for each living clone, if that is more
    stale_after: float = 600.0
    dead_after: float = 1_800.0
    gone_after: float = 86_400.0
    timeout: float = 30.0  # for one exchange with the remote
    trunk: str | None = None  # None: the remote's HEAD, main or master
    resume_chars: int = 16_000
    patch_bytes: int = 5_000_000  # the most that a handoff stores of uncommitted work
    capabilities: Mapping[str, tuple[str, ...]] = {}  # by agent
    shared: tuple[str, ...] = ()  # patterns of files that need approval
    shared_owners: tuple[str, ...] = ()  # owners in CODEOWNERS whose files are shared, too
    orchestrators: tuple[str, ...] = ()  # agents that may change shared files, and direct others
    implicit_leases: bool = True  # a first write to a file leases it in this clone
    tracker: str = "auto"  # where issues are: "github", "local", or what the remote and a token say
    github: Mapping[str, str] = {}  # "repository", "host", "api", where the remote does not say
    take_from: str = "writers"  # or everybody: whose issues agents take by themselves
    lockdown: bool = False  # True: agents are not shown what people wrote who may not write
    accounts: Mapping[str, str] = {}  # the GitHub login of an agent, by its name
    max_attempts: int = 3  # an issue that died so often in its agents' hands is for a person
    sweep_policy: str = "release"  # what becomes of a dead agent's issue: alert, release, reassign
    needs_human_label: str = "agent:needs-human"
    escalate_to: tuple[str, ...] = ()  # logins, and teams as org/team, that questions are for
    checks: tuple[str, ...] = ()  # commands that must succeed before work is finished or merged
    checks_keep_env: tuple[str, ...] = ()  # variables with credentials that they get all the same
    check_timeout: float = 900.0  # for one of them
    update_method: str = "merge"  # or rebase: how a branch is brought up to the trunk
    merge_method: str = "merge"  # or squash, or rebase: how it gets into the trunk
    memory: Mapping[str, Any] | None = None  # what notes are found with: `notes/search/result.py`

    # Upstream's own settings, which stand at the top of the same files.
    worktree_path: str = "~/.ghp/worktrees"
    worktree_copy_files: tuple[str, ...] = (".env", ".env.local")
    worktree_symlink_files: tuple[str, ...] = ()
    worktree_setup_command: str | None = None  # upstream's default is `pnpm install`
    worktree_auto_setup: bool = True
    branch_pattern: str | None = None  # None: agent/{agent}/{number}-{title}

    # What the trunk's file says and nobody in this clone agreed to: see `settings/consent.py`.
    unagreed: Mapping[str, Any] = {}
    trunk_place: str = ""  # the branch whose file that is

    @property
    def notes(self) -> Mapping[str, Any]:
        """What is said of `memory`; empty where nothing is."""
        return self.memory or {}

    @property
    def thresholds(self) -> Thresholds:
        """The silence after which an agent is stale, dead, gone."""
        return Thresholds(self.stale_after, self.dead_after, self.gone_after)
