"""A page in headless Chromium, through the pipe of its developer tools."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""
NEEDS_CHROMIUM = pytest.mark.skipif(not CHROMIUM, reason="There is no Chromium on this machine.")
TIMEOUT_S = 60.0
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
BUTTONS = {"mousePressed": 1, "mouseReleased": 0}


class Page:
    """An open page. `problems` are the console's errors and requests to the network."""

    def __init__(self, to: int, of: int) -> None:
        self._to, self._of = to, of
        self._rest, self._number, self._session = b"", 0, ""
        self.problems: list[str] = []

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def open(self, address: str, width: int, height: int, before: str) -> None:
        """Open an address and wait until it is loaded. The script `before` runs first."""
        target = self.call("Target.createTarget", url="about:blank")
        attached = self.call("Target.attachToTarget", flatten=True, targetId=target["targetId"])
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        self.call("Emulation.setTimezoneOverride", timezoneId="UTC")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.call("Page.navigate", url=address)
        while self.value("document.readyState") != "complete":
            pass

    def value(self, script: str) -> Any:
        """What a script returns; a promise is awaited."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def settle(self) -> None:
        """Wait until the page has drawn what was asked of it."""
        self.value(
            "new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r())))"
        )

    def key(self, key: str) -> None:
        """Press a key: one character, or a name such as ArrowLeft."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """An event of the mouse: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        if kind in BUTTONS:
            more = {"button": "left", "clickCount": 1, **more}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.settle()

    def scheme(self, name: str) -> None:
        """Prefer `dark` or `light`."""
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.settle()

    def picture(self) -> bytes:
        """What is visible, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def pdf(self) -> bytes:
        """What would be printed."""
        shown = self.call("Page.printToPDF", preferCSSPageSize=True, printBackground=True)
        return base64.b64decode(shown["data"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._of], [], [], TIMEOUT_S)[0], "Chromium does not answer."
            part = os.read(self._of, 1 << 20)
            assert part, "Chromium has ended."
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        event: dict[str, Any] = json.loads(message)
        self._note(event)
        return event

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        if event.get("method") == "Log.entryAdded":
            self.problems.append(params["entry"]["text"])
        elif event.get("method") == "Runtime.exceptionThrown":
            self.problems.append(str(params["exceptionDetails"]))
        elif event.get("method") == "Network.requestWillBeSent":
            address = params["request"]["url"]
            if not address.startswith("file:"):
                self.problems.append(address[:200])


@contextlib.contextmanager
def opened(
    file: Path, folder: Path, width: int = 1280, height: int = 800, before: str = ""
) -> Iterator[Page]:
    """A file in a new Chromium, whose profile is in `folder`."""
    commands, to = _pipe()
    of, answers = _pipe()
    words = [CHROMIUM, *_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    with subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "bash", *words],
        pass_fds=(commands, answers),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(commands)
        os.close(answers)
        page = Page(to, of)
        try:
            page.open(file.as_uri(), width, height, before)
            yield page
            page._session = ""
            page.call("Browser.close")
        finally:
            process.terminate()
            os.close(to)
            os.close(of)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are not 3 and 4, which are Chromium's own."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high[0], high[1]
