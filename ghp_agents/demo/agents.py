"""The four scripted agents, each a process that runs commands as an agent's shell does."""

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ghp_agents.core import process
from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.demo.sandbox import AGAIN, PROGRAM, Sandbox, ghp, hook, run, run_git
from ghp_agents.demo.scenes import Scene, marked
from ghp_agents.hotpath import heartbeat_command

QUESTION = "Which format?"
OPTIONS = ("json", "yaml")
TIMEOUT_S = 90.0  # seconds that an agent waits for others
LOOK_S = 0.2  # between two looks at the stage: a file
SYNC_S = 1.0  # between two syncs of an agent that waits for news: a process, and a dozen of git
IDLE_S = 4.0  # between two while it waits for a scene, which it sees without a sync
BINARY = bytes(range(256)) * 8  # a logo that no text patch could carry


@dataclass(frozen=True, slots=True)
class Part:
    """An agent in its worktree."""

    place: Sandbox
    agent: str

    @property
    def folder(self) -> Path:
        """Its worktree."""
        return self.place.worktree(self.agent)

    def ghp(self, *args: str) -> str:
        """Run a command as this agent."""
        return ghp(self.folder, self.beat(), *args)

    def refused(self, *args: str) -> str:
        """Run a command that must be refused; return its output."""
        return ghp(self.folder, self.beat(), *args, expected=int(ExitCode.REFUSED))

    def show(self, scene: Scene, *args: str) -> str:
        """Run a command as this agent, as a scene of the story."""
        ended = run(self.folder, self.beat(), *args, expected=0)
        self.tell(scene, f"$ ghp {shlex.join(args)}", *marked(ended.err))
        return ended.out.strip()

    def tell(self, scene: Scene, what: str, *lines: str) -> None:
        """Write a scene: what this agent does, and what is printed then."""
        self.place.stage.write(scene, f"{self.agent} {what}", *lines)

    def edit(self, scene: Scene, name: str) -> None:
        """Ask the hook of a client before an edit, which it must refuse."""
        event = {
            "hook_event_name": "PreToolUse", "session_id": self.agent, "cwd": str(self.folder),
            "tool_name": "Write", "tool_input": {"file_path": str(self.folder / name)},
        }  # fmt: skip
        decision = hook(self.folder, self.beat(), event)
        refused = decision.get("permissionDecision") == "deny"
        why = decision.get("permissionDecisionReason", "")
        self.tell(scene, f"edits {name}", f"✗ {why}" if refused else "✓ The edit goes through.")

    def can_take(self, issue: int) -> bool:
        """Try to claim an issue; False if a living agent holds it."""
        ended = run(self.folder, self.beat(), "agent-claim", str(issue))
        if ended.code == 0:
            self.tell(Scene.TAKEOVER, f"$ ghp agent-claim {issue}", *marked(ended.err))
        return ended.code == 0

    def beat(self) -> dict[str, str]:
        """Send a heartbeat, as a client's hook does at each tool use; return the environment."""
        environ = self.place.environ(self.agent, os.getpid())
        if not heartbeat_command.run([], environ):  # the first one
            ghp(self.folder, environ, "agent-heartbeat")
        return environ

    def take(self, issue: int | str, slug: str, scene: Scene | None = None) -> None:
        """Claim an issue, or with `--next` the best ready one, and create a branch for it."""
        claim = ("agent-claim", str(issue))
        number = self.show(scene, *claim) if scene else self.ghp(*claim)
        run_git(self.folder, "checkout", "-q", "-b", f"agent/{self.agent}/{number}-{slug}")
        action = f"Took #{number}"
        self.ghp("agent-heartbeat", "--status", "implementing", "--action", action)
        self.ghp("agent-sync")

    def write(self, name: str, text: str, message: str) -> None:
        """Write a file, commit it, and report that."""
        (self.folder / name).write_text(text, encoding="utf-8")
        run_git(self.folder, "add", name)
        run_git(self.folder, "commit", "-q", "-m", message)
        self.ghp("agent-heartbeat", "--action", message, "--progress")

    def finish(self, scene: Scene) -> None:
        """Check and push the branch, and open its pull request; the command sends all of it."""
        self.show(scene, "agent-finish")

    def wait_for(
        self, what: str, is_so: Callable[[], bool] = lambda: True, after: Scene | None = None
    ) -> None:
        """Sync and send heartbeats until the scene `after` was played, and then until `is_so()`:
        its commands run only then. Raises GhpError after TIMEOUT_S."""
        clock = self.place.clock
        end = clock.now() + TIMEOUT_S
        while not self.is_played(after) or not is_so():
            if clock.now() > end:
                raise GhpError(f"{self.agent} waited too long for {what}.", hint=AGAIN)
            was_played = self.is_played(after)
            again = clock.now() + (SYNC_S if was_played else IDLE_S)
            while clock.now() < again and was_played == self.is_played(after):
                clock.wait(LOOK_S)
            self.ghp("agent-sync")

    def is_played(self, scene: Scene | None) -> bool:
        """Whether a scene was played."""
        return scene is None or self.place.stage.has(scene)

    def issues(self, *which: str) -> list[int]:
        """The numbers of the issues that these options list."""
        return [issue["number"] for issue in json.loads(self.ghp("agent-issues", *which, "--json"))]

    def stop(self) -> None:
        """Set the status to stopped."""
        self.ghp("agent-status", "--set", "stopped")
        self.ghp("agent-sync")


