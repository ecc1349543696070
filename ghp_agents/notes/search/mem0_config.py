"""Set up mem0: our own parts by default, any of mem0's by configuration.

Before the import, its telemetry is turned off and its folder is set, because it writes there at
import. With telemetry it opens connections and may delay the process's end by a minute.
"""

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core.ids import digest
from ghp_agents.notes.search import hashed
from ghp_agents.notes.search.embedder import HashedWords
from ghp_agents.notes.search.result import Engine, Engines

SCHEMA = "1"  # changes with the kind of content: vectors and payloads never mix
LLM_TIMEOUT = 30.0  # seconds; mem0's own is ten minutes
OUR_MODEL, OUR_HASHES, NO_LLM = "ghp-model", "ghp-hashed", "ghp-none"
STORE = "qdrant"  # the folder of the local store in the folder of an index
_HERE = "ghp_agents.notes.search"


class NoLlm:
    """A placeholder: mem0 requires a language model even where none is needed."""

    def __init__(self, config: Any) -> None:
        self.config = config


def prepare(folder: Path) -> None:
    """Import mem0 without telemetry and logs, with its own folder in `folder`."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder / "mem0")
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more are slower for such short texts
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    from mem0.memory import main, telemetry

    for module in (main, telemetry):  # a program with our API may have imported it already
        module.MEM0_TELEMETRY = False


def fingerprint(engines: Engines, *, hashes: bool) -> str:
    """Identify what makes vectors comparable: their embedder and how they are stored."""
    if engines.embedder is None:
        from ghp_agents_recall import minilm

        return f"{HashedWords.NAME if hashes else minilm.NAME}-{SCHEMA}"
    config = {key: value for key, value in engines.embedder.config.items() if "key" not in key}
    mark = digest(engines.embedder.provider, repr(sorted(config.items())), SCHEMA, length=8)
    return f"{engines.embedder.provider}-{mark}"


def open_memory(folder: Path, scope: str, engines: Engines, *, hashes: bool) -> Any:
    """Return mem0's `Memory`, configured; its local files are in `folder`."""
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    EmbedderFactory.provider_to_class[OUR_MODEL] = f"{_HERE}.embedder.LocalModel"
    EmbedderFactory.provider_to_class[OUR_HASHES] = f"{_HERE}.embedder.HashedWords"
    LlmFactory.register_provider(NO_LLM, f"{_HERE}.mem0_config.NoLlm")
    mark = fingerprint(engines, hashes=hashes)
    collection = f"ghp_{scope}_{mark}".replace("-", "_").replace(".", "_")
    embedder = _embedder(engines.embedder, hashes=hashes)
    config = MemoryConfig.model_construct(
        embedder=embedder,
        vector_store=_store(engines.store, folder, collection, _size(embedder)),
        llm=_llm(engines.llm),
        history_db_path=":memory:",  # git is the history; this one would keep forgotten texts
        reranker=None,
        version="v1.1",
        custom_instructions=None,
    )
    memory = Memory(config)
    client = getattr(memory.llm, "client", None)
    if client is not None and hasattr(client, "with_options"):
        memory.llm.client = client.with_options(timeout=LLM_TIMEOUT, max_retries=1)
    return memory


def _embedder(chosen: Engine | None, *, hashes: bool) -> Any:
    from mem0.embeddings.configs import EmbedderConfig

    from ghp_agents_recall import minilm

    if chosen is not None:
        return EmbedderConfig(provider=chosen.provider, config=dict(chosen.config))
    size = hashed.DIMENSIONS if hashes else minilm.DIMENSIONS
    # Not its constructor: that accepts only mem0's own providers.
    return EmbedderConfig.model_construct(
        provider=OUR_HASHES if hashes else OUR_MODEL, config={"embedding_dims": size}
    )


def _size(embedder: Any) -> int:
    """Return the vectors' length: from the configuration, else measured on one."""
    from mem0.utils.factory import EmbedderFactory

    configured = embedder.config.get("embedding_dims")
    if isinstance(configured, int):
        return configured
    model = EmbedderFactory.create(embedder.provider, embedder.config, None)
    return len(model.embed("How long is this?", "add"))


def _store(chosen: Engine | None, folder: Path, collection: str, size: int) -> Any:
    from mem0.vector_stores.configs import VectorStoreConfig

    if chosen is None:
        chosen = Engine("qdrant", {"path": str(folder / STORE), "on_disk": True})
    config = {"collection_name": collection, "embedding_model_dims": size} | dict(chosen.config)
    return VectorStoreConfig(provider=chosen.provider, config=_supported(chosen.provider, config))


def _supported(provider: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the vectors' length if the store does not support it: not every store of mem0's
    does. Other options stay; mem0 itself refuses unknown ones."""
    from importlib import import_module

    from mem0.vector_stores.configs import VectorStoreConfig

    default = getattr(VectorStoreConfig, "_provider_configs", None)
    classes = getattr(default, "default", default) or {}
    name = classes.get(provider)
    if name is None:
        return dict(config)  # mem0 refuses an unknown provider itself
    module = import_module(f"mem0.configs.vector_stores.{provider}")
    fields = getattr(module, name).model_fields
    return {key: v for key, v in config.items() if key != "embedding_model_dims" or key in fields}


def _llm(chosen: Engine | None) -> Any:
    from mem0.llms.configs import LlmConfig

    if chosen is None:
        return LlmConfig.model_construct(provider=NO_LLM, config={})
    if chosen.provider == "openai" and chosen.config.get("openai_base_url"):
        # With this variable mem0 ignores the configured address and sends everything elsewhere.
        os.environ.pop("OPENROUTER_API_KEY", None)
    return LlmConfig(provider=chosen.provider, config=dict(chosen.config))
