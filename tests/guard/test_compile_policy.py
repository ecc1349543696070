"""Making a rulebook: which rules the state comes to, and in which order."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.ids import Actor, AgentName
from ghp_agents.guard import compile_policy as rulemaking
from ghp_agents.guard import evaluate as ruling
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.hotpath.policy import Rule
from ghp_agents.hotpath.policy_stamp import Sources
from ghp_agents.issues import service as issues
from ghp_agents.issues.issue import IssueChange
from ghp_agents.leases import service as lease
from ghp_agents.leases.request import LeaseRequest
from ghp_agents.leases.world import LeaseWorld
from tests.support.claimants import Claimant
from tests.support.clock import ManualClock
from tests.support.consent import mine
from tests.support.git import commit, git
from tests.support.taking import take

NOW = 1_790_000_000.0
Clones = Callable[[int], list[Path]]


@pytest.fixture
def one(clone: Path) -> Claimant:
    one = Claimant(clone, "worker-1", ManualClock(NOW))
    one.beat()
    return one


def sources_of(one: Claimant) -> Sources:
    return Sources(one.ws.place, one.ws.folders, one.ws.environ)


def book(one: Claimant) -> dict[str, Any]:
    return rulemaking.make(one.parts, sources_of(one), None)


def rules(one: Claimant) -> list[tuple[str, str, str]]:
    compiled = [Rule(*fields) for fields in book(one)["rules"]]
    return [(rule.kind, rule.holder, rule.label) for rule in compiled]


def covered(one: Claimant, path: str) -> list[str]:
    policy_book = book(one)
    return [Rule(*policy_book["rules"][n]).kind for n in rulebook.covering(policy_book, path)]


@pytest.mark.slow
def test_the_order_is_leases_then_shared_then_scopes(one: Claimant) -> None:
    one.new("Later", body="## Scope\n- src/later/\n")
    one.new("Sooner", body="## Scope\n- src/sooner/\n")
    one.new("Without", body="No scope at all")
    one.claim(3)
    one.claim(2)
    one.clock.wait(60)
    one.claim(1)
    ordinary = take(one.parts, LeaseRequest(("/lib/",))).hold
    strict = take(one.parts, LeaseRequest(("/doc/",), strict=True)).hold
    mine({"agents": {"shared": ["*.lock"], "sharedOwners": ["@core"]}})
    (one.ws.root / "CODEOWNERS").write_text("* @core\n")
    assert rules(one) == [
        ("lease", "worker-1", strict.short),
        ("lease", "worker-1", ordinary.short),
        ("shared", "", "see `agents.shared`"),
        ("shared", "", "see CODEOWNERS"),
        ("scope", "worker-1", "#2"),
        ("scope", "worker-1", "#1"),
    ]
    assert {number: claim[0] for number, claim in book(one)["claims"].items()} == {
        "1": "worker-1", "2": "worker-1", "3": "worker-1",
    }  # fmt: skip


@pytest.mark.slow
def test_the_leases_are_those_that_count_while_all_live(one: Claimant, clones: Clones) -> None:
    (path,) = clones(1)
    two = Claimant(path, "worker-2", one.clock)
    two.beat()
    for number, yard in enumerate((one, two, one)):
        take(yard.parts, LeaseRequest((f"/{number}/",)))
        take(yard.parts, LeaseRequest((f"/s{number}/",), strict=True))
        two.sync()
        one.sync()
    lease.release(one.parts, ["/0/"])
    held = LeaseWorld(one.parts).holds
    assert [label for _, _, label in rules(one)] == [hold.short for hold in held]
    assert len(held) == 5


@pytest.mark.slow
def test_a_closed_issue_has_no_scope_and_a_released_claim_none_either(one: Claimant) -> None:
    for title in ("Parse", "Print"):
        one.new(title, body="## Scope\n- src/\n")
    one.claim(1)
    one.claim(2)
    assert covered(one, "src/a.py") == ["scope", "scope"]
    one.close(1)
    one.release(2)
    assert covered(one, "src/a.py") == []


@pytest.mark.parametrize(
    ("owners", "path", "kinds"),
    [
        ("/docs/* @core\n", "docs/a.md", ["shared"]),
        ("/docs/* @core\n", "docs/deep/a.md", []),
        ("docs/ @core\n", "x/docs/deep/a.md", ["shared"]),
        ("* @core\n/src/ @other\n", "src/a.py", []),
        ("* @other\n/src/ @core\n", "src/a.py", ["shared"]),
        ("/src/ @core\n/src/free/\n", "src/free/a.py", []),
        ("* @other\n", "src/a.py", []),
    ],
)
def test_of_codeowners_the_last_line_that_matches_counts(
    one: Claimant, owners: str, path: str, kinds: list[str]
) -> None:
    (one.ws.root / "CODEOWNERS").write_text(owners)
    assert covered(one, path) == []
    mine({"agents": {"sharedOwners": ["@core"]}})
    assert covered(one, path) == kinds


def test_the_first_codeowners_file_is_the_one_that_hosts_take(one: Claimant) -> None:
    mine({"agents": {"sharedOwners": ["@core"]}})
    (one.ws.root / "CODEOWNERS").write_text("/src/ @core\n")
    assert covered(one, "src/a.py") == ["shared"]
    (one.ws.root / ".github").mkdir()
    (one.ws.root / ".github/CODEOWNERS").write_text("/lib/ @core\n")
    assert covered(one, "src/a.py") == []
    assert covered(one, "lib/a.py") == ["shared"]


def test_settings_are_checked_once_and_kept_with_the_book(one: Claimant) -> None:
    mine({"agents": {"shared": ["*.lock"], "deadAfter": 77, "orchestrators": ["lead"]}})
    one.store.fold()
    first = ruling.current(one.parts)
    kept = rulebook.read_stale(one.ws.home_folder)
    assert kept is not None
    assert kept["settings"] == {"shared": ["*.lock"], "orchestrators": ["lead"], "dead_after": 77.0}
    one.new("Another state", body="")
    again = ruling.current(one.parts)
    assert (again["settings"], again["deadAfter"], again["orchestrators"]) == (
        first["settings"], 77.0, ["lead"],
    )  # fmt: skip
    assert covered(one, "a.lock") == ["shared"]


@pytest.mark.parametrize("content", [b'{"agents": {"shared": 3}}', b"{", b'{"a": "\xff"}'])
def test_of_settings_that_are_wrong_the_last_ones_are_in_the_book(
    one: Claimant, content: bytes
) -> None:
    (one.ws.root / ".ghp").mkdir(exist_ok=True)
    path = one.ws.root / ".ghp/config.json"
    path.write_text('{"agents": {"deadAfter": 77}}')
    assert book(one)["deadAfter"] == 77.0
    path.write_bytes(content)
    assert book(one)["deadAfter"] == 77.0


def test_a_configuration_of_git_that_is_too_long_to_be_read_says_nothing(one: Claimant) -> None:
    with (one.ws.common_dir / "config").open("a") as file:
        file.write("# " + "x" * 1_000_000)
    assert book(one)["fold"] is False


def test_a_pattern_that_is_none_hides_no_other(one: Claimant) -> None:
    ready = rulemaking.ready(["/src/", "", "#", "!", "/lib/"], fold=False)
    assert [text for text, _ in ready] == ["/src/", "/lib/"]


def test_a_reason_is_one_short_line(one: Claimant) -> None:
    take(one.parts, LeaseRequest(("/lib/",), reason="first\nsecond \x1b[31m" + "x" * 500))
    (fields,) = book(one)["rules"]
    text = Rule(*fields).text
    assert text.startswith("first second [31mxxx")
    assert len(text) == rulemaking.TEXT_LIMIT


@pytest.mark.slow
def test_holders_elsewhere_are_noted_and_those_here_are_not(one: Claimant, clones: Clones) -> None:
    (path,) = clones(1)
    two = Claimant(path, "worker-2", one.clock)
    two.beat()
    take(two.parts, LeaseRequest(("/lib/",)))
    take(one.parts, LeaseRequest(("/src/",)))
    two.sync()
    one.sync()
    assert book(one)["elsewhere"] == ["worker-2"]


# ----------------------------------------------------- the scope of an issue that is assigned


def assigned(one: Claimant, number: int, *names: str, by: str) -> None:
    """Assign an issue as another agent or, with `@me`, as the person of the clone."""
    who = Claimant(one.ws.root, by, one.clock)
    issues.assign(who.parts, str(number), names)


@pytest.mark.slow
def test_whom_a_person_or_an_orchestrator_assigned_has_the_scope(one: Claimant) -> None:
    mine({"agents": {"orchestrators": ["lead"]}})
    for number in range(1, 6):
        one.new(f"Issue {number}", body="## Scope\n- src/\n")
    assigned(one, 1, "worker-2", "worker-3", by="@me")
    assigned(one, 2, "worker-2", by="lead")
    assigned(one, 3, "worker-2", by="worker-3")
    assigned(one, 4, "worker-1", by="@me")
    one.claim(4)
    assigned(one, 5, "Dana Example", by="@me")
    assert rules(one) == [
        ("scope", "worker-1", "#4"),
        ("scope", "worker-2", "#1"), ("scope", "worker-3", "#1"), ("scope", "worker-2", "#2"),
    ]  # fmt: skip
    one.tracker.change(1, IssueChange(state="closed"), Actor("Ann", True))
    assert rules(one) == [("scope", "worker-1", "#4"), ("scope", "worker-2", "#2")]


def test_an_agent_that_assigns_anew_takes_the_authority_away(one: Claimant) -> None:
    one.new("Parse", body="## Scope\n- src/\n")
    assigned(one, 1, "worker-2", by="@me")
    other = Claimant(one.ws.root, "worker-3", one.clock)
    issues.assign(other.parts, "1", ["worker-2"])
    assert rules(one) == [("scope", "worker-2", "#1")], "it was assigned already"
    issues.assign(other.parts, "1", ["worker-2"], remove=True)
    issues.assign(other.parts, "1", ["worker-2"])
    assert rules(one) == []


def test_what_an_agent_may_write_follows_its_card_and_changes_with_main(one: Claimant) -> None:
    scope = "---\npermissions:\n  - tool: write_file\n    scope: {}\n---\n"

    def verdicts() -> list[tuple[str, str]]:
        me = AgentName("worker-1")
        return [(x.word, x.why) for x in ruling.judge(one.parts, me, ["docs/a.md", "src/a.py"])]

    no = "{} is not among the files that worker-1 may write."
    for folder, expected in (
        ("docs/**", [("allow", ""), ("deny", no.format("src/a.py"))]),
        ("src/**", [("deny", no.format("docs/a.md")), ("allow", "")]),
    ):
        commit(one.ws.folder, {".ghp/agents/worker-1.md": scope.format(folder)})
        git(one.ws.folder, "push", "--quiet", "origin", "HEAD")
        one.ws.__dict__.pop("settings", None)
        assert verdicts() == expected
