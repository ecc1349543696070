"""Which sandbox the settings give to the runs of a card."""

import os
from pathlib import Path

import pytest

from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.manifest import Permission
from ghp_agents.core.errors import RefusedError
from ghp_agents.runs import runners
from ghp_agents.runs.boxes import choice
from ghp_agents.wiring import App
from tests.support.consent import mine
from tests.support.fake_container import IMAGE, FakeContainers


@pytest.mark.parametrize(
    ("rights", "network"),
    [
        (None, "closed"),
        ((Permission("bash", ("make",)),), "closed"),
        ((Permission("network", ("example.org",)),), "closed"),
        ((Permission("network", ("*",)),), ""),
        ((Permission("network", ()),), ""),
    ],
)
def test_the_card_decides_which_network(
    repo: Path, tmp_path: Path, rights: tuple[Permission, ...] | None, network: str
) -> None:
    fakes = FakeContainers(tmp_path / "bin", tmp_path)
    fakes.install("podman")
    mine({"agents": {"runs": {"sandbox": "podman", "image": IMAGE, "network": "closed"}}})
    box = choice.of(
        App(repo, {**os.environ, "PATH": f"{fakes.programs}:{os.environ['PATH']}"}).ws,
        AgentCard("night", permissions=rights),
    )
    assert not isinstance(box, bool)
    assert box.network == network


def test_a_client_of_a_service_outside_is_refused() -> None:
    with pytest.raises(RefusedError, match="claude-bg cannot run in a container"):
        choice.check_runner(runners.find("claude-bg"))
