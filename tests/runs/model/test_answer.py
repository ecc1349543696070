"""Answers from the parts that servers send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.runs.model.answer import AnswerBuilder, ModelAnswer, ModelCall


def built(*chunks: dict[str, Any]) -> ModelAnswer:
    builder = AnswerBuilder()
    for chunk in chunks:
        builder.add(chunk)
    return builder.answer()


def call(name: str | None = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    given = {key: value for key, value in function.items() if value is not None}
    return {"choices": [{"delta": {"tool_calls": [{"function": given, **fields}]}}]}


@pytest.mark.parametrize(
    "chunks",
    [
        [  # OpenAI: the name once, the arguments in parts
            call("read", "", index=0, id="a"), call(None, '{"path":', index=0),
            call("list", "{}", index=1, id="b"), call(None, ' "x"}', index=0),
        ],
        [  # Ollama before 0.5: whole calls without an index
            call("read", '{"path": "x"}', id="a"), call("list", "{}", id="b"),
        ],
        [  # all with the index 0
            call("read", '{"path": "x"}', index=0, id="a"), call("list", "{}", index=0, id="b"),
        ],
        [  # the name again with each part
            call("read", '{"path": ', index=0, id="a"), call("read", '"x"}', index=0, id="a"),
            call("list", {}, index=1, id="b"),
        ],
    ],
)  # fmt: skip
def test_calls_are_put_together(chunks: list[dict[str, Any]]) -> None:
    assert built(*chunks).calls == (
        ModelCall("a", "read", '{"path": "x"}'), ModelCall("b", "list", "{}"),
    )  # fmt: skip


def test_calls_without_ids_get_some() -> None:
    assert [x.id for x in built(call("a", "{}"), call("b", "{}")).calls] == [
        "call_0", "call_1",
    ]  # fmt: skip


def test_what_it_used_comes_last() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "cost": 0.25}
    answer = built({"choices": [], "usage": usage})
    assert (answer.tokens_in, answer.tokens_out, answer.cost) == (5, 7, 0.25)


def test_an_answer_is_bounded() -> None:
    chunks = [{"choices": [{"delta": {"content": "x" * 100_000}}]}] * 5
    assert len(built(*chunks).text) == 200_000
    assert len(built(*[call("a", "{}")] * 100).calls) == 32
    assert len(built(*[call(None, "x" * 900_000, index=0)] * 5).calls[0].arguments) == 2_000_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["choices", "delta", "message", "tool_calls", "function", "name", "arguments", "index",
             "id", "content", "text", "usage", "prompt_tokens", "cost", "error", "finish_reason"]
        ),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.dictionaries(st.sampled_from(["choices", "usage", "error"]), JSON), max_size=4))
def test_whatever_a_server_sends_is_an_answer(chunks: list[dict[str, Any]]) -> None:
    assert isinstance(built(*chunks), ModelAnswer)
