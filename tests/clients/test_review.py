"""A review between real sessions, two of Claude Code and one of Codex: asked for, done, acted upon.

No person is in between. `docs/review-by-agents.md` is what the sessions did and read;
`RECORD_CONVERSATION=1` writes it anew.
"""

import os
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.clients.live import LiveSession
from tests.clients.steps import run, set_up, shell, start
from tests.support.clients import Bench, end, ghp
from tests.support.consent import agree
from tests.support.fake_models import Request, Turn
from tests.support.git import git
from tests.support.road import Road

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs/review-by-agents.md"
HEAD = """\
# A review between three sessions

Two sessions of Claude Code and one of Codex work in two clones of a repository with
`agents.review: required`. No person types anything. A test plays this with the real clients: their
models follow a script, and what they read comes from the hooks. `TIME` and `COMMIT` stand for what
differs from run to run. Here, the test gives each session its next step. Another test lets three
sessions rest at their terminals after one prompt: messages alone wake them, up to the merge.
"""
REQUEST = re.compile(r"Review (M-[0-9a-f]+) by agent worker-1")
WORK = "mkdir src && echo tabs > src/parse.py && git add . && git commit -qm Parse"
CHANGE = "echo spaces > src/parse.py && git commit -qam Spaces"
FINISH = f"{ghp('agent-finish')} > /dev/null 2>&1"
ASK = ghp("agent-send worker-2 'Review the parser' --kind review 2>&1")
ASK_TWO = ghp("agent-send worker-2 worker-3 'Review the second version' --kind review 2>&1")
MERGE = ghp("agent-merge 1 --unchecked 2>&1")


class Told:
    """What happened, as the page shows it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.names: dict[str, str] = {}

    def section(self, title: str, *texts: str) -> None:
        blocks = "".join(f"\n```text\n{self.plain(text)}\n```\n" for text in texts)
        self.parts.append(f"\n## {title}\n{blocks}")

    def plain(self, text: str) -> str:
        """A text as it is in each run."""
        for name in re.findall(r"M-[0-9a-f]+", text):
            self.names.setdefault(name, f"M-{len(self.names) + 1:04}")
        text = re.sub(r"M-[0-9a-f]+", lambda found: self.names[found[0]], text)
        text = re.sub(r"\b[0-9a-f]{12}\b", "COMMIT", text)
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z|\d\d:\d\d(?: UTC)?(, [^:\n]* ago)?", "TIME", text)

    @property
    def page(self) -> str:
        return HEAD + "".join(self.parts)


def news(context: str) -> str:
    """What a hook told, without its first line."""
    return context.partition("\n")[2].partition("\n\n")[0]  # the client adds its own


def exchange(*clones: Path) -> None:
    for clone in clones:
        run("agent-sync", cwd=clone)


@pytest.fixture
def places(
    bench: Bench, clones: Callable[[int], list[Path]], worktree: Callable[[Path, str], Path]
) -> tuple[Path, Path, Path]:
    """A clone of worker-1, who has #1; one of worker-2; and a worktree of worker-3 there."""
    one, other = clones(2)
    Road(one).configure({"review": "required"})
    git(other, "pull", "--quiet")
    agree(other)
    run("agent-init", "--agent", "worker-1", "--hooks", "claude", cwd=one)
    run("agent-init", "--agent", "worker-2", "--hooks", "claude", cwd=other)
    third = worktree(other, "three")
    set_up(bench, third, "codex", agent="worker-3")
    run("agent-issue", "new", "Parse", "--as", "@me", cwd=one)
    run("agent-start", "1", cwd=one)
    exchange(one, other, one)
    return one, other, third


def in_codex(bench: Bench, folder: Path) -> None:
    """A session of Codex reads of the review when it begins, and approves."""

    def review(request: Request) -> Turn:
        (found,) = {*REQUEST.findall(request.said)}
        words = f"agent-inbox done {found} --verdict approve --result 'Reads well'"
        return Turn(calls=[shell("codex", ghp(words))])

    bench.models.script("three", review, Turn("Reviewed."))
    assert end(start(bench, "codex", folder, "three")).code == 0


@pytest.mark.long
def test_three_sessions_review_and_merge_without_a_person(
    bench: Bench, places: tuple[Path, Path, Path]
) -> None:
    one, other, third = places
    place, told = Path(run("agent-where", "1", cwd=one).strip()), Told()
    with (
        closing(LiveSession(bench, place, "worker-1")) as a,
        closing(LiveSession(bench, other, "worker-2")) as b,
    ):
        a.begin()
        b.begin()
        asked = a.shell(f"{WORK} && {FINISH} && {ASK}")
        told.section("worker-1 (Claude Code) finishes, and asks for a review", *asked.results)
        exchange(one, other)
        read = b.look().context
        told.section("worker-2 (Claude Code) reads it at its next step", news(read))
        first = REQUEST.findall(read)[0]
        changes = f"agent-inbox done {first} --verdict changes --result 'Spaces, not tabs' 2>&1"
        told.section("worker-2 requests changes", *b.ghp(changes).results)

        exchange(other, one)
        read = a.look().context
        assert f"as asked by your {first}" in read
        told.section("worker-1 reads the verdict", news(read))
        told.section("Its merge is refused", *a.shell(f"{MERGE} | grep Error").results)
        asked = a.shell(f"{CHANGE} && {FINISH} && {ASK_TWO}")
        told.section("worker-1 changes its work, and asks two", *asked.results)

        exchange(one, other)
        second = REQUEST.findall(b.look().context)[0]
        assert second != first
        approve = f"agent-inbox done {second} --verdict approve 2>&1"
        told.section("worker-2 approves", *b.ghp(approve).results)
        in_codex(bench, third)
        exchange(other, one)
        read = a.look().context
        told.section("worker-3 (Codex) approves, too; worker-1 reads both", news(read))
        told.section("worker-1 merges", *a.shell(f"{MERGE} | grep ✓").results)
    told.section("The second conversation", run("agent-thread", second, cwd=one).rstrip())
    assert "src/parse.py" in git(one, "ls-tree", "-r", "--name-only", "origin/main")
    if os.environ.get("RECORD_CONVERSATION") == "1":
        PAGE.write_text(told.page, encoding="utf-8")
    assert told.page == PAGE.read_text(encoding="utf-8")
