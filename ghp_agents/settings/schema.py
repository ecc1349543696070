"""The schema of the configuration files. Errors name the line.

Only this module uses pydantic. Its import costs twice as much as click's, so it is loaded only
after a change; the result is cached as plain values (see `load.py`).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    field_validator,
)
from pydantic.alias_generators import to_camel

from ghp_agents.core import globs
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.fields import LARGEST
from ghp_agents.core.glob_paths import spelled_all
from ghp_agents.core.remote_url import masked
from ghp_agents.settings import disabled_plugins, memory_schema, runs_schema  # in this order
from ghp_agents.settings.key_lines import key_lines
from ghp_agents.settings.memory_schema import MemoryConfig
from ghp_agents.settings.runs_schema import RunsConfig
from ghp_agents.settings.settings import DISPOSABLE

LONGEST = 1_000_000  # characters of a file
MAX_SECONDS = 10 * 365 * 86_400
REPOSITORY_FILE = ".ghp/config.json"  # the end of its name, in a worktree or in a commit


class ConfigError(GhpError):
    """The configuration file is invalid; it was left as it is."""


AgeOrNever = Annotated[float, Field(gt=0, le=MAX_SECONDS)] | Literal["never"]  # seconds
Scope = Literal["run", "agent", "day", "repository"]
Measure = Literal["usd", "tokens", "turns", "seconds"]
Amount = Annotated[float, Field(ge=0, le=1e12)]
Line = Annotated[str, StringConstraints(min_length=1, pattern=r"^[^\r\n]+$")]


def _listed(value: Any) -> Any:
    """One text is a list of one: `"checks": "make test"`."""
    return [value] if isinstance(value, str) else value


Lines = Annotated[tuple[Line, ...], BeforeValidator(_listed)]
Words = Annotated[tuple[str, ...], BeforeValidator(_listed)]


# The keys of `agents.github`, and their format.
GITHUB = {
    "repository": (r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+", "owner/name"),
    "host": (r"[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?", "the name of a server"),
    "api": (r"https?://[^\s@]+", "the address of a server's API"),
}


def _key(default: Any, description: str, **bounds: Any) -> Any:
    """A key with its default, its line in `docs/settings.md`, and the bounds of its value."""
    return Field(default, description=description, **bounds)


class AgentsConfig(BaseModel):
    """The key `agents` of `.ghp/config.json`. Unknown keys are kept; a newer version may use
    them."""

    model_config = ConfigDict(alias_generator=to_camel, extra="allow", strict=False)

    remote: str | None = _key(None, "the remote that clones share state through", min_length=1)
    push: bool = _key(True, "false keeps everything in this clone")
    view: bool = _key(True, "keep .ghp/agent-status.json in the main worktree")
    publish: bool = _key(True, "false: the branch ghp-state is never pushed")
    background: bool = _key(True, "heartbeats may commit and sync in the background")
    throttle: float = _key(5.0, "seconds between two identical heartbeats", ge=0, le=3600)
    fold_every: float = _key(60.0, "seconds between commits of heartbeats", gt=0, le=86_400)
    sync_every: float = _key(15.0, "minimum seconds between syncs", gt=0, le=86_400)
    stale_after: float = _key(600.0, "seconds until stale", gt=0, le=MAX_SECONDS)
    dead_after: float = _key(1_800.0, "seconds until dead", gt=0, le=MAX_SECONDS)
    gone_after: float = _key(86_400.0, "seconds until gone", gt=0, le=MAX_SECONDS)
    compact_after: AgeOrNever = _key(
        604_800.0,
        "seconds after which commands stop reading a closed issue, an ended lease "
        "or an answered question; `never`: they stay",
    )
    keep_messages: AgeOrNever = _key(2_592_000.0, "the same for ended conversations")
    timeout: float = _key(30.0, "seconds for one exchange", gt=0, le=3600)
    trunk: str | None = _key(None, "the main branch", min_length=1)
    resume_chars: int = _key(16_000, "maximum characters that agent-resume prints", ge=500)
    patch_bytes: int = _key(
        5_000_000, "maximum bytes of uncommitted work in a handoff", ge=0, le=LARGEST
    )
    capabilities: dict[str, Words] = Field(default_factory=dict)
    shared: Words = _key((), "patterns of files that need approval")
    shared_owners: Words = _key((), "owners in CODEOWNERS whose files are shared, too")
    orchestrators: Words = _key((), "agents that may change shared files and direct others")
    steal: Literal["authorized", "anyone"] = _key(
        "authorized",
        "who may steal an issue; authorized: people, orchestrators, and any agent if "
        "the holder was silent for `staleAfter`",
    )
    implicit_leases: bool = _key(True, "the first edit of a file leases it in this clone")
    same_worktree: Literal["deny", "warn"] = _key(
        "deny",
        "what happens to an edit of a file that another agent is editing in the same worktree",
    )
    share_changes: bool = _key(
        True,
        "other clones learn which files and lines an agent has changed. They refuse "
        "or warn of edits that would conflict. No content is shared",
    )
    tracker: Literal["auto", "github", "local"] = _key(
        "auto", "where issues are; auto: on GitHub, if there is a remote on GitHub and a token"
    )
    github: dict[str, str] = Field(
        default_factory=dict,
        description="`repository` (owner/name), `host`, `api`, if the remote does not name them",
    )
    take_from: Literal["writers", "everybody"] = _key(
        "writers",
        "people whose issues agents may claim. An issue by a person without write "
        "access counts if a person with write access assigned or labeled it",
    )
    lockdown: bool = _key(False, "hide text by people without write access from agents")
    accounts: dict[str, Line] = Field(
        default_factory=dict, description="the GitHub login of each agent, by its name"
    )
    max_attempts: int = _key(
        3, "how many agents may die on an issue before a person is asked", ge=1, le=100
    )
    jobs_per_agent: int = _key(
        1, "maximum issues that agent-dispatch gives one agent", ge=1, le=1_000
    )
    open_pulls: int = _key(
        0,
        "agents get no new issue while this many pull requests are open; 0: no limit",
        ge=0,
        le=100_000,
    )
    budgets: dict[Scope, dict[Measure, Amount]] = Field(
        default_factory=dict,
        description="what may be used: of `run`, `agent` (in a day), `day` (all agents) and "
        "`repository` the `usd`, `tokens`, `turns` and `seconds`; 0: no limit",
    )
    sweep_policy: Literal["alert", "release", "reassign"] = _key(
        "release", "what the sweep does with a dead agent's issue"
    )
    needs_human_label: Line = _key(
        "agent:needs-human", "the label of an issue with an open question"
    )
    job_labels: bool = _key(
        False, "labels on GitHub show how far each issue is, from `job:queued` to `job:completed`"
    )
    escalate_to: Lines = _key((), "logins and teams (org/team) to ask")
    checks: Lines = _key((), "commands that must succeed before work is finished or merged")
    checks_keep_env: Lines = _key(
        (),
        "environment variables with credentials that checks and the set-up command "
        "may still use; only in the user's own file",
    )
    check_timeout: float = _key(900.0, "seconds for one check", gt=0, le=86_400)
    update_method: Literal["merge", "rebase"] = _key("merge", "how main is merged into a branch")
    merge_method: Literal["merge", "squash", "rebase"] = _key(
        "merge", "how finished work is merged into main"
    )
    merge_batch: int = _key(
        8, "how many pull requests the queue checks and merges at once", ge=1, le=100
    )
    retry_failed_checks: int = _key(
        1, "how often a failed check is repeated before work goes back", ge=0, le=10
    )
    submodules: bool = _key(True, "new worktrees get their submodules")
    disposable: Lines = _key(
        DISPOSABLE,
        "what may be deleted with a worktree if git ignores it, because it can be made again. "
        "Other ignored files are kept for 30 days",
    )
    topics: Lines = _key(
        ("project_updates", "security.>"),
        "topics of messages for an agent that has subscribed to none",
    )
    new_topics: Literal["ask", "hear", "ignore"] = _key(
        "ask",
        "topics that an agent neither subscribed to nor ignores; ask: a person who "
        "runs agent-inbox at a terminal decides once",
    )
    notify: Literal["low", "normal", "high", "critical"] = _key(
        "low",
        "the least urgency of a message that an agent reads at its next step; others "
        "wait in its inbox",
    )
    plugins: Lines = _key(
        (), "plug-ins to load, by their modules: docs/plugins.md; only in the user's own file"
    )
    desktop: bool = _key(True, "a person's desktop shows urgent questions and requests for input")
    wake: bool = _key(True, "requests and answers wake resting Claude Code, Codex, OpenCode and pi")
    max_rounds: int = _key(10, "maximum messages of one agent in a conversation", ge=1, le=1_000)
    messages_per_hour: int = _key(
        120, "maximum messages that one agent sends in an hour", ge=1, le=100_000
    )
    review: Literal["optional", "required"] = _key(
        "optional", "required: agent-merge needs an approval by another agent or a person"
    )

    @field_validator("github")
    @classmethod
    def _written(cls, github: dict[str, str]) -> dict[str, str]:
        for key, (pattern, meaning) in GITHUB.items():
            if key in github and not re.fullmatch(pattern, github[key]):
                raise ValueError(f"{key} is {masked(github[key])!r}, which is not {meaning}")
        return github

    runs: RunsConfig | None = _key(
        None, "what `ghp agent-work` starts, and in which sandbox: docs/sandboxes.md"
    )
    memory: MemoryConfig | None = _key(None, "the search engine for notes")

    @field_validator("disposable")
    @classmethod
    def _understood(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        try:
            globs.rules(patterns)
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from None
        return patterns

    @field_validator("shared")
    @classmethod
    def _spelled(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return spelled_all(patterns)
        except UsageError as error:
            raise ValueError(str(error).rstrip(".")) from None


class UpstreamConfig(BaseModel):
    """Upstream's own keys at the top of the file that we use. Upstream checks them: like it, we
    ignore invalid values."""

    model_config = ConfigDict(alias_generator=to_camel)

    main_branch: str | None = _key(None, "the main branch", min_length=1)
    worktree_path: str = _key("~/.ghp/worktrees", "the folder of new worktrees", min_length=1)
    worktree_copy_files: Lines = _key(
        (".env", ".env.local"), "patterns of files to copy into a new worktree, as in .gitignore"
    )
    worktree_symlink_files: Lines = _key((), "files to link into a new worktree")
    worktree_setup_command: str | None = _key(None, "command to run in a new worktree")
    worktree_auto_setup: bool = _key(True, "false: do not run it automatically")
    branch_pattern: str | None = _key(
        None, "names of branches: {user}, {agent}, {number}, {title}", min_length=1
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """An error in a configuration file."""

    line: int
    reason: str


def known_keys() -> tuple[str, ...]:
    """The keys that this version knows, as written in files."""
    return tuple(to_camel(name) for name in AgentsConfig.model_fields)


def read(files: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The settings in `files` [(name, text)] as plain values; later files win. Raises ConfigError
    with file and line."""
    return merged([values(name, text) for name, text in files])


