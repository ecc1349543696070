"""OpenCode's packages for plugins: where they are there, or npm does not retry, starts are fast."""

import os
from pathlib import Path

from ghp_agents.integrations.clients import opencode_packages
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.ghp import invoke


def test_packages_or_a_setting_of_npm_make_a_start_without_a_network_fast(
    repo: Path, home: Path
) -> None:
    def are_here(**environ: str) -> bool:
        ws = open_workspace(repo, {**os.environ, **environ}, ManualClock())
        return opencode_packages.are_here(ws)

    assert invoke("agent-init --hooks opencode", repo).code == 0
    assert not are_here()
    assert are_here(npm_config_fetch_retries="0")
    (home / ".npmrc").write_text("color=false\nfetch-retries = 0\n")
    assert are_here()
    (home / ".npmrc").write_bytes(b"\xff")
    assert not are_here()
    (repo / ".opencode/node_modules/@opencode-ai/plugin").mkdir(parents=True)
    assert are_here()
