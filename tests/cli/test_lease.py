"""`agent-lease`, `agent-leases`, `agent-release` as agents, people and scripts call them."""

import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.consent import mine
from tests.support.ghp import invoke, run_ghp, start
from tests.support.git import git
from tests.support.leases import furnish

ONE, TWO, THREE = ({"GHP_AGENT": f"worker-{number}"} for number in (1, 2, 3))
Clones = Callable[[int], list[Path]]


@pytest.fixture
def place(repo: Path) -> Path:
    return furnish(repo)


def lease(where: Path, *args: str, env: dict[str, str] = ONE) -> str:
    """Lease, and answer the id."""
    code, out, err = invoke(["agent-lease", *args], where, env)
    assert code == 0, err
    return out.rstrip("\n")


def listed(where: Path, *args: str) -> list[dict[str, Any]]:
    code, out, err = invoke(["agent-leases", "--json", *args], where)
    assert (code, err) == (0, "")
    leases: list[dict[str, Any]] = json.loads(out)
    return leases


def holders(where: Path) -> list[str]:
    return [lease["holder"] for lease in listed(where) if lease["state"] == "held"]


# -------------------------------------------------------------------------------- taking


def test_leasing_prints_the_id_and_says_what_it_covers(place: Path) -> None:
    code, out, err = invoke("agent-lease src/ '!b.py' --reason parser", place, ONE)
    assert code == 0
    name = out.rstrip("\n")
    assert err == f"✓ Leased src/, !b.py as {name[:6]}: 2 files (src/a.py, src/gen/x.py).\n"
    assert name.startswith("L-")
    (lease,) = listed(place)
    assert lease | {"since": "-"} == {
        "schemaVersion": 1,
        "id": name,
        "state": "held",
        "holder": "worker-1",
        "person": False,
        "patterns": ["src/", "!b.py"],
        "name": None,
        "since": "-",
        "until": None,
        "reason": "parser",
        "approved": False,
        "strict": False,
        "conflicts": [],
    }
    again = invoke("agent-lease src/ '!b.py' --reason parser", place, ONE)
    message = f"worker-1 already leases src/, !b.py as {name[:6]}, since {lease['since']}.\n"
    assert again == (0, out, message)


def test_what_another_has_ends_with_3_and_says_what_next(place: Path) -> None:
    name = lease(place, "src/", "--reason", "parser")
    since = listed(place)[0]["since"]
    code, out, err = invoke("agent-lease a.py", place / "src", TWO)
    assert (code, out) == (3, "")
    assert err == (
        f"Error: src/a.py is leased by worker-1 since {since} ({name[:6]}), reason: «parser».\n"
        "Hint: Work on something else, wait with `ghp agent-lease a.py --wait`, or ask: `ghp "
        "agent-escalate …`.\n"
    )
    named = invoke("agent-lease src/a.py", place, TWO).err
    assert named.endswith("or ask: `ghp agent-escalate --file src/a.py`.\n")


def test_of_a_link_what_it_leads_to_is_leased(place: Path, tmp_path: Path) -> None:
    (place / "alias.py").symlink_to("src/a.py")
    (place / "lib").symlink_to("src")
    (place / "out").symlink_to(tmp_path)
    (place / "docs/round").symlink_to("round")
    git(place, "add", ".")
    code, out, err = invoke("agent-lease alias.py lib/b.py", place, ONE)
    assert (code, err.splitlines()) == (0, [
        f"✓ Leased src/a.py, src/b.py as {out[:6]}: 2 files (src/a.py, src/b.py).",
        "alias.py is a link: leased its target, src/a.py.",
        "lib/b.py is a link: leased its target, src/b.py.",
    ])  # fmt: skip
    assert invoke("agent-check src/a.py", place, TWO).code == 3
    assert invoke("agent-release alias.py lib/b.py", place, ONE).code == 0
    code, _, err = invoke("agent-lease ./out", place, ONE)
    assert (code, err.splitlines()[1]) == (0, (
        "Warning: ./out links to a path outside this repository: only the link is leased, and "
        "its target can still be edited."
    ))  # fmt: skip
    assert "Warning: docs/round links to" in invoke("agent-lease docs/round", place, ONE).err


def test_a_file_whose_name_is_a_number_can_be_leased(place: Path) -> None:
    (place / "src/2").write_text("")
    assert holders(place) == []
    lease(place, "2")  # in any folder
    lease(place / "src", "./3")  # to come
    assert holders(place) == ["worker-1", "worker-1"]


def test_json_has_the_files(place: Path) -> None:
    code, out, _ = invoke("agent-lease docs/ --ttl 30m --json", place, ONE)
    assert code == 0
    assert json.loads(out)["covers"] == ["docs/a.md"]
    assert json.loads(out)["until"] > json.loads(out)["since"]


