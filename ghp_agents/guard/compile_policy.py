"""Compile the policy from the state: leases, shared paths, and scopes of claimed issues."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ghp_agents.cards import manifest
from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_elsewhere
from ghp_agents.core import globs
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import Actor, one_line
from ghp_agents.guard import codeowners, reported_changes
from ghp_agents.guard.codeowners import OwnersLine
from ghp_agents.hotpath import policy_cache, policy_stamp
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.policy import LEASE, SCOPE, SHARED, Rule
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.issues import replay
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.open_issues import read_open
from ghp_agents.issues.scope import scope
from ghp_agents.leases import expiry
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.world import LeaseWorld, as_hold
from ghp_agents.locks.lock import Lock
from ghp_agents.ports import Context
from ghp_agents.presence import service as presence
from ghp_agents.presence import stop_order, stopping
from ghp_agents.settings import last_read, rights
from ghp_agents.settings import load as configuration
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book
    from ghp_agents.hotpath.policy_stamp import Stamp

TEXT_LIMIT = 80  # characters of a lease's reason or an issue's title
CONFIGS = 2  # the first texts in a stamp are configuration files

# `*.ext`, the most common pattern with a wildcard: matched without a regular expression.
_ENDING = re.compile(r"!?\*(\.[\w.-]+)/?")

Ready = tuple[str, globs.Glob]  # a pattern, and what it means
RulePatterns = tuple[Rule, Sequence[Ready]]


def make(ctx: Context, sources: Sources, stamp: Stamp | None) -> Book:
    """The policy for the present state. For files whose text is in the stamp, that text is used:
    the file may have changed since. Raises GhpError."""
    texts = stamp["texts"] if stamp else _texts(sources)
    values, marks = _settings(ctx.ws, sources, texts[:CONFIGS], stamp)
    if stamp is not None:
        stamp["trunk"] = marks
    settings = Settings(**values)
    fold = policy_stamp.ignores_case(stamp["case"] if stamp else _case(sources))
    world = LeaseWorld(ctx)
    rules = [
        *_leases(world, fold),
        *_shared(settings, next((text for _, text in texts[CONFIGS:] if text), ""), fold),
        *_scopes(world, settings, fold),
    ]
    return {
        "settings": values,
        "fold": fold,
        "orchestrators": list(settings.orchestrators),
        "implicitLeases": settings.implicit_leases,
        "sameWorktree": settings.same_worktree,
        "deadAfter": settings.dead_after,
        "goneAfter": settings.gone_after,
        "lapses": _next_lapse(world),
        "claims": {str(n): _claim(x, ctx.locks.clone) for n, x in world.claim_locks.items()},
        "stops": _stops(world, settings),
        "elsewhere": _elsewhere(world, [rule for rule, _ in rules]),
        "changes": reported_changes.by_path(ctx, world.snapshot, world.claims, fold=fold),
        "main": reported_changes.main_ref(ctx),
        "writes": _writes(settings, fold),
        **bind(rules, fold),
    }


def _writes(settings: Settings, fold: bool) -> dict[str, list[Any]]:
    """The cards that say what agents may write, each with the expressions for the paths."""
    scopes: dict[str, list[Any]] = {}
    for name in settings.cards:
        card = settings.card(name)
        if card is None or card.permissions is None:
            continue
        scope = manifest.scope_of(card.permissions, manifest.WRITE)
        if scope != ():  # an empty one means everything
            sources = [globs.rule(pattern, fold=fold).source for pattern in scope or ()]
            scopes[name] = [card.path, sources]
    return scopes


def _texts(sources: Sources) -> list[list[Any]]:
    """The text files, if there is no stamp."""
    texts: list[list[Any]] = []
    for path in sources.texts:
        try:
            texts.append([path, policy_stamp.text(path)])
        except OSError:
            texts.append([path, None])
    return texts


def _case(sources: Sources) -> list[str]:
    try:
        return policy_stamp.case(sources.config)
    except OSError:
        return []


def _settings(
    ws: Workspace, sources: Sources, texts: Sequence[Sequence[Any]], stamp: Stamp | None
) -> tuple[dict[str, Any], list[list[Any]]]:
    """The settings of the policy, from the stamp's texts and from main, and the marks that show
    when main moved. Computing them loads slow modules and starts git, so it is done only after a
    change. Raises ConfigError."""
    last = policy_cache.read_stale(sources.home)
    if last and stamp and last["stamp"]["texts"][:CONFIGS] == texts:
        marks = last["stamp"]["trunk"]
        if marks and policy_stamp.marks([path for path, _ in marks]) == marks:
            return {key: _plain(value) for key, value in last["settings"].items()}, marks
    checked_out, own = (
        last_read.values(Path(sources.home), path, partial(_values, sources, path, text), [])
        for path, text in texts
    )
    marks, values = configuration.said_now(ws.ground, checked_out, own)
    names = (
        "shared", "shared_owners", "orchestrators", "implicit_leases", "same_worktree",
        "dead_after", "gone_after", "cards",
    )  # fmt: skip
    return {key: values[key] for key in names if key in values}, marks


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _values(sources: Sources, path: str, text: str | None) -> dict[str, Any]:
    """The values in a file's text; none without a file. Raises ConfigError."""
    if text is None and not os.path.lexists(path):
        return {}
    if text is None:
        raise _unreadable(path, "it is not a file that can be read")
    if not text and last_read.has(Path(sources.home), path):
        raise _unreadable(path, last_read.EMPTY)
    from ghp_agents.settings import schema

    return schema.values(path, _decoded(path, text))


