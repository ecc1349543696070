"""The settings after merging defaults, repository and user."""

from collections.abc import Mapping
from typing import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.cards.card import AgentCard


# What programs make again: ignored files that go with a worktree.
DISPOSABLE = (
    "node_modules/", ".venv/", "venv/", "target/", "dist/", "build/", "__pycache__/", "*.pyc",
    "*.egg-info/", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".tox/", ".gradle/", ".next/",
    ".coverage", ".DS_Store",
)  # fmt: skip


class Thresholds(NamedTuple):
    """Seconds without a heartbeat."""

    stale: float = 600.0
    dead: float = 1_800.0
    gone: float = 86_400.0


class Settings(NamedTuple):
    """Every setting with its default; `docs/settings.md` lists them. Times are in seconds."""

    remote: str | None = None  # the coordination remote; None: origin, or the only one
    push: bool = True  # False keeps everything in this clone
    view: bool = True  # the file .ghp/agent-status.json in the main worktree
    publish: bool = True  # False: the branch ghp-state is never pushed
    background: bool = True  # heartbeats may start folds and syncs in the background
    throttle: float = 5.0  # within this time a heartbeat without news writes nothing
    fold_every: float = 60.0
    sync_every: float = 15.0  # the minimum; 10 s for each living clone, if that is more
    stale_after: float = 600.0
    dead_after: float = 1_800.0
    gone_after: float = 86_400.0
    compact_after: float | str = 604_800.0  # when settled records leave a tip; or never
    keep_messages: float | str = 2_592_000.0  # when conversations that are over do
    timeout: float = 30.0  # for one exchange with the remote
    trunk: str | None = None  # None: the remote's HEAD, main, master, or the only branch
    resume_chars: int = 16_000
    patch_bytes: int = 5_000_000  # the maximum of uncommitted work that a handoff stores
    capabilities: Mapping[str, tuple[str, ...]] = {}  # by agent
    shared: tuple[str, ...] = ()  # patterns of files that need approval
    shared_owners: tuple[str, ...] = ()  # owners in CODEOWNERS whose files are shared, too
    orchestrators: tuple[str, ...] = ()  # agents that may change shared files, and direct others
    steal: str = "authorized"  # or anyone: who may take an issue from a living holder
    implicit_leases: bool = True  # a first write to a file leases it in this clone
    same_worktree: str = "deny"  # or warn: of a file that another agent edits in this worktree
    share_changes: bool = True  # other clones hear which files and lines an agent has changed
    tracker: str = "auto"  # where issues are: "github", "local", or chosen by remote and token
    github: Mapping[str, str] = {}  # "repository", "host", "api", if the remote does not tell
    take_from: str = "writers"  # or everybody: whose issues agents choose by themselves
    lockdown: bool = False  # True: hide from agents what people without write access wrote
    accounts: Mapping[str, str] = {}  # the GitHub login of an agent, by its name
    max_attempts: int = 3  # after so many dead agents, an issue is left to a person
    jobs_per_agent: int = 1  # issues that a dispatch gives an agent, with those that it has
    open_pulls: int = 0  # with so many, agents get no new issue; 0: no limit
    budgets: Mapping[str, Mapping[str, float]] = {}  # see `budgets/budget.py`
    sweep_policy: str = "release"  # for a dead agent's issue: alert, release, reassign
    needs_human_label: str = "agent:needs-human"
    job_labels: bool = False  # True: labels show on GitHub how far each issue is
    escalate_to: tuple[str, ...] = ()  # logins, and teams as org/team, that get questions
    checks: tuple[str, ...] = ()  # commands that must succeed before finish and merge
    checks_keep_env: tuple[str, ...] = ()  # variables with credentials that checks get all the same
    check_timeout: float = 900.0  # for one check
    update_method: str = "merge"  # or rebase: how a branch is updated from the default branch
    merge_method: str = "merge"  # or squash, or rebase: how it is merged
    merge_batch: int = 8  # pull requests that the queue checks and merges at once, at most
    retry_failed_checks: int = 1  # failed runs that are repeated before work goes back
    submodules: bool = True  # new worktrees get them
    disposable: tuple[str, ...] = DISPOSABLE  # ignored files that go with a worktree
    topics: tuple[str, ...] = ("project_updates", "security.>")  # for agents without subscription
    new_topics: str = "ask"  # or hear, ignore: topics that an agent has not decided on
    notify: str = "low"  # the least urgency of a message that interrupts an agent
    plugins: tuple[str, ...] = ()  # modules, only by the person's own file
    desktop: bool = True  # notify-send or osascript shows urgent questions
    wake: bool = True  # resting sessions are woken for messages and answers
    max_rounds: int = 10  # replies of an agent in one conversation; then a person is asked
    messages_per_hour: int = 120  # of one agent
    review: str = "optional"  # or required: another agent or a person approves before a merge
    runs: Mapping[str, Any] | None = None  # of `agent-work`: `settings/runs_schema.py`
    memory: Mapping[str, Any] | None = None  # engines that find notes: `notes/search/result.py`

    # Upstream's own settings, at the top of the same files.
    worktree_path: str = "~/.ghp/worktrees"
    worktree_copy_files: tuple[str, ...] = (".env", ".env.local")
    worktree_symlink_files: tuple[str, ...] = ()
    worktree_setup_command: str | None = None  # upstream's default is `pnpm install`
    worktree_auto_setup: bool = True
    branch_pattern: str | None = None  # None: agent/{agent}/{number}-{title}

    # The agents' cards on the default branch by name, see `cards/card.py`.
    cards: Mapping[str, Mapping[str, Any]] = {}

    # Settings on the default branch that nobody in this clone agreed to: see `settings/consent.py`.
    unagreed: Mapping[str, Any] = {}
    trunk_place: str = ""  # the branch with those settings
    unreadable: tuple[str, ...] = ()  # why the last values of a file count, see `last_read.py`

    def card(self, agent: str) -> "AgentCard | None":
        """The card that people wrote for an agent."""
        fields = self.cards.get(agent)
        if fields is None:
            return None
        from ghp_agents.cards import card

        return card.decode(agent, fields)

    @property
    def notes(self) -> Mapping[str, Any]:
        """The settings of `memory`; empty if there are none."""
        return self.memory or {}

    @property
    def mentionable(self) -> tuple[str, ...]:
        """The accounts that what an agent writes may mention."""
        return (*self.accounts.values(), *self.escalate_to)

    @property
    def thresholds(self) -> Thresholds:
        """The seconds after which an agent is stale, dead, gone."""
        return Thresholds(self.stale_after, self.dead_after, self.gone_after)
