"""The local model in numpy gives the vectors that the model is known for, and has learnt more."""

import hashlib
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ghp_agents_recall import minilm
from ghp_agents_recall.minilm import (
    NAME,
    PIN,
    ROWS,
    SIZES,
    STEPS,
    TUNING,
    WORDS,
    MiniLM,
    load_model,
    model_folder,
    read_changes,
)
from tests.support.memory import needs_model
from tests.support.thorough import some
from tools import pairs
from tools.pairs import Pair

NOTE = "Card data is tokenised by the payment provider; our servers never see a PAN."


def test_the_model_is_named_by_its_version_and_digest() -> None:
    (line,) = PIN.read_text().splitlines()
    package = minilm.MODEL_PACKAGE.replace("_", "-")
    assert re.fullmatch(rf"{package}==[\d.]+ --hash=sha256:[0-9a-f]{{64}}", line)


@needs_model
def test_the_models_folder_has_what_is_read_of_it() -> None:
    folder = model_folder()
    assert folder is not None
    assert (folder / minilm.WEIGHTS).stat().st_size > 80_000_000


def test_a_package_that_is_not_there_or_not_whole_is_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "MODEL_PACKAGE", "no_such_package_of_weights")
    assert model_folder() is None
    (tmp_path / "half_a_model/model").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(minilm, "MODEL_PACKAGE", "half_a_model")
    assert model_folder() is None


def untuned() -> MiniLM:
    folder = model_folder()
    assert folder is not None
    return MiniLM(folder, tuning=None)


def cosine(model: MiniLM, one: str, other: str) -> float:
    first, second = model.embed([one, other])
    return sum(a * b for a, b in zip(first, second, strict=True))


@pytest.mark.slow
@needs_model
def test_vectors_have_length_1_and_384_numbers_whatever_the_text() -> None:
    for text in ("A migration", "", "?", "日本語 🙂 \x00", "word " * 2000):
        (vector,) = load_model().embed([text])
        assert len(vector) == 384
        assert math.isclose(math.sqrt(sum(value * value for value in vector)), 1.0, abs_tol=1e-5)


@pytest.mark.slow
@needs_model
def test_the_similarities_are_those_that_the_models_authors_give() -> None:
    # From the model card's own example, as sentence-transformers computes them.
    weather, sunny, stadium = (
        "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.",
    )  # fmt: skip
    model = untuned()
    assert math.isclose(cosine(model, weather, sunny), 0.6660, abs_tol=1e-4)
    assert math.isclose(cosine(model, weather, stadium), 0.1046, abs_tol=1e-4)
    assert math.isclose(cosine(model, sunny, stadium), 0.1411, abs_tol=1e-4)


@pytest.mark.slow
@needs_model
def test_the_same_text_has_the_same_vector_alone_and_among_others() -> None:
    alone = load_model().embed(["Port 80"])[0]
    assert load_model().embed(["x" * 500, "Port 80", ""])[1] == alone


@pytest.mark.slow  # eight hundred texts or some of them, twice
@pytest.mark.long
@needs_model
def test_notes_are_found_better_by_what_was_learnt_from_others() -> None:
    kept_out = some(pairs.read()[1], every=12)
    before, after = (found_first(model, kept_out) for model in (untuned(), load_model()))
    assert after > before * 1.2


def found_first(model: MiniLM, pairs: Sequence[Pair]) -> int:
    """How many questions without a word of their note find it before all other notes."""
    import numpy

    notes = numpy.array(model.embed([pair.note for pair in pairs]))
    questions = numpy.array(model.embed([text for pair in pairs for text in pair.far]))
    found = (questions @ notes.T).argmax(axis=1).tolist()
    return sum(best == place // 2 for place, best in enumerate(found))


@pytest.mark.slow
@needs_model
def test_what_was_learnt_is_added_to_the_weights_in_steps_of_four_bits(tmp_path: Path) -> None:
    import numpy
    from safetensors.numpy import load_file, save_file

    folder = model_folder()
    assert folder is not None
    layer = "encoder.layer.5.output.dense.weight"
    whole = load_file(folder / "model.safetensors")
    rows = numpy.arange(0, 30_000, 2, dtype="int32")
    chance = numpy.random.default_rng(0)
    small: dict[str, Any] = {WORDS + ROWS: rows}
    for name, count, columns in ((layer, 384, 1536), (WORDS, len(rows), 384)):
        steps = chance.integers(0, 16, (count, columns), "uint8")
        sizes = chance.random(count, "float32") / 100
        small |= {name + STEPS: steps[:, ::2] | steps[:, 1::2] << 4, name + SIZES: sizes}
        changed = slice(None) if name == layer else rows
        whole[name][changed] += (steps.astype("float32") - 8) * sizes[:, None]
    save_file(small, tmp_path / "small")
    save_file(whole, tmp_path / "model.safetensors")
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    tuned = MiniLM(folder, tuning=tmp_path / "small").embed([NOTE])[0]
    assert tuned == pytest.approx(MiniLM(tmp_path, tuning=None).embed([NOTE])[0], abs=1e-5)
    assert tuned != pytest.approx(untuned().embed([NOTE])[0], abs=1e-2)


@pytest.mark.slow
@needs_model
def test_the_tuning_changes_every_layer_and_the_words_a_little() -> None:
    import numpy

    heads = [f"attention.self.{part}" for part in ("query", "key", "value")]
    parts = [*heads, "attention.output.dense", "intermediate.dense", "output.dense"]
    layers = [f"encoder.layer.{number}.{part}.weight" for number in range(6) for part in parts]
    changes = read_changes(TUNING)
    words = changes.pop(WORDS)
    assert set(changes) == set(layers)
    assert set(words) < set(range(30_522))
    for change in (*changes.values(), numpy.array(list(words.values()))):
        assert 0 < abs(change).max() < 0.1


def test_vectors_of_another_tuning_are_never_compared_with_ours() -> None:
    mark = hashlib.sha256(TUNING.read_bytes()).hexdigest()[:8]
    assert f"minilm-l6-v2-{mark}" == NAME


@pytest.mark.slow
def test_the_pairs_it_learnt_from_are_whole_and_none_is_there_twice() -> None:
    taught, kept_out = pairs.read()
    both = [*taught, *kept_out]
    assert {(len(pair.near), len(pair.far)) for pair in both} == {(1, 2)}
    assert len({pair.note for pair in both}) == len(both)
