"""Where this program's action is."""

import json

import pytest

from ghp_agents.core.errors import UsageError
from ghp_agents.github import action_ref as action

COMMIT = "08c6903cd8c0fde910a37f88322edcfb5dd907a8"


def noted(url: str, commit: str = COMMIT) -> str:
    return json.dumps({"url": url, "vcs_info": {"vcs": "git", "commit_id": commit}})


@pytest.mark.parametrize(
    ("direct_url", "address"),
    [
        (noted("https://github.com/acme/ghp-agents.git"), f"acme/ghp-agents@{COMMIT}"),
        (noted("https://github.com/acme/ghp-agents"), f"acme/ghp-agents@{COMMIT}"),
        (noted("https://git.example.com/acme/ghp-agents"), ""),
        (noted("https://github.com/acme/ghp-agents # x\n"), ""),
        (noted("https://github.com/acme/ghp-agents", "main"), ""),
        (json.dumps({"url": "file:///src", "dir_info": {"editable": True}}), ""),
        ("", ""),
        ("[]", ""),
    ],
)
def test_an_action_is_named_by_the_commit_that_was_installed(direct_url: str, address: str) -> None:
    assert action.pinned(direct_url) == address


def test_a_program_that_was_not_installed_from_github_has_no_action(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert action.address() == ""
    monkeypatch.setattr(action, "PACKAGE", "no-such-package")
    assert action.address() == ""


def test_an_action_that_a_person_names_is_a_commit() -> None:
    assert action.checked(f"acme/ghp-agents@{COMMIT}") == f"acme/ghp-agents@{COMMIT}"
    for named in ("acme/ghp-agents@v1", f"acme/ghp-agents@{COMMIT[:-1]}", f"a/b@{COMMIT}\nx", ""):
        with pytest.raises(UsageError, match="is not an action with a full commit"):
            action.checked(named)
