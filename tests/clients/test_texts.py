"""What our hooks add to what the model of each client reads, as `bench clients` measures it."""

from pathlib import Path

import pytest

from bench.clients import session, texts
from tests.clients.steps import OTHER, run, set_up
from tests.support import repos
from tests.support.clients import Bench

pytestmark = pytest.mark.slow

START = 150  # tokens in a quiet repository
REFUSAL = 120
CALLS = 6  # two of each kind


@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode"])
def test_a_start_is_short_a_quiet_call_is_silent_and_a_refusal_is_short(
    bench: Bench, templates: repos.Templates, repo: Path, client: str
) -> None:
    plain = repos.copy_alone(templates, repo.with_name("none"))  # a path of the same length
    set_up(bench, repo, client)
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    if client == "codex":
        bench.trust_project(plain)
    off = session(bench, client, plain, "off0", CALLS)
    on = session(bench, client, repo, "on-0", CALLS)
    start, quiet, refusal = texts(client, off, on)
    assert 0 < start.measured <= START
    assert quiet.measured == 0
    assert 0 < refusal.measured <= REFUSAL
