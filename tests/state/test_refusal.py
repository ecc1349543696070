"""What servers say when they refuse a push: GitHub's own messages, and text that imitates them."""

import pytest

from ghp_agents.state import refusal
from ghp_agents.state.refusal import Reason

SECRET = """\
error: GH013: Repository rule violations found for refs/heads/main.

- GITHUB PUSH PROTECTION
  —————————————————————————————————————————
    Resolve the following violations before pushing again

    - Push cannot contain secrets


     (?) Learn how to resolve a blocked push
     https://docs.github.com/code-security/secret-scanning/working-with-push-protection

      —— GitHub Personal Access Token ——————————————————————
       locations:
         - commit: 8728dbe67aaa
           path: README.md:4
         - commit: 03d69e5bbbb
           path: README.md:4

       (?) To push, remove secret from commit(s) or follow this URL to allow the secret.
       https://github.com/acme/widgets/security/secret-scanning/unblock-secret/1xyz
""".splitlines()
SIGNED = """\
error: GH013: Repository rule violations found for refs/heads/ghp-state.
Review all repository rules at https://github.com/acme/widgets/rules?ref=refs%2Fheads%2Fghp-state

- Commits must have verified signatures.
  Found 1 violation:

  3dd5f9d2aa3dd5f9d2aa3dd5f9d2aa3dd5f9d2aa
""".splitlines()
SSO = """\
The `acme' organization has enabled or enforced SAML SSO.
To access this repository, visit https://github.com/enterprises/acme/sso?authorization_request=AB3
and try your request again.
""".splitlines()


def test_the_words_are_the_reasons_without_rulers_and_places() -> None:
    assert refusal.readable(SECRET) == (
        "GH013: Repository rule violations found for refs/heads/main. GITHUB PUSH PROTECTION "
        "Push cannot contain secrets GitHub Personal Access Token"
    )
    assert refusal.readable(SIGNED) == (
        "GH013: Repository rule violations found for refs/heads/ghp-state. "
        "Commits must have verified signatures."
    )


def test_commits_that_the_server_names_are_hints_only_if_they_are_ours() -> None:
    ours = [["a" * 40], ["03d69e5bbbb" + "0" * 29], ["8728dbe67aaa" + "1" * 28, "c" * 40]]
    assert refusal.named(SECRET, ours) == [1, 2]
    assert refusal.named([f"- blob id: {'c' * 40}"], ours) == [2]
    assert refusal.named(SECRET, [["b" * 40]]) == []
    assert refusal.named(["commit: a", "- commit: zzzzzzzz", "anything"], [["a" * 40]]) == []


@pytest.mark.parametrize(
    ("words", "cause", "records"),
    [
        (refusal.readable(SECRET), Reason.SECRET, True),
        (refusal.readable(SIGNED), Reason.SIGNATURE, False),
        ("- Cannot create ref due to creations being restricted.", Reason.CREATION, False),
        ("GH001: Large files detected.", Reason.SIZE, True),
        ("ERROR: This repository was archived so it is read-only.", Reason.ARCHIVED, False),
        (refusal.readable(SSO), Reason.SSO, False),
        ("[remote rejected] (pre-receive hook declined) Policy 7", Reason.RULE, True),
        ("ERROR: Permission to owner/repo.git denied to somebody.", Reason.ACCESS, False),
    ],
)
def test_each_cause_has_its_advice(words: str, cause: Reason, records: bool) -> None:
    assert refusal.cause(words) is cause
    assert refusal.may_be_about_records(words) is records


def test_the_advice_differs_by_cause() -> None:
    assert refusal.of_record(refusal.readable(SECRET)) == (
        "Revoke the secret if it is real, and take it out of the files. Then write it again (a "
        "handoff: `ghp agent-handoff`). `ghp agent-sync --refused` shows it; `--drop` and "
        "`--retry` decide."
    )
    words = ("push protection", "GH001: Large files detected", "Policy 7")
    assert len({refusal.of_record(word) for word in words}) == 3
    assert refusal.of_clone(refusal.readable(SIGNED)) == (
        "A rule asks for signed commits, and records are not signed. Ask somebody who can edit the "
        "repository's rules to leave out the branches ghp/**. Or name another remote, such as a "
        'fork: "agents": {"remote": "fork"}.'
    )
    assert refusal.of_clone("permission denied (publickey)").startswith("Trying again will not")


def test_pages_to_open_are_those_that_allow_something() -> None:
    assert refusal.pages([*SECRET, *SSO]) == [
        "https://github.com/acme/widgets/security/secret-scanning/unblock-secret/1xyz",
    ]
    assert (
        refusal.pages(["http://x/unblock-secret/1", "javascript:alert(1)/unblock-secret/1"]) == []
    )


def test_what_a_server_says_is_bounded() -> None:
    hostile = ["x" * 10_000, *(f"line {number} \x1b[31m" for number in range(10_000))]
    assert len(refusal.readable(hostile)) == refusal.LONGEST
    assert "\x1b" not in refusal.readable(hostile[1:3])
    many = [f"https://h/unblock-secret/{number}" for number in range(99)]
    assert len(refusal.pages(many)) == 3
