"""Which embedder there is, as mem0 asks for it."""

import math
from pathlib import Path

import pytest

from ghp_agents.notes.search import embedder, minilm
from ghp_agents.notes.search.embedder import MODEL, HashedWords, LocalModel, model_folder
from tests.support.house import CHECKOUT
from tests.support.memory import needs_model


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_make_installs_the_very_model_that_the_doctor_names() -> None:
    (line,) = (CHECKOUT / "ghp_agents/notes/search/model.txt").read_text().splitlines()
    assert line.split()[0] == MODEL
    assert line.split()[1].startswith("--hash=sha256:")


@needs_model
def test_the_models_folder_has_what_is_read_of_it() -> None:
    folder = model_folder()
    assert folder is not None
    assert (folder / minilm.WEIGHTS).stat().st_size > 80_000_000


def test_a_package_that_is_not_there_or_not_whole_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "MODEL_PACKAGE", "no_such_package_of_weights")
    assert model_folder() is None
    (tmp_path / "half_a_model/model").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(embedder, "MODEL_PACKAGE", "half_a_model")
    assert model_folder() is None


def test_both_embedders_answer_what_mem0_asks() -> None:
    hashes = HashedWords(None)
    assert hashes.embed_batch(["One", "Two"]) == [hashes.embed("One"), hashes.embed("Two", "add")]


@needs_model
def test_the_local_one_does_as_well() -> None:
    local = LocalModel(None)
    assert local.embed_batch(["One", "Two"]) == [local.embed("One"), local.embed("Two", "add")]


@needs_model
def test_a_question_is_looked_for_in_other_words_as_well() -> None:
    local, question, note = LocalModel(None), "Who may sign off?", "CODEOWNERS approve each merge."
    vectors = {action: local.embed(question, action) for action in ("search", "add")}
    assert math.isclose(math.hypot(*vectors["search"]), 1.0, abs_tol=1e-6)
    near = {action: dot(vector, local.embed(note)) for action, vector in vectors.items()}
    assert near["search"] > near["add"] + 0.05


@needs_model
def test_a_question_without_other_words_is_what_it_is() -> None:
    assert LocalModel(None).embed("xyzzy?", "search") == LocalModel(None).embed("xyzzy?")
