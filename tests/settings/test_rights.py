"""The rights: who may do what, as `docs/rights.md` shows it."""

import re
from collections.abc import Callable

import pytest

from ghp_agents.core.ids import Actor
from ghp_agents.settings import rights
from tests.support.house import CHECKOUT, sources
from tests.support.rulings import book, case, shared

ADA, LEAD, WORKER, OTHER = Actor("Ada", True), Actor("lead"), Actor("worker-1"), Actor("worker-2")
LEADS = ("lead",)
Rule = Callable[[Actor, bool], bool]  # whether this actor may, if the row's condition holds

# Each row: the act, the condition that matters, and the right. The work is worker-1's.
ROWS: tuple[tuple[str, str, Rule], ...] = (
    (
        "decide who works on an issue that has an agent",
        "",
        lambda by, _: rights.may_assign(by, LEADS),
    ),
    (
        "take an issue from its living holder (`agent-claim --steal`)",
        "if it is silent, or `agents.steal` is `anyone`",
        lambda by, so: (
            rights.may_steal(by, WORKER, LEADS, anyone=False, is_silent=so)
            and rights.may_steal(by, WORKER, LEADS, anyone=so, is_silent=False)
        ),
    ),
    (
        "take an issue from a person",
        "if `agents.steal` is `anyone`",
        lambda by, so: rights.may_steal(by, Actor("Bob", True), LEADS, anyone=so, is_silent=True),
    ),
    (
        "release a claim or a lease, give a claim away",
        "if the holder is dead",
        lambda by, so: rights.may_release(by, LEADS, is_mine=by == WORKER, lives=not so),
    ),
    ("request a lease for it", "", lambda by, _: rights.may_lease_for(by, WORKER, LEADS)),
    ("approve a lease of shared files", "", lambda by, _: rights.may_approve_files(by, LEADS)),
    ("tell it to stop", "", lambda by, _: rights.may_stop(by, "worker-1", LEADS)),
    ("let it continue after that", "", lambda by, _: rights.may_resume(by, LEADS)),
    ("decide its question", "", lambda by, _: rights.may_answer(by, "worker-1", LEADS)),
    ("send it a command", "", lambda by, _: rights.may_command(by, LEADS)),
    ("vote on a proposal", "if it was asked", lambda by, so: rights.may_vote(by, is_asked=so)),
    (
        "close an issue without a reason and without evidence that it is done",
        "",
        lambda by, _: rights.may_close_without_evidence(by, LEADS),
    ),
    (
        "merge without evidence or review, or what changes what runs",
        "if it names the pull request",
        lambda by, so: rights.decides_merge(by, by_name=so),
    ),
    (
        "approve such a merge by an agent",
        "if it is no author of the work",
        lambda by, so: rights.may_approve_merge(by, () if so else (by.name,)),
    ),
)
WHO = (ADA, LEAD, WORKER, OTHER)


def cell(rule: Rule, condition: str, by: Actor) -> str:
    never, always = rule(by, False), rule(by, True)
    assert never <= always, "a condition gives a right and takes none"
    return {(True, True): "yes", (False, True): condition, (False, False): "no"}[never, always]


def test_the_page_shows_the_rights_as_they_are() -> None:
    lines = ["| act | a person | an orchestrator | `worker-1` itself | another agent |"]
    lines += ["|---|---|---|---|---|"]
    lines += [
        f"| {act} | " + " | ".join(cell(rule, condition, by) for by in WHO) + " |"
        for act, condition, rule in ROWS
    ]
    page = (CHECKOUT / "docs/rights.md").read_text()
    assert "\n".join(lines) in page, "Copy the table to docs/rights.md:\n" + "\n".join(lines)


def test_every_right_is_on_the_page() -> None:
    used = set[str]()
    for _, _, rule in ROWS:
        used |= set(rule.__code__.co_names)
    public = {name for name in vars(rights) if re.match("may_|decides_", name)}
    assert public - used == {"may_direct", "may_act_as"}


@pytest.mark.parametrize(
    ("name", "may"),
    [(WORKER, True), (OTHER, True), (ADA, False), (LEAD, False), (Actor("worker-1", True), False)],
)
def test_a_session_of_an_agent_acts_as_no_person_and_no_orchestrator(
    name: Actor, may: bool
) -> None:
    assert rights.may_act_as(name, "worker-1", LEADS) is may
    assert rights.may_act_as(LEAD, "lead", LEADS)
    assert not rights.may_act_as(ADA, None, ())


def test_an_orchestrator_does_not_answer_itself() -> None:
    assert not rights.may_answer(LEAD, "lead", LEADS)
    assert rights.may_answer(Actor("lead", True), "lead", LEADS)


def test_an_agent_takes_its_work_from_a_namesake_but_not_from_a_person_of_its_name() -> None:
    def may(holder: Actor) -> bool:
        return rights.may_steal(WORKER, holder, LEADS, anyone=False, is_silent=False)

    assert may(WORKER)
    assert not may(Actor("worker-1", True))


def test_the_account_of_a_bot_approves_nothing() -> None:
    assert not rights.may_approve_merge(Actor("ci[bot]", True))


@pytest.mark.parametrize("by", WHO)
def test_the_hot_path_agrees_on_who_may_edit_shared_files(by: Actor) -> None:
    from ghp_agents.hotpath.policy import decide

    asked = case(by.name, is_person=by.is_person)
    verdict = decide(book(shared("/src/"), orchestrators=[*LEADS]), "src/a.py", asked)
    assert verdict.is_refused is not rights.may_approve_files(by, LEADS)


# What these ask is no right: who gets which news, and who takes work by itself.
ROLES = {
    "jobs/explain.py", "sweep/facts.py", "claims/ended_agents.py", "sync/epic_news.py",
    "sync/others_news.py", "messages/subscriptions.py",
}  # fmt: skip


def test_no_other_module_decides_by_the_list_of_orchestrators() -> None:
    own = {"settings/rights.py", "hotpath/policy.py"}
    asks = {
        source.path.removeprefix("ghp_agents/")
        for source in sources("ghp_agents", suffix=".py")
        if re.search(r"\bin (\w+\.|\w+\[\")*orchestrators\b", source.text)
    }
    assert asks == own | ROLES, "Ask settings/rights.py, or add the right there."
