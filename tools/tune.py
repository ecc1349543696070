"""`python -m tools.tune`: fine-tunes the local model with the pairs in tools/tuning/.

The model learns to match a note and a question that share no word: contrastive learning (InfoNCE,
arXiv:1807.03748), each question against all notes of its batch and the reverse. Half of the
batches are of similar notes, as hard negatives. Only the changes of the weights are saved,
quantised to four bits, and of the word embeddings only those that changed most: 7 MB instead of 89,
with the same recall. Some notes are held out for evaluation. Takes twenty minutes on two cores.
Needs the extra `recall` and `pip install torch`, which nothing else here needs.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

try:
    import torch
except ImportError:
    sys.exit("The tuning is learnt with torch, which nothing else here needs: `pip install torch`.")
from safetensors.torch import load_file, save
from tokenizers import Tokenizer
from torch.nn import functional

from ghp_agents_recall.minilm import (
    MIDDLE,
    ROWS,
    SIZES,
    STEPS,
    TOKENIZER,
    TUNING,
    WEIGHTS,
    WORDS,
    model_folder,
    read_changes,
)
from tools import pairs as training_pairs
from tools.pairs import Pair

RATE, BATCH = 1e-4, 64
WARM_UP = 0.1  # share of the steps in which the rate rises; then it falls by a cosine
SHARPNESS = 20.0  # scale of the softmax over cosines, as in the model's training
OF_NOTES = 0.3  # share of the loss: a note against all questions
LONGEST = 72  # tokens
HEADS, WIDTH = 12, 384
CHANGED = 8000  # words whose change is saved
STEP = 0.335  # of the standard deviation: the best of 15 equal steps for a normal distribution

Tensors = dict[str, Any]


class Tuner:
    """The model with trainable weights, and its tokenizer."""

    def __init__(self, folder: Path) -> None:
        self.first: Tensors = {
            name: value
            for name, value in load_file(folder / WEIGHTS).items()
            if value.is_floating_point()
        }
        self.learning: Tensors = {
            name: value.clone().requires_grad_()
            for name, value in self.first.items()
            if name == WORDS or (name.startswith("encoder.layer.") and value.ndim == 2)
        }
        self.weights: Tensors = {**self.first, **self.learning}
        self._tokens: Any = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokens.no_padding()
        self._tokens.enable_truncation(LONGEST)

    def embed(self, texts: Sequence[str]) -> Any:
        """Unit vectors of texts; batches have texts of similar length."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = torch.zeros(len(texts), WIDTH)
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                some = order[start : start + BATCH]
                vectors[some] = self([texts[place] for place in some])
        return vectors

    def __call__(self, texts: Sequence[str]) -> Any:
        """`MiniLM` of recall/ghp_agents_recall/minilm.py for a batch, with gradients."""
        with torch.autocast("cpu", torch.bfloat16):
            return self._forward(*self._read(texts))

    def _read(self, texts: Sequence[str]) -> tuple[Any, Any]:
        """Token ids and the attention mask."""
        found = [torch.tensor(self._tokens.encode(text).ids) for text in texts]
        ids = torch.nn.utils.rnn.pad_sequence(found, batch_first=True)
        return ids, ids != 0

    def _forward(self, ids: Any, counts: Any) -> Any:
        weights = self.weights

        def dense(name: str, states: Any) -> Any:
            return functional.linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])

        def normal(name: str, states: Any) -> Any:
            gain, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
            return functional.layer_norm(states, (WIDTH,), gain, shift, 1e-12)

        def heads(name: str, states: Any) -> Any:
            return dense(name, states).view(*ids.shape, HEADS, WIDTH // HEADS).transpose(1, 2)

        states = functional.embedding(ids, weights[WORDS])
        states = states + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        states = states + weights["embeddings.token_type_embeddings.weight"][0]
        states = normal("embeddings.LayerNorm", states)
        for number in range(6):
            layer = f"encoder.layer.{number}."
            projections = [
                heads(f"{layer}attention.self.{part}", states) for part in ("query", "key", "value")
            ]
            attended = functional.scaled_dot_product_attention(
                *projections, attn_mask=counts[:, None, None, :]
            )
            attended = attended.transpose(1, 2).reshape(*ids.shape, WIDTH)
            attended = dense(f"{layer}attention.output.dense", attended)
            states = normal(f"{layer}attention.output.LayerNorm", attended + states)
            inner = functional.gelu(dense(f"{layer}intermediate.dense", states))
            outer = dense(f"{layer}output.dense", inner)
            states = normal(f"{layer}output.LayerNorm", outer + states)
        shares = counts[..., None] / counts.sum(1)[:, None, None]
        return functional.normalize((states.float() * shares).sum(1), dim=-1)

    def changes(self) -> Tensors:
        """The changes of weights, for `read_changes` of recall/ghp_agents_recall/minilm.py."""
        parts: Tensors = {}
        for name, value in self.learning.items():
            change = value.detach() - self.first[name]
            if name == WORDS:
                rows = change.abs().amax(1).topk(CHANGED).indices.sort().values
                parts[name + ROWS], change = rows.int(), change[rows]
            sizes = change.square().mean(1, keepdim=True).sqrt() * STEP + 1e-12
            steps = ((change / sizes).round().clamp(1 - MIDDLE, MIDDLE - 1) + MIDDLE).byte()
            parts[name + STEPS] = steps[:, ::2] + steps[:, 1::2] * 16
            parts[name + SIZES] = sizes[:, 0].contiguous()
        return parts

    def use(self, tuning: Path) -> None:
        """Use the saved changes from now on."""
        for name, change in read_changes(tuning).items():
            self.weights[name] = self.first[name].clone()
            if name == WORDS:
                for row, some in change.items():
                    self.weights[name][row] += torch.from_numpy(some)
            else:
                self.weights[name] += torch.from_numpy(change)


# ------------------------------------------------------------------------------------- learning


def batches(count: int, vectors: Any, chance: random.Random) -> Iterator[list[int]]:
    """All indexes in batches, half of them of similar notes; a remainder is left out."""
    left = set(range(count))
    while len(left) >= BATCH:
        some = sorted(left)
        if chance.random() < 0.5:
            near = vectors[some] @ vectors[chance.choice(some)]
            batch = [some[place] for place in near.topk(BATCH).indices.tolist()]
        else:
            batch = chance.sample(some, BATCH)
        left.difference_update(batch)
        yield batch


def rounds(
    pairs: Sequence[Pair], vectors: Any, chance: random.Random
) -> list[tuple[list[str], list[str]]]:
    """Batches with each question once, and its note."""
    questions = [chance.sample([*pair.near, *pair.far], 3) for pair in pairs]
    shuffled = [
        ([questions[place][number] for place in batch], [pairs[place].note for place in batch])
        for number in range(3)
        for batch in batches(len(pairs), vectors, chance)
    ]
    chance.shuffle(shuffled)
    return shuffled


def learn(tuner: Tuner, pairs: Sequence[Pair]) -> None:
    """Train for one epoch."""
    training = rounds(pairs, tuner.embed([pair.note for pair in pairs]), random.Random(0))
    learning = list(tuner.learning.values())
    optimiser = torch.optim.AdamW(learning, lr=RATE, weight_decay=0.01)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=len(training), pct_start=WARM_UP, cycle_momentum=False
    )
    for step, (questions, notes) in enumerate(training, 1):
        scores = tuner(questions) @ tuner(notes).T * SHARPNESS
        right = torch.arange(len(scores))
        by_question, by_note = (
            functional.cross_entropy(matrix, right) for matrix in (scores, scores.T)
        )
        loss = (1 - OF_NOTES) * by_question + OF_NOTES * by_note
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimiser.step()
        rates.step()
        if step % 50 == 0:
            say(f"{step} of {len(training)} steps, loss {loss.item():.2f}")


