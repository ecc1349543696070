"""What every test has: a home of its own, and repositories in a moment."""

import contextlib
import gc
import importlib
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.support import background, guard, order, outside, repos, thorough
from tests.support.git import add_worktree
from tests.support.hangs import Watch
from tests.support.thorough import IS_THOROUGH

if TYPE_CHECKING:
    from tests.support.github import GitHub, World

pytest_plugins = ["tests.support.team"]  # `clones`, and a team of agents in them
TESTS = Path(__file__).parent
SHIELD = pytest.StashKey[Path]()
WATCH = pytest.StashKey[Watch]()
LASTS = 120.0  # seconds for which what was made once is new enough

# The same examples in each run, so that a change is judged by what it changed; THOROUGH=1 looks for
# new ones, and for more.
hypothesis.settings.register_profile(
    "house",
    deadline=None,
    print_blob=True,
    derandomize=not IS_THOROUGH,
    max_examples=100 if IS_THOROUGH else 40,
)
hypothesis.settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: importing some libraries already writes into HOME."""
    guard.temporary()
    folder = Path(tempfile.mkdtemp(prefix="ghp-tests-"))
    config.stash[SHIELD] = folder
    guard.shield(folder / "home")
    config.stash[WATCH] = Watch(config)
    gc.disable()  # thousands of tests are collected, and none of them is garbage


def pytest_collection(session: pytest.Session) -> None:
    """Each worker begins with its share of the files: in the first run after a change it compiles
    these, and finds the others compiled. A file that cannot be imported is reported later."""
    worker = getattr(session.config, "workerinput", None)
    if worker and session.config.args == session.config.getini("testpaths"):
        files = sorted(TESTS.rglob("test_*.py"))
        for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
            name = ".".join(file.relative_to(TESTS.parent).with_suffix("").parts)
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(name)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Of the cases of a test with `sample(n)`, or the tests of a class with it, the first n are for
    each run, the others slow. Of these, some are tried, and of all tests those that EVERY names.
    Those that are left begin with the tests that take long."""
    seen = Counter[str]()
    for item in items:
        if sample := item.get_closest_marker("sample"):
            test = thorough.question(item, "sample")
            seen[test] += 1
            if seen[test] > sample.args[0]:
                item.add_marker(pytest.mark.slow)
    if untried := {*thorough.left_out(items)}:
        config.hook.pytest_deselected(items=[*untried])
        items[:] = [item for item in items if item not in untried]
    yield
    tried, passed_over = thorough.shared_out(items)
    config.hook.pytest_deselected(items=passed_over)
    worker = getattr(config, "workerinput", {"workercount": 1})
    items[:] = order.dealt(tried, worker["workercount"])


