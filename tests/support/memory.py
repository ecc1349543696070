"""Whether what finds notes by their meaning is installed here; tests without it say so."""

import pytest

from ghp_agents.notes.search.select import has_mem0, has_model

needs_mem0 = pytest.mark.skipif(
    not has_mem0(), reason="the extra `recall` is not installed: this environment has the core"
)
needs_model = pytest.mark.skipif(
    not (has_mem0() and has_model()),
    reason="the local model is not installed: `make test` in a checkout installs it",
)
