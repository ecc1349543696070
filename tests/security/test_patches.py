"""A handoff's patch may come from anybody who can push: it writes nothing but plain work."""

import contextlib
import hashlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ghp_agents.core.errors import ExitCode, GhpError
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.git import apply_patch, patch
from ghp_agents.git.patch_text import UnsafePatchError, read_patch
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import HANDOFF, Handoff, Work
from ghp_agents.hotpath.locate import locate
from ghp_agents.state.record import Record
from ghp_agents.wiring import App
from tests.support.ghp import Result, invoke
from tests.support.git import commit, git

MALLORY = Actor("mallory")
AT = Timestamp("2026-01-02T03:04:05Z")
SECRET = "machine api.example login deploy password tr0ub4dor-and-3\n"
EMPTY, HELLO = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "ce013625030ba8dba906f756967f9e9ca394464a",
)


@pytest.fixture
def place(repo: Path) -> Path:
    """A worktree with an agent, tracked files, an ignored secret and one beside the worktree."""
    commit(repo, {"docs/a.md": "a\n", ".gitignore": ".env\n", "plain": "plain\n"})
    (repo / ".env").write_text(SECRET)
    (repo.parent / "secret").write_text(SECRET)
    return repo


def hand_over(place: Path, content: str | bytes, base: str | None = None) -> str:
    """Record a handoff with this patch, as another clone may; answers its name."""
    data = content.encode() if isinstance(content, str) else content
    digest = hashlib.sha256(data).hexdigest()
    base = git(place, "rev-parse", "HEAD") if base is None else base
    made = Handoff(
        id=digest[:12], kind=HANDOFF, by=MALLORY, to=None, issue=None, at=AT, clock=1,
        evidence=digest[:24], head=base, work=Work(base, len(data), digest, 1),
    )  # fmt: skip
    files = (
        (handoff_record.path_of(made), handoff_record.render(made, "# Work\n")),
        (handoff_record.patch_path_of(made), data),
    )
    store = App(place, os.environ).store
    record = Record(HANDOFF, MALLORY, made.name, made.id, AT, 1, files)
    store.commit([record], store.snapshot().revision)
    return made.name


def everything(folder: Path) -> dict[str, bytes]:
    """All files in and beside the worktree, but for the state."""
    return {
        str(path): os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.parent.rglob("*"))
        if (path.is_symlink() or path.is_file()) and "ghp" not in path.parts
    }


def refusal(place: Path, content: str) -> str:
    """Why a patch cannot be put into a worktree. Nothing may have changed."""
    before = everything(place)
    with pytest.raises(GhpError) as caught:
        apply_patch.apply(place, content.encode(), three_way=False)
    assert everything(place) == before
    assert caught.value.hint.startswith("Nothing was changed.")
    return str(caught.value)


def resume(place: Path, name: str, options: str = "") -> Result:
    """`agent-resume --apply` for a handoff."""
    return invoke(f"agent-resume --handoff {name} --apply {options} --as worker-1", place)


def new_file(name: str, mode: str = "100644", text: str = "hello\n") -> str:
    """The part of a patch that makes a file."""
    end = "" if text.endswith("\n") else "\n\\ No newline at end of file\n"
    return (
        f"diff --git a/{name} b/{name}\nnew file mode {mode}\nindex {'0' * 40}..{HELLO}\n"
        f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+{text}{end}"
    )


def moved(source: str, to: str, verb: str) -> str:
    """The part of a patch that copies or renames a file."""
    return (
        f"diff --git a/{source} b/{to}\nsimilarity index 100%\n"
        f"{verb} from {source}\n{verb} to {to}\n"
    )


# ------------------------------------------------------------------------------ reading files


@pytest.mark.parametrize("verb", ["copy", "rename"])
def test_a_patch_cannot_copy_or_move_a_file_that_is_not_in_git(place: Path, verb: str) -> None:
    absolute = str(place.parent / "secret")
    for source in (".env", ".git/config", "../secret", absolute, "plain/../.env"):
        refusal(place, moved(source, "docs/notes.txt", verb))


