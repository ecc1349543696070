"""What looks like a secret is found, and what only looks a little like one is not."""

import pytest

from ghp_agents.core import secret_scan as secret
from ghp_agents.core.errors import UsageError

# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "a private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "a GitHub token": "gh" + "p_" + "aB3" * 12,
    "a GitLab token": "glpat" + "-" + "aB3_" * 5,
    "an Anthropic key": "sk-" + "ant-" + "aB3-" * 8,
    "an OpenAI key": "sk-" + "proj-" + "aB3" * 16,
    "an AWS key": "AKI" + "A" + "ABCD1234EFGH5678",
    "a Google key": "AI" + "za" + "aB3-_" * 7,
    "a Slack token": "xox" + "b-" + "1234567890-abcdefghij",
    "a Stripe key": "sk_" + "live_" + "aB3" * 8,
    "an npm token": "np" + "m_" + "aB3" * 12,
    "a PyPI token": "py" + "pi-" + "aB3-" * 15,
    "a signed token": "ey" + "J" + "a" * 20 + ".ey" + "J" + "b" * 20 + "." + "c" * 30,
    "a password in an address": "postgres://user:" + "hunter22" + "@db.example/x",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_named_and_taken_out(kind: str) -> None:
    text = f"before {SECRETS[kind]} after"
    assert secret.find(text) == kind
    assert SECRETS[kind] not in secret.redacted(text)
    assert secret.redacted(text).startswith("before [")
    assert secret.find(secret.redacted(text)) is None


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/owner/name",
        "https://user@example.com/x",
        "postgres://user:$PASSWORD@db/x",
        "http://localhost:8080/a@b",
        "the prefix ghp_ begins a token",
        "-----BEGIN PUBLIC KEY-----",
        "risk-antagonistic-behaviour-is-what-this-long-name-is-about-really",
        "sha256:" + "0123456789abcdef" * 4,
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert secret.find(text) is None
    assert secret.redacted(text) == text


@pytest.mark.parametrize("path", [".env", "app/.env.local", "id_ed25519", "a/b.p12", ".NETRC"])
def test_files_that_usually_hold_secrets_are_known(path: str) -> None:
    assert secret.is_made_for_secrets(path)


@pytest.mark.parametrize(
    "path", [".env.example", "env.py", "id_rsa.pub", "docs/.env.md/x", "a.key"]
)
def test_other_files_are_not(path: str) -> None:
    assert not secret.is_made_for_secrets(path)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Use password: Tr0ub4dor&3-horse for it", "Tr0u…(17 characters)"),
        ("The API key is 9f8a7b6c5d4e3f2a1b0c", "9f8a…(20 characters)"),
        ("token='abc123def456ghi789'", "abc1…(18 characters)"),
        ("ghp_" + "a1" * 20, "ghp_…(44 characters)"),
    ],
)
def test_a_note_may_not_hold_a_secret_and_the_finding_is_masked(text: str, masked: str) -> None:
    with pytest.raises(UsageError) as caught:
        secret.refuse_in_note(text)
    assert f": {masked}. Notes are shared" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "Passwords are hashed with argon2id and 64 MiB of memory",
        "The token is in vault/kv2/ci-deploy-2024 and never elsewhere",
        "Secrets live in Vault; the password is read from config2/production.yaml",
        "token: $GITHUB_TOKEN_FROM_STEP_2",
        "The secret key rotates every 30 days",
        "Use the API key header X-Api-Key-2",
    ],
)
def test_a_note_may_say_where_a_secret_is_kept(text: str) -> None:
    secret.refuse_in_note(text)
