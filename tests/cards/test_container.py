"""A run in a container sees its worktree, git's folder and its home, and nothing else."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.cards import container
from ghp_agents.cards.container import Container
from ghp_agents.cards.sandbox import Bind
from ghp_agents.core.errors import GhpError, NotSetUpError, RefusedError
from tests.support import hosts
from tests.support.fake_container import IMAGE, FakeContainers

TREE, HOME = Path("/tree"), Path("/state/homes/night")


def bind(path: Path, source: Path | None = None, *, is_writable: bool = True) -> Bind:
    return Bind(path, source or path, is_writable)


USER = f"{os.getuid()}:{os.getgid()}"


@pytest.fixture
def fakes(tmp_path: Path) -> FakeContainers:
    return FakeContainers(tmp_path / "bin", tmp_path)


def environ(fakes: FakeContainers) -> Mapping[str, str]:
    return {"PATH": str(fakes.programs)}


def test_the_command_line() -> None:
    started = Container("podman", IMAGE, "closed", ("--user", "1:1"))
    words = container.wrap(
        ["claude", "-p", "Work"], started, "0123", TREE, HOME,
        [bind(Path("/repo/.git"), is_writable=False), bind(TREE),
         bind(Path("/cache"), Path("/own"))],
        {"KEY": "secret", "LANG": "C.UTF-8", "PATH": "/bin"}, {"KEY", "OTHER"},
        {"GHP_BOX": "1"},
    )  # fmt: skip
    assert words == [
        "podman", "run", "--rm", "--pull", "never", "--name", "ghp-run-0123", "--user", "1:1",
        "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
        "--security-opt", "label=disable", "--network", "closed",
        "--mount", "type=bind,source=/repo/.git,target=/repo/.git,readonly",
        "--mount", "type=bind,source=/tree,target=/tree",
        "--mount", "type=bind,source=/own,target=/cache",
        "--tmpfs", "/tmp", "--workdir", "/tree", "--env", "HOME=/state/homes/night",
        "--env", "KEY", "--env", "LANG", "--env", "GHP_BOX=1",
        "--entrypoint", "", "ghp-test:1", "claude", "-p", "Work",
    ]  # fmt: skip


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=12)


@pytest.mark.slow
@given(NAMES, st.lists(st.text(max_size=9), min_size=1), NAMES)
def test_no_name_mounts_anything_else_or_becomes_an_option(
    folder: str, words: list[str], secret: str
) -> None:
    tree = Path("/work") / folder
    started = Container("docker", IMAGE)
    try:
        line = container.wrap(
            words,
            started,
            "1",
            tree,
            HOME,
            [bind(tree), bind(HOME, is_writable=False)],
            {"KEY": secret, folder: "x"},
            {"KEY"},
            {},
        )
    except RefusedError:
        assert set(folder) & {",", '"', *map(chr, range(32)), "\x7f"}
        return
    at = line.index(IMAGE)
    assert line[at + 1 :] == words
    mounts = [line[n + 1] for n in range(at) if line[n] == "--mount"]
    assert mounts[0].split(",") == ["type=bind", f"source={tree}", f"target={tree}"]
    assert all(len(mount.split(",")) in (3, 4) for mount in mounts)
    assert len(mounts) == 2
    given = [line[n + 1] for n in range(at) if line[n] == "--env"]
    assert given == ["HOME=/state/homes/night", "KEY"]  # no value of a secret


@pytest.mark.parametrize("name", ["a,readonly", 'a"b', "a\nb", "a\x7f"])
def test_a_path_that_would_be_read_as_options_is_refused(name: str) -> None:
    with pytest.raises(RefusedError, match="cannot be mounted in a container"):
        container.wrap(
            ["a"], Container("docker", IMAGE), "1", TREE, HOME, [bind(Path("/x") / name)],
            {}, (), {},
        )  # fmt: skip


@pytest.mark.slow
def test_the_first_program_that_has_the_image_is_used(fakes: FakeContainers) -> None:
    fakes.install("docker", "[]")
    first = container.find("container", IMAGE, "", environ(fakes))
    assert first == Container("docker", IMAGE, "", ("--user", USER))
    fakes.install("podman", "true")
    first = container.find("container", IMAGE, "net", environ(fakes))
    keeps = ("--user", USER, "--userns", "keep-id")
    assert first == Container("podman", IMAGE, "net", keeps)
    assert container.find("docker", IMAGE, "", environ(fakes)).program == "docker"


def test_docker_without_root_maps_the_user_to_root(fakes: FakeContainers) -> None:
    fakes.install("docker", "[name=seccomp name=rootless]")
    assert container.find("docker", IMAGE, "", environ(fakes)).user == ("--user", "0:0")


def test_without_a_program_or_an_image_it_is_said_what_is_missing(fakes: FakeContainers) -> None:
    with pytest.raises(NotSetUpError, match="is container, but no image is named"):
        container.find("container", "", "", environ(fakes))
    with pytest.raises(NotSetUpError) as caught:
        container.find("container", IMAGE, "", environ(fakes))
    assert str(caught.value) == (
        "The setting `runs.sandbox` is container, but no container can be started: "
        "podman: it is not installed; docker: it is not installed."
    )
    hosts.executable(fakes.programs / "docker", "echo Cannot connect to the daemon. >&2; exit 1")
    with pytest.raises(NotSetUpError, match="docker: Cannot connect to the daemon"):
        container.find("container", IMAGE, "", environ(fakes))
    fakes.install("podman")
    with pytest.raises(NotSetUpError) as lacking:
        container.find("container", "other:2", "", environ(fakes))
    assert str(lacking.value) == "podman has no image other:2."
    assert lacking.value.hint == "Run `podman pull other:2`, or build it: see docs/sandboxes.md."


def test_a_container_that_is_gone_needs_no_end_and_one_that_stays_is_an_error(
    fakes: FakeContainers,
) -> None:
    fakes.install("podman")
    container.remove("podman", "0123", environ(fakes))
    assert fakes.calls("rm") == [["podman", "rm", "--force", "--time", "0", "ghp-run-0123"]]
    hosts.executable(fakes.programs / "docker", "echo The daemon is busy. >&2; exit 1")
    with pytest.raises(GhpError, match=r"Cannot end ghp-run-0123: The daemon is busy\."):
        container.remove("docker", "0123", environ(fakes))
