"""Making a rulebook of the state: leases, shared paths, and the scopes of claimed issues."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from ghp_agents.claims import holder_liveness
from ghp_agents.claims.claim import is_elsewhere
from ghp_agents.core import globs
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.ids import one_line
from ghp_agents.guard import codeowners
from ghp_agents.guard.codeowners import OwnersLine
from ghp_agents.hotpath import policy_cache, policy_stamp
from ghp_agents.hotpath.policy import LEASE, SCOPE, SHARED, Rule
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.scope import scope
from ghp_agents.leases import expiry
from ghp_agents.leases import service as lease
from ghp_agents.leases.hold import Hold
from ghp_agents.leases.record import LeaseHistory
from ghp_agents.locks.lock import Lock
from ghp_agents.locks.names import PREFIX, claimed_issue
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.presence import service as presence
from ghp_agents.settings import load as configuration
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ghp_agents.hotpath.policy_cache import Book
    from ghp_agents.hotpath.policy_stamp import Stamp

TEXT_LIMIT = 80  # characters of a lease's reason or an issue's title
CONFIGS = 2  # of the texts in a stamp, the first are configuration files

# A name with an ending, as most patterns with a wildcard are: found without an expression.
_ENDING = re.compile(r"!?\*(\.[\w.-]+)/?")

Ready = tuple[str, globs.Glob]  # a pattern, and what it means
Said = tuple[Rule, Sequence[Ready]]


def make(
    ws: Workspace,
    store: StateStore,
    leaser: LockService,
    tracker: IssueTracker,
    sources: Sources,
    stamp: Stamp | None,
) -> Book:
    """The rulebook as the state is now. Of what its stamp holds the very text, that text is used,
    and not what is there a moment later. Raises GhpError."""
    texts = stamp["texts"] if stamp else _texts(sources)
    values, marks = _settings(ws, sources, texts[:CONFIGS], stamp)
    if stamp is not None:
        stamp["trunk"] = marks
    settings = Settings(**values)
    fold = policy_stamp.ignores_case(stamp["case"] if stamp else _case(sources))
    snapshot = store.snapshot()
    claims, logs = leaser.known(PREFIX), lease.read_all(snapshot)[0]
    lapsed = expiry.expired(ws, store, snapshot, logs)
    said = [
        *_leases(ws, snapshot, leaser, fold, lapsed),
        *_shared(settings, next((text for _, text in texts[CONFIGS:] if text), ""), fold),
        *_scopes(claims, tracker, fold),
    ]
    return {
        "settings": values,
        "fold": fold,
        "orchestrators": list(settings.orchestrators),
        "implicitLeases": settings.implicit_leases,
        "deadAfter": settings.dead_after,
        "goneAfter": settings.gone_after,
        "lapses": _next_lapse(ws, snapshot, logs, lapsed),
        "claims": {str(claimed_issue(x.name)): _claim(x, leaser.clone) for x in claims},
        "elsewhere": _elsewhere(ws, store, snapshot, [rule for rule, _ in said]),
        **bind(said, fold),
    }


def _texts(sources: Sources) -> list[list[Any]]:
    """The files that are text, where they cannot be compared and have no stamp."""
    found: list[list[Any]] = []
    for path in sources.texts:
        try:
            found.append([path, policy_stamp.text(path)])
        except OSError as error:
            if len(found) < CONFIGS:
                raise _unreadable(path, error.strerror or str(error)) from None
            found.append([path, None])
    return found


def _case(sources: Sources) -> list[str]:
    try:
        return policy_stamp.case(sources.config)
    except OSError:
        return []


def _settings(
    ws: Workspace, sources: Sources, texts: Sequence[Sequence[Any]], stamp: Stamp | None
) -> tuple[dict[str, Any], list[list[Any]]]:
    """The settings that have a say, from the texts that the stamp compares and from the trunk, and
    by what it is seen that the trunk moved. Working them out loads what is slow, and starts git, so
    that is done only where something changed. Raises ConfigError."""
    last = policy_cache.read_stale(sources.folders[0])
    if last and stamp and last["stamp"]["texts"][:CONFIGS] == texts:
        marks = last["stamp"]["trunk"]
        if marks and policy_stamp.marks([path for path, _ in marks]) == marks:
            return {key: _plain(value) for key, value in last["settings"].items()}, marks
    from ghp_agents.settings import schema

    read = [schema.values(path, _decoded(path, text)) if text else {} for path, text in texts]
    marks, said = configuration.said_now(ws.ground, *read)
    known = ("shared", "shared_owners", "orchestrators", "implicit_leases")
    return {key: said[key] for key in (*known, "dead_after", "gone_after") if key in said}, marks


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _decoded(path: str, text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"not UTF-8 text (byte {error.start})") from None


def _unreadable(path: str, why: str) -> GhpError:
    from ghp_agents.settings.schema import ConfigError

    return ConfigError(
        f"{path} cannot be read: {why}.", hint="Correct the file or its permissions."
    )


# -------------------------------------------------------------------------- what is in it


def _next_lapse(
    ws: Workspace, snapshot: Snapshot, logs: Sequence[LeaseHistory], lapsed: Container[str]
) -> float | None:
    """From when on news may prove that one more lease of another clone is over; None for never."""
    ends = [end for lease, end in expiry.ends_at(ws, snapshot, logs).items() if lease not in lapsed]
    # The fast road has the machine's clock only.
    return ws.clock.now() - ws.steady() + min(ends) if ends else None


def _leases(
    ws: Workspace, snapshot: Snapshot, leaser: LockService, fold: bool, lapsed: Container[str]
) -> list[Said]:
    """All leases that are granted and not over, in the order in which they count; whether their
    holders live is looked at when one matters."""
    rights = lease.known_rights(leaser)
    over = {x.nonce for x in rights.values() if holder_liveness.is_over(ws, x, leaser.clone)}
    logs = lease.read_all(snapshot)[0]
    here = {log.id for log in logs if log.request.clone == snapshot.clone}
    said: list[Said] = []
    for hold in _standing(logs, rights, lapsed, over):
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
                is_elsewhere=not hold.is_of(hold.holder, hold.is_person, leaser.clone),
            )
            said.append((rule, patterns))
    return said


def _standing(
    logs: Sequence[LeaseHistory],
    rights: Mapping[str, Lock],
    lapsed: Container[str],
    over: Container[str],
) -> list[Hold]:
    """In the order of `lease.held`: the rights first, then the others as they were asked for."""
    known = {log.nonce for log in logs}
    there = [
        log
        for log in logs
        if log.is_open
        and log.granted
        and log.id not in lapsed
        and lease.lock_is_current(log, rights)
    ]
    bare = [
        x for x in rights.values() if x.is_taken and x.nonce not in known and x.nonce not in over
    ]
    strict = [lease.hold_of(log, rights) for log in there if log.request.right]
    strict += map(lease.as_hold, bare)
    ordinary = [log.hold() for log in there if not log.request.right]
    return [*sorted(strict, key=lambda hold: (hold.since, hold.id)), *ordinary]


def _shared(settings: Settings, owners_file: str, fold: bool) -> list[Said]:
    said = [(Rule(SHARED, label="`agents.shared` says so"), ready(settings.shared, fold))]
    text = owners_file.encode("latin-1").decode("utf-8", "replace")
    lines = codeowners.owned(codeowners.parse_owners(text), settings.shared_owners)
    owned = [each for line, mine in lines for each in _line(line, mine, fold)]
    said.append((Rule(SHARED, label="CODEOWNERS says so"), owned))
    return [each for each in said if each[1]]


def _line(line: OwnersLine, mine: bool, fold: bool) -> Iterable[Ready]:
    for text, rule in ready([line.pattern], fold):
        source = rule.source.replace("(?:/|\\Z)", "\\Z") if line.only_here else rule.source
        yield text, rule._replace(include=mine, source=source)


def _scopes(claims: Sequence[Lock], tracker: IssueTracker, fold: bool) -> list[Said]:
    held = [claim for claim in claims if claim.holder is not None]
    if not held:
        return []
    issues = {number: issue for issue in tracker.known() for number in issue.numbers}
    said: list[Said] = []
    for claim in sorted(held, key=lambda claim: (claim.acquired_at, claim.name)):
        issue = issues.get(claimed_issue(claim.name))  # type: ignore[call-overload]
        patterns = ready(scope(issue.form), fold) if issue else []
        if issue and patterns:
            said.append((_scope(claim, issue), patterns))
    return said


def _scope(claim: Lock, issue: Issue) -> Rule:
    return Rule(
        SCOPE,
        claim.holder or "",
        claim.is_person,
        claim.epoch,
        claim.acquired_at,
        label=f"#{claimed_issue(claim.name)}",
        text=one_line(issue.title, TEXT_LIMIT),
    )


def _claim(claim: Lock, clone: str) -> list[Any]:
    return [
        claim.holder, claim.epoch, claim.generation, claim.acquired_at,
        one_line(claim.reason, TEXT_LIMIT), claim.cause.kind, is_elsewhere(claim, clone),
    ]  # fmt: skip


def _elsewhere(
    ws: Workspace, store: StateStore, snapshot: Snapshot, rules: Sequence[Rule]
) -> list[str]:
    """The holders of whom this clone's own files do not say all."""
    holders = {rule.holder for rule in rules if rule.holder and not rule.is_person}
    if not holders or all(tip.clone == snapshot.clone for tip in snapshot.tips()):
        return []
    views = presence.list_agents(ws, store, snapshot, processes=False)
    return [view.name for view in views if view.name in holders and not view.is_here]


