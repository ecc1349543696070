"""mem0's set-up: quiet, and by configuration."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ghp_agents.notes.search import mem0_config as engines
from ghp_agents.notes.search.mem0_config import fingerprint, prepare
from ghp_agents.notes.search.result import Engine, Engines
from tests.support.memory import needs_mem0


@pytest.fixture
def mem0(tmp_path: Path) -> None:
    """mem0, imported as the program does."""
    prepare(tmp_path)


@pytest.mark.slow
@needs_mem0
@pytest.mark.parametrize("before", ["", "import mem0; "])
def test_telemetry_is_off_whatever_the_environment_says(tmp_path: Path, before: str) -> None:
    code = (
        f"{before}import os; from pathlib import Path;"
        "from ghp_agents.notes.search import mem0_config as engines;"
        "engines.prepare(Path('index')); from mem0.memory import main, telemetry;"
        "print(main.MEM0_TELEMETRY, telemetry.MEM0_TELEMETRY, os.environ['MEM0_DIR'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "MEM0_TELEMETRY": "True", "MEM0_DIR": "elsewhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False False index/mem0\n"


def test_vectors_of_different_embedders_are_never_in_one_place() -> None:
    far = [Engines(embedder=Engine("openai", {"model": model})) for model in ("a", "b")]
    marks = {
        fingerprint(Engines(), hashes=False), fingerprint(Engines(), hashes=True),
        *(fingerprint(config, hashes=False) for config in far),
    }  # fmt: skip
    assert len(marks) == 4


def test_another_key_is_the_same_embedder() -> None:
    one, other = (
        Engines(embedder=Engine("openai", {"model": "a", "api_key": key})) for key in ("x", "y")
    )
    assert fingerprint(one, hashes=False) == fingerprint(other, hashes=False)


@needs_mem0
@pytest.mark.usefixtures("mem0")
def test_a_store_is_told_the_length_of_vectors_only_where_it_asks() -> None:
    options = {"collection_name": "c", "embedding_model_dims": 3}
    assert engines._supported("qdrant", options) == options
    assert engines._supported("vertex_ai_vector_search", options) == {"collection_name": "c"}
    assert engines._supported("pgvector", options) == options


@needs_mem0
@pytest.mark.usefixtures("mem0")
@pytest.mark.parametrize("provider", ["ollama", "openai", "lmstudio", "anthropic", "vllm"])
def test_language_models_are_mem0s_own_by_their_names(provider: str) -> None:
    config = engines._llm(Engine(provider, {"model": "m"}))
    assert (config.provider, config.config) == (provider, {"model": "m"})