def worker_1(part: Part) -> None:
    """Leases and writes the parser, then continues work that is handed over."""
    part.take(1, "parser", Scene.CLAIM)
    part.show(Scene.LEASE, "agent-lease", "parser.py", "--reason", "grammar")
    part.ghp("agent-sync")
    part.write("parser.py", "def parse(text):\n    return text.split()\n", "Write the parser")
    part.wait_for("a question", after=Scene.ASK)
    part.finish(Scene.FINISH_1)
    part.wait_for("a handoff of #3", lambda: 3 in part.issues("--mine"), Scene.HANDOFF)
    part.ghp("agent-claim", "3")
    run_git(part.folder, "fetch", "-q")
    run_git(part.folder, "checkout", "-q", "-B", "agent/worker-1/3-command-line", "origin/main")
    part.show(Scene.RESUME, "agent-resume", "--issue", "3", "--apply")
    part.ghp("agent-heartbeat", "--status", "testing", "--action", "Restored the work on #3")
    run_git(part.folder, "add", "-A")
    run_git(part.folder, "commit", "-q", "-m", "Finish the command line")
    part.finish(Scene.FINISH_3)
    part.stop()


def worker_2(part: Part) -> None:
    """Is refused a leased file, and asks a person for a decision."""
    leases = ("agent-leases", "--json")
    part.wait_for("the lease of parser.py", lambda: part.ghp(*leases) != "[]", Scene.LEASE)
    part.refused("agent-claim", "1")
    part.take("--next", "formatter")
    part.edit(Scene.REFUSED, "parser.py")
    options = [word for option in OPTIONS for word in ("--option", option)]
    ask = ["agent-escalate", QUESTION, *options, "--wait"]
    part.tell(Scene.ASK, f"$ ghp {shlex.join(ask)}")
    answer = part.ghp(*ask, "--timeout", str(int(TIMEOUT_S)))
    part.tell(Scene.TOLD, "reads the answer", answer)
    part.write("formatter.py", f'FORMAT = "{answer}"\n', f"Write the formatter for {answer}")
    part.finish(Scene.FINISH_2)
    part.stop()


def worker_3(part: Part) -> None:
    """Waits for two issues, works, hands off, and takes over the issue of a dead agent."""
    waiting = ["agent-heartbeat", "--status", "blocked", "--issue", "3"]
    part.ghp(*waiting, "--action", "Waiting for #1 and #2")
    part.wait_for("#3 to be ready", lambda: 3 in part.issues("--ready"), Scene.MERGE)
    part.take(3, "command-line")
    (part.folder / "cli.py").write_text("from parser import parse\n", encoding="utf-8")
    (part.folder / "logo.bin").write_bytes(BINARY)
    note = "It reads; it cannot write yet. The logo is from the designer."
    part.show(Scene.HANDOFF, "agent-handoff", "--to", "worker-1", "--note", note)
    part.ghp(
        "agent-heartbeat", "--status", "idle", "--issue", "0", "--action", "Handed #3 to worker-1"
    )
    part.wait_for("the holder of #4 to be dead", lambda: part.can_take(4), Scene.FINISH_3)
    run_git(part.folder, "reset", "-q", "--hard")  # the handoff has it
    run_git(part.folder, "clean", "-q", "-f", "-d")
    part.take(4, "benchmark")
    part.write("benchmark.py", "print('fast')\n", "Write the benchmark")
    part.finish(Scene.FINISH_4)
    part.stop()


def worker_4(part: Part) -> None:
    """Works and sends heartbeats until it is killed."""
    part.take(4, "benchmark")
    for step in range(1_000):
        part.ghp("agent-heartbeat", "--action", f"Measuring, step {step}")
        part.ghp("agent-sync")
        part.place.clock.wait(SYNC_S)


PARTS: dict[str, Callable[[Part], None]] = {
    "worker-1": worker_1,
    "worker-2": worker_2,
    "worker-3": worker_3,
    "worker-4": worker_4,
}


def start(place: Sandbox, agent: str) -> process.Child:
    """Start an agent as a process of its own."""
    command = [*PROGRAM, "agent-demo", "--play", agent, str(place.root)]
    log = place.root / f"{agent}.log"
    return process.start(command, cwd=place.worktree(agent), env=place.environ(agent), log=log)


def play(place: Sandbox, agent: str) -> None:
    """Play an agent of the demo, in the agent's own process."""
    PARTS[agent](Part(place, agent))
