"""Decides whether an edit is allowed. All guards use this rule. Pure; the first match wins.

A hook runs it before every edit, so it imports almost nothing, and records are plain classes.
"""

from ghp_agents.hotpath import policy_cache
from ghp_agents.hotpath.heartbeat import former_claims
from ghp_agents.hotpath.light_dataclass import dataclass
from ghp_agents.hotpath.quoting import file, named, path_word, phrase, reason, when

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ghp_agents.hotpath.policy_cache import Book

ALLOW, DENY, NEEDS_APPROVAL = "allow", "deny", "needs-approval"
WARN = "warn"  # of `agents.sameWorktree`
LEASE, SHARED, SCOPE = "lease", "shared", "scope"  # kinds of rules in the compiled policy
IMPLICIT, CONFLICT, FENCED = "implicit", "conflict", "fenced"
PERMISSION, WORKTREE = "permission", "worktree"
# Kinds that do not apply to files that are never leased.
OF_LEASES = (LEASE, IMPLICIT, CONFLICT, SCOPE)


@dataclass
class Verdict:
    """The decision about one path. `kind` names the rule: stopped, fenced, permission, worktree,
    lease, implicit, conflict, shared, scope, repository; empty if none applies. A person is always
    allowed, but informed."""

    word: str  # allow, deny, needs-approval
    path: str  # relative to the repository's top
    kind: str = ""
    holder: str | None = None
    since: str = ""  # ISO 8601, or empty
    why: str = ""  # a sentence for people and agents
    next: str = ""  # what can be done about it

    @property
    def is_refused(self) -> bool:
        """Whether the edit must not be made now."""
        return self.word != ALLOW


class UnsureError(Exception):
    """A relevant fact is unknown on this path."""


@dataclass
class Rule:
    """One rule of the policy: a lease, shared paths, or the scope of an issue."""

    kind: str
    holder: str = ""
    is_person: bool = False
    epoch: int = 0  # of the agent when it claimed
    since: str = ""
    until: "float | None" = None  # expiry by this clone's clock, if it granted the lease
    approved: bool = False  # it may cover shared paths
    label: str = ""  # L-3f9a, #12, the pattern of a shared path
    text: str = ""  # a lease's reason, an issue's title
    is_elsewhere: bool = False  # its holder is in another clone, whatever its name

    def fields(self) -> "list[Any]":
        """The rule as stored in the policy: `Rule(*fields)` restores it."""
        return [*vars(self).values()]


@dataclass
class EditRequest:
    """A requested edit, with the facts that change too fast for the compiled policy."""

    agent: str  # or the person
    is_person: bool
    now: float
    now_text: str
    lives: "Callable[[Rule], bool]"  # whether a rule's holder is alive; raises UnsureError
    presence: "Mapping[str, Any] | None" = None  # the agent's own
    touch: "tuple[str, str] | None" = None  # the other living agent that edits it here, since when
    worktree_of: str | None = None  # the other living agent that owns the path's worktree
    own_worktree: str | None = None  # the agent's own, if the path is outside of it
    is_exempt: bool = False  # git ignores the path, or it is generated
    is_here: bool = True  # an agent of this clone
    # The refusal because of editors in other worktrees, and the verdict on changes elsewhere.
    conflict: "Callable[[], Verdict | None] | None" = None
    reported: "Callable[[], Verdict | None] | None" = None
    branch: "Callable[[], str | None] | None" = None  # of the worktree


def decide(book: "Book", path: str, case: EditRequest) -> Verdict:
    """Decide about an edit of `path`. Raises UnsureError if a fact is missing."""
    verdict = _first(book, path, case)
    if (
        case.reported
        and not verdict.kind
        and not case.is_exempt
        and not _is_reserved(book, path, case)
    ):
        verdict = case.reported() or verdict
    if not (case.is_person and verdict.is_refused):
        return verdict
    return Verdict(ALLOW, path, verdict.kind, verdict.holder, verdict.since, verdict.why)


def _is_reserved(book: "Book", path: str, case: EditRequest) -> bool:
    """Whether a lease or a claim decides that this agent may edit the path. A file in the scopes of
    two issues belongs to both."""
    rules = [Rule(*book["rules"][number]) for number in policy_cache.covering(book, path)]
    mine = [x for x in rules if x.kind != SHARED and _is_mine(x, case) and not _is_over(x, case)]
    if any(rule.kind == LEASE for rule in mine):
        return True
    own = [rule.label for rule in mine]
    others = (rule for rule in rules if rule.kind == SCOPE and rule.label not in own)
    return bool(mine) and not any(case.lives(rule) for rule in others)