def report(tuner: Tuner, pairs: Sequence[Pair]) -> str:
    """The share of questions that find their note first among all of `pairs`."""
    notes = tuner.embed([pair.note for pair in pairs])
    shares: list[str] = []
    for kind in ("near", "far"):
        questions = [(text, at) for at, pair in enumerate(pairs) for text in getattr(pair, kind)]
        found = (tuner.embed([text for text, _ in questions]) @ notes.T).argmax(1).tolist()
        firsts = [best == at for best, (_, at) in zip(found, questions, strict=True)]
        shares.append(f"{kind} {sum(firsts) / len(firsts):.3f}")
    return f"recall@1 among {len(pairs)} notes that nothing was learnt from: {', '.join(shares)}"


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def main() -> None:
    """Train, evaluate and write the changes."""
    folder = model_folder()
    if folder is None:
        sys.exit("The local model is not installed: run `make test` once.")
    out = Path(sys.argv[1]) if sys.argv[1:] else TUNING
    if out.is_dir() or not out.parent.is_dir():
        sys.exit(f"{out} cannot be written: name a file in a folder that is there.")
    taught, kept_out = training_pairs.read()
    tuner = Tuner(folder)
    say(f"before: {report(tuner, kept_out)}")
    learn(tuner, taught)
    say(f"whole: {report(tuner, kept_out)}")
    out.write_bytes(save(tuner.changes()))
    tuner.use(out)
    say(f"kept: {report(tuner, kept_out)}")
    say(f"written: {out}")


if __name__ == "__main__":
    main()
