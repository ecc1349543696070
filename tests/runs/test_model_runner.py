"""The runner `openai`: its settings, its errors, and a whole run against a model of a script."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghp_agents.core.errors import NotSetUpError, UsageError
from ghp_agents.runs import processes
from ghp_agents.runs.model_runner import configured
from ghp_agents.runs.runners import RUNNERS
from tests.support import fake_models
from tests.support.boxes import UNBOXED
from tests.support.clients import ghp
from tests.support.fake_models import Call, FakeModels, Turn
from tests.support.ghp import invoke, run_ghp, succeed
from tests.support.runs import Shift, shift_of, states, without_ids

KEY = "sk-model-of-the-test"
OPENAI = RUNNERS["openai"]
WORK = "agent-work --agent night --once --runner openai"


@pytest.fixture
def models() -> Iterator[FakeModels]:
    with fake_models.serve() as served:
        served.offers = ["qwen"]
        yield served


@pytest.fixture
def shift(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shift]:
    monkeypatch.setenv("GHP_BACKGROUND", "0")
    monkeypatch.setenv("MODEL_KEY", KEY)
    fleet = shift_of(repo, "One")
    yield fleet
    fleet.end_all()
    assert [pid for run in fleet.runs() for pid in processes.marked(run.id)] == []


def work(shift: Shift, models: FakeModels, *options: str) -> tuple[int, list[str]]:
    """A supervisor from its beginning to its end."""
    endpoint = [f"--url={models.url}/v1", "--key-env=MODEL_KEY"]
    done = run_ghp([*WORK.split(), *options, "--", *endpoint], shift.repo)
    return done.code, without_ids(done.err.splitlines())


@pytest.mark.slow
def test_a_model_works_from_an_issue_to_a_pull_request(shift: Shift, models: FakeModels) -> None:
    (shift.repo / "tabs.py").write_text("width = 8\n")
    succeed(shift.repo, "agent-issue new Two --as @me")
    models.script(
        KEY,
        Turn("I look.", (Call("list", {}),)),
        Turn("", (Call("write", {"path": "src/new.py", "content": "a = 1\nb = 2\n"}),)),
        Turn("", (Call("edit", {"path": "src/new.py", "old_string": "1", "new_string": "3"}),)),
        Turn("", (Call("read", {"path": "src/new.py"}),)),
        Turn("", (Call("run", {"command": "env; git add . && git commit -qm 'Add a file'"}),)),
        Turn("", (Call("run", {"command": ghp("agent-finish")}),)),
        Turn("", (Call("done", {"summary": "It is done."}),)),
    )
    code, lines = work(shift, models)
    assert (code, lines) == (
        0,
        [
            UNBOXED,
            "1 agent with openai: night.",
            "+ night began R- #1 «One».",
            "+ night ended R- #1: finished: pull request #3.",
        ],
    )
    text = models.requests(KEY)[-1].said
    assert "You are agent night. You work alone" in text
    assert "a = 3\nb = 2" in text
    assert KEY not in text  # commands do not get the key
    logs = invoke("agent-logs night", shift.repo)
    assert logs.out.splitlines()[:3] == ["I look.", "> list", "> write src/new.py"]
    assert logs.out.splitlines()[-1] == "Ended."
    used = (shift.app().ws.presence("night") or {})["usage"]
    assert (used["model"], used["spent"][0]["inputTokens"]) == ("qwen", 14)
    assert shift.last().turns == 7
    assert shift.last().tokens == 14


@pytest.mark.slow
def test_an_edit_of_a_file_that_another_agent_holds_is_refused(
    shift: Shift, models: FakeModels
) -> None:
    succeed(shift.repo, "agent-lease held.txt --as other")
    models.script(
        KEY,
        Turn("", (Call("write", {"path": "held.txt", "content": "mine\n"}),)),
        Turn("", (Call("done", {}),)),
    )
    code, _ = work(shift, models, "--tries", "1")
    assert code == 1
    text = models.requests(KEY)[-1].said
    assert "Refused: held.txt is leased by other since" in text
    assert not (Path(shift.last().path) / "held.txt").exists()


@pytest.mark.slow
def test_news_reaches_the_model_between_two_calls(shift: Shift, models: FakeModels) -> None:
    def send(_: fake_models.Request) -> Turn:
        done = run_ghp(["agent-send", "night", "Use tabs.", "--as", "@me"], shift.repo)
        assert done.code == 0, done.err
        return Turn("", (Call("list", {}),))

    models.script(KEY, send, Turn("", (Call("list", {}),)), Turn("", (Call("done", {}),)))
    work(shift, models, "--tries", "1")
    assert "Use tabs." in models.requests(KEY)[-1].said


@pytest.mark.slow
def test_a_failed_run_goes_on_with_its_conversation(shift: Shift, models: FakeModels) -> None:
    models.script(KEY, Turn("I found banana.", (Call("done", {"summary": "No."}),)))
    code, _ = work(shift, models, "--pause", "0s")
    assert code == 1
    assert [state[2] for state in states(shift.runs())] == ["failed", "escalated"]
    text = models.requests(KEY)[-1].said
    assert "I found banana." in text
    assert "You worked on this before." in text


@pytest.mark.slow
def test_a_run_that_is_stopped_ends_the_command_of_its_model(
    shift: Shift, models: FakeModels
) -> None:
    requested = threading.Event()

    def sleep(_: fake_models.Request) -> Turn:
        requested.set()
        return Turn("", (Call("run", {"command": "sleep 1000 & sleep 1000"}),))

    models.script(KEY, sleep)
    command = [sys.executable, "-m", "ghp_agents", *WORK.split(), "--"]
    endpoint = [f"--url={models.url}/v1", "--key-env=MODEL_KEY"]
    with subprocess.Popen(
        [*command, *endpoint], cwd=shift.repo, stderr=subprocess.DEVNULL
    ) as supervisor:
        assert requested.wait(60)
        succeed(shift.repo, "agent-stop night --now --as @me")
        supervisor.wait(60)
    assert states(shift.runs()) == [("night", 1, "stopped")]
    assert processes.marked(shift.last().id) == []


def test_the_settings_of_a_person_name_the_endpoint(models: FakeModels) -> None:
    settings = {"url": f"{models.url}/v1", "key_env": "MODEL_KEY", "context": 8_192}
    runner, args = configured(OPENAI, settings, ["--context=4096"], {"MODEL_KEY": "k"})
    assert runner.keeps == ("MODEL_KEY",)
    assert args == (
        f"--url={models.url}/v1", "--key-env=MODEL_KEY", "--context=8192", "--context=4096",
        "--model=qwen",
    )  # fmt: skip


def test_a_model_must_be_chosen_among_several(models: FakeModels) -> None:
    models.offers = ["qwen", "llama"]
    with pytest.raises(NotSetUpError) as refused:
        configured(OPENAI, {"url": f"{models.url}/v1"}, [], {})
    assert str(refused.value) == (f"No model is chosen for {models.url}/v1. It offers llama, qwen.")
    with pytest.raises(NotSetUpError) as refused:
        configured(OPENAI, {"url": f"{models.url}/v1", "model": "gpt"}, [], {})
    assert "There is no model 'gpt'" in str(refused.value)


def test_an_endpoint_that_is_not_there_starts_nothing(shift: Shift) -> None:
    done = invoke([*WORK.split(), "--", "--url=http://127.0.0.1:9/v1"], shift.repo)
    assert done.code == 5
    assert "The model at http://127.0.0.1:9/v1 did not answer: connection refused." in done.err
    assert "ollama serve" in done.err
    assert shift.runs() == []


def test_a_key_that_is_not_set_or_a_wrong_option_starts_nothing() -> None:
    with pytest.raises(NotSetUpError, match="The variable NO_KEY"):
        configured(OPENAI, {"key_env": "NO_KEY"}, [], {})
    with pytest.raises(UsageError, match="unrecognized arguments: --modle=x"):
        configured(OPENAI, {}, ["--modle=x"], {})


def test_a_repository_names_no_endpoint(shift: Shift) -> None:
    path = shift.repo / ".ghp/config.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"agents": {"runs": {"openai": {"url": "http://evil/v1"}}}}))
    assert shift.app().ws.settings.runs == {}