def test_many_files_are_counted_and_none_is_warned_of(place: Path) -> None:
    _, _, err = invoke("agent-lease '*'", place, ONE)
    assert err.endswith(": 5 files (README.md, docs/a.md, src/a.py and 2 more).\n")
    invoke("agent-release '*'", place, ONE)
    code, out, err = invoke("agent-lease nothing.xyz", place, ONE)
    assert code == 0
    assert err == (
        f"✓ Leased nothing.xyz as {out[:6]}.\n"
        "Warning: No file matches yet.\n"
        "Hint: `git ls-files` lists the files.\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "Error: A lease needs either path patterns or a named resource.\nHint: "),
        ([""], "Error: A pattern is empty.\nHint: "),
        (["!a"], "Error: All patterns are exceptions (`!`), so nothing is selected.\nHint: "),
        (["../x"], "Error: '../x' is outside this repository.\nHint: "),
        (["/etc"], "Error: '/etc' is outside this repository.\nHint: "),
        (["a\nb"], "Error: 'a b' has characters that cannot be printed.\nHint: "),
        (["--name", "A B"], "Error: 'A B' is not a valid resource name.\nHint: "),
        (["a", "--timeout", "5"], "Error: --timeout needs --wait.\nHint: "),
        (["a", "--ttl", "soon"], "Error: Wrong value for --ttl: 'soon' is not a duration;"),
        (["a", "--wait", "--timeout", "nan"], "Error: Wrong value for --timeout: 'nan' is not"),
        (
            ["a", "--wait", "2"],
            "Error: There is no file 2 here.\nHint: To wait that many seconds, ",
        ),
        (["a", "--for", "No Agent"], "Error: 'No Agent' is not a valid agent name.\nHint: "),
        ([f"f{number}" for number in range(10_000)], "Error: 10000 patterns are too many;"),
    ],
)
def test_bad_words_end_with_2_and_change_nothing(
    place: Path, args: list[str], message: str
) -> None:
    code, out, err = invoke(["agent-lease", *args], place, ONE)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert listed(place) == []


def test_a_huge_reason_with_odd_characters_is_shown_harmlessly(place: Path) -> None:
    lease(place, "src/", "--reason", "\x1b[31m" + "x" * 100_000)
    code, out, _ = invoke("agent-leases", place)
    assert code == 0
    assert "\x1b" not in out
    assert len(out.splitlines()[1]) < 250


def test_a_person_leases_and_lists_and_gives_back(place: Path) -> None:
    lease(place, "--name", "staging-db", "--ttl", "2h", env={})
    lease(place, "src/", env={})
    code, out, err = invoke("agent-leases", place)
    assert (code, err) == (0, "")
    head, first, second = out.splitlines()
    assert head.split() == ["ID", "STATE", "HOLDER", "WHAT", "SINCE", "UNTIL", "REASON"]
    assert first.split()[1:5] == ["held", "«Test", "Person»", "(a"]
    assert second.split()[1:5] == ["held", "«Test", "Person»", "(a"]
    code, _, err = invoke("agent-release src/ --name staging-db", place)
    assert code == 0
    assert err.count("Released ") == 2
    assert invoke("agent-leases", place) == (0, "", "No leases.\n")
    assert invoke("agent-leases --json", place) == (0, "[]\n", "")


def test_edits_are_shown_when_asked(place: Path) -> None:
    from ghp_agents.hotpath import implicit_leases as touched

    invoke("agent-heartbeat", place, ONE)
    folders = [str(place / ".git/ghp")]
    touched.take_lease(folders, "worker-1", 1, "src/a.py", str(place / ".git"), 1_750_000_000.0)
    assert listed(place) == []
    assert listed(place, "--implicit") == [
        {"schemaVersion": 1, "state": "editing", "holder": "worker-1", "path": "src/a.py",
         "since": "2025-06-15T15:06:40Z", "worktree": str(place)}
    ]  # fmt: skip
    out = invoke("agent-leases --implicit", place).out
    assert out.splitlines()[1].split()[:4] == ["-", "edits", "worker-1", "src/a.py"]
    code, _, err = invoke("agent-lease src/", place, TWO)
    assert code == 3
    assert "src/a.py is being edited by worker-1 since 2025-06-15T15:06:40Z." in err


def test_shared_files_need_leave_which_a_person_gives(place: Path) -> None:
    mine({"agents": {"shared": ["/README.md"]}})
    code, out, err = invoke("agent-lease ./README.md", place, ONE)
    assert (code, out) == (3, "")
    (question,) = json.loads(invoke("agent-escalations --json", place).out)
    assert question["id"] in err
    assert invoke(["agent-answer", question["id"], "approve"], place).code == 0
    lease(place, "./README.md")
    assert listed(place)[0]["approved"] is True


