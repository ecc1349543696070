"""What others wrote reaches an agent as a quotation, and never as the tool's own words."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghp_agents.core.ids import Timestamp
from ghp_agents.guard import compile_policy as rulemaking
from ghp_agents.hotpath import policy as authority
from ghp_agents.hotpath import quoting as quote
from ghp_agents.hotpath.lost_claim import LostClaim
from ghp_agents.hotpath.policy import EditRequest, Rule
from ghp_agents.leases.request import Conflict
from tests.support.ghp import invoke
from tests.support.thorough import count
from tests.support.voices import EVENTS, MARKS, Hostile, ask, events, furnish, outside

FOREIGN = st.text(st.characters() | st.sampled_from(MARKS), max_size=60).map(
    lambda text: f"{text}zq {text}."
)
SINCE = "2026-01-02T14:02:00Z"
CASE = EditRequest("worker-1", False, 0.0, "2026-01-02T15:04:05Z", lambda _: True)
# Texts for programs, which reach nobody, and the details of a question, which only its page shows.
UNSEEN = {"time", "head", "words", "details"}


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts(each)]
    return [value] if isinstance(value, str) else []


def leaked(shown: list[str], hostile: Hostile) -> list[str]:
    rest = [outside(text) for text in shown]
    return [token for token in hostile.tokens if any(token in text for text in rest)]


def heard(repo: Path, client: str, paths: list[str]) -> list[str]:
    """All texts of the answers to a session of a client."""
    answers = ask(client, events(client, repo, paths), repo)
    return [text for answer in answers for text in texts(json.loads(answer or "null"))]


QUICK = "claude"  # the answers are the same for all clients; only their envelopes differ


@pytest.mark.cases(1)  # the next test asks all of them, with less
@pytest.mark.parametrize(
    "client",
    [pytest.param(name, marks=[] if name == QUICK else [pytest.mark.slow]) for name in EVENTS],
)
def test_no_hook_answer_has_words_of_others_outside_of_a_quotation(repo: Path, client: str) -> None:
    hostile = Hostile(MARKS)
    shown = heard(repo, client, furnish(repo, hostile))
    assert leaked(shown, hostile) == []
    # The start of a session is short; `agent-resume` has the rest.
    for issue in (1, 2):
        shown.append(invoke(f"agent-resume --issue {issue} --max-chars 100000", repo).out)
    assert leaked(shown, hostile) == []
    silent = [token for token in hostile.tokens if not any(token in text for text in shown)]
    assert {token.strip("zq0123456789") for token in silent} <= UNSEEN


@pytest.mark.slow
@settings(max_examples=count(5, sample=1))
@given(
    marks=st.text(st.characters(codec="utf-8") | st.sampled_from(MARKS), max_size=12).map(
        lambda text: f"’{text}"  # a name of one plain word may stand bare
    )
)
def test_whatever_marks_others_use_their_words_stay_quotations(
    tmp_path_factory: pytest.TempPathFactory, templates: Any, marks: str
) -> None:
    from tests.support.repos import copy_alone

    repo = copy_alone(templates, tmp_path_factory.mktemp("voices") / "repo")
    hostile = Hostile(marks.replace("\0", ""))
    paths = furnish(repo, hostile)
    for client in EVENTS:
        shutil.rmtree(repo / ".git/ghp/told", ignore_errors=True)  # nobody was told before
        assert leaked(heard(repo, client, paths), hostile) == [], client


@pytest.mark.slow
def test_no_command_for_agents_has_words_of_others_outside_of_a_quotation(repo: Path) -> None:
    hostile = Hostile(MARKS)
    furnish(repo, hostile)
    for line in (
        "agent-resume --issue 2", "agent-check leased.py scope.py forged.py", "agent-status",
        "agent-lease leased.py", "agent-claim 1", "agent-release L-ffff", "agent-leases",
        "agent-log",
    ):  # fmt: skip
        done = invoke(line, repo)
        assert leaked([done.out, done.err], hostile) == [], line


# ------------------------------------------------------------------------------ the mechanism


def book_of(rule: Rule) -> Any:
    """A rulebook with one rule, over all of src/."""
    said = [(rule, rulemaking.ready(["/src/"], fold=False))]
    base = {"fold": False, "orchestrators": [], "claims": {}, "stops": {}, "writes": {}}
    return base | rulemaking.bind(said, fold=False)


@given(FOREIGN)
def test_a_quotation_is_one_line_that_its_text_cannot_close(text: str) -> None:
    shown = (
        quote.phrase(text), quote.named(text), quote.named(text, is_person=True), quote.file(text),
        quote.who(text, is_person=True), quote.reason(text, "worker-1"),
    )  # fmt: skip
    for each in shown:
        assert each.isprintable()
        assert len(each) < quote.PATH_LIMIT + 40
        assert "zq" not in outside(each) or each == text


@given(FOREIGN, FOREIGN, FOREIGN, FOREIGN, st.booleans())
def test_who_was_replaced_is_told_in_words_of_ours(
    holder: str, since: str, reason: str, place: str, is_person: bool
) -> None:
    fence = LostClaim(1, holder, is_person, Timestamp(since), 2, reason)
    met = Conflict(place, holder, is_person, since, "held", "L-3f9a", reason)
    assert "zq" not in outside(f"{fence.words} {fence.hint} {met.words}")


@pytest.mark.parametrize("kind", [authority.LEASE, authority.SCOPE])
@given(FOREIGN, FOREIGN, FOREIGN, st.booleans())
def test_a_denial_is_in_words_of_ours(
    kind: str, holder: str, since: str, text: str, is_person: bool
) -> None:
    rule = Rule(kind, f"x {holder}", is_person, since=since, label="L-3f9a", text=text)
    verdict = authority.decide(book_of(rule), "src/zq »\n`id`", CASE)
    assert verdict.is_refused
    assert "zq" not in outside(f"{verdict.why} {verdict.next}")


def test_a_reason_reads_as_a_quotation_with_its_author() -> None:
    rule = Rule(authority.LEASE, "worker-2", since=SINCE, label="L-3f9a", text="»x")
    assert authority.decide(book_of(rule), "src/a.py", CASE).why == (
        "src/a.py is leased by worker-2 since 14:02 UTC (L-3f9a). worker-2 gave this reason: «'x»."
    )