def _first(book: "Book", path: str, case: EditRequest) -> Verdict:
    if not case.is_person:
        barred = _stopped(book, path, case) or _fenced(book, path, case)
        barred = barred or _not_permitted(book, path, case) or _in_worktree(book, path, case)
        if barred:
            return barred
    rules = [Rule(*book["rules"][number]) for number in policy_cache.covering(book, path)]
    leases = [rule for rule in rules if rule.kind == LEASE and not _is_over(rule, case)]
    holding = None if case.is_exempt else _other(leases, case)
    if holding:
        mine = next((rule for rule in leases if _is_mine(rule, case)), None)
        return _leased(path, holding, case, mine)
    # A person or an orchestrator knew of the others and approved this lease.
    approved = any(rule.approved and _is_mine(rule, case) for rule in leases)
    free = case.is_exempt or approved
    touched = _touched(path, case) if case.touch and not free else None
    if touched and book.get("sameWorktree") != WARN:
        return touched
    conflict = case.conflict() if case.conflict and not free else None
    verdict = conflict or _by_rules(book, path, case, rules, approved=approved)
    if touched and not verdict.is_refused:
        touched.word = ALLOW
        return touched
    return verdict


def _by_rules(
    book: "Book", path: str, case: EditRequest, rules: "Sequence[Rule]", *, approved: bool
) -> Verdict:
    """The verdict by shared files and scopes."""
    shared = next((rule for rule in rules if rule.kind == SHARED), None)
    if shared:
        free = approved or (not case.is_person and case.agent in book["orchestrators"])
        return Verdict(ALLOW, path, SHARED) if free else _shared(path, shared)
    scopes = [rule for rule in rules if rule.kind == SCOPE]
    # An issue may have more assignees. A file in the scopes of two claimed issues belongs to both.
    own = [rule.label for rule in scopes if _is_mine(rule, case)]
    is_both = any(_is_mine(rule, case) and not is_assigned(rule) for rule in scopes)
    scopes = [rule for rule in scopes if rule.label not in own or _is_mine(rule, case)]
    claiming = None if case.is_exempt or approved or is_both else _other(scopes, case)
    return _in_scope(path, claiming, case) if claiming else Verdict(ALLOW, path)


def _other(rules: "Sequence[Rule]", case: EditRequest) -> Rule | None:
    """Another living holder's rule, unless one of mine comes before it."""
    for rule in rules:
        if _is_mine(rule, case):
            return None
        if case.lives(rule):
            return rule
    return None


def _is_mine(rule: Rule, case: EditRequest) -> bool:
    is_same = rule.holder == case.agent and rule.is_person == case.is_person
    return is_same and not (rule.is_elsewhere and case.is_here)


def is_assigned(rule: Rule) -> bool:
    """Whether it is the scope of an issue that its holder is assigned to and has not claimed."""
    return rule.kind == SCOPE and not rule.since


def _is_over(rule: Rule, case: EditRequest) -> bool:
    return rule.until is not None and rule.until <= case.now


def _not_permitted(book: "Book", path: str, case: EditRequest) -> Verdict | None:
    card = policy_cache.may_write(book, case.agent, path)
    if card is None:
        return None
    why = f"{file(path)} is not among the files that {named(case.agent)} may write."
    hint = f"Leave it as it is, or ask a person; {file(card)} on main says what it may do."
    return Verdict(DENY, path, PERMISSION, why=why, next=hint)


def _stopped(book: "Book", path: str, case: EditRequest) -> Verdict | None:
    """The agent was told to stop, and has not started again since."""
    stop = book["stops"].get(case.agent)
    if not stop or case.presence is None or _whole(case.presence.get("epoch")) > stop[0]:
        return None
    _, by, is_person, since, text = stop
    why = f"{named(by, is_person)} told {named(case.agent)} to stop.{reason(text)}"
    hint = "End your turn. Only a person or an orchestrator can let you continue."
    return Verdict(DENY, path, "stopped", by, since, why, hint)


def _fenced(book: "Book", path: str, case: EditRequest) -> Verdict | None:
    """The agent lost its claim of the issue that it works on here."""
    presence = case.presence or {}
    generation = presence.get("generation")
    claim = book["claims"].get(str(presence.get("issue"))) if type(generation) is int else None
    if claim is not None and claim[2] < generation:
        claim = None  # the policy is older than the claim
    is_lost = claim is not None and not _is_held(claim, case)
    former = former_claims(presence)
    here = _issue_here(case) if is_lost or former else ""
    if is_lost or here in former:
        from ghp_agents.hotpath.lost_claim import lost_here  # expensive and rarely needed

        held = {number: x for number, x in book["claims"].items() if _is_held(x, case)}
        fence = lost_here(book["claims"], held, case, here)
        if fence:
            return Verdict(DENY, path, FENCED, fence.holder, fence.since, fence.words, fence.hint)
    return None if claim else _handed_over(book, path, case, presence.get("handed"))


