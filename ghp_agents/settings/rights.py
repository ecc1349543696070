"""Who may do what: each right is decided here, and `docs/rights.md` shows all of them as a table.

A right is asked twice: when somebody acts, and where the record of it is read. Who may push records
can write any record, so one whose author had no right to it does not count. Names are not proven
(SECURITY.md): these rules keep cooperating agents apart, and no more.

`orchestrators` are the agents that the setting of that name lists. Every right of a person is also
meant for whoever acts as one, and no agent's session may.
"""

from collections.abc import Collection

from ghp_agents.core.ids import Actor


def may_direct(by: Actor, orchestrators: Collection[str]) -> bool:
    """Whether it may direct others: a person or an orchestrator."""
    return by.is_person or by.name in orchestrators


# Each of these is for people and orchestrators today. Each has its name, so that it can change.
may_assign = may_direct  # decide who works on an issue
may_command = may_direct  # send a message that an agent must follow
may_resume = may_direct  # let an agent continue that was told to stop
may_approve_files = may_direct  # approve a lease of shared files; `hotpath/policy.py` has a copy
may_close_without_evidence = may_direct  # close an issue although nothing shows that it is done


def may_act_as(name: Actor, session: str | None, orchestrators: Collection[str]) -> bool:
    """Whether an agent's session, which is `session`, may act under a name: never as a person, nor
    as an orchestrator other than itself."""
    return name == Actor(session or "") or not may_direct(name, orchestrators)


def may_steal(
    by: Actor, holder: Actor, orchestrators: Collection[str], *, anyone: bool, is_silent: bool
) -> bool:
    """Whether it may take an issue from its living holder. With the setting `anyone`, all may.

    Other agents may take it from an agent that is silent, and a namesake may: the agent continues
    in another clone. A person's silence says nothing.
    """
    if anyone or may_direct(by, orchestrators):
        return True
    return not holder.is_person and (is_silent or by.name == holder.name)


def may_release(by: Actor, orchestrators: Collection[str], *, is_mine: bool, lives: bool) -> bool:
    """Whether it may release a claim or a lease, or give a claim away: the holder may, and anyone
    if the holder is dead. Whether it `is_mine` depends on the clone, too."""
    return is_mine or not lives or may_direct(by, orchestrators)


def may_lease_for(by: Actor, holder: Actor, orchestrators: Collection[str]) -> bool:
    """Whether it may request a lease that `holder` gets."""
    return by == holder or may_direct(by, orchestrators)


def may_stop(by: Actor, agent: str, orchestrators: Collection[str]) -> bool:
    """Whether it may tell an agent to stop: an agent may stop itself. `may_resume` lifts that."""
    return by.name == agent or may_direct(by, orchestrators)


def may_answer(by: Actor, asker: str, orchestrators: Collection[str]) -> bool:
    """Whether its answer decides a question. Others give advice, and nobody answers itself: an
    orchestrator that asks wants somebody else to decide."""
    return by != Actor(asker) and may_direct(by, orchestrators)


def may_vote(by: Actor, *, is_asked: bool) -> bool:
    """Whether its vote on a proposal counts; people are always asked."""
    return is_asked or by.is_person


def decides_merge(by: Actor, *, by_name: bool) -> bool:
    """Whether who merges also decides what a queue and agents may not: a merge without evidence or
    review, or of what runs. A person does so by naming the pull request."""
    return by.is_person and by_name


def may_approve_merge(by: Actor, authors: Collection[str] = ()) -> bool:
    """Whether it may allow an agent to merge what only people decide. Neither an orchestrator may,
    nor a bot's account, nor an author of the work."""
    return by.is_person and not by.name.endswith("[bot]") and by.name not in authors
