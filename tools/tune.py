"""`python -m tools.tune`: make the local model's tuning from the pairs in tools/tuning/.

The local model is taught that a note and what is asked about it belong together though they share
no word: contrastive learning of low-rank changes to its weights (LoRA, arXiv:2106.09685), each
question against all notes of its batch and the reverse (InfoNCE, arXiv:1807.03748). Half of the
batches are of notes that are near to each other, so that telling neighbours apart is learnt, too.
Some notes are kept out and say what was learnt. Takes ten minutes on two cores, the extra `memory`
and `pip install "jax[cpu]" optax`, which nothing else here needs.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from ghp_agents.knowledge.embedder import model_folder
from ghp_agents.knowledge.minilm import DOWN, TOKENIZER, TUNING, UP, WEIGHTS
from tools import pairs as material
from tools.pairs import Pair

RANK, RATE, EPOCHS, BATCH = 8, 1e-3, 1, 64
SHARPNESS = 20.0  # of the softmax over cosines, as the model itself was trained
OF_NOTES = 0.3  # of the loss: a note against all questions
LONG, SHORT = 64, 22  # tokens of a note and of a question
HEADS, WIDTH = 12, 384

Arrays = dict[str, Any]


class Tuner:
    """The model, what is learnt of it, and texts as its tokens."""

    def __init__(self, folder: Path) -> None:
        self.weights = {
            name: jnp.array(value)
            for name, value in load_file(folder / WEIGHTS).items()
            if value.dtype == np.float32
        }
        self.tuned = [
            name
            for name, value in self.weights.items()
            if name.startswith("encoder.layer.") and value.ndim == 2
        ]
        self._tokens: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokens.no_padding()
        self._embed = jax.jit(lambda learnt, *text: forward(self.with_all(learnt), *text))

    def begin(self) -> Arrays:
        """Low-rank changes that change nothing yet."""
        chance = np.random.default_rng(0)
        learnt: Arrays = {}
        for name in self.tuned:
            rows, columns = self.weights[name].shape
            down = chance.normal(0, columns**-0.5, (RANK, columns))
            learnt[name + DOWN] = jnp.array(down, jnp.float32)
            learnt[name + UP] = jnp.zeros((rows, RANK), jnp.float32)
        return learnt

    def with_all(self, learnt: Mapping[str, Any]) -> Arrays:
        """The weights with what was learnt."""
        changed = {
            name: self.weights[name] + learnt[name + UP] @ learnt[name + DOWN]
            for name in self.tuned
        }
        return {**self.weights, **changed}

    def read(self, texts: Sequence[str], length: int) -> tuple[Any, Any]:
        """The ids of tokens, and which of them count."""
        ids = np.zeros((len(texts), length), np.int32)
        for row, text in enumerate(texts):
            found = self._tokens.encode(text).ids[:length]
            ids[row, : len(found)] = found
        return ids, (ids != 0).astype(np.float32)

    def embed(self, learnt: Mapping[str, Any], texts: Sequence[str], length: int) -> Any:
        """Vectors of length 1."""
        made: list[Any] = []
        for start in range(0, len(texts), BATCH):
            some = texts[start : start + BATCH]
            filled = [*some, *["-"] * (BATCH - len(some))]  # of one shape, which is compiled once
            made.append(np.array(self._embed(learnt, *self.read(filled, length)))[: len(some)])
        return np.concatenate(made)


def forward(weights: Mapping[str, Any], ids: Any, counts: Any) -> Any:
    """The model: `MiniLM` of ghp_agents/knowledge/minilm.py for many texts, with derivatives."""

    def dense(name: str, states: Any) -> Any:
        return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def normal(name: str, states: Any) -> Any:
        centred = states - states.mean(-1, keepdims=True)
        spread = jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(name: str, states: Any) -> Any:
        made = dense(name, states).reshape(*ids.shape, HEADS, WIDTH // HEADS)
        return made.transpose(0, 2, 1, 3)

    states = weights["embeddings.word_embeddings.weight"][ids]
    states += weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    states = normal(
        "embeddings.LayerNorm", states + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = (1 - counts)[:, None, None, :] * -1e9
    for number in range(6):
        layer = f"encoder.layer.{number}."
        query, key, value = (
            heads(f"{layer}attention.self.{part}", states) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / (WIDTH // HEADS) ** 0.5 + hidden
        heard = (jax.nn.softmax(scores, -1) @ value).transpose(0, 2, 1, 3)
        heard = dense(f"{layer}attention.output.dense", heard.reshape(states.shape))
        states = normal(f"{layer}attention.output.LayerNorm", heard + states)
        inner = jax.nn.gelu(dense(f"{layer}intermediate.dense", states), approximate=False)
        outer = dense(f"{layer}output.dense", inner)
        states = normal(f"{layer}output.LayerNorm", outer + states)
    mean = (states * counts[..., None]).sum(1) / counts.sum(1, keepdims=True)
    return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)


def loss(
    tuner: Tuner, learnt: Mapping[str, Any], questions: tuple[Any, Any], notes: tuple[Any, Any]
) -> Any:
    """How badly each question tells its note from the others of the batch, and the reverse."""
    weights = tuner.with_all(learnt)
    scores = forward(weights, *questions) @ forward(weights, *notes).T * SHARPNESS
    right = jnp.arange(len(scores))
    by_question, by_note = (
        optax.softmax_cross_entropy_with_integer_labels(each, right).mean()
        for each in (scores, scores.T)
    )
    return (1 - OF_NOTES) * by_question + OF_NOTES * by_note


# ------------------------------------------------------------------------------------- learning


def batches(pairs: Sequence[Pair], vectors: Any, chance: random.Random) -> list[list[int]]:
    """The pairs in batches, half of them of neighbours; who is left over has no part."""
    left = set(range(len(pairs)))
    made: list[list[int]] = []
    while len(left) >= BATCH:
        some = sorted(left)
        if chance.random() < 0.5:
            near = vectors[some] @ vectors[chance.choice(some)]
            batch = [some[place] for place in np.argsort(-near)[:BATCH]]
        else:
            batch = chance.sample(some, BATCH)
        left.difference_update(batch)
        made.append(batch)
    return made


def epoch(
    pairs: Sequence[Pair], vectors: Any, chance: random.Random
) -> Iterator[tuple[list[str], list[str]]]:
    """All questions once, with their notes."""
    asked = [chance.sample([*pair.near, *pair.far], len([*pair.near, *pair.far])) for pair in pairs]
    rounds = [(number, batch) for number in range(3) for batch in batches(pairs, vectors, chance)]
    chance.shuffle(rounds)
    for number, batch in rounds:
        yield [asked[each][number] for each in batch], [pairs[each].note for each in batch]


def learn(tuner: Tuner, pairs: Sequence[Pair], say: Callable[[Arrays], None]) -> Arrays:
    """What is learnt from the pairs; told after each epoch."""
    chance, learnt = random.Random(0), tuner.begin()
    steps = EPOCHS * 3 * len(pairs) // BATCH
    rates = optax.warmup_cosine_decay_schedule(0, RATE, steps // 10, steps)
    optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rates, weight_decay=0.01))
    state = optimiser.init(learnt)

    def step(learnt: Any, state: Any, questions: Any, notes: Any) -> Any:
        slopes = jax.grad(lambda each: loss(tuner, each, questions, notes))(learnt)
        updates, state = optimiser.update(slopes, state, learnt)
        return optax.apply_updates(learnt, updates), state

    step = jax.jit(step)
    for _ in range(EPOCHS):
        vectors = tuner.embed(learnt, [pair.note for pair in pairs], LONG)
        for questions, notes in epoch(pairs, vectors, chance):
            told = tuner.read(questions, SHORT), tuner.read(notes, LONG)
            learnt, state = step(learnt, state, *told)
        say(learnt)
    return learnt


def report(tuner: Tuner, learnt: Mapping[str, Any], pairs: Sequence[Pair]) -> str:
    """How many questions find their note among all of `pairs` at the first place."""
    notes = tuner.embed(learnt, [pair.note for pair in pairs], LONG)
    shares: list[str] = []
    for kind in ("near", "far"):
        asked = [(text, at) for at, pair in enumerate(pairs) for text in getattr(pair, kind)]
        scores = tuner.embed(learnt, [text for text, _ in asked], SHORT) @ notes.T
        firsts = [scores[row].argmax() == at for row, (_, at) in enumerate(asked)]
        shares.append(f"{kind} {sum(firsts) / len(firsts):.3f}")
    return f"recall@1 among {len(pairs)} notes that nothing was learnt from: {', '.join(shares)}"


def main() -> None:
    """Learn, say what was learnt, write it."""
    folder = model_folder()
    if folder is None:
        sys.exit("The local model is not installed: run `make test` once.")
    taught, kept_out = material.read()
    tuner = Tuner(folder)
    print("before:", report(tuner, tuner.begin(), kept_out), flush=True)
    learnt = learn(
        tuner, taught, lambda now: print("epoch:", report(tuner, now, kept_out), flush=True)
    )
    out = Path(sys.argv[1]) if sys.argv[1:] else TUNING
    save_file({name: np.array(value, np.float16) for name, value in learnt.items()}, out)
    print(f"written: {out}")


if __name__ == "__main__":
    main()
