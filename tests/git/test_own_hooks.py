"""The hook that a push by hand runs."""

from pathlib import Path

import pytest

from ghp_agents.git import own_hooks
from tests.support.git import git

LFS = '#!/bin/sh\ncommand -v git-lfs >/dev/null || exit 2\ngit lfs pre-push "$@"\n'
OURS = "# >>> ghp-agents >>> does nothing\nexec guard\n# <<< ghp-agents <<<\n"


@pytest.mark.parametrize(
    ("text", "mode", "counts"),
    [
        ("#!/bin/sh\nlefthook run pre-push\n", 0o755, True),
        ("#!/bin/sh\nlefthook run pre-push\n", 0o644, False),  # git does not run it
        (LFS, 0o755, False),
        (f"#!/bin/sh\n{OURS}", 0o755, False),
        (f"#!/bin/sh\n{OURS}make test\n", 0o755, True),
    ],
)
def test_a_hook_counts_if_it_does_more_than_we_do(
    repo: Path, text: str, mode: int, counts: bool
) -> None:
    path = repo / ".git/hooks/pre-push"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    hook = own_hooks.pre_push(repo, repo / ".git")
    assert (hook is not None and hook[0] == path) == counts


def test_huskys_hook_is_above_its_scripts(repo: Path) -> None:
    git(repo, "config", "core.hooksPath", ".husky/_")
    (repo / ".husky/_").mkdir(parents=True)
    (repo / ".husky/_/h").write_text("")
    (repo / ".husky/_/pre-push").write_text('. "${0%/*}/h"\n')
    assert own_hooks.pre_push(repo, repo / ".git") is None
    (repo / ".husky/pre-push").write_text("npm test\n")
    assert own_hooks.pre_push(repo, repo / ".git") == (repo / ".husky/pre-push", "npm test\n")