@pytest.mark.parametrize("verb", ["copy", "rename"])
def test_neither_on_another_commit(place: Path, verb: str) -> None:
    base = git(place, "rev-parse", "HEAD")
    commit(place, {"later": "x\n"})
    name = hand_over(place, moved(".env", "docs/notes.txt", verb), base)
    before = everything(place)
    assert resume(place, name).code != 0
    assert everything(place) == before


def test_the_command_says_what_is_wrong_with_a_patch(place: Path) -> None:
    name = hand_over(place, moved("plain", "docs/notes.txt", "copy"))
    before = everything(place)
    assert resume(place, name) == Result(
        ExitCode.REFUSED,
        "",
        "Error: The patch has an unexpected form: line 3 copies a file.\n"
        "Hint: Nothing was changed. Check who made it, and ask for a commit instead.\n",
    )
    assert everything(place) == before


def test_a_secret_that_a_patch_moved_is_published_by_no_checkpoint(place: Path) -> None:
    name = hand_over(place, moved(".env", "docs/notes.txt", "copy"))
    resume(place, name)
    assert invoke("agent-handoff --checkpoint --as worker-1", place).code == 0
    files = App(place, os.environ).store.snapshot().files(".ghp/")
    assert not [name for name, content in files.items() if b"tr0ub4dor" in content]


# ----------------------------------------------------------------------------- leaving the tree


OUTSIDE = (
        "../outside", "docs/../../outside", "/tmp/ghp-outside", ".git/hooks/pre-commit",
        ".GIT/config", "git~1/config", "./.git/config", "sub/.git/config", ".git /config",
        ".git./config", ".g\u200cit/config", ".git::$INDEX_ALLOCATION/config", "a\\..\\..\\b",
        "docs//b",
)  # fmt: skip


def test_no_name_leaves_the_worktree_or_enters_a_git_folder(place: Path) -> None:
    for name in OUTSIDE:
        refusal(place, new_file(name))
        refusal(place, moved("plain", name, "rename"))
    assert not Path("/tmp/ghp-outside").exists()


def test_no_link_leads_out_of_the_worktree(place: Path) -> None:
    for target in ("../secret", "/etc", "..", "docs/../..", ".git", "docs/../.git"):
        said = refusal(place, new_file("link", "120000", target))
        assert said == "The patch creates 'link', a link that leads out of the worktree."


def test_no_link_leads_out_by_way_of_another_link(place: Path) -> None:
    refusal(place, new_file("docs/up", "120000", "..") + new_file("l", "120000", "docs/up/../x"))
    (place / "door").symlink_to(place.parent)
    refusal(place, new_file("l", "120000", "door/secret"))


def test_a_link_that_moves_cannot_lead_out_from_its_new_place(place: Path) -> None:
    (place / "docs/link").symlink_to("../plain")
    git(place, "add", "-A", "docs")
    commit(place, {"x": "x\n"})
    refusal(place, moved("docs/link", "link", "rename"))


def test_a_changed_link_cannot_lead_out(place: Path) -> None:
    (place / "link").symlink_to("plain")
    git(place, "add", "link")
    commit(place, {"x": "x\n"})
    end = "\n\\ No newline at end of file\n"
    head = "diff --git a/link b/link\n{}--- a/link\n+++ b/link\n@@ -1 +1 @@\n"
    body = f"-plain{end}+../secret{end}"
    refusal(place, head.format(f"index {EMPTY}..{HELLO} 120000\n") + body)
    refusal(place, head.format(f"index {EMPTY}..{HELLO}\n") + body)  # it says no mode
    refusal(place, head.format("") + body)


def test_no_file_is_written_through_a_link_of_the_same_patch(place: Path) -> None:
    for target in (".git/hooks", "docs"):
        link = new_file("through", "120000", target)
        file = new_file("through/pre-commit", "100755")
        refusal(place, link + file)
        refusal(place, file + link)


def test_no_submodule_and_no_odd_mode(place: Path) -> None:
    for mode in ("160000", "040000", "100666", "104755", "777"):
        refusal(place, new_file("sub", mode, f"Subproject commit {HELLO}\n"))
        refusal(place, f"diff --git a/plain b/plain\nold mode 100644\nnew mode {mode}\n")


