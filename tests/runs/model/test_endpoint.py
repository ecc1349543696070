"""Requests to a model: what is repeated, what is not, and what never hangs."""

import json
from collections.abc import Iterator

import pytest

from ghp_agents.runs.model import endpoint
from ghp_agents.runs.model.answer import ModelAnswer
from ghp_agents.runs.model.endpoint import Endpoint, EndpointError
from tests.support import odd_endpoint
from tests.support.odd_endpoint import OddEndpoint, Reply, delta, events

BODY = {"model": "m", "messages": [], "stream": True}
GOOD = Reply(events(delta(content="He"), delta(content="llo"), delta("stop")))


@pytest.fixture
def odd() -> Iterator[OddEndpoint]:
    with odd_endpoint.serve() as served:
        yield served


class Asked:
    """One request, what was told meanwhile, and how long it waited."""

    def __init__(
        self, odd: OddEndpoint, *replies: Reply, key: str = "", silence: float = 30.0
    ) -> None:
        odd.replies = [*replies]
        self.told: list[str] = []
        self.waited: list[float] = []
        self.alive = 0
        self._endpoint = Endpoint(odd.url, key, silence)

    def answer(self) -> ModelAnswer:
        return self._endpoint.ask(BODY, self.waited.append, self.told.append, self._lives)

    def _lives(self) -> None:
        self.alive += 1


def test_an_answer_comes_in_parts(odd: OddEndpoint) -> None:
    client = Asked(odd, GOOD, key="sk-1")
    assert client.answer() == ModelAnswer("Hello", finish="stop")
    assert (client.told, client.alive) == ([], 4)
    path, headers, body = odd.requests[0]
    assert (path, headers["Authorization"], body) == ("/v1/chat/completions", "Bearer sk-1", BODY)


def test_an_answer_may_come_at_once(odd: OddEndpoint) -> None:
    whole = {"choices": [{"message": {"content": "Hello"}}], "usage": {"prompt_tokens": 3}}
    client = Asked(odd, Reply(json.dumps(whole), kind="application/json"))
    assert client.answer() == ModelAnswer("Hello", finish="stop", tokens_in=3)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply("slow down", 429, headers={"Retry-After": "7"}), "HTTP status 429: slow down; 7"),
        (Reply("", 500), "HTTP status 500; 2"),
        (Reply("", 503, headers={"Retry-After": "Wed, 21 Oct 2037"}), "HTTP status 503; 2"),
        (Reply("", 429, headers={"Retry-After": "1e9"}), "HTTP status 429; 300"),
        (Reply("", 429, headers={"Retry-After": "nan"}), "HTTP status 429; 2"),
        (Reply(events(delta(content="He"), ends=False)), "the answer broke off; 2"),
        (Reply('data: {"choices": [{"de'), "the answer broke off; 2"),
        (Reply(events({"error": {"message": "busy"}})), "the model failed: busy; 2"),
        (Reply("no JSON", kind="application/json", headers={"Content-Length": "99"}),
         "the answer is not a JSON object; 2"),
    ],
)  # fmt: skip
def test_what_may_pass_is_asked_again(odd: OddEndpoint, reply: Reply, words: str) -> None:
    client = Asked(odd, reply, GOOD)
    assert client.answer().text == "Hello"
    (line,) = client.told
    assert line.replace("it is asked again in ", "").startswith(words)


def test_an_endpoint_that_hangs_is_asked_again(odd: OddEndpoint) -> None:
    client = Asked(odd, Reply(events(delta(content="He"), ends=False), hangs=True), GOOD,
                  silence=0.2)  # fmt: skip
    assert client.answer().text == "Hello"
    assert client.told == ["it was silent for too long; it is asked again in 2 s"]


def test_it_is_given_up_after_some_tries(odd: OddEndpoint) -> None:
    client = Asked(odd)
    with pytest.raises(EndpointError) as failed:
        client.answer()
    assert failed.value.why == "HTTP status 500, 6 times"
    assert client.waited == [2, 4, 8, 16, 32]


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_not_repeated(odd: OddEndpoint, status: int) -> None:
    client = Asked(odd, Reply(json.dumps({"error": {"message": "bad \x1b[31mmodel"}}), status))
    with pytest.raises(EndpointError) as failed:
        client.answer()
    assert (failed.value.status, len(odd.requests)) == (status, 1)
    assert failed.value.why.startswith(f"HTTP status {status}: bad")
    assert failed.value.why.isprintable()


def test_no_redirect_is_followed_so_that_the_key_stays(odd: OddEndpoint) -> None:
    with odd_endpoint.serve() as other:
        client = Asked(odd, Reply("", 307, headers={"Location": f"{other.url}/x"}), key="sk-1")
        with pytest.raises(EndpointError):
            client.answer()
        assert other.requests == []


def test_an_answer_without_end_is_cut(odd: OddEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "ANSWER_LIMIT", 1_000)
    client = Asked(odd, Reply(events(*[delta(content="x" * 100)] * 20)), GOOD)
    assert client.answer().text == "Hello"
    assert client.told[0].startswith("the answer has more than 1000 bytes")


@pytest.mark.parametrize(
    "body", ['{"data": [{"id": "a"}, {"id": 7}, 8]}', '{"data": [{"id":"a"}]}']
)
def test_the_models_are_listed(odd: OddEndpoint, body: str) -> None:
    odd.replies = [Reply(body, kind="application/json")]
    assert Endpoint(odd.url).models() == ["a"]


@pytest.mark.parametrize("body", ["[]", "null", '{"data": {}}', '{"data": null}'])
def test_what_is_no_list_of_models_is_none(odd: OddEndpoint, body: str) -> None:
    odd.replies = [Reply(body, kind="application/json")]
    assert Endpoint(odd.url).models() == []


def test_a_page_that_is_no_endpoint_is_an_error(odd: OddEndpoint) -> None:
    odd.replies = [Reply("<html>", kind="text/html")]
    with pytest.raises(EndpointError):
        Endpoint(odd.url).models()
