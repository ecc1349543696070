"""Which settings count: those that a person agreed to, and those that can do no harm."""

import pytest

from ghp_agents.settings import consent
from ghp_agents.settings.consent import KEYS, Agreement, digest, judged
from ghp_agents.settings.schema import AgentsConfig, UpstreamConfig

AGREED = Agreement({"checks": frozenset({digest(("make test",))})})


def test_every_key_that_needs_consent_is_a_setting() -> None:
    fields = {**AgentsConfig.model_fields, **UpstreamConfig.model_fields}
    assert KEYS.keys() <= fields.keys()


def test_a_value_counts_if_exactly_that_value_was_agreed_to() -> None:
    assert judged({"checks": ("make test",)}, AGREED) == ({"checks": ("make test",)}, {})
    assert judged({"checks": ["make test"]}, AGREED).open == {}
    for other in (("make test", "sh"), ("make test ",), ("make", "test")):
        assert judged({"checks": other}, AGREED) == ({}, {"checks": other})
    assert judged({"worktree_path": "make test"}, AGREED).kept == {}


def test_what_only_forbids_or_says_nothing_counts_at_once() -> None:
    values = {
        "shared": ("*.lock",),
        "shared_owners": ("@core",),
        "checks": (),
        "worktree_copy_files": (".env", ".env.local"),
        "throttle": 3,
    }
    assert judged(values, Agreement()) == ({k: values[k] for k in KEYS if k in values}, {})


def test_of_a_trusted_owner_everything_counts() -> None:
    values = {"checks": ("sh",), "orchestrators": ("lead",)}
    assert judged(values, Agreement(), is_owners=True) == (values, {})


def test_a_repository_in_a_repositorys_file_is_only_proposed() -> None:
    values = {"github": {"repository": "a/b", "host": "ghe.example.com"}}
    kept = judged(values, Agreement(), is_owners=True).kept
    assert kept == {"github": {"proposed": "a/b", "host": "ghe.example.com"}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("npm ci", "`npm ci`"),
        (("a", "b"), "`a`, `b`"),
        ({"host": "x", "api": "y"}, "api: `y`, host: `x`"),
        ("a\nb\x1b[31m", "`a b [31m`"),
        ("x" * 500, "`" + "x" * 198 + "…"),
    ],
)
def test_a_value_is_shown_on_one_bounded_line(value: object, text: str) -> None:
    assert consent.shown(value) == text