def _issue_here(case: EditRequest) -> str:
    """The number of the issue that the branch is for; empty for none."""
    from ghp_agents.hotpath.locate import issue_of_branch

    return str(issue_of_branch((case.branch and case.branch()) or "") or "")


def _is_held(claim: "Sequence[Any]", case: EditRequest) -> bool:
    """Whether the agent holds a claim."""
    epoch = _whole((case.presence or {}).get("epoch"))
    is_namesake = claim[6] and case.is_here
    return claim[0] == case.agent and not is_namesake and 1 <= claim[1] <= epoch


def _handed_over(book: "Book", path: str, case: EditRequest, issue: "Any") -> Verdict | None:
    """The agent gave the issue of its branch away, and another holds it."""
    claim = book["claims"].get(str(issue)) if type(issue) is int else None
    if claim is None or claim[0] in (None, case.agent):
        return None
    who = named(claim[0], claim[1] == 0)
    why = f"You handed #{issue} over: {who} has held it since {when(claim[3])}."
    hint = "Work on another branch. `ghp agent-claim --next` finds other work."
    return Verdict(DENY, path, FENCED, claim[0], claim[3], why, hint)


def _whole(value: "Any") -> int:
    return value if type(value) is int else 0


def _in_worktree(book: "Book", path: str, case: EditRequest) -> Verdict | None:
    """The file is in the worktree of another, who may be a person."""
    owner, own = case.worktree_of, case.own_worktree
    hint = f"Edit {file(f'{own}/{path}')} instead." if own else ""
    if owner is not None and owner != case.agent:
        why = f"{file(path)} is in the worktree of {named(owner)}, which is working there."
        hint = hint or "Edit the copy in your own worktree."
        return Verdict(DENY, path, WORKTREE, owner, "", why, hint)
    if own is None or book.get("sameWorktree") == WARN:
        return None
    why = f"This {file(path)} is outside of your worktree {file(own)}."
    return Verdict(DENY, path, WORKTREE, why=why, next=hint)


def _leased(path: str, rule: Rule, case: EditRequest, mine: Rule | None) -> Verdict:
    """Another's lease; `mine` was granted later, by a clone that did not know of it."""
    who = named(rule.holder, rule.is_person)
    since = _short(rule.since, case)
    why = f"{file(path)} is leased by {who} since {since} ({rule.label}).{reason(rule.text, who)}"
    if mine:
        why += f" Your own lease {mine.label} conflicts with it and came later."
        hint = (
            "Work on something else until a person decides. `ghp agent-leases` shows the question."
        )
        return Verdict(DENY, path, LEASE, rule.holder, rule.since, why, hint)
    hint = (
        f"Work on something else, wait for it with `ghp agent-lease {path_word(path)} --wait`, or "
        f"{_ask(path)}."
    )
    return Verdict(DENY, path, LEASE, rule.holder, rule.since, why, hint)


def _touched(path: str, case: EditRequest) -> Verdict:
    holder, since = case.touch or ("", "")
    who = named(holder)
    why = f"{who} has been editing {file(path)} in this worktree since {_short(since, case)}."
    hint = (
        f"Work on something else until {who} finishes its issue, {_ask(path)}, or edit anyway "
        f"after `ghp agent-check --override REASON {path_word(path)}`, which notifies {who}."
    )
    return Verdict(DENY, path, IMPLICIT, holder, since, why, hint)


def _shared(path: str, rule: Rule) -> Verdict:
    why = f"{file(path)} is shared ({rule.label}), so a change needs approval."
    request = f"`ghp agent-lease {path_word(path)}`"
    hint = f"Request it with {request}; a person or an orchestrator approves it."
    return Verdict(NEEDS_APPROVAL, path, SHARED, None, "", why, hint)


def _in_scope(path: str, rule: Rule, case: EditRequest) -> Verdict:
    about = f"{rule.label} {phrase(rule.text)}" if rule.text else rule.label
    who, since = named(rule.holder, rule.is_person), _short(rule.since, case)
    state = f"is assigned to {who}" if is_assigned(rule) else f"{who} has held since {since}"
    why = f"{file(path)} is in the scope of {about}, which {state}."
    hint = f"Keep to the scope of your own issue, or {_ask(path)}."
    return Verdict(DENY, path, SCOPE, rule.holder, rule.since, why, hint)


def _ask(path: str) -> str:
    return f"ask: `ghp agent-escalate --file {path_word(path)}`"


def _short(since: str, case: EditRequest) -> str:
    """A time for people, with the date only if it is not today."""
    day, _, clock = when(since).partition("T")
    hour = clock[:5]
    return f"{hour} UTC" if day == case.now_text[:10] else f"{day} {hour} UTC".strip()


def refused(verdicts: "Sequence[Verdict]") -> list[Verdict]:
    """The verdicts that forbid an edit now."""
    return [verdict for verdict in verdicts if verdict.is_refused]
