"""What agents can do."""

import pytest

from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import AgentName
from ghp_agents.presence import capabilities
from tests.support.claimants import Claimant

ME = AgentName("worker-1")


def declare(one: Claimant, *words: str) -> tuple[str, ...]:
    return capabilities.declare(one.ws, one.store, ME, words)


def test_an_agent_declares_one_capability_after_another_and_forgets_all(one: Claimant) -> None:
    assert declare(one, "Rust") == ("rust",)
    assert declare(one, "gpu", "rust") == ("rust", "gpu")
    assert one.presence["capabilities"] == ["rust", "gpu"]
    assert capabilities.of(one.ws, "worker-1", one.presence) == ("rust", "gpu")
    assert declare(one, "none", "docs") == ("docs",)
    assert declare(one, "none") == ()


def test_a_new_session_keeps_what_the_agent_declared(one: Claimant) -> None:
    declare(one, "gpu")
    one.beat(status="stopped")
    one.beat(status="idle")
    assert capabilities.of(one.ws, "worker-1", one.presence) == ("gpu",)


def test_what_the_settings_list_counts_and_is_not_changed(one: Claimant) -> None:
    (one.ws.root / ".ghp").mkdir(exist_ok=True)
    (one.ws.root / ".ghp/config.json").write_text(
        '{"agents": {"capabilities": {"worker-1": ["rust"]}}}'
    )
    same = Claimant(one.ws.root, "worker-1", one.clock)
    assert capabilities.of(same.ws, "worker-1", {"capabilities": ["gpu"]}) == ("rust",)
    with pytest.raises(RefusedError) as caught:
        declare(same, "gpu")
    assert str(caught.value) == "The setting agents.capabilities.worker-1 says what it can do."


def test_a_capability_is_one_plain_word(one: Claimant) -> None:
    with pytest.raises(UsageError) as caught:
        declare(one, "two words")
    assert str(caught.value) == "'two words' is not a capability."


def test_what_another_clone_wrote_is_read_with_care(one: Claimant) -> None:
    assert capabilities.of(one.ws, "x", {"capabilities": "all"}) == ()
    assert capabilities.of(one.ws, "x", {"capabilities": [1, "gpu"]}) == ("gpu",)
    assert capabilities.of(one.ws, "x", None) == ()
