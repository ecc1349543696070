"""Two versions of a file conflict if git cannot merge them; what cannot be told is said."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ghp_agents.hotpath import file_conflicts
from ghp_agents.hotpath.conflict_report import THEIRS_LIMIT
from ghp_agents.hotpath.file_conflicts import conflict_with
from ghp_agents.hotpath.locate import locate
from ghp_agents.hotpath.worktree_file import LARGEST, UndecidedError
from tests.support.git import commit, git
from tests.support.other_versions import BASE, Versions, changed, shown


@pytest.fixture
def versions(repo: Path) -> Versions:
    return Versions(repo)


def test_changes_of_different_places_merge(versions: Versions) -> None:
    versions.theirs(changed(l30="theirs"))
    assert versions.ask(changed(l10="mine")) is None


def test_changes_of_the_same_line_conflict_and_both_lines_are_told(versions: Versions) -> None:
    versions.beat(issue=12)
    versions.theirs(changed(l15="line 15\nmore\nand more", l30="theirs"))
    conflict = versions.ask(changed(l1="", l10="mine", l30="mine"))
    assert conflict is not None
    assert shown(conflict) == ("lines", (29, 29), (32, 32), "theirs")
    assert (conflict.agent, conflict.issue, conflict.more) == ("worker-2", 12, 0)


def test_the_same_change_merges(versions: Versions) -> None:
    versions.theirs(changed(l30="same"))
    assert versions.ask(changed(l30="same")) is None
    assert versions.ask(changed(l30="same", l10="mine")) is None


@pytest.mark.parametrize("mine", [changed(l3="mine"), None, "", BASE])
def test_who_has_only_touched_the_file_is_in_nobodys_way(
    versions: Versions, mine: str | None
) -> None:
    versions.theirs(BASE)
    assert versions.ask(mine) is None


def test_what_is_as_it_was_conflicts_with_nothing(versions: Versions) -> None:
    versions.theirs(changed(l30="theirs"))
    assert versions.ask(BASE) is None


def test_work_that_is_committed_counts_too(versions: Versions) -> None:
    commit(versions.worktree(), {"a.py": changed(l30="theirs"), "b.py": ""})
    commit(versions.repo, {"a.py": changed(l2="mine")})
    git(versions.repo, "pack-refs", "--all")
    assert versions.ask(changed(l2="mine", l30="mine")) is not None
    assert versions.ask(changed(l2="mine", l20="mine")) is None
    kept = (versions.repo / ".git/ghp/cache/merge-bases").read_text().split()
    assert kept[2] == git(versions.repo, "merge-base", "main", "worker-2")


def test_of_several_the_first_that_conflicts_is_named(versions: Versions) -> None:
    for number in range(2, 5):
        versions.theirs(changed(**{f"l{10 * number}": "theirs"}), name=f"worker-{number}")
    names = ("worker-2", "worker-3", "worker-4")
    assert versions.ask(changed(l5="mine"), "a.py", *names) is None
    conflict = versions.ask(changed(l30="mine", l40="mine"), "a.py", *names)
    assert conflict is not None
    assert conflict.agent == "worker-3"


def test_a_conflict_in_several_places_tells_how_many(versions: Versions) -> None:
    versions.theirs(changed(l5="theirs", l20="theirs", l35="theirs"))
    conflict = versions.ask(changed(l5="mine", l20="mine", l35="mine"))
    assert conflict is not None
    assert (conflict.start, conflict.more) == (5, 2)


def test_lines_that_are_deleted_on_one_side_are_counted(versions: Versions) -> None:
    versions.theirs(changed(l10="", l11="", l12=""))
    conflict = versions.ask(changed(l11="mine"))
    assert shown(conflict) == ("lines", (10, 12), (10, 9), "")
    versions.theirs(changed(l11="theirs"))
    conflict = versions.ask(changed(l10="", l11="", l12=""))
    assert shown(conflict) == ("lines", (10, 9), (10, 12), "line 10\ntheirs\nline 12")


def test_their_lines_are_cut_at_a_few_hundred_characters(versions: Versions) -> None:
    versions.theirs(changed(l10="é" * 3_000))
    conflict = versions.ask(changed(l10="mine"))
    assert conflict is not None
    assert conflict.theirs == "é" * (THEIRS_LIMIT - 1) + "…"


# ------------------------------------------------------------------ resolving a conflict


def test_an_edit_that_adds_no_conflict_to_one_that_exists_is_let_go(versions: Versions) -> None:
    versions.theirs(changed(l10="theirs", l30="theirs"))
    before = changed(l10="mine").encode()
    worse = versions.ask(changed(l10="mine", l30="mine"), before=before)
    assert shown(worse) == ("lines", (30, 30), (30, 30), "theirs")
    assert versions.ask(changed(l10="mine otherwise", l20="mine"), before=before) is None
    assert versions.ask(changed(l10="theirs"), before=before) is None
    assert versions.ask(BASE, before=before) is None
    assert versions.ask(changed(l10="mine"), before=BASE.encode()) is not None


def test_a_deletion_that_conflicts_already_is_no_new_conflict(versions: Versions) -> None:
    versions.theirs(None)
    before = changed(l10="mine").encode()
    assert versions.ask(changed(l10="mine again"), before=before) is None
    assert versions.ask(changed(l10="mine again"), before=BASE.encode()) is not None


# --------------------------------------------------------- new, deleted and moved files


def test_new_files_of_one_name_conflict_unless_they_are_equal(versions: Versions) -> None:
    versions.theirs("one\ntwo\nthree\n", "new/b.py")
    assert versions.ask("one\ntwo\nthree\n", "new/b.py") is None
    conflict = versions.ask("one\n2\nthree\n", "new/b.py")
    assert shown(conflict) == ("added", (2, 2), (2, 2), "two")
    assert versions.ask("", "new/b.py") is None  # git keeps what the other has
    assert versions.ask(None, "new/b.py") is None
    assert versions.ask("only mine\n", "new/c.py") is None


def test_a_deletion_conflicts_with_a_change(versions: Versions) -> None:
    versions.theirs(changed(l30="theirs"))
    conflict = versions.ask(None)
    assert conflict is not None
    assert (shown(conflict), conflict.they_deleted) == (
        ("deleted", (0, 0), (30, 30), "theirs"),
        False,
    )
    versions.theirs(None)
    assert versions.ask(None) is None
    conflict = versions.ask(changed(l30="mine"))
    assert conflict is not None
    assert (shown(conflict), conflict.they_deleted) == (("deleted", (0, 0), (0, 0), ""), True)


@pytest.mark.parametrize("how", ["plain", "git mv", "committed"])
def test_a_file_that_they_moved_is_merged_where_it_is_now(versions: Versions, how: str) -> None:
    other = versions.worktree()
    (other / "lib").mkdir()
    if how == "plain":
        (other / "a.py").rename(other / "lib/b.py")
    else:
        git(other, "mv", "a.py", "lib/b.py")
    versions.theirs("x\n", "lib/other.py")
    (other / "lib/b.py").write_text(changed(l30="theirs"))
    if how == "committed":
        git(other, "add", "--all")
        git(other, "commit", "--quiet", "--message", "Move it")
    assert versions.ask(changed(l10="mine")) is None
    conflict = versions.ask(changed(l30="mine"))
    assert conflict is not None
    assert shown(conflict) == ("lines", (30, 30), (30, 30), "theirs")
    assert conflict.their_path == "lib/b.py"


def test_a_file_that_i_move_is_merged_where_it_will_be(versions: Versions) -> None:
    versions.theirs(changed(l30="theirs"))
    other = {"x.py": b"x\n"}
    moved = {"lib/b.py": changed(l10="mine").encode()}
    assert versions.ask(None, moved=moved | other) is None
    conflict = versions.ask(None, moved={"lib/b.py": changed(l30="mine").encode()})
    assert conflict is not None
    assert (shown(conflict), conflict.their_path) == (
        ("lines", (30, 30), (30, 30), "theirs"), "",
    )  # fmt: skip
    assert versions.ask(None, moved=other) is not None


def test_a_file_that_a_sparse_checkout_leaves_out_is_not_deleted(versions: Versions) -> None:
    commit(versions.repo, {"lib/a.py": BASE})
    other = versions.worktree()
    git(other, "sparse-checkout", "set", "--no-cone", "/a.py")
    assert not (other / "lib/a.py").exists()
    assert versions.ask(changed(l3="mine"), "lib/a.py") is None


# -------------------------------------------------------------------- files of all kinds


def test_the_last_line_may_have_no_end(versions: Versions) -> None:
    versions.theirs(changed(l40="theirs")[:-1])
    conflict = versions.ask(changed(l40="mine")[:-1])
    assert shown(conflict) == ("lines", (40, 40), (40, 40), "theirs")
    versions.theirs(BASE + "more")
    assert versions.ask(changed(l3="mine")) is None


def test_text_that_looks_like_a_conflict_is_text(versions: Versions) -> None:
    marks = f"{'<' * 64} a\n{'=' * 64}\n{'>' * 64} b\n"
    versions.theirs(marks + changed(l30="theirs"))
    conflict = versions.ask(changed(l30="mine") + marks)
    assert shown(conflict) == ("lines", (30, 30), (33, 33), "theirs")


@pytest.mark.parametrize("name", ["b c.py", "line\nbreak.py", "é✓.py", "-x.py", ":(glob)*.py"])
def test_a_name_may_hold_anything(versions: Versions, name: str) -> None:
    commit(versions.repo, {"./" + name: BASE})
    versions.theirs(changed(l30="theirs"), name)
    assert versions.ask(changed(l10="mine"), name) is None
    assert versions.ask(changed(l30="mine"), name) is not None


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("attributes", "autocrlf"),
    [("* text", "false"), ("* text=auto", "false"), ("* eol=crlf", "false"), ("", "true"),
     ("", "input"), ("*.py crlf", "false")],
)  # fmt: skip
def test_line_ends_count_as_git_stores_them(
    versions: Versions, attributes: str, autocrlf: str
) -> None:
    git(versions.repo, "config", "core.autocrlf", autocrlf)
    (versions.repo / ".gitattributes").write_text(attributes + "\n")
    versions.theirs(changed(l30="theirs").replace("\n", "\r\n"))
    assert versions.ask(changed(l10="mine")) is None
    assert versions.ask(changed(l30="mine")) is not None
    versions.theirs(BASE.replace("\n", "\r\n"))
    assert versions.ask(changed(l10="mine")) is None
    versions.theirs(changed(l30="theirs"))
    assert versions.ask(changed(l10="mine").replace("\n", "\r\n")) is None


def test_where_git_stores_crlf_every_line_differs(versions: Versions) -> None:
    git(versions.repo, "config", "core.autocrlf", "false")
    versions.theirs(BASE.replace("\n", "\r\n"))
    assert versions.ask(changed(l10="mine")) is not None


@pytest.mark.parametrize(
    "attributes",
    ["a.py merge=ours", "*.py -merge", "*.py binary", "*.py filter=indent", "*.py ident",
     "*.py working-tree-encoding=UTF-16", "*.py merge=binary"],
)  # fmt: skip
def test_what_git_does_not_merge_by_lines_is_refused_as_a_whole_and_nothing_runs(
    versions: Versions, tmp_path: Path, attributes: str
) -> None:
    for key in ("merge.ours.driver", "filter.indent.clean", "diff.x.textconv", "merge.text.driver"):
        git(versions.repo, "config", key, f"touch {tmp_path}/ran; false")
    (versions.repo / ".gitattributes").write_text(f"{attributes} diff=x\n")
    versions.theirs(changed(l30="theirs"))
    conflict = versions.ask(changed(l10="mine"))
    assert conflict is not None
    assert conflict.kind == "whole"
    assert not (tmp_path / "ran").exists()


def test_no_driver_runs_where_nothing_is_said_of_the_file(
    versions: Versions, tmp_path: Path
) -> None:
    for key in ("merge.default.driver", "merge.text.driver", "filter.x.clean", "diff.x.command"):
        git(versions.repo, "config", key, f"touch {tmp_path}/ran; false")
    git(versions.repo, "config", "merge.default", "default")
    versions.theirs(changed(l30="theirs"))
    assert versions.ask(changed(l10="mine")) is None
    assert versions.ask(changed(l30="mine")) is not None
    assert not (tmp_path / "ran").exists()


def test_a_file_that_keeps_both_sides_never_conflicts(versions: Versions) -> None:
    (versions.repo / ".gitattributes").write_text("a.py merge=union\n")
    versions.theirs(changed(l30="theirs"))
    assert versions.ask(changed(l30="mine")) is None


def test_binary_files_that_both_changed_conflict_as_a_whole(repo: Path) -> None:
    versions = Versions(repo, {"a.bin": b"\0\1\2" * 100})
    versions.theirs(b"\0\1\2" * 100, "a.bin")
    assert versions.ask(b"\0mine", "a.bin") is None
    versions.theirs(b"\0theirs", "a.bin")
    conflict = versions.ask(b"\0mine", "a.bin")
    assert conflict is not None
    assert (conflict.kind, conflict.why_whole) == ("whole", "it is binary")
    assert versions.ask(b"\0theirs", "a.bin") is None


@pytest.mark.parametrize("layout", ["sha256", "packed", "detached", "inner"])
def test_any_layout_of_a_repository_will_do(tmp_path: Path, layout: str) -> None:
    kind = "sha256" if layout == "sha256" else "sha1"
    repo = tmp_path / "repo"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", f"--object-format={kind}", "repo")
    versions = Versions(repo)
    versions.theirs(changed(l30="theirs"))
    commit(versions.worktree(), {"b.py": "b"})
    if layout == "packed":
        git(repo, "gc", "--quiet")
    if layout == "detached":
        git(versions.worktree(), "checkout", "--quiet", "--detach")
    here = repo
    if layout == "inner":
        here = repo / "trees/me"
        git(repo, "worktree", "add", "--quiet", "--detach", str(here))
    assert versions.ask(changed(l10="mine"), here=here) is None
    assert versions.ask(changed(l30="mine"), here=here) is not None


def test_asking_leaves_nothing_behind(versions: Versions) -> None:
    def objects() -> set[Path]:
        return set((versions.repo / ".git").rglob("*"))

    versions.theirs(changed(l30="theirs"))
    before = objects()
    assert versions.ask(changed(l30="mine")) is not None
    assert versions.ask(changed(l10="mine")) is None
    assert objects() == before


# ------------------------------------------------------------------- what cannot be told


def undecided(versions: Versions, mine: str | bytes | None = changed(l30="mine")) -> str:
    with pytest.raises(UndecidedError) as caught:
        versions.ask(mine)
    return str(caught.value)


def test_a_large_file_is_not_merged(versions: Versions) -> None:
    versions.theirs(b"x" * (LARGEST + 1))
    assert undecided(versions) == f"the file has {LARGEST + 1} bytes"
    versions.theirs(changed(l30="theirs"))
    assert undecided(versions, b"y" * (LARGEST + 2)) == f"the file has {LARGEST + 2} bytes"


def test_a_large_file_in_the_base_is_not_merged(repo: Path) -> None:
    versions = Versions(repo, {"a.py": b"x\n" * LARGEST})
    versions.theirs("theirs")
    assert undecided(versions) == f"the file has {2 * LARGEST} bytes"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "linked folder"])
def test_what_is_no_plain_file_there_is_not_read(
    versions: Versions, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "secret").write_text("secret\n")
    place = versions.theirs(None, "a.py")
    if kind == "link":
        place.symlink_to(tmp_path / "secret")
    elif kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        commit(versions.repo, {"lib/secret": BASE})
        (place.parent / "lib").symlink_to(tmp_path)
        with pytest.raises(UndecidedError, match="is a link"):
            versions.ask("mine\n", "lib/secret")
        return
    assert "secret" not in undecided(versions)


def test_histories_without_a_common_commit_are_not_merged(versions: Versions) -> None:
    other = versions.worktree()
    git(other, "checkout", "--quiet", "--orphan", "new")
    assert undecided(versions) == "the two branches have no merge base"
    git(other, "commit", "--quiet", "--message", "Begin anew")
    versions.theirs(changed(l30="theirs"))
    assert undecided(versions) == "the two branches have no merge base"


def test_a_worktree_that_is_gone_is_nobodys(versions: Versions) -> None:
    lease = versions.lease()
    lease.git_dir = "/etc/worktrees/nowhere"
    place = locate(str(versions.repo), os.environ)
    assert place
    with pytest.raises(UndecidedError, match="the worktree of worker-2 was not found"):
        conflict_with(place, "a.py", b"", lease, folders=versions.folders, environ=os.environ)


def test_without_git_nothing_is_told(
    versions: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions.theirs(changed(l30="theirs"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert undecided(versions).startswith("FileNotFoundError")


def test_a_git_that_hangs_is_ended_after_a_second(
    versions: Versions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions.theirs(changed(l30="theirs"))
    (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(file_conflicts, "DEADLINE_S", 0.1)
    assert undecided(versions) == "SlowGitError: git took too long"


# ------------------------------------------------------------------- what git itself says

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "    return x", "}"]), max_size=12)


def _file(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(LINES, LINES, LINES, st.booleans())
def test_the_answer_is_that_of_a_later_merge(
    repo: Path, base: list[str], mine: list[str], theirs: list[str], ends: bool
) -> None:
    contents = [_file(x) for x in (base, mine, theirs)]
    if not ends:
        contents = [text[:-1] for text in contents]
    commit(repo, {"a.py": contents[0], "other": os.urandom(9).hex()})
    names = [repo.name, str(os.urandom(4).hex())]
    other = repo.parent / "-".join(names)
    git(repo, "worktree", "add", "--quiet", "--detach", str(other))
    (other / "a.py").write_text(contents[2])
    versions = Versions.__new__(Versions)
    versions.repo, versions.folders = repo, [str(repo / ".git/ghp")]
    versions.worktree = lambda name="": other  # type: ignore[method-assign]
    try:
        conflicts = versions.ask(contents[1]) is not None
        ours = _commit_of(repo, contents[1])
        merged = subprocess.run(
            ["git", "merge-tree", "--write-tree", ours, _commit_of(repo, contents[2])],
            cwd=repo, capture_output=True,
        )  # fmt: skip
        assert conflicts == (merged.returncode == 1)
    finally:
        git(repo, "worktree", "remove", "--force", str(other))


def _commit_of(repo: Path, text: str) -> str:
    """A commit beside HEAD with this file."""
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=text)
    rest = git(repo, "ls-tree", "HEAD", "other")
    tree = git(repo, "mktree", stdin=f"100644 blob {blob}\ta.py\n{rest}\n")
    return git(repo, "commit-tree", tree, "-p", "HEAD", "-m", "x")
