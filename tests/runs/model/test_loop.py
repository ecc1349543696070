"""The loop with models of all kinds."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.runs.model.answer import ModelAnswer, ModelCall
from ghp_agents.runs.model.endpoint import EndpointError
from ghp_agents.runs.model.hook import HookAnswer
from ghp_agents.runs.model.loop import NUDGE, LoopEnd, ModelLoop
from ghp_agents.runs.model.printed import Printer
from ghp_agents.runs.model.tools import Toolbox
from ghp_agents.runs.model.transcript import Transcript

DONE = ModelAnswer(calls=(ModelCall("z", "done", '{"summary": "All done."}'),), finish="stop")
Body = dict[str, Any]


def says(text: str = "", *calls: tuple[str, str], finish: str = "stop") -> ModelAnswer:
    tool_calls = tuple(ModelCall(f"c{n}", name, given) for n, (name, given) in enumerate(calls))
    return ModelAnswer(text, tool_calls, finish)


class ScriptedHook:
    """Hooks that refuse some tools and have some news."""

    def __init__(self) -> None:
        self.refused: set[str] = set()
        self.news: list[str] = []
        self.last_news: list[str] = []
        self.events: list[tuple[str, object]] = []

    def refusal(self, tool: str, given: Mapping[str, Any]) -> HookAnswer:
        self.events.append((tool, given))
        return HookAnswer(deny="not here" if tool in self.refused else "")

    def used(self, tool: str, given: Mapping[str, Any], printed: str) -> str:
        self.events.append((tool, printed))
        return self.news.pop(0) if self.news else ""

    def turn_ends(self, *, extended: bool) -> str:
        return self.last_news.pop(0) if self.last_news else ""


class Session:
    """A loop whose model says what a test has written."""

    def __init__(self, folder: Path, *answers: ModelAnswer | Exception, **options: int) -> None:
        self.hook, self.lines, self.asked = ScriptedHook(), list[str](), list[Body]()
        self._answers = [*answers]
        self.kept = Transcript(folder)
        self.kept.add({"role": "system", "content": "S"}, {"role": "user", "content": "Do it."})
        printer = Printer(self.lines.append, lambda: 0.0)
        self.loop = ModelLoop(
            self._ask, Toolbox(folder, {}), self.hook, self.kept, printer,
            model="m", **{"context": 100_000, **options},
        )  # fmt: skip

    def _ask(self, body: Body) -> ModelAnswer:
        self.asked.append(json.loads(json.dumps(body)))
        answer = self._answers.pop(0) if self._answers else DONE
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def results(self) -> list[str]:
        """What the model was told after its answers."""
        return [m["content"] for m in self.kept.messages[2:] if m["role"] in ("tool", "user")]


@pytest.fixture
def session(tmp_path: Path) -> Callable[..., Session]:
    return lambda *answers, **options: Session(tmp_path, *answers, **options)


Make = Callable[..., Session]


def test_calls_are_done_until_the_model_is_done(session: Make, tmp_path: Path) -> None:
    talk = session(says("I write.", ("write", '{"path": "a", "content": "x"}')))
    assert talk.loop.run() == LoopEnd(text="All done.")
    assert (tmp_path / "a").read_text() == "x"
    assert talk.results == ["Wrote a, 1 lines.", "Done."]
    assert talk.asked[0]["stream_options"] == {"include_usage": True}
    assert [x["role"] for x in talk.asked[1]["messages"]] == [
        "system", "user", "assistant", "tool",
    ]  # fmt: skip


def test_a_refused_call_is_not_done(session: Make, tmp_path: Path) -> None:
    talk = session(says("", ("write", '{"path": "a", "content": "x"}')))
    talk.hook.refused = {"write"}
    talk.loop.run()
    assert talk.results[0] == "Refused: not here"
    assert not (tmp_path / "a").exists()


def test_news_come_with_the_results_and_before_the_end(session: Make) -> None:
    talk = session(says("", ("list", "{}")))
    talk.hook.news = ["A message."]
    talk.hook.last_news = ["One more."]
    assert talk.loop.run() == LoopEnd(text="All done.")
    assert talk.results[0].endswith("\n\nA message.")
    assert talk.results[1:] == ["One more.", "Done."]


def test_news_extend_a_turn_only_so_often(session: Make) -> None:
    talk = session()
    talk.hook.last_news = ["More."] * 100
    assert talk.loop.run() == LoopEnd(text="All done.")
    assert len(talk.asked) == 9


@pytest.mark.parametrize("given", ["{", "[1]", "path=a"])
def test_arguments_that_are_no_json_are_told_and_not_sent_back(session: Make, given: str) -> None:
    talk = session(says("", ("read", given)), says("", ("read", "{"), finish="length"))
    talk.loop.run()
    assert talk.results[0].startswith("The arguments of read cannot be read: no")
    assert talk.results[1].endswith("your answer was cut at its limit of length.")
    sent = talk.asked[1]["messages"][2]["tool_calls"][0]["function"]
    assert sent == {"name": "read", "arguments": "{}"}


def test_an_unknown_tool_is_told(session: Make) -> None:
    talk = session(says("", ("rm -rf /", "{}")))
    talk.loop.run()
    assert talk.results[0].startswith("There is no tool 'rm -rf /'. Use one of list, search")
    assert talk.asked[1]["messages"][2]["tool_calls"][0]["function"]["name"] == "unknown"


def test_calls_in_text_are_done(session: Make, tmp_path: Path) -> None:
    call = '<tool_call>{"name": "write", "arguments": {"path": "a", "content": "x"}}</tool_call>'
    talk = session(says(f"I write. {call}"))
    assert talk.loop.run() == LoopEnd(text="All done.")
    assert (tmp_path / "a").read_text() == "x"
    assert talk.results[0] == "Result of write:\nWrote a, 1 lines."


def test_a_model_that_only_talks_is_told_twice(session: Make) -> None:
    talk = session(*[says("I think.")] * 5)
    assert talk.loop.run() == LoopEnd(text="I think.")
    assert (len(talk.asked), talk.results) == (3, [NUDGE, NUDGE])


def test_a_model_that_repeats_a_call_is_told_and_then_ended(session: Make) -> None:
    talk = session(*[says("", ("read", '{"path": "no"}'))] * 9)
    assert talk.loop.run() == LoopEnd(error="it made the same call of read 6 times")
    assert ["this call" in x for x in talk.results] == [False] * 2 + [True] * 4


def test_it_ends_after_its_rounds(session: Make) -> None:
    talk = session(*[says("", ("run", f'{{"command": "echo {n}"}}')) for n in range(9)], rounds=3)
    assert talk.loop.run() == LoopEnd(error="it took more than 3 rounds")


def refused(why: str) -> EndpointError:
    return EndpointError("Refused.", hint="", why=why, status=400)


def test_a_model_without_tools_gets_them_as_text(session: Make) -> None:
    call = '{"name": "list", "arguments": {}}'
    talk = session(says("", ("list", "{}")), refused("m does not support tools"), says(call))
    assert talk.loop.run() == LoopEnd(text="All done.")
    body = talk.asked[2]
    assert "tools" not in body
    assert '<tool_call>{"name": NAME' in body["messages"][0]["content"]
    assert [set(message) for message in body["messages"]] == [{"role", "content"}] * 4
    assert body["messages"][2]["content"] == (
        '\n<tool_call>{"name": "list", "arguments": {}}</tool_call>'
    )


def test_a_server_that_knows_no_stream_options_gets_none(session: Make) -> None:
    talk = session(refused("Extra inputs: stream_options"))
    talk.loop.run()
    assert ["stream_options" in body for body in talk.asked] == [True, False]


def test_a_conversation_that_is_too_long_for_the_server_is_cut(session: Make) -> None:
    reads = [says("", ("run", f'{{"command": "printf %09000d {n}"}}')) for n in range(5)]
    talk = session(*reads, refused("maximum context length is 8192 tokens"), context=60_000)
    assert talk.loop.run() == LoopEnd(text="All done.")
    assert [len(body["messages"]) for body in talk.asked] == [2, 4, 6, 8, 10, 12, 9]


def test_other_refusals_end_it(session: Make) -> None:
    talk = session(refused("no such model"))
    with pytest.raises(EndpointError):
        talk.loop.run()
