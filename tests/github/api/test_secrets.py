"""The token is nowhere: in no message, no log and no file, whatever the server says."""

import logging
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.core.errors import GhpError
from ghp_agents.github.api.outbox import Job
from tests.support import hubs, repos
from tests.support.clock import ManualClock
from tests.support.hubs import SECRET, Script, Step, cut, half, page, says

words = st.sampled_from([SECRET, f"Bad {SECRET}.", f"token {SECRET}", "Not Found"])
bodies = st.one_of(
    st.none(),
    words,
    st.lists(words, max_size=2),
    st.fixed_dictionaries(
        {"message": words},
        optional={"login": words, "errors": st.lists(st.fixed_dictionaries({"code": words}))},
    ),
)
headers = st.dictionaries(
    st.sampled_from(
        ["ETag", "Link", "Retry-After", "X-Accepted-GitHub-Permissions", "X-GitHub-SSO",
         "X-RateLimit-Resource", "X-RateLimit-Limit", "X-RateLimit-Remaining",
         "X-RateLimit-Reset"]
    ),
    st.sampled_from([SECRET, "0", "1", f'"{SECRET}"']),
    max_size=5,
)  # fmt: skip
statuses = st.sampled_from([200, 201, 204, 301, 400, 401, 403, 404, 409, 410, 422, 429, 500, 502])


@st.composite
def steps(draw: st.DrawFn) -> Step:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return cut
    if kind == 1:
        return half(200, {"login": SECRET})
    if kind == 2:
        return page(draw(statuses), f"<html>{SECRET}")
    return says(draw(statuses), draw(bodies), **draw(headers))


def full_text(error: GhpError) -> str:
    """All that an error has to say, with all that it came from."""
    parts: list[Any] = []
    cause: BaseException | None = error
    while cause is not None:
        parts += [cause, repr(cause), vars(cause), cause.args]
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return " ".join(map(str, parts))


@pytest.mark.slow
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(steps(), min_size=1, max_size=8), st.sampled_from(["get", "all", "write", "ask"]))
def test_the_token_is_nowhere(
    templates: repos.Templates,
    script: Script,
    caplog: pytest.LogCaptureFixture,
    todo: list[Step],
    act: str,
) -> None:
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    script.restart(*todo)
    with tempfile.TemporaryDirectory() as place:
        repo = repos.copy_alone(templates, Path(place) / "repo")
        hub = hubs.hub(repo, script, ManualClock())
        hub.later(Job("a", "comment", "1", "x"))
        acts: dict[str, Callable[[], object]] = {
            "get": lambda: hub.get("issues"),
            "all": lambda: hub.get_all("issues"),
            "write": lambda: hub.write("PATCH", "issues/1", {}),
            "ask": lambda: hub.graphql("query { x }"),
        }
        heard = ""
        for _ in range(2):
            try:
                heard += str(acts[act]())
            except GhpError as error:
                heard += full_text(error)
        hub.flush(lambda job: hub.write("POST", "issues/1/comments", {}))
        files = [path for path in Path(place).rglob("*") if path.is_file()]
        assert SECRET not in heard + repr(vars(hub)) + str(hub.status())
        assert not [path for path in files if SECRET in f"{path}{path.read_bytes()!r}"]
    assert script.asked
    assert SECRET not in caplog.text
