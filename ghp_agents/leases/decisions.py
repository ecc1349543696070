"""What the answer to a question changes: leases end, leave files out, or are given.

Pure, and of the same records every clone computes the same files. So it does not matter if two
clones carry out one answer at the same time.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from ghp_agents.core import globs
from ghp_agents.core.errors import UsageError
from ghp_agents.core.glob_paths import MOST, escaped
from ghp_agents.core.ids import Actor, digest, one_line
from ghp_agents.escalations.escalation import Answer, Escalation, option_number
from ghp_agents.hotpath.quoting import file, named, phrase
from ghp_agents.leases import record
from ghp_agents.leases.record import LeaseEvent, LeaseHistory, what
from ghp_agents.state.cause import CIRCLE, OVERLAP, SHARED_FILES, WANTED_FILE

YES = 0  # the first option of a question that is answered by yes or no


class Facts(NamedTuple):
    """What the clone knows about the subjects of questions."""

    logs: Sequence[LeaseHistory]
    expired: frozenset[str] = frozenset()  # ids of leases whose time is up
    claims: frozenset[str] = frozenset()  # claims in force: issue/12@3
    files: Sequence[str] = ()  # of the worktree, sorted
    fold: bool = False  # whether case is ignored

    def is_in_force(self, log: LeaseHistory) -> bool:
        """Whether a lease is held, by a holder that may be dead."""
        return log.is_open and log.granted is not None and log.id not in self.expired

    def find(self, identity: str) -> LeaseHistory | None:
        """The lease whose id begins with this."""
        return next((log for log in self.logs if log.id.startswith(identity)), None)


class Decision(NamedTuple):
    """What an answer changes, and the words for it."""

    text: str
    is_done: bool = True
    agents: tuple[str, ...] = ()  # those that it concerns
    events: tuple[LeaseEvent, ...] = ()
    ended: tuple[LeaseHistory, ...] = ()
    unblocked: tuple[str, int] | None = None  # an agent, and the issue that it no longer waits for


class _Case(NamedTuple):
    question: Escalation
    answer: Answer
    facts: Facts

    @property
    def about(self) -> tuple[str, ...]:
        return self.question.question.about

    @property
    def asker(self) -> str:
        return self.question.question.agent

    def not_done(self, why: str) -> Decision:
        return Decision(f"Nothing was changed: {why}.", is_done=False, agents=(self.asker,))


def decide(question: Escalation, facts: Facts) -> Decision | None:
    """What the last answer to a question changes. None if this clone lacks a record for that."""
    case = _Case(question, question.answers[-1], facts)
    option = option_number(question.question, case.answer.text)
    if option is None:
        return case.not_done(f"{phrase(case.answer.text)} is not one of the options")
    rule = _RULES.get(question.question.kind)
    return rule(case, option) if rule and case.about else case.not_done("it names no subject")


def _overlap(case: _Case, option: int) -> Decision | None:
    """The leases of the chosen holder stay; of each pair, the other one ends, or leaves out what
    they share. A pair of which one has ended needs no decision."""
    logs = [log for prefix in case.about if (log := case.facts.find(prefix))]
    if len(logs) != len(case.about) or len(logs) % 2 or not logs or option > 1:
        return None
    pairs = [*zip(logs[option::2], logs[1 - option :: 2], strict=True)]
    standing = [pair for pair in pairs if all(map(case.facts.is_in_force, pair))]
    if not standing:
        over = next(log for log in logs if not case.facts.is_in_force(log))
        return case.not_done(why_over(over))
    losers: dict[str, list[tuple[LeaseHistory, LeaseHistory]]] = {}
    for winner, loser in standing:
        losers.setdefault(loser.id, []).append((winner, loser))
    parts = [
        _without(case, some[0][1], [x for winner, _ in some for x in winner.request.patterns])
        for some in losers.values()
    ]
    winners = {winner.id: winner for winner, _ in standing}.values()
    kept = ", ".join(_what(winner) for winner in winners)
    text = " ".join([f"{_holder(pairs[0][0])} keeps {kept}.", *(f"{words}." for _, words in parts)])
    ended = tuple(some[0][1] for some in losers.values())
    events = tuple(event for more, _ in parts for event in more)
    agents = tuple(dict.fromkeys(_agents(*standing[0])))
    return Decision(text, True, agents, events, ended)


def _wanted_file(case: _Case, option: int) -> Decision | None:
    """A yes gives the asker a lease of the file, and other leases leave it out."""
    path, holder, *reasons = (*case.about, "")[: max(2, len(case.about))]
    if option != YES:
        return _refused(case)
    pattern = f"/{escaped(path)}"
    covering = [
        log
        for log in case.facts.logs
        if case.facts.is_in_force(log)
        and log.holder != Actor(case.asker)
        and _covers(log.request.patterns, path, fold=case.facts.fold)
    ]
    new = [log for log in covering if log.holder.name != holder and f"L-{log.id}" not in reasons]
    if new:
        return case.not_done(
            f"{_holder(new[0])} has leased {file(path)} since ({new[0].hold().short}); ask again"
        )
    if reasons and not any(_stands(case.facts, reason) for reason in reasons):
        ids = [reason.removeprefix("L-") for reason in reasons if reason.startswith("L-")]
        over = [log for log in map(case.facts.find, ids) if log]
        why = why_over(over[0]) if over else "the claim has ended since"
        return case.not_done(f"{why}; {file(path)} may be free now")
    parts = [_without(case, log, (pattern,)) for log in covering]
    events = [event for more, _ in parts for event in more]
    sentences = (f"{case.asker} may change {file(path)}", *(words for _, words in parts))
    text = " ".join(f"{words}." for words in sentences)
    agents = dict.fromkeys((case.asker, *_agents(*covering), *([holder] if holder else [])))
    given = _given(case, (pattern,))
    return Decision(text, True, tuple(agents), (*events, given), tuple(covering))


def _shared_files(case: _Case, option: int) -> Decision | None:
    """An approval gives the asker the lease that it asked for."""
    if option != YES:
        return _refused(case)
    patterns = case.about
    for log in case.facts.logs:
        other = case.facts.is_in_force(log) and log.holder != Actor(case.asker)
        place = _meet(case.facts, patterns, log.request.patterns) if other else None
        if place:
            return case.not_done(
                f"{_holder(log)} has leased {file(place)} ({log.hold().short}). When it is free, "
                "the same `ghp agent-lease` succeeds"
            )
    text = f"{case.asker} has a lease of {what(patterns, None)}."
    return Decision(text, True, (case.asker,), (_given(case, patterns),))


def _circle(case: _Case, option: int) -> Decision | None:
    """The first waiter continues: the lease that it waits for ends, or its issue waits no
    longer."""
    right, _, waiter = case.about[option].partition(" ") if option < len(case.about) else ("",) * 3
    first = f"{named(waiter)} goes first"
    if right.startswith("issue/"):
        number = right.removeprefix("issue/").partition("@")[0]
        if right not in case.facts.claims:
            return case.not_done(f"the claim of #{number} has ended since")
        holder = case.about[(option + 1) % len(case.about)].partition(" ")[2]
        text = f"{first}: its issue no longer waits for #{number}."
        return Decision(text, True, (holder,), unblocked=(waiter, int(number)))
    log = case.facts.find(right.removeprefix("L-")) if right.startswith("L-") else None
    if log is None:
        return None
    if not log.is_open:
        return case.not_done(why_over(log))
    words = f"lease {log.hold().short}" if log.granted else f"request {log.hold().short}"
    text = f"{first}: the {words} of {_holder(log)} for {_what(log)} has ended."
    agents = tuple(dict.fromkeys((waiter, *_agents(log))))
    return Decision(text, True, agents, (_end(case, log), *_turn(case, waiter, log)), (log,))


def _turn(case: _Case, waiter: str, ended: LeaseHistory) -> tuple[LeaseEvent, ...]:
    """The grant of the request that waited for an ended lease, before others in the queue, if
    nobody else holds any of it. A strict request acquires its lock itself."""
    facts = case.facts
    for log in facts.logs:
        mine = log.is_waiting and log.holder.name == waiter and not log.request.right
        if not (mine and _clash(facts, log, ended)):
            continue
        held = [x for x in facts.logs if facts.is_in_force(x) and x.id != ended.id]
        if not any(x.holder != log.holder and _clash(facts, log, x) for x in held):
            return (_follow(log, "grant", case.answer),)
    return ()


def _clash(facts: Facts, first: LeaseHistory, second: LeaseHistory) -> bool:
    if first.request.name is not None or second.request.name is not None:
        return first.request.name == second.request.name
    return _meet(facts, first.request.patterns, second.request.patterns) is not None


_RULES: Mapping[str, Callable[[_Case, int], Decision | None]] = {
    OVERLAP: _overlap,
    WANTED_FILE: _wanted_file,
    SHARED_FILES: _shared_files,
    CIRCLE: _circle,
}


def remainder(patterns: Sequence[str], taken: Sequence[str]) -> tuple[str, ...]:
    """Patterns without what others take; empty if nothing is left of them."""
    left = [x for x in patterns if x.startswith("!") or not _is_within(x, taken)]
    if all(pattern.startswith("!") for pattern in left):
        return ()
    rest = (*left, *(f"!{pattern}" for pattern in taken if not pattern.startswith("!")))
    return tuple(reversed(dict.fromkeys(reversed(rest)))) if len(rest) <= MOST else ()


def _is_within(pattern: str, taken: Sequence[str]) -> bool:
    """Whether others take all that a pattern names."""
    folder = globs.rule(pattern).prefix.rpartition("/")[0]
    named_places = [place for _, place in globs.named([pattern])]
    places = named_places or ([f"{folder}/{globs.PROBE}"] if folder else [])
    return pattern in taken or (bool(places) and all(globs.covers(taken, x) for x in places))


def _without(
    case: _Case, log: LeaseHistory, taken: Sequence[str]
) -> tuple[tuple[LeaseEvent, ...], str]:
    """The end of a lease, and a new one of what is left of it. That keeps the place in the order,
    the time and the clone of the first. A strict lease has no lock any more."""
    who, short = _holder(log), log.hold().short
    rest = () if log.request.name is not None else remainder(log.request.patterns, taken)
    if not rest:
        return (_end(case, log),), f"The lease {short} of {who} for {_what(log)} has ended"
    identity = digest(case.question.id, case.answer.id, log.id)
    new = log.request._replace(
        lease=identity, id=identity, at=(log.timed or log.request).at, by=case.answer.by,
        patterns=rest, until=log.until, granted=True, right="", nonce="",
    )  # fmt: skip
    less = what([pattern for pattern in taken if not pattern.startswith("!")], None)
    ordinary = ", and is no longer strict" if log.request.right else ""
    return (
        (_end(case, log), new),
        f"The lease {short} of {who} for {_what(log)} now leaves out {less}{ordinary}",
    )


def _given(case: _Case, patterns: tuple[str, ...]) -> LeaseEvent:
    """A new lease of the asker, in the clone in which it asked."""
    answer, identity = case.answer, digest(case.question.id, case.answer.id)
    return LeaseEvent(
        identity, identity, "request", answer.clock + 1, case.question.clone, answer.at, answer.by,
        holder=Actor(case.asker), epoch=1, patterns=patterns, granted=True,
        reason=one_line(case.question.question.text.partition("\n\n")[2], record.REASON_LIMIT),
        approved_by=answer.by.name, question=case.question.id,
    )  # fmt: skip


def _end(case: _Case, log: LeaseHistory) -> LeaseEvent:
    return _follow(log, "release", case.answer)._replace(reason=f"decided in {case.question.name}")


def _follow(log: LeaseHistory, kind: str, answer: Answer) -> LeaseEvent:
    return record.follow(log.request, kind, answer.by, answer.at, answer.clock + 1, answer.clone)


def _refused(case: _Case) -> Decision:
    """A no changes nothing, but it ends what an earlier yes gave."""
    given = [
        log for log in case.facts.logs if log.is_open and log.request.question == case.question.id
    ]
    if not given:
        return Decision("Nothing was changed.")
    events = tuple(_end(case, log) for log in given)
    return Decision(f"The lease of {case.asker} has ended.", True, (case.asker,), events)


def _stands(facts: Facts, reason: str) -> bool:
    """Whether the lease or claim that refused a file still does."""
    if not reason.startswith("L-"):
        return reason in facts.claims
    log = facts.find(reason.removeprefix("L-"))
    return log is not None and facts.is_in_force(log)


def why_over(log: LeaseHistory) -> str:
    """Who had a lease that has ended, and why it ended."""
    short, who = log.hold().short, _holder(log)
    why = f" ({phrase(log.released.reason)})" if log.released and log.released.reason else ""
    return f"the lease {short} of {who} has ended since{why}"


def _covers(patterns: Sequence[str], path: str, *, fold: bool) -> bool:
    try:
        return bool(patterns) and globs.covers(patterns, path, fold=fold)
    except UsageError:  # edited by hand, or of another version
        return False


def _meet(facts: Facts, patterns: Sequence[str], others: Sequence[str]) -> str | None:
    try:
        return globs.may_meet(patterns, others, facts.files, fold=facts.fold) if others else None
    except UsageError:
        return None


def _holder(log: LeaseHistory) -> str:
    return named(*log.holder)


def _what(log: LeaseHistory) -> str:
    return what(log.request.patterns, log.request.name)


def _agents(*logs: LeaseHistory) -> tuple[str, ...]:
    return tuple(log.holder.name for log in logs if not log.holder.is_person)