# ----------------------------------------------------------------- what git would read otherwise


OTHERS = {
    "a patch without git's header": "--- a/plain\n+++ b/plain\n@@ -1 +1 @@\n-plain\n+x\n",
    "words before": "Subject: hello\n" + new_file("b"),
    "words between": new_file("b") + "more\n" + new_file("c"),
    "a second patch below the first": new_file("b")
    + "--- /dev/null\n+++ b/../outside\n@@ -0,0 +1 @@\n+x\n",
    "names that differ": new_file("b").replace("+++ b/b", "+++ b/c"),
    "a header that differs": new_file("b").replace("diff --git a/b b/b", "diff --git a/b b/c"),
    "a header with other names": "diff --git a/plain c/plain\nold mode 100644\nnew mode 100755\n",
    "a rename of a changed file": moved("plain", "b", "rename").replace("100%", "90%"),
    "a rename with content": moved("plain", "b", "rename")
    + f"index {EMPTY}..{HELLO} 100644\n--- a/plain\n+++ b/b\n@@ -1 +1 @@\n-plain\n+x\n",
    "the same file twice": new_file("b") + new_file("b"),
    "other prefixes": new_file("b").replace(" a/", " x/").replace(" b/", " y/"),
    "a name that should be quoted": new_file("b\tc"),
    "too few lines": new_file("b").replace("+1 @@", "+1,2 @@"),
    "no end": new_file("b").removesuffix("\n"),
    "a binary link": f"diff --git a/l b/l\nnew file mode 120000\nindex {'0' * 40}..{HELLO}\n"
    "GIT binary patch\nliteral 5\nMcmYdfU|;|M1poj50\n\n",
    "binary content without end": f"diff --git a/l b/l\nnew file mode 100644\n"
    f"index {'0' * 40}..{HELLO}\nGIT binary patch\nliteral 999999999999\nMcmYdfU|;|M1poj50\n\n",
    "binary files that differ": f"diff --git a/l b/l\nnew file mode 100644\n"
    f"index {'0' * 40}..{HELLO}\nBinary files /dev/null and b/l differ\n",
}


def test_what_git_never_writes_for_uncommitted_work_is_refused(place: Path) -> None:
    for kind, content in OTHERS.items():
        assert refusal(place, content), kind


def test_reading_a_patch_takes_time_in_proportion_to_it(repo: Path) -> None:
    from ghp_agents.git import patch_text as patchtext

    spaces = "a/" + "x /" * 2_000
    for content in (
        "".join(new_file(f"d{number}/f") for number in range(2_000)),
        f"diff --git {spaces} {spaces}\nold mode 100644\nnew mode 100755\n" * 20,
        new_file("/".join("abc") * 100) * 100,
        'diff --git "a/' + "\\303" * 60_000 + "\n",
        "@@" * 100_000,
    ):
        began = time.process_time()
        with contextlib.suppress(GhpError):
            patchtext.read_patch(content.encode())
        assert time.process_time() - began < 0.5


# ----------------------------------------------------------------------------- what is our own


NAMES = (
    "plain name", "späß.txt", 'quo"te', "new\nline", "tab\there", "back\\slash", " blanks ",
    "b/x b/x", "-option", ":(top)x", "\x7fdel", "a b/a b",
)  # fmt: skip