def _decoded(path: str, text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"not UTF-8 text (byte {error.start})") from None


def _unreadable(path: str, why: str) -> GhpError:
    from ghp_agents.settings.schema import ConfigError

    return ConfigError(f"Cannot read {path}: {why}.", hint="Fix the file or its permissions.")


def _next_lapse(world: LeaseWorld) -> float | None:
    """When the next lease of another clone may expire; None for never."""
    expiries = expiry.ends_at(world.ws, world.snapshot, world.logs)
    ends = [end for lease, end in expiries.items() if lease not in world.expired]
    # The fast path has only the machine's clock.
    return world.now - world.ws.steady() + min(ends) if ends else None


def _stops(world: LeaseWorld, settings: Settings) -> dict[str, list[Any]]:
    """The agents that were told to stop: the epoch, by whom, when and why."""
    orders = stopping.read_orders(world.snapshot)
    return {
        agent: [x.epoch, x.by.name, x.by.is_person, x.at, x.reason]
        for agent, x in stop_order.newest(orders, settings.orchestrators).items()
    }


def _leases(world: LeaseWorld, fold: bool) -> list[RulePatterns]:
    """All granted and unexpired leases, in order of precedence. Whether the holder is alive is
    checked only when a lease matters."""
    here = {log.id for log in world.logs if log.request.clone == world.snapshot.clone}
    rules: list[RulePatterns] = []
    for hold in _in_force(world):
        patterns = ready(hold.patterns, fold)
        if patterns:
            rule = Rule(
                LEASE,
                hold.holder,
                hold.is_person,
                since=hold.since,
                until=to_seconds(hold.until) if hold.until and hold.id in here else None,
                approved=hold.approved,
                label=hold.short,
                text=one_line(hold.reason, TEXT_LIMIT),
                is_elsewhere=not hold.is_of(hold.holder, hold.is_person, world.ctx.locks.clone),
            )
            rules.append((rule, patterns))
    return rules


def _in_force(world: LeaseWorld) -> list[Hold]:
    """In the order of `LeaseWorld.holds`: strict leases first, then the others by request order."""
    nonces = {log.nonce for log in world.logs}
    active = [
        log
        for log in world.logs
        if log.is_open
        and log.granted
        and log.id not in world.expired
        and world.lock_is_current(log)
    ]
    clone = world.ctx.locks.clone
    over = {
        x.nonce for x in world.strict_locks.values() if holder_liveness.is_over(world.ws, x, clone)
    }
    bare = [x for x in world.strict_locks.values() if x.is_taken and x.nonce not in nonces | over]
    strict = [world.hold_of(log) for log in active if log.request.right]
    strict += map(as_hold, bare)
    ordinary = [log.hold() for log in active if not log.request.right]
    return [*sorted(strict, key=lambda hold: (hold.since, hold.id)), *ordinary]


def _shared(settings: Settings, owners_file: str, fold: bool) -> list[RulePatterns]:
    rules = [(Rule(SHARED, label="see `agents.shared`"), ready(settings.shared, fold))]
    text = owners_file.encode("latin-1").decode("utf-8", "replace")
    lines = codeowners.owned(codeowners.parse_owners(text), settings.shared_owners)
    owned = [pattern for line, is_owned in lines for pattern in _line(line, is_owned, fold)]
    rules.append((Rule(SHARED, label="see CODEOWNERS"), owned))
    return [(rule, patterns) for rule, patterns in rules if patterns]


def _line(line: OwnersLine, is_owned: bool, fold: bool) -> Iterable[Ready]:
    for text, rule in ready([line.pattern], fold):
        source = rule.source.replace("(?:/|\\Z)", "\\Z") if line.only_here else rule.source
        yield text, rule._replace(include=is_owned, source=source)


