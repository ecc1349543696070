"""`agent-doctor` on the machine: settings, names, git, the log, the person's own repository."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.doctor import doctor, finding, findings, in_use, lines
from tests.support.git import commit, git

Clones = Callable[[int], list[Path]]


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    return in_use(clone)


# ------------------------------------------------------------------------------ settings and names


@pytest.mark.slow
def test_a_broken_configuration_is_told_once_with_every_line(used: Path, home: Path) -> None:
    (used / ".ghp/config.json").write_text(
        '{"agents": {\n  "foldEvery": -1,\n  "psuh": false,\n  "timeout": "soon"\n}}'
    )
    user = home / ".config/ghp-cli/config.json"
    user.parent.mkdir(parents=True, exist_ok=True)
    user.write_text('{"agents": [\n}')
    path = used / ".ghp/config.json"
    by_code = {code: found for code, found in findings(used).items() if code[:6] == "config"}
    remedy = "Fix the file; until then the last values that could be read stay in force."
    assert by_code == {
        "config": [
            finding(
                "error",
                f"{path}, line 2: `agents.foldEvery`: input should be greater than 0.",
                remedy,
            ),
            finding(
                "error",
                f"{path}, line 4: `agents.timeout`: input should be a valid number, unable to "
                "parse string as a number.",
                remedy,
            ),
            finding("error", f"{user}, line 2: not valid JSON: expecting value.", remedy),
        ],
        "config-key": [
            finding(
                "warning",
                f"{path}, line 3: unknown setting `agents.psuh`.",
                "Did you mean `agents.push`?",
            )
        ],
    }


def test_thresholds_that_do_not_grow_are_told(repo: Path) -> None:
    commit(repo, {".ghp/config.json": '{"agents": {"deadAfter": 60}}'})
    assert findings(repo)["config"] == [
        finding(
            "warning",
            "Set `agents.staleAfter` ≤ `deadAfter` ≤ `goneAfter`, or agents are dead before they "
            "are stale.",
            "Change them in .ghp/config.json.",
        )
    ]


def test_background_work_that_the_configuration_turned_off_is_told(repo: Path) -> None:
    commit(repo, {".ghp/config.json": '{"agents": {"background": false}}'})
    done = doctor(repo, env={"GHP_BACKGROUND": "1"})
    assert (
        "• Background work is off in the configuration: only commands save and send heartbeats.\n"
        "  → Run `ghp agent-sync` now and then.\n"
    ) in done.out


def test_a_name_that_is_none_is_an_error(repo: Path) -> None:
    done = doctor(repo, env={"GHP_AGENT": "../../x"})
    assert done.code == 1
    assert lines(done.out, "✗", "  → Set another") == [
        "✗ '../../x' is not a valid agent name, so no command can use it.",
        "  → Set another: ghp agent-whoami --set worker-1 (or GHP_AGENT).",
    ]
    assert done.err == "1 error.\n"


def test_a_git_that_is_too_old_is_an_error(repo: Path, tmp_path: Path) -> None:
    real = shutil.which("git")
    hosts.executable(
        tmp_path / "bin/git",
        f'for last; do :; done\n[ "$last" = version ] && echo "git version 2.30.9" && exit\n'
        f'exec {real} "$@"\n',
    )
    done = doctor(repo, env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert done.code == 1
    assert done.out.startswith("✗ git 2.30.9 is too old.\n  → Install git 2.31 or newer.\n")


def test_without_git_it_says_so_once(repo: Path) -> None:
    done = doctor(repo, "--json", env={"PATH": ""})
    bad = [one for one in json.loads(done.out) if one["level"] in ("error", "info")]
    errors = [one for one in bad if one["code"] != "knowledge"]  # by what is installed
    assert done.code == 1
    assert [(one["code"], one["text"], one["remedy"]) for one in errors] == [
        (
            "git",
            "Cannot start git: No such file or directory.",
            "Install git 2.31 or newer.",
        ),
        ("agent", errors[1]["text"], errors[1]["remedy"]),
        ("background", errors[2]["text"], errors[2]["remedy"]),
        ("sharing", "Nothing leaves this clone: there is no remote.", ""),
        ("folder", "Nothing was recorded in this clone yet.", ""),
        ("left-out", "Not checked, for a reason above: repository, view-tracked.", ""),
    ]


@pytest.mark.slow
def test_errors_of_the_background_are_told_for_a_week(used: Path) -> None:
    log = used / ".git/ghp/log.jsonl"
    entries = [
        '{"at": "2001-01-01T00:00:00Z", "error": "ValueError: long ago"}',
        '{"at": "9999-01-01T00:00:00Z", "error": "OSError: \\u001b[31mdisk"}',
        '{"at": "9998-01-01T00:00:00Z", "error": "OSError: before"}',
        "[1]",
        '{"half": ',
    ]
    log.write_text("\n".join(entries))
    assert findings(used)["log"] == [
        finding(
            "warning",
            "2 errors in the background in the last 7 days; latest, 0 s ago: OSError: [31mdisk",
            f"See {log}. If it is a bug of ghp-agents, please report it.",
        )
    ]


# ------------------------------------------------------------------------ the user's repository


@pytest.mark.slow
def test_a_status_file_that_is_tracked_is_told_with_the_command_that_ends_it(clone: Path) -> None:
    commit(clone, {".ghp/agent-status.json": "{}"})
    remedy = (
        "git rm --cached .ghp/agent-status.json && git commit -m 'Untrack generated agent status'"
    )
    text = (
        ".ghp/agent-status.json is tracked by git ({}). It is generated, so each branch would "
        "have another version; the view is not written while it is tracked."
    )
    git(clone, "checkout", "--quiet", "-b", "147-x", "main~1")
    assert findings(clone)["view-tracked"] == [finding("warning", text.format("main"), remedy)]
    git(clone, "checkout", "--quiet", "main")
    both = text.format("main and the index of the main worktree")
    assert findings(clone)["view-tracked"] == [finding("warning", both, remedy)]
    assert subprocess.run(remedy, shell=True, cwd=clone, capture_output=True).returncode == 0
    assert "view-tracked" not in findings(clone)


def test_a_repository_of_another_user_is_told_with_the_command_that_trusts_it(repo: Path) -> None:
    done = doctor(repo, env={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"})
    assert done.code == 1
    (hint, *_) = lines(done.out, "  → The repository belongs to another user:")
    assert hint.endswith("`git config --global --add safe.directory <path>`.")