@pytest.mark.slow
def test_real_work_with_every_kind_of_name_and_change_still_comes_back(place: Path) -> None:
    commit(place, {f"old/{name}": f"{name}\n" * 9 for name in NAMES})
    commit(place, {"gone": "", "picture": bytes(range(256)), "tool": "#!/bin/sh\n", "t": "text\n"})
    for at, name in enumerate(NAMES):
        for kind, content in (("empty", b""), ("text", b"x\n"), ("binary", b"\0\1" * 900)):
            path = place / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        old = place / "old" / name
        if at % 3 == 0:
            (place / "moved" / name).parent.mkdir(parents=True, exist_ok=True)
            old.rename(place / "moved" / name)
        elif at % 3 == 1:
            old.write_text("changed, without an end")
            old.chmod(0o755)
        else:
            old.chmod(0o755)
    (place / "gone").unlink()
    (place / "picture").write_bytes(bytes(reversed(range(256))))
    (place / "docs/link").symlink_to("../plain")
    (place / "t").unlink()
    (place / "t").symlink_to("docs")
    git(place, "add", "--all", "--force", "--", "t")
    git(place, "reset", "--quiet")
    found = locate(str(place), {})
    assert found is not None
    made = patch.take_patch(found, 5_000_000)
    assert made.left_out == ()
    name = hand_over(place, made.content, made.base)
    other = place.parent / "other"
    git(place, "worktree", "add", "--quiet", "--detach", str(other))
    done = resume(other, name)
    assert done.code == 0, done.err
    trees = []
    for folder in (place, other):
        git(folder, "add", "-A")
        trees.append(git(folder, "write-tree"))
    assert trees[0] == trees[1]


def test_a_link_that_leads_out_is_left_out_of_what_is_kept(place: Path) -> None:
    (place / "out").symlink_to("/etc/hostname")
    (place / "in").symlink_to("docs/a.md")
    found = locate(str(place), {})
    assert found is not None
    made = patch.take_patch(found, 5_000_000)
    assert [change.path for change in made.changes] == ["in"]
    assert [(one.path, one.reason) for one in made.left_out] == [
        ("out", "a link that leads out of the worktree")
    ]


# ------------------------------------------------------------------ files that configure tools


def test_a_file_that_configures_a_tool_needs_a_word_of_its_own(place: Path) -> None:
    name = hand_over(place, new_file("b") + new_file(".mcp.json") + new_file(".claude/s.json"))
    before = everything(place)
    assert resume(place, name) == Result(
        ExitCode.REFUSED,
        "",
        f"Error: The work of {name}, by agent mallory, changes files that configure tools: "
        "`.claude/s.json`, `.mcp.json`.\n"
        "Hint: Nothing was changed. If you trust its author: "
        f"`ghp agent-resume --handoff {name} --apply --allow-config`. Then read these files "
        "before you start a tool.\n",
    )
    assert everything(place) == before
    done = resume(place, name, "--allow-config")
    assert done.code == 0, done.err
    assert (place / ".claude/s.json").read_text() == (place / "b").read_text() == "hello\n"


def test_that_word_allows_nothing_else(place: Path) -> None:
    name = hand_over(place, new_file(".claude/settings.json") + new_file("../b"))
    assert resume(place, name, "--allow-config").code != 0
    assert not (place / ".claude").exists()


def test_taking_such_a_file_away_or_moving_one_there_counts_too(place: Path) -> None:
    commit(place, {".mcp.json": "x\n"})
    for source, to in ((".mcp.json", "x"), ("plain", ".mcp/.envrc")):
        done = resume(place, hand_over(place, moved(source, to, "rename")))
        assert done.code == ExitCode.REFUSED
        assert "changes files that configure tools" in done.err


def test_it_restores_nothing_without_apply(place: Path) -> None:
    done = invoke("agent-resume --allow-config --as worker-1", place)
    assert done == Result(
        ExitCode.USAGE,
        "",
        "Error: --allow-config needs --apply.\nHint: Use `--apply --allow-config`.\n",
    )


PATCH = (
    b"diff --git a/n b/n\nold mode 100644\nnew mode 100755\n"
    b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1111111\n"
    b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n"
)


@given(st.integers(0, len(PATCH) - 1), st.binary(min_size=0, max_size=4), st.integers(0, 4))
@example(PATCH.index(b"644\nindex"), b"\xeb", 1)
@example(PATCH.index(b"755"), b"\xff", 1)
def test_an_odd_byte_in_a_patch_is_refused_in_words(at: int, put: bytes, cut: int) -> None:
    with contextlib.suppress(UnsafePatchError):
        read_patch(PATCH[:at] + put + PATCH[at + cut :])
