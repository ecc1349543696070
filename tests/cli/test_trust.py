"""`agent-trust` shows what a repository runs, and asks the person who is there."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke, succeed
from tests.support.git import commit, git
from tests.support.terminal import terminal

SAID = {
    "worktreeSetupCommand": "npm ci",
    "agents": {"checks": ["make test", "make lint"], "shared": ["*.lock"]},
}
NOTHING = "✓ Nothing to do: all settings of this repository are active.\n"


@pytest.fixture
def place(clone: Path) -> str:
    """Where the trunk is."""
    oid = commit(clone, {".ghp/config.json": json.dumps(SAID)})
    git(clone, "push", "--quiet", "origin", "HEAD")
    return f"origin/main ({oid[:12]})"


def shown(place: str) -> str:
    return (
        f"worktreeSetupCommand — is run by a shell in new worktrees ({place}; new):\n"
        "    npm ci\n"
        "agents.checks — are run by a shell before work is finished or merged "
        f"({place}; new):\n"
        "    make test\n"
        "    make lint\n"
        f"agents.shared — need approval to be changed ({place}; active):\n"
        "    *.lock\n"
    )


AGREED = (
    "✓ Agreed. Changed values need your consent again; `ghp agent-trust --revoke` withdraws it.\n"
)


def test_a_script_of_a_person_agrees_to_what_it_shows(clone: Path, place: str) -> None:
    assert invoke("agent-trust --yes", clone) == (0, "", shown(place) + AGREED)
    assert invoke("agent-trust --yes", clone) == (0, "", NOTHING)
    assert invoke("agent-trust --revoke", clone) == (
        0, "", "✓ Withdrawn: no setting that needs consent is used in this clone.\n"
    )  # fmt: skip
    assert invoke("agent-trust --revoke", clone) == (
        0, "", "✓ Nothing to do: you agreed to nothing in this clone.\n"
    )  # fmt: skip
    assert invoke("agent-trust", clone) == (
        3,
        "",
        shown(place) + "Error: Nothing was changed: there is no terminal to ask for "
        "confirmation.\n"
        "Hint: Read the list above, then use --yes.\n",
    )


def test_it_is_listed(clone: Path, place: str) -> None:
    result = invoke("agent-trust --show", clone, {"GHP_AGENT": "worker-1"})
    assert [line.split("  ")[0] for line in result.out.splitlines()] == [
        "KEY", "worktreeSetupCommand", "agents.checks", "agents.shared",
    ]  # fmt: skip
    assert [line.split()[-1] for line in result.out.splitlines()] == ["ACTIVE", "no", "no", "yes"]
    result = invoke("agent-trust --show --json", clone)
    assert json.loads(result.out) == {
        "schemaVersion": 1,
        "owner": None,
        "values": [
            {"key": "worktreeSetupCommand", "value": "npm ci", "where": place, "counts": False},
            {
                "key": "agents.checks",
                "value": ["make test", "make lint"],
                "where": place,
                "counts": False,
            },
            {"key": "agents.shared", "value": ["*.lock"], "where": place, "counts": True},
        ],
    }


@pytest.mark.slow
def test_the_beginning_of_the_work_warns_once_of_what_refuses_its_end(
    clone: Path, place: str
) -> None:
    succeed(clone, "agent-issue new Parse --as @me")
    started = invoke("agent-start 1 --as worker-1", clone)
    (warning,) = (line for line in started.err.splitlines() if "agents.checks" in line)
    assert (started.code, warning.partition(":")[0]) == (0, "Warning")
    assert warning.endswith(
        "but nobody has approved it in this clone; until then nothing is finished or merged. A "
        "person can review and approve it with `ghp agent-trust`."
    )
    succeed(clone, "agent-trust --yes")
    assert "approved" not in invoke("agent-start 1 --as worker-1", clone).err


def test_where_the_trunk_names_nothing_there_is_nothing_to_ask(clone: Path) -> None:
    assert invoke("agent-trust", clone) == (0, "", NOTHING)
    assert invoke("agent-trust --show", clone).err == (
        "This repository has no settings that need consent.\n"
    )


@pytest.mark.parametrize("words", ["--show --yes", "--revoke --yes", "--json"])
def test_options_that_do_not_go_together_are_refused(clone: Path, words: str) -> None:
    assert invoke(f"agent-trust {words}", clone).code == 2


@pytest.mark.slow
@pytest.mark.parametrize(("key", "code"), [("y\r", 0), ("n\r", 3), ("\r", 3)])
def test_on_a_terminal_it_asks(clone: Path, place: str, key: str, code: int) -> None:
    command = [sys.executable, "-m", "ghp_agents", "agent-trust"]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with terminal(command, clone, env) as person:
        person.wait_for("Use these settings in this clone? [y/N]")
        assert "npm ci" in person.shown
        person.type(key)
        person.wait_for("Agreed." if code == 0 else "You agreed to nothing.")
    values = json.loads(invoke("agent-trust --show --json", clone).out)["values"]
    assert [one["counts"] for one in values] == [code == 0, code == 0, True]


def test_set_up_can_trust_the_remotes_owner(clone: Path, remote: Path, place: str) -> None:
    result = invoke("agent-init --no-probe --trust", clone)
    assert result.code == 0
    assert result.err.endswith(
        shown(place) + f"✓ You trust the owner of {remote} to set and change these.\n"
    )
    result = invoke("agent-trust --show", clone)
    assert result.err == f"Trusted to change these on main: the owner of {remote}.\n"
    assert [line.split()[-1] for line in result.out.splitlines()[1:]] == ["yes", "yes", "yes"]


@pytest.mark.slow
def test_set_up_agrees_to_what_the_person_says_they_wrote_and_to_nothing_else(clone: Path) -> None:
    (clone / ".ghp").mkdir()
    (clone / ".ghp/config.json").write_text(json.dumps(SAID))
    result = invoke("agent-init --no-probe", clone)  # without a terminal
    assert result.err.endswith(
        "Nobody agreed to this yet. Once it is on main, review it: `ghp agent-trust`.\n"
    )
    words = [sys.executable, "-m", "ghp_agents", "agent-init", "--no-probe", "--no-agents-md"]
    for answer, said in (("n", "Nobody agreed to this yet."), ("y", "Agreed to your own")):
        with terminal(words, clone, {**os.environ, "PYTHONPATH": str(CHECKOUT)}) as person:
            person.wait_for("Did you write this in .ghp/config.json")
            person.type(f"{answer}\r")
            person.wait_for(said)
    git(clone, "add", ".ghp/config.json")
    git(clone, "commit", "--quiet", "-m", "Configure")
    git(clone, "push", "--quiet", "origin", "HEAD")
    assert invoke("agent-trust", clone).err == NOTHING
    assert invoke("agent-trust --revoke", clone).code == 0
    for command in ("agent-init", "agent-status"):
        assert invoke(command, clone).err.splitlines()[-2:] == [
            "Warning: Nobody in this clone has approved these settings of `.ghp/config.json` on "
            "main: `worktreeSetupCommand`, `agents.checks`.",
            "Hint: A person can review and approve it with `ghp agent-trust`.",
        ]


@pytest.mark.slow
def test_on_a_terminal_each_value_is_shown_whole_below_its_name(clone: Path, place: str) -> None:
    command = [sys.executable, "-m", "ghp_agents", "agent-trust", "--show"]
    env = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with terminal(command, clone, env) as person:
        person.wait_for("agents.shared: active")
        lines = person.shown.replace("\r", "").split("\n")
    assert lines[lines.index("    make test") + 1] == "    make lint"
    assert "    npm ci" in lines


def test_in_an_agents_worktree_nobody_agrees(clone: Path, place: str) -> None:
    worktree = clone.parent / "one"
    git(clone, "worktree", "add", "--quiet", str(worktree))
    succeed(worktree, "agent-whoami --set worker-1")
    assert invoke("agent-trust --yes", worktree) == (
        3,
        "",
        "Error: Only a person can allow what a repository runs, and this is the worktree of "
        f"worker-1.\nHint: Run it in {clone}.\n",
    )
