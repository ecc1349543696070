"""mem0 as it is set up here: our own parts by default, any part of mem0's by configuration.

Before it is imported, its telemetry is turned off and its folder named: it writes there at import,
and with telemetry on it opens connections and may delay the end of the process by a minute.
"""

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core.ids import digest
from ghp_agents.notes.search import hashed, minilm
from ghp_agents.notes.search.embedder import HashedWords, LocalModel
from ghp_agents.notes.search.result import Engine, Engines

SCHEMA = "1"  # another one for another kind of content: vectors and payloads are never mixed
LLM_TIMEOUT = 30.0  # seconds; mem0's own is ten minutes
OUR_MODEL, OUR_HASHES, NO_LLM = "ghp-model", "ghp-hashed", "ghp-none"
STORE = "qdrant"  # the folder of the local store in the folder of an index
_HERE = "ghp_agents.notes.search"


class NoLlm:
    """In the place of a language model where none is needed: mem0 wants to have one."""

    def __init__(self, config: Any) -> None:
        self.config = config


def prepare(folder: Path) -> None:
    """Import mem0 in quiet, with its own folder in `folder`; nothing leaves this machine."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder / "mem0")
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more are slower, for such short texts
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    from mem0.memory import main, telemetry

    for module in (main, telemetry):  # a program that uses our API may have imported it before
        module.MEM0_TELEMETRY = False


def fingerprint(engines: Engines, *, hashes: bool) -> str:
    """What makes vectors comparable: which embedder made them, and how they are kept."""
    if engines.embedder is None:
        return f"{HashedWords.NAME if hashes else LocalModel.NAME}-{SCHEMA}"
    said = {key: value for key, value in engines.embedder.config.items() if "key" not in key}
    made = digest(engines.embedder.provider, repr(sorted(said.items())), SCHEMA, length=8)
    return f"{engines.embedder.provider}-{made}"


def open_memory(folder: Path, scope: str, engines: Engines, *, hashes: bool) -> Any:
    """mem0's `Memory`, set up; what of it is local lies in `folder`."""
    from mem0 import Memory
    from mem0.configs.base import MemoryConfig
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    EmbedderFactory.provider_to_class[OUR_MODEL] = f"{_HERE}.embedder.LocalModel"
    EmbedderFactory.provider_to_class[OUR_HASHES] = f"{_HERE}.embedder.HashedWords"
    LlmFactory.register_provider(NO_LLM, f"{_HERE}.mem0_config.NoLlm")
    mark = fingerprint(engines, hashes=hashes)
    embedder = _embedder(engines.embedder, hashes=hashes)
    config = MemoryConfig.model_construct(
        embedder=embedder,
        vector_store=_store(engines.store, folder, _collection(scope, mark), _size(embedder)),
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

    if chosen is not None:
        return EmbedderConfig(provider=chosen.provider, config=dict(chosen.config))
    size = hashed.DIMENSIONS if hashes else minilm.DIMENSIONS
    # Not by its constructor, which knows mem0's own providers only.
    return EmbedderConfig.model_construct(
        provider=OUR_HASHES if hashes else OUR_MODEL, config={"embedding_dims": size}
    )


def _size(embedder: Any) -> int:
    """How long the vectors are: as the configuration says, else as one of them is."""
    from mem0.utils.factory import EmbedderFactory

    said = embedder.config.get("embedding_dims")
    if isinstance(said, int):
        return said
    made = EmbedderFactory.create(embedder.provider, embedder.config, None)
    return len(made.embed("How long is this?", "add"))


def _collection(scope: str, mark: str) -> str:
    return f"ghp_{scope}_{mark}".replace("-", "_").replace(".", "_")


def _store(chosen: Engine | None, folder: Path, collection: str, size: int) -> Any:
    from mem0.vector_stores.configs import VectorStoreConfig

    if chosen is None:
        ours = {"path": str(folder / STORE), "on_disk": True}
        chosen = Engine("qdrant", ours)
    said = {"collection_name": collection, "embedding_model_dims": size} | dict(chosen.config)
    return VectorStoreConfig(provider=chosen.provider, config=_known(chosen.provider, said))


def _known(provider: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """Not every store of mem0's asks for the length of vectors: what it does not know is left
    out, unless the configuration names it, which is then mem0's to refuse."""
    from importlib import import_module

    from mem0.vector_stores.configs import VectorStoreConfig

    default = getattr(VectorStoreConfig, "_provider_configs", None)
    classes = getattr(default, "default", default) or {}
    name = classes.get(provider)
    if name is None:
        return dict(said)  # unknown to mem0 as well, which says so
    module = import_module(f"mem0.configs.vector_stores.{provider}")
    fields = getattr(module, name).model_fields
    return {key: v for key, v in said.items() if key != "embedding_model_dims" or key in fields}


def _llm(chosen: Engine | None) -> Any:
    from mem0.llms.configs import LlmConfig

    if chosen is None:
        return LlmConfig.model_construct(provider=NO_LLM, config={})
    if chosen.provider == "openai" and chosen.config.get("openai_base_url"):
        # With this variable mem0 ignores the configured address and sends everything elsewhere.
        os.environ.pop("OPENROUTER_API_KEY", None)
    return LlmConfig(provider=chosen.provider, config=dict(chosen.config))