# -------------------------------------------------------------------------------- waiting


@contextmanager
def waiting(where: Path, args: str, env: dict[str, str]) -> "Iterator[subprocess.Popen[str]]":
    """Who waits for a lease, in a process that is over at the end of the block."""
    with start(where, f"agent-lease {args} --wait", env) as process:
        try:
            yield process
        finally:
            process.kill()


def code_of(process: "subprocess.Popen[str]") -> int:
    """How a process ended."""
    process.communicate(timeout=120)
    return process.returncode


def in_line(process: "subprocess.Popen[str]") -> str:
    """What a process that waits says first: its place."""
    assert process.stderr is not None
    return process.stderr.readline()


@pytest.mark.slow
def test_who_waits_is_told_its_place_and_gets_it_in_its_turn(place: Path) -> None:
    lease(place, "src/")
    with waiting(place, "src/a.py", TWO) as second:
        assert in_line(second).startswith("1st in line, after worker-1: src/a.py is leased by ")
        with waiting(place, "src/", THREE) as third:
            assert in_line(third).startswith("2nd in line, after worker-1, worker-2: ")
            (_, one, two) = listed(place)
            assert [one["state"], two["state"]] == ["waiting", "waiting"]
            assert [x["holder"] for x in two["behind"]] == ["worker-1", "worker-2"]
            assert invoke("agent-release src/", place, ONE).code == 0
            out, err = second.communicate(timeout=60)
            assert (second.returncode, out[:2]) == (0, "L-"), err
            assert holders(place) == ["worker-2"]
            assert invoke("agent-release ./src/a.py", place, TWO).code == 0
            out, err = third.communicate(timeout=60)
            assert (third.returncode, out[:2]) == (0, "L-"), err
    assert holders(place) == ["worker-3"]


def shown(where: Path, agent: str) -> tuple[str, str]:
    """What an agent says of itself: its status, and the beginning of what it did last."""
    presence = json.loads((where / f".git/ghp/agents/{agent}.json").read_bytes())
    return presence["status"], presence["lastAction"][:14]


@pytest.mark.slow
def test_an_interrupt_leaves_the_line_and_a_kill_is_noticed(place: Path) -> None:
    lease(place, "src/")
    invoke(["agent-heartbeat", "--status", "testing", "--action", "Runs tests"], place, TWO)
    for end, code in (
        (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129),
        (signal.SIGKILL, -signal.SIGKILL),
    ):  # fmt: skip
        with waiting(place, "src/", TWO) as waiter:
            in_line(waiter)
            assert [x["state"] for x in listed(place)] == ["held", "waiting"]
            waiter.send_signal(end)
            waiter.communicate(timeout=60)
            assert waiter.returncode == code
        assert [x["state"] for x in listed(place)] == ["held"]
        if end == signal.SIGKILL:  # it could not say so itself; the next command does
            assert shown(place, "worker-2") == ("blocked", "Waits for src/")
            assert invoke("agent-lease docs/", place, TWO).code == 0
        assert shown(place, "worker-2") == ("testing", "Runs tests")
    assert invoke("agent-release src/", place, ONE).code == 0
    lease(place, "src/", env=THREE)


def test_a_timeout_ends_with_3(place: Path) -> None:
    lease(place, "src/")
    code, out, err = invoke("agent-lease src/ --wait --timeout 0", place, TWO)
    assert (code, out) == (3, "")
    assert "Error: Still leased after 0 s: 1st in line, after worker-1: " in err


# ------------------------------------------------------------------------------ two clones


