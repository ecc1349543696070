"""The remote of the tests refuses pushes as GitHub's push protection and rulesets do."""

import subprocess
from pathlib import Path

import pytest

from tests.support.git import commit, git, refs, run_git
from tests.support.rulesets import ALL_BRANCHES, Rules, rule, unrule

SECRET = "qz_" + "Abx" * 11 + "c"
REASON = "[remote rejected] (push declined due to repository rule violations)"


def push(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run_git(clone, "push", "--porcelain", "origin", *words)


@pytest.mark.slow
def test_a_push_with_a_secret_is_refused_whatever_its_ref_is(remote: Path, clone: Path) -> None:
    rule(remote)
    commit(clone, {"patch.txt": f"TOKEN = {SECRET}\n"})
    for ref in ("refs/heads/main", "refs/ghp/state/c-1", "refs/tags/x"):
        done = push(clone, f"HEAD:{ref}")
        assert (done.returncode, f"HEAD:{ref}\t{REASON}" in done.stdout) == (1, True)
        assert f"remote: error: GH013: Repository rule violations found for {ref}." in done.stderr
        assert "remote:     - Push cannot contain secrets" in done.stderr
    git(clone, "reset", "--quiet", "--soft", "HEAD~")
    commit(clone, {"patch.txt": "TOKEN = <removed>\n"})
    assert push(clone, "HEAD:main").returncode == 0


@pytest.mark.slow
def test_a_secret_in_one_ref_leaves_the_others_alone_unless_the_push_is_atomic(
    remote: Path, clone: Path
) -> None:
    rule(remote)
    git(clone, "branch", "good")
    commit(clone, {"patch.txt": SECRET})
    both = ("HEAD:refs/ghp/bad", "good:refs/ghp/good")
    done = push(clone, "--atomic", *both)
    assert (done.returncode, refs(remote, "refs/ghp")) == (1, {})
    assert f"{both[0]}\t{REASON}" in done.stdout
    done = push(clone, *both)
    assert (done.returncode, [*refs(remote, "refs/ghp")]) == (1, ["refs/ghp/good"])
    unrule(remote)
    assert push(clone, *both).returncode == 0


def test_rules_for_all_branches_leave_other_refs_alone(remote: Path, clone: Path) -> None:
    rule(remote, Rules(signed=ALL_BRANCHES))
    commit(clone, {"a.txt": "a\n"})
    done = push(clone, "HEAD:ghp-state", "HEAD:refs/ghp/x")
    assert [*refs(remote, "refs/ghp")] == ["refs/ghp/x"]
    assert f"HEAD:refs/heads/ghp-state\t{REASON}" in done.stdout
    assert "remote: - Commits must have verified signatures." in done.stderr
    rule(remote, Rules(creation=ALL_BRANCHES))
    done = push(clone, "HEAD:ghp-state", "HEAD:main")
    assert "remote: - Cannot create ref due to creations being restricted." in done.stderr
    assert [*refs(remote, "refs/heads")] == ["refs/heads/main"]
    assert refs(remote, "refs/heads")["refs/heads/main"] == git(clone, "rev-parse", "HEAD")
