"""The stand-in for GitHub: one process of `emulate`, which lives as long as its standard input."""

import contextlib
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tools.emulate import Stand

LAUNCHER = Path(__file__).with_suffix(".mjs")
# People and machines that have an account, the first of them with every right.
ADMIN, WORKER_1, WORKER_2, OUTSIDER = "ada", "worker-one", "worker-two", "mallory"
LOGINS = (ADMIN, WORKER_1, WORKER_2, "rita", "tess", OUTSIDER)
# Emulate allows a token 5,000 requests for each hour of the wall clock. Budgets are the proxy's
# matter, so it goes from one of these to the next.
TOKENS_EACH = 60


class Emulator(NamedTuple):
    """Where emulate listens, on loopback."""

    url: str


def token(login: str, number: int = 0) -> str:
    """One of the tokens by which emulate knows somebody."""
    return f"emulated-{login}-{number}"


def seed() -> dict[str, Any]:
    """The accounts that are there from the beginning, and no repository."""
    scopes = ["repo", "user", "admin:repo_hook"]
    return {
        "github": {"users": [{"login": login, "name": login.title()} for login in LOGINS]},
        "tokens": {
            token(login, number): {"login": login, "scopes": scopes}
            for login in LOGINS
            for number in range(TOKENS_EACH)
        },
    }


@contextlib.contextmanager
def running(stand: Stand) -> Iterator[Emulator]:
    """Emulate, from its first word on; it ends with whoever started it, however that ends."""
    with subprocess.Popen(
        [stand.node, LAUNCHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin
        assert process.stdout
        config = {"module": stand.emulate.as_uri(), "seed": seed()}
        process.stdin.write(json.dumps(config) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line, "Emulate has ended before it was ready; what it said is above."
        try:
            yield Emulator(json.loads(line)["url"])
        finally:
            process.stdin.close()