@pytest.mark.slow
def test_two_clones_that_had_not_heard_of_each_other_both_lease_and_are_asked_about(
    clones: Clones,
) -> None:
    one, other = (furnish(item) for item in clones(2))
    lease(one, "src/")
    lease(other, "./src/a.py", env=TWO)
    for item in (one, other, one):
        assert invoke("agent-sync", item).code == 0
    assert holders(one) == holders(other)
    assert sorted(holders(one)) == ["worker-1", "worker-2"]
    (question,) = json.loads(invoke("agent-escalations --json", one).out)
    assert question["question"].startswith("Two leases overlap: who should have src/a.py?")
    assert invoke("agent-lease src/b.py", other, THREE).code == 3
    for item in (other, one, other):
        assert invoke("agent-sync", item).code == 0
    first, second = listed(other)  # which comes first is a matter of the clones' ids
    short, later = (f"L-{item['id'][2:6]}" for item in (first, second))
    winner, loser = first["holder"], second["holder"]
    (line,) = [x for x in invoke("agent-leases", other).out.splitlines() if x[:9] == "Conflict:"]
    assert line == (
        f"Conflict: {short} of {winner} and {later} of {loser} both cover src/a.py. Until one is "
        f"released, {winner} may edit it. {question['id']} asks a person to decide."
    )
    assert [row.split()[1] for row in invoke("agent-leases", one).out.splitlines()[1:3]] == [
        "conflict", "conflict",
    ]  # fmt: skip
    assert [(item["state"], len(item["conflicts"])) for item in (first, second)] == [
        ("held", 1)
    ] * 2
    assert second["conflicts"] == [
        {
            "id": first["id"], "holder": winner, "what": "src/a.py", "decides": winner,
            "question": question["id"],
        }
    ]  # fmt: skip
    code, out, _ = invoke(f"agent-check src/a.py --as {loser}", other)
    assert (code, out.count(f" Your own lease {later} conflicts with it and ")) == (3, 1)
    assert invoke(["agent-answer", question["id"], winner], other).code == 0
    shown = invoke("agent-leases", other).out
    assert "onflict" not in shown
    rows = [row.split()[:3] for row in shown.splitlines()[1:]]
    assert [short, "held", winner] in rows
    (decided,) = json.loads(invoke("agent-escalations --json", other).out)
    assert decided["outcome"]["text"].startswith(f"{winner} keeps ")


@pytest.mark.slow
def test_who_leases_where_agents_of_other_clones_live_is_told_how_far_it_goes(
    clones: Clones,
) -> None:
    one, other = (furnish(clone) for clone in clones(2))
    git(one, "push", "-q", "origin", "HEAD:main")  # else the files are what both change
    git(other, "fetch", "-q")
    note = (
        "Reserved in this clone; other clones are warned at the next sync. Use --strict to "
        "reserve it everywhere.\n"
    )
    assert note not in invoke("agent-lease src/", one, ONE).err
    invoke("agent-sync", one)
    invoke("agent-sync", other)
    assert note in invoke("agent-lease docs/", other, TWO).err
    assert note in invoke("agent-lease --name db", other, TWO).err
    assert note not in invoke("agent-lease --name db", other, TWO).err
    assert note not in invoke("agent-lease --name port --strict", other, TWO).err


@pytest.mark.slow
def test_of_two_strict_leases_in_two_clones_one_is_granted_without_a_sync(
    clones: Clones,
) -> None:
    one, other = (furnish(x) for x in clones(2))
    lease(one, "src/", "--strict", "--reason", "rename")
    code, out, err = invoke("agent-lease ./src/a.py --strict", other, TWO)
    assert (code, out) == (3, "")
    assert "src/a.py is leased by worker-1 since " in err
    assert invoke("agent-release src/", one, ONE).code == 0
    lease(other, "./src/a.py", "--strict", env=TWO)
    assert [x["strict"] for x in listed(other)] == [True]


def test_a_strict_lease_out_of_reach_is_unknown_and_an_ordinary_one_is_not(
    clones: Clones,
) -> None:
    (one,) = (furnish(clone) for clone in clones(1))
    git(one, "remote", "set-url", "origin", str(one.parent / "gone.git"))
    assert invoke("agent-lease src/ --strict", one, ONE).code == 4
    code, out, err = invoke("agent-leases --json", one)
    assert (code, out) == (0, "[]\n")
    assert err.startswith("Warning: Could not ask origin for news: ")
    lease(one, "src/")


@pytest.mark.slow
def test_of_many_processes_that_want_one_file_in_one_clone_one_has_it(place: Path) -> None:
    crowd = [start(place, "agent-lease src/a.py", {"GHP_AGENT": f"w-{n}"}) for n in range(12)]
    ended = [code_of(process) for process in crowd]
    assert sorted(ended) == [0] + [3] * 11
    assert len(holders(place)) == 1


@pytest.mark.slow
def test_of_many_strict_ones_in_many_clones_at_most_one_is_granted(clones: Clones) -> None:
    places = [furnish(clone) for clone in clones(6)]
    words = ("src/", "src/a.py", "*.py")
    crowd = [
        start(where, f"agent-lease {words[n % 3]} --strict", {"GHP_AGENT": f"w-{n}"})
        for n, where in enumerate(places)
    ]
    ended = [code_of(process) for process in crowd]
    assert ended.count(0) <= 1
    assert set(ended) <= {0, 3}


def test_the_whole_program_leases(place: Path) -> None:
    done = run_ghp("agent-lease src/ --as worker-7", place)
    assert (done.code, done.err) == (
        0, f"✓ Leased src/ as {done.out[:6]}: 3 files (src/a.py, src/b.py, src/gen/x.py).\n",
    )  # fmt: skip
    assert run_ghp("agent-release src/ --as worker-7", place).code == 0
