"""The runner `openai` before it starts: the person's settings, and whether the model is there."""

from collections.abc import Mapping, Sequence
from typing import Any

from ghp_agents.core.errors import NotSetUpError
from ghp_agents.runs.model.endpoint import Endpoint, EndpointError
from ghp_agents.runs.runners import Runner

SILENCE = 15.0  # seconds that the endpoint has to list its models
UNLISTED = (404, 405, 501)  # HTTP statuses
SHOWN = 8  # models in an error


def configured(
    runner: Runner, settings: Mapping[str, Any], args: Sequence[str], environ: Mapping[str, str]
) -> tuple[Runner, tuple[str, ...]]:
    """The runner and its options for the person's settings (`runs.openai`) and options, which win.
    Raises UsageError, NotSetUpError if there is no such model."""
    from ghp_agents.runs.model import main  # argparse is needed here only

    options = {"url": "--url", "model": "--model", "key_env": "--key-env", "context": "--context"}
    words = [
        f"{options[key]}={value}" for key, value in settings.items() if key in options and value
    ]
    words += args
    given = main.options().parse_args(["--prompt-file", "-", *words])
    if given.key_env and not environ.get(given.key_env):
        raise NotSetUpError(
            f"The variable {given.key_env} with the model's key is not set; nothing was started.",
            hint=f"Set it: export {given.key_env}=…",
        )
    endpoint = Endpoint(given.url, environ.get(given.key_env, ""), SILENCE)
    try:
        model = given.model or main.only_model(endpoint)
        names = endpoint.models()
    except EndpointError as error:
        if not given.model or error.status not in UNLISTED:
            raise NotSetUpError(str(error), hint=error.hint) from None
        model, names = given.model, []
    _check(endpoint, model, names)
    keeps = (given.key_env,) if given.key_env else ()
    return runner._replace(keeps=keeps), (*words, f"--model={model}")


def _check(endpoint: Endpoint, model: str, names: Sequence[str]) -> None:
    """Raise NotSetUpError if the endpoint lists other models only."""
    if names and model not in names and f"{model}:latest" not in names:
        raise NotSetUpError(
            f"There is no model {model!r} at {endpoint.url}; nothing was started.",
            hint=f"It offers {', '.join(sorted(names)[:SHOWN])}. "
            f"With Ollama: `ollama pull {model}`.",
        )
