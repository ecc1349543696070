"""The fast writer says what the standard library says, for anything that JSON can hold."""

import json
from typing import Any

import hypothesis
from hypothesis import strategies as st

from ghp_agents.core.jsontext import indented

texts = st.text(st.sampled_from('ab"\\\n\u2028é\0{}[],: 😀')) | st.text() | st.just("null")
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner) | st.dictionaries(texts, inner) | st.tuples(inner, inner) | st.just({})
    ),
    max_leaves=20,
)


def standard(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


records = st.dictionaries(texts, st.dictionaries(texts, values | st.just("\0"), min_size=1))


@hypothesis.given(values | records)
@hypothesis.example({'a"b': None, "b": [1]})  # a key that ends like the one that is looked for
@hypothesis.example({"a": None, "b": '\n  "c": null', "c": {"c": None, "d": []}})
@hypothesis.example({"half": "\ud800", "empty": [{}, [], ""], "pairs": ((1, ()), ({},))})
def test_it_writes_what_the_standard_library_writes(value: Any) -> None:
    assert indented(value) == standard(value)


def test_it_writes_a_state_as_the_standard_library_does() -> None:
    agent = {"issue": 147, "status": "testing", "lastAction": "Läuft", "capabilities": ["code"]}
    state = {"schemaVersion": 1, "agents": {f"worker-{n}": agent | {"seq": n} for n in range(30)}}
    assert indented(state) == standard(state)