def ready(patterns: Iterable[str], fold: bool) -> list[Ready]:
    """Patterns ready to match; what a hand or another version wrote that is none is left out."""
    found: list[Ready] = []
    for each in patterns:
        try:
            found.append((each, globs.rule(each, fold=fold)))
        except UsageError:
            continue
    return found


# -------------------------------------------------------------------------------- the index


def bind(said: Sequence[Said], fold: bool) -> dict[str, Any]:
    """The rules, and where each of their patterns is found: with each the number of its rule, and
    its own in the rule."""
    index: dict[str, dict[str, list[Any]]] = {
        "paths": {}, "names": {}, "endings": {}, "globs": {},
    }  # fmt: skip
    for number, (_, patterns) in enumerate(said):
        for position, (text, rule) in enumerate(patterns):
            kind, key = _place(text, rule)
            posting = [number, position, rule.include]
            rest = [rule.prefix, rule.source] if kind == "globs" else [text.endswith("/")]
            there = index[kind].setdefault(key.lower() if fold else key, [])
            there.append([*posting, *rest])
    return {"rules": [rule.fields() for rule, _ in said], **index}


def _place(text: str, rule: globs.Glob) -> tuple[str, str]:
    """By what a pattern is looked up: the whole path, a name in it, an ending, or the folder that
    all begins with which it matches."""
    if rule.path is not None:
        return "paths", rule.path
    if rule.name is not None:
        return "names", rule.name
    ending = _ENDING.fullmatch(text)
    if ending:
        return "endings", ending[1]
    return "globs", rule.prefix[: rule.prefix.rfind("/") + 1]
