"""How each client is started without a person, on a model of the tests, with no other network."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.support.fake_models import Json

MODEL = "m"
NOBODY = "http://127.0.0.1:9"  # nothing answers there
GEMINI_TRUST = ".gemini/trustedFolders.json"
NO_MODELS = Path(__file__).with_name("no_models.json")


class Start(NamedTuple):
    """The arguments with a prompt, the environment, and files below the home."""

    args: Sequence[str]
    env: Mapping[str, str]
    files: Mapping[str, Json]


def gemini(url: str, key: str, prompt: str) -> Start:
    """Gemini CLI, whose user trusts all folders."""
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }
    env = {
        "GEMINI_API_KEY": key,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    # The model is named, so that no other model is asked which one it should be.
    args = ["-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-o", "stream-json", "-p", prompt]
    trust: dict[str, Json] = {GEMINI_TRUST: {"/": "TRUST_FOLDER"}}
    return Start(args, env, {".gemini/settings.json": settings, **trust})


def opencode(url: str, key: str, prompt: str) -> Start:
    """OpenCode with a provider of its configuration; npm's registry is out of reach.

    It takes a third of the processor's time without its list of all models, without what looks for
    files and changes, without the slower compiler of its JavaScript, and without a collection of
    its garbage, which in so short a session is 300 MB."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "{env:FAKE_KEY}"},
        "models": {MODEL: {"tool_call": True, "limit": {"context": 100_000, "output": 1000}}},
    }
    config = {
        "model": f"fake/{MODEL}",
        "small_model": f"fake/{MODEL}",
        "provider": {"fake": provider},
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
    }
    env = {
        "BUN_JSC_useDFGJIT": "0",
        "BUN_JSC_useGC": "0",
        "FAKE_KEY": key,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_FFF": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER": "1",
        "OPENCODE_MODELS_PATH": str(NO_MODELS),
        "npm_config_fetch_retries": "0",
        "npm_config_registry": NOBODY,
    }
    args = ["run", "--format", "json", prompt]
    return Start(args, env, {".config/opencode/opencode.json": config})


def copilot(url: str, key: str, prompt: str) -> Start:
    """Copilot CLI with a provider of its user's, who trusts all folders."""
    env = {
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": key,
        "COPILOT_MODEL": MODEL,
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }
    trust: dict[str, Json] = {".copilot/config.json": {"trustedFolders": ["/"]}}
    return Start(["--allow-all", "--output-format", "json", "-p", prompt], env, trust)


def qwen(url: str, key: str, prompt: str) -> Start:
    """Qwen Code with an OpenAI-compatible model."""
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    env = {
        "OPENAI_API_KEY": key,
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_MODEL": MODEL,
        "QWEN_CODE_NO_RELAUNCH": "true",
    }
    args = ["--approval-mode", "yolo", "-o", "stream-json", "-p", prompt]
    return Start(args, env, {".qwen/settings.json": settings})


def pi(url: str, key: str, prompt: str) -> Start:
    """Pi with a provider of its configuration, whose user trusts all folders."""
    model = {
        "id": MODEL,
        "name": MODEL,
        "reasoning": False,
        "input": ["text"],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 100_000,
        "maxTokens": 1000,
    }
    provider = {
        "baseUrl": f"{url}/v1",
        "apiKey": "$FAKE_KEY",  # a variable
        "api": "openai-completions",
        "models": [model],
    }
    env = {"FAKE_KEY": key, "PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}
    files: dict[str, Json] = {
        ".pi/agent/models.json": {"providers": {"fake": provider}},
        ".pi/agent/trust.json": {"/": True},
    }
    args = ["--provider", "fake", "--model", MODEL, "--mode", "json", "-p", prompt]
    return Start(args, env, files)


STARTS: dict[str, Callable[[str, str, str], Start]] = {
    "copilot": copilot,
    "gemini": gemini,
    "opencode": opencode,
    "pi": pi,
    "qwen": qwen,
}
