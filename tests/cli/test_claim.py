"""`agent-claim` and `agent-release`, and what other commands show of a claim; whole outputs."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ghp_agents.wiring import App
from tests.support import hosts, repos
from tests.support.consent import anyone_steals
from tests.support.ghp import Result, invoke, run_ghp, succeed
from tests.support.git import git

Clones = Callable[[int], list[Path]]
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process; nobody is named but by --as."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


@pytest.fixture(scope="session")
def acquainted(templates: repos.Templates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A remote and two clones that know of two issues; nobody writes into these."""
    folder = tmp_path_factory.mktemp("acquainted")
    one, other = repos.make_world(templates, folder)
    invoke("agent-issue new 'Parse files' --priority high", one)
    invoke("agent-issue new 'Write docs' --blocked-by 1", one)
    for clone in (one, other, one):
        assert invoke("agent-sync", clone).code == 0
    return repos.pack(folder)


@pytest.fixture
def two(acquainted: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two clones that know of two issues."""
    repos.copy_world(acquainted, tmp_path)
    return tmp_path / "clone-1", tmp_path / "clone-2"


def ghp(folder: Path, args: str | Sequence[str]) -> Result:
    """A command with every time of day taken out of what it says."""
    result = invoke(args, folder)
    return Result(result.code, STAMP.sub("<then>", result.out), STAMP.sub("<then>", result.err))


# ------------------------------------------------------------------------------- claiming


@pytest.mark.slow
def test_a_claim_prints_the_number_and_says_that_it_is_ours(two: tuple[Path, Path]) -> None:
    one, _ = two
    assert ghp(one, "agent-claim 1 --as worker-1") == (0, "1\n", "✓ Claimed #1 «Parse files».\n")
    assert ghp(one, "agent-claim '#1' --as worker-1") == (
        0,
        "1\n",
        "You already hold #1 «Parse files», since <then>.\n",
    )


@pytest.mark.slow
@pytest.mark.background
@pytest.mark.parametrize("which", ["1", "--next"])
def test_a_new_clone_asks_the_remote_which_issues_there_are(clones: Clones, which: str) -> None:
    one, new = clones(2)
    invoke("agent-issue new 'Parse files'", one)
    assert invoke("agent-sync", one).code == 0
    assert ghp(new, f"agent-claim {which} --as worker-2") == (
        0, "1\n", "✓ Claimed #1 «Parse files».\n"
    )  # fmt: skip


@pytest.mark.slow
def test_who_comes_second_ends_with_3_and_is_told_who_has_it(two: tuple[Path, Path]) -> None:
    one, other = two
    ghp(one, "agent-claim 1 --as worker-1")
    ghp(one, "agent-heartbeat --as worker-1 --action 'Read the grammar'")
    ghp(one, "agent-sync")
    ghp(other, "agent-sync")
    assert ghp(other, "agent-claim 1 --as worker-2") == (
        3,
        "",
        "Error: #1 is claimed by worker-1 since <then>; it is active, last: «Read the "
        "grammar».\nHint: Work on something else (`ghp agent-claim --next`) or ask a person "
        "(`ghp agent-escalate …`). A person or an orchestrator can give it to you: `ghp "
        "agent-release 1 --to worker-2`.\n",
    )


@pytest.mark.slow
def test_a_steal_says_from_whom_and_the_former_holder_is_told_everywhere(
    two: tuple[Path, Path],
) -> None:
    one, other = two
    anyone_steals()
    ghp(one, "agent-claim 1 --as worker-1")
    assert ghp(other, "agent-claim 1 --as worker-2 --steal --reason 'It is urgent'") == (
        0,
        "1\n",
        "✓ Claimed #1 «Parse files»; worker-1 held it before. Reason given: «stolen: It is "
        "urgent».\n"
        "Warning: Uncommitted work of worker-1, if there is any, is in clone "
        f"{App(one, {}).locks.clone} and not yet sent. It arrives as a handoff after the next sync "
        "there, and the holder of the issue is told. There, `ghp agent-stop worker-1 --now` sends "
        "it at once.\n",
    )
    for clone in (other, one):
        ghp(clone, "agent-sync")
    notice = (
        "Your claim of #1 was taken: worker-2 has held it since <then>. worker-2 gave this reason: "
        "«stolen: It is urgent». Stop working on #1. Hand over unpushed work "
        "with `ghp agent-handoff --issue 1`. `ghp agent-claim --next` finds other work.\n"
    )
    for _ in range(2):  # as long as it is so
        assert ghp(one, "agent-status --as worker-1").out.endswith(notice)
        assert ghp(one, "agent-resume --as worker-1").out.startswith(notice + "\n# Resume: ")
    assert notice not in ghp(one, "agent-status --as worker-3").out
    assert notice in ghp(one, "agent-status --as worker-1 --json").err
    for command in ("agent-release 1", "agent-issue close 1"):
        assert ghp(one, f"{command} --as worker-1") == (
            3,
            "",
            "Error: #1 is claimed by worker-2 since <then>. worker-2 gave this reason: «stolen: "
            "It is urgent».\nHint: Leave #1 to worker-2. `ghp agent-claim --next` finds other "
            "work; to ask a person: `ghp agent-escalate …`.\n",
        )
    ghp(one, "agent-heartbeat --as worker-1 --issue 0")
    assert notice not in ghp(one, "agent-status --as worker-1").out


@pytest.mark.slow
def test_the_next_is_chosen_and_claimed_in_one_step(two: tuple[Path, Path]) -> None:
    one, other = two
    assert ghp(other, "agent-claim --next --as worker-2") == (
        0,
        "1\n",
        "✓ Claimed #1 «Parse files».\n",
    )
    assert ghp(one, "agent-claim --next --as worker-1") == (
        3,
        "",
        "Error: No issue is ready: 1 is blocked by another issue, 1 is claimed by worker-2.\nHint: "
        "`ghp agent-issues` lists issues; `ghp agent-issue new TITLE` creates one.\n",
    )


@pytest.mark.slow
def test_what_waits_is_claimed_with_a_warning(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    assert ghp(one, "agent-claim 2 --as worker-2").err == (
        "✓ Claimed #2 «Write docs».\n"
        "Warning: It is blocked by #1 (worker-1).\n"
        "Hint: `ghp agent-claim --next` picks an issue that is not blocked.\n"
    )
    assert re.search(
        r"worker-2 +active +blocked +#2 .* «Waits for #1 \(worker-1\)»",
        ghp(one, "agent-status").out,
    )


@pytest.mark.slow
def test_a_claim_as_json_has_every_field(two: tuple[Path, Path]) -> None:
    one, other = two
    anyone_steals()
    ghp(one, "agent-claim 1 --as worker-1")
    ghp(one, "agent-sync")
    ghp(other, "agent-sync")
    args = ["agent-claim", "1", "--as", "worker-2", "--steal", "--reason", "x", "--json"]
    assert json.loads(ghp(other, args).out) == {
        "schemaVersion": 1,
        "issue": 1,
        "title": "Parse files",
        "holder": "worker-2",
        "generation": 2,
        "since": "<then>",
        "how": "steal",
        "previous": "worker-1",
        "waitsFor": [],
    }


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("", "Name an issue, or use --next."),
        ("1 --next", "Name an issue, or use --next."),
        ("--next --steal --reason x", "--next cannot be used with --steal or --reason."),
        ("--next --reason x", "--next cannot be used with --steal or --reason."),
        ("1 --steal", "Taking over an issue needs a reason."),
    ],
)
@pytest.mark.background
def test_odd_words_are_refused_before_anything_is_done(
    two: tuple[Path, Path], words: str, error: str
) -> None:
    one, _ = two
    result = ghp(one, f"agent-claim {words} --as worker-1")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}\nHint: ")


def test_where_the_remote_cannot_be_reached_it_ends_with_4(
    two: tuple[Path, Path],
) -> None:
    one, _ = two
    (one.parent / "remote.git").rename(one.parent / "away.git")
    for command in ("claim 1", "claim --next", "release 1"):
        result = ghp(one, f"agent-{command} --as worker-1")
        assert (result.code, result.out) == (4, "")
        assert result.err.startswith(
            "Error: Only the remote origin can decide this, and it did not answer: "
        )


def test_it_runs_as_a_process_of_its_own(two: tuple[Path, Path]) -> None:
    one, _ = two
    assert run_ghp("agent-claim 1 --as worker-1", one) == (
        0,
        "1\n",
        "✓ Claimed #1 «Parse files».\n",
    )


# ---------------------------------------------------------------------------- giving back


@pytest.mark.slow
def test_an_issue_is_given_back_and_once(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    assert ghp(one, "agent-release 1 --as worker-1") == (
        0,
        "",
        "✓ Released #1 «Parse files».\n",
    )
    assert ghp(one, "agent-release 1 --as worker-1") == (0, "", "Nobody holds #1 «Parse files».\n")


@pytest.mark.slow
def test_several_are_given_back_at_once(two: tuple[Path, Path]) -> None:
    one, _ = two
    for number in (1, 2):
        ghp(one, f"agent-claim {number} --as worker-1")
    assert ghp(one, "agent-release 1 '#2' --as worker-1").err == (
        "✓ Released #1 «Parse files».\n✓ Released #2 «Write docs».\n"
    )


@pytest.mark.slow
def test_a_person_gives_back_what_an_agent_has(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    assert ghp(one, "agent-release 1 --as @me --reason 'Not now'").err == (
        "✓ Released #1 «Parse files» (was held by worker-1).\n"
    )
    assert "release #1: «Not now; held by worker-1»" in ghp(one, "agent-log").out


@pytest.mark.slow
@pytest.mark.background
def test_an_issue_is_given_to_another_agent(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    give = "agent-release 1 --to worker-2 --as worker-1"
    ghp(one, "agent-claim 2 --as worker-2")
    assert ghp(one, give) == (0, "", "✓ Gave #1 «Parse files» to worker-2.\n")
    assert ghp(one, give) == (0, "", "worker-2 already holds #1 «Parse files».\n")


@pytest.mark.slow
def test_an_issue_given_to_an_agent_that_nobody_knows_is_a_warning(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    gave = "✓ Gave #1 «Parse files» to {}.\nWarning: No agent {} is known yet."
    assert ghp(one, "agent-release 1 --to worker-7 --as @me") == (
        0,
        "",
        f"{gave.format('worker-7', 'worker-7')} Similar: worker-1. If the name is wrong: "
        "`ghp agent-release 1`.\n",
    )
    assert ghp(one, "agent-explain 1").out.startswith(
        "#1 «Parse files» is in progress, priority high.\n"
        "worker-7 has it.\n"
        "✗ worker-7 is not known yet, so no process works for it.\n"
        "  → ghp agent-start 1 --as worker-7\n"
    )
    assert ghp(one, "agent-release 1 --as @me").code == 0
    ghp(one, "agent-claim 1 --as worker-1")
    assert ghp(one, "agent-release 1 --to w77 --as worker-1").err == (
        f"{gave.format('w77', 'w77')} If the name is wrong, a person can run this: "
        "`ghp agent-release 1`.\n"
    )


@pytest.mark.slow
def test_leases_are_given_back_by_pattern_id_and_name(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    for words in ("src/", "docs/", "--name staging"):
        assert ghp(one, f"agent-lease {words} --as worker-1").code == 0
    leases = {
        " ".join(lease.get("patterns") or []) or lease.get("name"): lease["id"]
        for lease in json.loads(invoke("agent-leases --json", one).out)
    }
    assert sorted(leases) == ["docs/", "src/", "staging"]
    docs = f"L-{leases['docs/'].removeprefix('L-')}"
    result = ghp(one, f"agent-release 1 src/ {docs} --name staging --as worker-1")
    assert result.code == 0, result.err
    assert re.sub(r"L-\w+", "L-…", result.err) == (
        "✓ Released #1 «Parse files».\n"
        "✓ Released L-… (docs/).\n"
        "✓ Released L-… (staging).\n"
        "✓ Released L-… (src/).\n"
    )
    assert json.loads(invoke("agent-leases --json", one).out) == []


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("", "Name at least one issue or lease to release."),
        ("src/ --to worker-2", "--to needs an issue."),
        ("1 src/ --to worker-2", "--to needs an issue."),
        ("1 --name staging --to worker-2", "--to needs an issue."),
        ("--to worker-2", "--to needs an issue."),
    ],
)
def test_odd_words_give_nothing_back(two: tuple[Path, Path], words: str, error: str) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    result = ghp(one, f"agent-release {words} --as worker-1")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}\nHint: ")
    assert ghp(one, "agent-claim 1 --as worker-1").err.startswith(
        "You already hold #1 «Parse files»"
    )


# ------------------------------------------------------------------------------ what shows


@pytest.mark.slow
def test_the_list_of_issues_says_who_holds_them(two: tuple[Path, Path]) -> None:
    one, other = two
    ghp(one, "agent-claim 1 --as worker-1")
    ghp(one, "agent-claim 2 --as @me")
    ghp(one, "agent-sync")
    ghp(other, "agent-sync")
    assert ghp(other, "agent-issues").out == (
        "ISSUE  PRIORITY  STATE  HOLDER       ASSIGNED     BLOCKED BY  LABELS  TITLE\n"
        "#2     medium    open   Test Person  Test Person  #1                  Write docs\n"
        "#1     high      open   worker-1     worker-1                         Parse files\n"
    )
    claims = [issue["claim"] for issue in json.loads(ghp(other, "agent-issues --json").out)]
    assert claims == [
        {"holder": "Test Person", "isPerson": True, "generation": 1, "since": "<then>"},
        {
            "holder": "worker-1",
            "isPerson": False,
            "generation": 1,
            "since": "<then>",
            "liveness": "active",
        },
    ]
    assert json.loads(ghp(other, "agent-issue show 1 --json").out)["claim"] == claims[1]


@pytest.mark.slow
def test_a_page_says_who_holds_it_since_when_and_why(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1 --reason 'I know it'")
    assert (
        "claimed by: worker-1 (active) since <then>, generation 1, reason: «I know it»\n"
        in ghp(one, "agent-issue show 1").out
    )
    ghp(one, "agent-claim 2 --as @me")
    assert (
        "claimed by: «Test Person» (a person) since <then>, generation 1\n"
        in ghp(one, "agent-issue show 2").out
    )


def test_a_holder_that_stopped_is_shown_as_such(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    ghp(one, "agent-status --set stopped --as worker-1")
    assert "#1     high      open   worker-1 (stopped)  worker-1" in ghp(one, "agent-issues").out


def test_what_is_claimed_is_not_ready(two: tuple[Path, Path]) -> None:
    one, _ = two
    ghp(one, "agent-claim 1 --as worker-1")
    ghp(one, "agent-issue assign 1 worker-1 --remove")
    assert ghp(one, "agent-issues --ready").err == (
        "No issue is ready. `ghp agent-issues` shows what is claimed, assigned or blocked.\n"
    )


@pytest.mark.slow
def test_the_ledger_tells_the_whole_story(two: tuple[Path, Path]) -> None:
    one, other = two
    anyone_steals()
    ghp(one, "agent-claim 1 --as worker-1")
    for clone in (one, other):
        ghp(clone, "agent-sync")
    ghp(other, "agent-claim 1 --as worker-2 --steal --reason 'It is urgent'")
    ghp(other, "agent-release 1 --to worker-3 --as worker-2")
    for clone in (other, one):
        ghp(clone, "agent-sync")
    lines = [
        line for line in ghp(one, "agent-log --issue 1").out.splitlines() if "presence" not in line
    ]
    assert [line.removeprefix("<then>  ") for line in lines if "issue-" not in line] == [
        "worker-1  claim #1",
        "worker-2  steal #1: «stolen: It is urgent»",
        "worker-2  release #1: «to worker-3»",
    ]


# ------------------------------------------------------------------------ the assignment moves


@pytest.mark.slow
def test_a_claim_goes_to_the_agent_that_a_person_assigns_instead(two: tuple[Path, Path]) -> None:
    one, other = two
    body = "### Scope\n\nsrc/"
    assert invoke(["agent-issue", "edit", "1", "--body", body], one).code == 0
    for clone, name in ((one, "worker-1"), (other, "worker-2")):
        assert invoke(f"agent-heartbeat --status idle --as {name}", clone).code == 0
        assert invoke("agent-sync", clone).code == 0
    assert invoke("agent-claim 1 --as worker-1", one).code == 0
    assert invoke("agent-sync", one).code == 0
    assert invoke("agent-sync", one).code == 0
    assert invoke("agent-issue assign 1 worker-2", one).err == (
        "✓ #1 «Parse files» is assigned to worker-1, worker-2.\n"
        "worker-1 still holds the issue. To give it away: `ghp agent-release 1 --to worker-2`.\n"
    )
    assert invoke("agent-issue assign 1 worker-1 --remove", one).err == (
        "✓ #1 «Parse files» is assigned to worker-2.\n"
        "✓ worker-2 holds the issue now; worker-1 held it.\n"
    )
    for clone in (one, other):
        assert invoke("agent-sync", clone).code == 0
    assert invoke("agent-check src/a.py --as worker-1", one).code == 3
    assert invoke("agent-check src/a.py --as worker-2", other).code == 0
    assert "gave #1 to you" in invoke("agent-status --as worker-2", other).out
    assert "Your claim of #1 was taken: worker-2 has held it" in (
        invoke("agent-status --as worker-1", one).out
    )


@pytest.mark.slow
def test_an_agent_adds_no_agent_to_anothers_issue_and_takes_none_away(
    two: tuple[Path, Path],
) -> None:
    one, _ = two
    for name in ("worker-2", "worker-1"):
        assert invoke(f"agent-heartbeat --status idle --as {name}", one).code == 0
    assert invoke("agent-claim 1 --as worker-1", one).code == 0
    for words in ("worker-2 --as worker-2", "worker-2 --as worker-3", "worker-1 --remove --as w-3"):
        done = invoke(f"agent-issue assign 1 {words}", one)
        assert (done.code, done.err.splitlines()[0]) == (
            3, "Error: #1 has an agent already: worker-1."
        )  # fmt: skip
    assert invoke("agent-issue assign 1 Ann --as worker-1", one).code == 0, "a person beside it"
    assert invoke("agent-claim 1 --as worker-2", one).code == 3


def test_an_assignment_to_a_person_takes_no_claim(two: tuple[Path, Path]) -> None:
    one, _ = two
    assert invoke("agent-claim 1 --as worker-1", one).code == 0
    for words in ("assign 1 @me", "assign 1 worker-1 --remove"):
        done = invoke(f"agent-issue {words}", one)
        assert done.code == 0
    assert "Warning: worker-1 still holds the issue." in done.err


@pytest.mark.slow
@pytest.mark.long
def test_at_a_remote_that_stalls_it_ends_before_a_clients_shell_does(
    two: tuple[Path, Path], tmp_path: Path
) -> None:
    one, _ = two
    hosts.executable(
        tmp_path / "ssh", "echo asked >> '" + str(tmp_path / "log") + "'; exec sleep 600"
    )
    git(one, "remote", "set-url", "origin", "ssh://example.com/repo.git")
    result = run_ghp("agent-claim 1 --as worker-1", one, {"GIT_SSH_COMMAND": str(tmp_path / "ssh")})
    assert result.code == 4
    assert "for at most 10 s" in result.err
    assert len((tmp_path / "log").read_text().splitlines()) <= 2


@pytest.mark.slow
def test_leases_that_outlive_the_last_issue_of_their_holder_are_named(repo: Path) -> None:
    (repo / "src").mkdir()
    (repo / "src/a.py").write_text("a\n")
    for number in (1, 2):
        assert invoke(f"agent-issue new 'Part {number}'", repo).code == 0
        assert invoke(f"agent-claim {number} --as worker-1", repo).code == 0
    lease = invoke("agent-lease src/ --as worker-1", repo).out.strip()[:6]
    left = (
        f"worker-1 holds no issue, and still has {lease} (src/). To let others edit: "
        f"`ghp agent-release {lease}`.\n"
    )
    first = invoke("agent-release 1 --as worker-1", repo)
    assert (first.code, left in first.err) == (0, False)
    last = invoke("agent-issue close 2 --reason Done --as worker-1", repo)
    assert (last.code, last.err.endswith(left)) == (0, True)
    assert invoke(f"agent-release {lease} --as worker-1", repo).code == 0


def test_a_person_is_told_that_they_claimed_it_themselves(two: tuple[Path, Path]) -> None:
    assert ghp(two[0], "agent-claim --next") == (
        0, "1\n", "✓ Claimed #1 «Parse files» for you, «Test Person» (a person).\n"
    )  # fmt: skip


def test_of_several_objects_none_is_released_if_one_is_wrong(repo: Path) -> None:
    succeed(repo, "agent-issue new One", "agent-claim 1 --as w-1", "agent-lease src/ --as w-1")
    for wrong in ("99", "L-ffff", "docs/"):
        done = invoke(["agent-release", "1", "src/", wrong, "--as", "w-1"], repo)
        assert done.code != 0
        assert "✓" not in done.err, done
    assert invoke("agent-release 1 src/ --as w-1", repo).err.count("✓") == 2