def pytest_collection_finish() -> None:
    """Garbage is collected from here on, without a look at the tests themselves."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left behind."""
    config.stash[WATCH].end()
    shutil.rmtree(config.stash[SHIELD], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """A test that hangs ends its process."""
    item.config.stash[WATCH].begin_test()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What is not there for many tests is printed once."""
    report = yield
    outside.report_once(report)
    return report


@pytest.fixture(autouse=True)
def home(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A new home for each test, so that no setting or state passes from one to the next."""
    folder = Path(tempfile.mkdtemp(prefix="home-", dir=request.config.stash[SHIELD]))
    with contextlib.ExitStack() as stack:
        stack.enter_context(at_home(folder))
        if background.is_on(request.node):
            stack.enter_context(background.on(request.node.nodeid))
        yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> repos.Templates:
    """The repositories that the fixtures below are copies of."""
    return repos.make_templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture
def repo(templates: repos.Templates, tmp_path: Path) -> Path:
    """A repository with one commit on main and no remote."""
    return repos.copy_alone(templates, tmp_path / "repo")


@pytest.fixture
def remote(templates: repos.Templates, tmp_path: Path) -> Path:
    """A bare repository with one commit on main; `clones` are clones of it."""
    return repos.copy_remote(templates, tmp_path / "remote.git")


@pytest.fixture
def clone(clones: Callable[[int], list[Path]]) -> Path:
    """One clone of `remote`."""
    return clones(1)[0]


@pytest.fixture(scope="session")
def worlds(
    templates: repos.Templates, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[repos.Make], Path]:
    """`worlds(make)` is the folder with what `prepared(make)` copies."""

    @cache
    def world(make: repos.Make) -> Path:
        folder = tmp_path_factory.mktemp("world")
        make(*repos.make_world(templates, folder))
        return repos.pack(folder)

    return world


@pytest.fixture
def prepared(worlds: Callable[[repos.Make], Path], tmp_path: Path) -> repos.Prepared:
    """`prepared(make)` is two clones of one remote as `make(one, two)` left them, which is called
    once per worker. It must name its own clock, write nothing into the home, and make no worktree,
    which cannot be copied to another place."""

    def copy(make: repos.Make) -> tuple[Path, Path]:
        repos.copy_world(worlds(make), tmp_path)
        return tmp_path / "clone-1", tmp_path / "clone-2"

    return copy


@pytest.fixture(scope="session")
def sites(
    templates: repos.Templates, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[repos.MakeSite], repos.Site]:
    """`sites(make)` is the site that `restored(make)` restores; made again before its agents are
    stale, by the clock of this machine."""
    made: dict[repos.MakeSite, tuple[float, repos.Site]] = {}

    def site(make: repos.MakeSite) -> repos.Site:
        begun, last = made.get(make, (0.0, None))
        if last is None or time.monotonic() - begun > LASTS:
            last = repos.Site(templates, tmp_path_factory.mktemp("site"))
            made[make] = time.monotonic(), last
            with at_home(last.home):
                make(last)
            repos.pack(last.folder)
        return last

    return site


@pytest.fixture
def restored(sites: Callable[[repos.MakeSite], repos.Site]) -> Iterator[repos.Restored]:
    """`restored(make)` is a site as `make(site)` left it. That is called once per worker, and again
    when it was two minutes ago. Its home is the user's. Unlike what is `prepared`, it may have
    worktrees, and agents that live by the clock of this machine."""
    with contextlib.ExitStack() as stack:

        def restore(make: repos.MakeSite) -> repos.Site:
            site = sites(make)
            site.restore()
            stack.enter_context(at_home(site.home))
            return site

        yield restore


@contextlib.contextmanager
def at_home(folder: Path) -> Iterator[None]:
    """Make a folder the home, with what git needs there."""
    guard.furnish(folder)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in guard.at_home(folder).items():
            patch.setenv(name, value)
        yield


@pytest.fixture
def worktree() -> Callable[[Path, str], Path]:
    """`worktree(repo, "147")` is a linked worktree beside `repo`, on the new branch agent/147."""

    def make(repo: Path, name: str) -> Path:
        return add_worktree(repo, repo.parent / f"{repo.name}-{name}", f"agent/{name}")

    return make


@pytest.fixture(scope="session")
def github_world() -> Iterator["World"]:
    """The stand-in for GitHub, one for all tests of a worker. Needs npm's registry once."""
    from tests.support.github import world

    with world() as running:
        yield running


@pytest.fixture
def github(github_world: "World", tmp_path: Path) -> Iterator["GitHub"]:
    """A repository on GitHub, and a bare one of git beside it; what both sides said was right."""
    from tests.support.github import GitHub

    with GitHub(github_world, tmp_path).open() as github:
        yield github
    assert github.proxy.violations == []


@pytest.fixture
def odd(tmp_path: Path) -> Iterator["GitHub"]:
    """GitHub as `github`, on our own twin of it: no node, time by hand, and reads that lag."""
    from tests.support.github import GitHub, World

    with GitHub(World(None, None), tmp_path).open() as github:
        yield github
    assert github.proxy.violations == []


@pytest.fixture(params=["emulate", "twin"])
def github_or_twin(
    request: pytest.FixtureRequest, github_world: "World", tmp_path: Path
) -> Iterator["GitHub"]:
    """`github` once, and once on our own twin of emulate; both are judged."""
    from tests.support.github import GitHub

    world = github_world._replace(emulator=None) if request.param == "twin" else github_world
    with GitHub(world, tmp_path).open() as github:
        yield github
    assert github.proxy.violations == []
