"""A handoff comes back from its file as it was, and a broken or hostile one harms nobody."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.core.errors import UsageError
from ghp_agents.core.files import below
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.handoffs.handoff import Handoff, Missing, Work
from ghp_agents.handoffs.record import (
    applied_path_of,
    folder_of,
    patch_folder_of,
    patch_path_of,
    path_of,
    read_handoffs,
    render,
)

AT = Timestamp("2025-06-15T15:06:40Z")
OID = "0123456789abcdef0123456789abcdef01234567"
WORK = Work(OID, 396, "ab" * 32, 2, (Missing("data.bin", 9_000_000, "too large"),))
HANDOFF = Handoff(
    "3f9a2c1b0d4e", "handoff", Actor("worker-1"), "worker-2", 12, AT, 7, "evidence",
    "agent/worker-1/12-x", OID, "The parser is next.\n---\nid: other\n", ("Go on with #12.",), WORK,
)  # fmt: skip


def test_the_file_is_readable_as_it_is() -> None:
    assert render(HANDOFF, "# H-3f9a2c1b0d4e\n").decode() == (
        "---\nschemaVersion: 1\n"
        'id: "H-3f9a2c1b0d4e"\nkind: "handoff"\nfrom: "worker-1"\nperson: false\n'
        'to: "worker-2"\nissue: 12\nat: "2025-06-15T15:06:40Z"\nclock: 7\n'
        f'branch: "agent/worker-1/12-x"\nhead: "{OID}"\nevidence: "evidence"\n'
        'note: "The parser is next.\\n---\\nid: other\\n"\nnextSteps: ["Go on with #12."]\n'
        f'work: {{"base": "{OID}", "patch": ".ghp/patches/3f9a2c1b0d4e/work.patch", "bytes": 396, '
        f'"sha256": "{"ab" * 32}", "files": 2, "leftOut": [{{"path": "data.bin", "size": 9000000, '
        '"reason": "too large"}]}\n---\n\n# H-3f9a2c1b0d4e\n'
    )


def test_paths_say_what_is_where() -> None:
    assert path_of(HANDOFF) == ".ghp/handoffs/12/20250615T150640Z-worker-1-3f9a2c1b0d4e.md"
    assert patch_path_of(HANDOFF) == ".ghp/patches/3f9a2c1b0d4e/work.patch"
    assert applied_path_of(HANDOFF, "ab12") == ".ghp/patches/3f9a2c1b0d4e/applied-ab12.json"
    assert patch_path_of(HANDOFF).startswith(patch_folder_of(HANDOFF))
    assert folder_of(None) == ".ghp/handoffs/none/"


@pytest.mark.parametrize("name", ["../../etc", "Ada Lovelace", "…", ".git", "a/b"])
def test_a_persons_name_cannot_lead_out_of_the_folder(name: str) -> None:
    by = Handoff("ab12cd34", "handoff", Actor(name, True), None, None, AT, 1, "e")
    below(Path("/state"), path_of(by))
    assert path_of(by).count("/") == 3


def test_a_handoff_is_not_written_for_a_name_that_is_none() -> None:
    by = Handoff("ab12cd34", "handoff", Actor("../../etc"), None, None, AT, 1, "e")
    with pytest.raises(UsageError):
        path_of(by)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=50)
SIZES = st.integers(1, 10**12)


@pytest.mark.slow
@given(
    note=TEXTS,
    branch=st.none() | st.from_regex(r"[a-zé$`'(;][a-z/é$`'(;-]{0,30}", fullmatch=True),
    to=st.none() | st.just("worker-2"),
    issue=st.none() | st.integers(1, 10**15),
    work=st.none()
    | st.builds(
        Work, st.just(OID), SIZES, TEXTS, SIZES,
        st.lists(st.builds(Missing, TEXTS, st.none() | SIZES, TEXTS), max_size=3).map(tuple),
    ),
    body=TEXTS,
)  # fmt: skip
def test_any_handoff_comes_back(
    note: str, branch: str | None, to: str | None, issue: int | None, work: Work | None, body: str
) -> None:
    handoff = Handoff(
        "3f9a2c1b0d4e", "checkpoint", Actor("Ada", True), to, issue, AT, 7, "e", branch, OID, note,
        (), work,
    )  # fmt: skip
    assert read_handoffs({path_of(handoff): render(handoff, body)}) == ([handoff], [])


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff\xfe", b"# no front matter", b"---\nkind: handoff\n---\n",
        b"---\nkind: gift\nfrom: worker-1\n---\n", b"---\nkind: handoff\nfrom: ../../x\n---\n",
        b"---\nkind: handoff\nfrom: worker-1\nto: --upload-pack=x\n---\n",
        b"---\nkind: handoff\nfrom: worker-1\nhead: --output=x\n---\n",
        b"---\nkind: handoff\nfrom: worker-1\nwork: {base: main}\n---\n",
    ],
)  # fmt: skip
def test_a_broken_or_hostile_record_is_a_problem_and_hides_no_other(data: bytes) -> None:
    bad = ".ghp/handoffs/12/x-00000000.md"
    handoffs, problems = read_handoffs({bad: data, path_of(HANDOFF): render(HANDOFF, "")})
    assert handoffs == [HANDOFF]
    assert [problem.place for problem in problems] == [bad]


@pytest.mark.parametrize("branch", ["a b", "a\nb", "-x", "a\x1b[m", "a:b", "", "x" * 300, 7])
def test_a_branch_that_git_would_not_take_is_no_branch(branch: object) -> None:
    text = f"---\nkind: handoff\nfrom: worker-1\nbranch: {json.dumps(branch)}\n---\n"
    handoffs, _ = read_handoffs({".ghp/handoffs/2/x-00000000.md": text.encode()})
    assert handoffs[0].branch is None


def test_a_name_and_a_time_are_one_line() -> None:
    text = '---\nkind: handoff\nfrom: "Ada\\n## x\\e[m"\nperson: true\nat: "now\\n# x"\n---\n'
    handoffs, _ = read_handoffs({".ghp/handoffs/2/x-00000000.md": text.encode()})
    assert (handoffs[0].by.name, handoffs[0].at) == ("Ada ## x [m", "now # x")


def test_files_of_newer_versions_are_none_of_ours() -> None:
    files = {
        ".ghp/handoffs/12/x.txt": b"",
        ".ghp/handoffs/12/index.md": b"",
        ".ghp/handoffs/12/more/20250615T150640Z-worker-1-3f9a2c1b0d4e.md": b"",
        ".ghp/handoffs/x/20250615T150640Z-worker-1-3f9a2c1b0d4e.md": b"",
    }
    assert read_handoffs(files) == ([], [])


def test_unknown_and_odd_fields_are_passed_over() -> None:
    meta = {
        "kind": "handoff", "from": "worker-1", "clock": "seven", "note": 3, "to": None,
        "nextSteps": "x", "work": {"bytes": -1, "leftOut": ["x", {"path": 1}]}, "colour": "red",
    }  # fmt: skip
    lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in meta.items())
    path = ".ghp/handoffs/none/x-00000000.md"
    handoffs, problems = read_handoffs({path: f"---\n{lines}---\n".encode()})
    assert problems == []
    assert handoffs[0].clock == 0
    assert handoffs[0].note == ""
    assert handoffs[0].work == Work("", missing=(Missing("", None, ""),))