def _scopes(world: LeaseWorld, settings: Settings, fold: bool) -> list[RulePatterns]:
    """The scopes of claimed issues, the first claim first, then those of assigned ones."""
    issues: dict[int, Issue] = {
        number: issue for issue in world.ctx.tracker.known() for number in issue.numbers
    }
    held = world.claims.items() if issues else ()
    rules: list[RulePatterns] = []
    for number, claim in sorted(held, key=lambda entry: (entry[1].acquired_at, entry[1].name)):
        issue = issues.get(number)
        patterns = ready(scope(issue.form), fold) if issue else []
        if issue and patterns:
            rules.append((_scope(number, claim, issue), patterns))
    claimed = world.claims.keys()
    free = [x for n, x in issues.items() if n == x.number and claimed.isdisjoint(x.numbers)]
    return [*rules, *_assigned(world, settings, fold, free)]


def _assigned(
    world: LeaseWorld, settings: Settings, fold: bool, issues: Iterable[Issue]
) -> list[RulePatterns]:
    """The scopes of issues that nobody has claimed, for those whom a person or an orchestrator
    assigned. They have no time; whether an assignee is a living agent is checked when it matters.
    """
    scopes = [
        (issue, name, patterns)
        for issue in issues
        if any(map(is_name, issue.assignees)) and (patterns := ready(scope(issue.form), fold))
        for name in filter(is_name, issue.assignees)
    ]
    if scopes and not world.ctx.tracker.accepts_comment_commands:
        by = replay.assigners(read_open(world.snapshot))
        scopes = [
            entry
            for entry in scopes
            if rights.may_assign(
                by.get((entry[0].id, entry[1]), Actor(entry[1])), settings.orchestrators
            )
        ]
    return [
        (
            Rule(SCOPE, name, label=f"#{issue.number}", text=one_line(issue.title, TEXT_LIMIT)),
            patterns,
        )
        for issue, name, patterns in scopes
    ]


def _scope(number: int, claim: Lock, issue: Issue) -> Rule:
    return Rule(
        SCOPE,
        claim.holder or "",
        claim.is_person,
        claim.epoch,
        claim.acquired_at,
        label=f"#{number}",
        text=one_line(issue.title, TEXT_LIMIT),
    )


def _claim(claim: Lock, clone: str) -> list[Any]:
    return [
        claim.holder, claim.epoch, claim.generation, claim.acquired_at,
        one_line(claim.reason, TEXT_LIMIT), claim.cause.kind, is_elsewhere(claim, clone),
    ]  # fmt: skip


def _elsewhere(world: LeaseWorld, rules: Sequence[Rule]) -> list[str]:
    """The holders that live in other clones."""
    holders = {rule.holder for rule in rules if rule.holder and not rule.is_person}
    if not holders or all(tip.clone == world.snapshot.clone for tip in world.snapshot.tips()):
        return []
    views = presence.list_agents(world.ctx, world.snapshot, processes=False)
    return [view.name for view in views if view.name in holders and not view.is_here]


def ready(patterns: Iterable[str], fold: bool) -> list[Ready]:
    """Patterns ready to match; invalid ones (edited by hand, another version) are skipped."""
    compiled: list[Ready] = []
    for text in patterns:
        try:
            compiled.append((text, globs.rule(text, fold=fold)))
        except UsageError:
            continue
    return compiled


def bind(rules: Sequence[RulePatterns], fold: bool) -> dict[str, Any]:
    """The rules, and an index of their patterns. Each entry has the number of its rule and the
    number of the pattern in the rule."""
    index: dict[str, dict[str, list[Any]]] = {
        "paths": {}, "names": {}, "endings": {}, "globs": {},
    }  # fmt: skip
    for number, (_, patterns) in enumerate(rules):
        for position, (text, rule) in enumerate(patterns):
            kind, key = _place(text, rule)
            posting = [number, position, rule.include]
            rest = [rule.prefix, rule.source] if kind == "globs" else [text.endswith("/")]
            postings = index[kind].setdefault(key.lower() if fold else key, [])
            postings.append([*posting, *rest])
    return {"rules": [rule.fields() for rule, _ in rules], **index}


def _place(text: str, rule: globs.Glob) -> tuple[str, str]:
    """The index and key of a pattern: the whole path, a name in it, an ending, or the folder that
    all matches begin with."""
    if rule.path is not None:
        return "paths", rule.path
    if rule.name is not None:
        return "names", rule.name
    ending = _ENDING.fullmatch(text)
    if ending:
        return "endings", ending[1]
    return "globs", rule.prefix[: rule.prefix.rfind("/") + 1]