def values(name: str, text: str) -> dict[str, Any]:
    """The settings in one file by internal name: ours, and upstream's that we use. Raises
    ConfigError with file and line."""
    ours, theirs, wrong = _read_one(text)
    if wrong:
        raise ConfigError(
            f"{name}, line {wrong[0].line}: {wrong[0].reason}.",
            hint="Fix the file (it was not changed); `ghp agent-doctor` checks it again.",
        )
    is_persons = not name.endswith(REPOSITORY_FILE)
    if not is_persons:  # only a person may pass credentials on, or load others' code
        ours.pop("checks_keep_env", None)
        ours.pop("plugins", None)
    for key, trusted in (("runs", runs_schema.trusted), ("memory", memory_schema.trusted)):
        if key in ours:
            ours[key] = trusted(ours[key] or {}, is_persons=is_persons)
    return theirs | ours


def merged(files: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The values of several files; later files win. As in upstream, objects are merged by key,
    everything else is replaced.

    Of upstream's own keys, those about branches and worktrees are used. `mainBranch` is the default
    branch, unless `agents.trunk` names another.
    """
    combined: dict[str, Any] = {}
    for content in files:
        for key, value in content.items():
            combined[key] = combined.get(key, {}) | value if isinstance(value, dict) else value
    if not combined.get("memory"):
        combined.pop("memory", None)
    main_branch = combined.pop("main_branch", None)
    if main_branch and combined.get("trunk") is None:
        combined["trunk"] = main_branch
    return combined


def faults(text: str) -> list[Fault]:
    """All errors in one file, in the order of lines."""
    return sorted(_read_one(text)[2], key=lambda fault: fault.line)


def _read_one(text: str) -> tuple[dict[str, Any], dict[str, Any], list[Fault]]:
    """The content of one file: our values, upstream's that we use, and errors."""
    if len(text) > LONGEST:
        return {}, {}, [Fault(1, f"longer than {LONGEST:,} characters")]
    try:
        whole = json.loads(text) if text.strip() else {}
    except json.JSONDecodeError as error:
        return {}, {}, [Fault(error.lineno, f"not valid JSON: {error.msg.lower()}")]
    except (ValueError, RecursionError):
        return {}, {}, [Fault(1, "not valid JSON: nested too deep, or a number too long")]
    if not isinstance(whole, dict):
        return {}, {}, [Fault(1, "not a JSON object")]
    ours, theirs = whole.get("agents", {}), _of_upstream(whole)
    if not isinstance(ours, dict):
        return {}, theirs, [Fault(key_lines(text)[("agents",)], "`agents` is not an object")]
    try:
        checked = AgentsConfig.model_validate(ours)
    except ValidationError as error:
        return {}, theirs, _faults(text, error)
    names = set(AgentsConfig.model_fields)
    return checked.model_dump(exclude_unset=True, include=names), theirs, []


def _of_upstream(whole: dict[str, Any]) -> dict[str, Any]:
    keys = [field.alias for field in UpstreamConfig.model_fields.values()]
    fields = {key: whole[key] for key in keys if key in whole}
    try:
        checked = UpstreamConfig.model_validate(fields, strict=False)
    except ValidationError as error:
        wrong = {fault["loc"][0] for fault in error.errors(include_url=False)}
        good = {key: value for key, value in fields.items() if key not in wrong}
        checked = UpstreamConfig.model_validate(good)
    return checked.model_dump(exclude_unset=True)


def _faults(text: str, error: ValidationError) -> list[Fault]:
    where = key_lines(text)
    faults: list[Fault] = []
    for detail in error.errors(include_url=False, include_context=False):
        path = ("agents", *map(str, detail["loc"]))
        shown = [path[:length] for length in range(len(path), 0, -1) if path[:length] in where]
        faults.append(Fault(where[shown[0]], f"`{'.'.join(path)}`: {_words(detail['msg'])}"))
    return faults


# Pydantic's words for Python's types, and ours for JSON's.
TYPES = {"a valid tuple": "a list", "a valid dictionary": "an object", "a valid string": "a text"}


def _words(message: str) -> str:
    message = message.lower()
    for python, json_ in TYPES.items():
        message = message.replace(python, json_)
    return message


disabled_plugins.restore()
