"""Which handoff holds the work of an issue."""

from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.handoffs.handoff import HANDOFF, Handoff, PackedCommits, Work
from ghp_agents.handoffs.latest import FROM_RECORDS, is_bare, latest

LIFE = "bee claimed this at 2026-01-01T00:00:0{0}Z (generation {0})"
FULL, PACK = Work("a" * 40, 10, "b" * 64, 1), PackedCommits("", 10, "c" * 64, 1)


def written(
    clock: int,
    life: int = 1,
    *,
    bare: bool = False,
    work: Work | None = None,
    commits: PackedCommits | None = None,
    head: str = "",
) -> Handoff:
    source = FROM_RECORDS if bare else "This handoff was written for it, from its worktree."
    note = f"{LIFE.format(life)} and is gone. {source}"
    at = Timestamp(f"2026-01-01T00:01:{clock:02}Z")
    return Handoff(
        f"{clock:016x}", HANDOFF, Actor("Ann", is_person=True), None, 1, at, clock, "",
        note=note, work=work, commits=commits, head=head,
    )  # fmt: skip


def test_a_bare_one_never_hides_what_another_stores_of_the_same_claim() -> None:
    full, bare = written(1, work=FULL, commits=PACK, head="d" * 40), written(2, bare=True)
    assert latest([full, bare]) == full
    assert latest([full, bare._replace(head="e" * 40)]) == full, "the pushed part is older"
    assert latest([bare, full]) == full
    own = written(1)._replace(by=Actor("bee"), note="")
    assert latest([own, bare]) == own


def test_a_bare_one_of_a_later_claim_hides_it_only_if_it_names_a_commit() -> None:
    full, bare = written(1, work=FULL), written(2, 2, bare=True)
    assert latest([full, written(2, bare=True), bare]) == full
    assert latest([full, bare._replace(head="e" * 40)]) == bare._replace(head="e" * 40)


def test_without_others_the_last_bare_one_counts() -> None:
    assert latest([]) is None
    assert latest([written(1, bare=True), written(2, 2, bare=True)]) == written(2, 2, bare=True)


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans(), st.booleans()), max_size=6))
def test_what_one_stores_is_hidden_only_by_a_later_one_that_is_not_bare(
    rows: list[tuple[int, bool, bool]],
) -> None:
    every = [
        written(n, life, bare=bare, work=FULL if full else None)
        for n, (life, bare, full) in enumerate(rows)
    ]
    expected = [x for x in every if not is_bare(x)] or every
    assert latest(every) == (expected[-1] if expected else None)
