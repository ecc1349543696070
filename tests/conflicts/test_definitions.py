"""Git merges both changes, and then a name is missing: it is found only if it is certain."""

from pathlib import Path

import pytest

from ghp_agents.conflicts import definitions
from ghp_agents.conflicts.definitions import ChangedSide, LostDefinition, Pair
from ghp_agents.conflicts.syntax import parse
from tests.support.clock import ManualClock
from tests.support.definitions import EXTRA, Files, fork, lost, said
from tests.support.git import git
from tests.support.road import everything

pytest.importorskip("tree_sitter", reason=EXTRA)

UTIL = "def helper(text):\n    return text.strip()\n\n\ndef other():\n    return 1\n"
RENAMED = UTIL.replace("helper", "assist")
IMPORTER = "from pkg.util import helper\n\n\ndef use():\n    return 1\n"
PY = {"pkg/util.py": UTIL, "pkg/use.py": IMPORTER}


@pytest.mark.slow
def test_a_renamed_function_and_a_new_call_of_it_are_a_warning(repo: Path) -> None:
    mine = {"pkg/util.py": RENAMED, "pkg/use.py": IMPORTER.replace("helper", "assist")}
    theirs = {"pkg/use.py": IMPORTER.replace("return 1", "return helper('x')")}
    assert lost(repo, PY, mine, theirs) == [
        LostDefinition(
            "helper", "function", "ann", "pkg/util.py", 1, "assist", "", "bob", "pkg/use.py", (5,)
        )
    ]


@pytest.mark.slow
def test_both_directions_of_a_pair_are_looked_at(repo: Path) -> None:
    mine = {"pkg/new.py": "from pkg import util\n\nutil.helper('x')\n"}
    theirs = {"pkg/util.py": RENAMED, "pkg/use.py": IMPORTER.replace("helper", "assist")}
    assert [(loss.agent, loss.user) for loss in lost(repo, PY, mine, theirs)] == [("bob", "ann")]


@pytest.mark.slow
def test_a_definition_that_is_gone_has_no_new_name(repo: Path) -> None:
    mine = {"pkg/util.py": "def other():\n    return 1\n", "pkg/use.py": "x = 1\n"}
    theirs = {"new.py": "from pkg.util import helper as h, other\n\nh(other())\n"}
    assert said(repo, PY, mine, theirs) == ["helper -> nothing: new.py 1"]


@pytest.mark.slow
def test_a_definition_that_moved_is_found_with_its_new_place(repo: Path) -> None:
    moved = UTIL.partition("\n\n\n")
    mine = {"pkg/util.py": moved[2], "pkg/text.py": moved[0] + "\n", "pkg/use.py": "x = 1\n"}
    theirs = {"pkg/new.py": "from .util import helper\n"}
    assert said(repo, PY, mine, theirs) == ["helper -> pkg/text.py: pkg/new.py 1"]


def test_a_definition_that_moved_and_is_still_imported_there_is_none(repo: Path) -> None:
    moved = UTIL.partition("\n\n\n")
    mine = {"pkg/util.py": "from pkg.text import helper\n" + moved[2], "pkg/text.py": moved[0]}
    theirs = {"pkg/new.py": "from .util import helper\n"}
    assert said(repo, PY, mine, theirs) == []


def test_a_module_that_becomes_a_package_still_has_its_names(repo: Path) -> None:
    mine = {"pkg/util.py": None, "pkg/util/__init__.py": UTIL}
    theirs = {"pkg/new.py": "from .util import helper\n"}
    assert said(repo, PY, mine, theirs) == []


@pytest.mark.slow
def test_a_renamed_file_loses_its_names_for_those_who_import_it(repo: Path) -> None:
    mine = {"pkg/util.py": None, "pkg/text.py": UTIL, "pkg/use.py": "x = 1\n"}
    theirs = {
        "pkg/new.py": "from pkg import util\n\nutil.helper('x')\n",
        "pkg/util.py": UTIL + "\n\nhelper('x')\n",  # git puts this line into the renamed file
    }
    assert said(repo, PY, mine, theirs) == ["helper -> pkg/text.py: pkg/new.py 3"]


@pytest.mark.slow
def test_in_the_same_file_a_plain_name_is_bound_unless_a_function_has_its_own(repo: Path) -> None:
    base = {"a.py": UTIL + "\n\n# one\n# two\n# three\n"}
    mine = {"a.py": RENAMED + "\n\n# one\n# two\n# three\n"}
    new = "\n\ndef f():\n    return helper('x')\n\n\ndef g(helper):\n    return helper('x')\n"
    assert said(repo, base, mine, {"a.py": base["a.py"] + new}) == ["helper -> assist: a.py 15"]


METHODS = """class Shelf:
    def books(self):
        return self.all

    # one
    # two
    # three
    def count(self):
        return 1
"""


@pytest.mark.slow
def test_a_method_is_bound_by_self_and_by_its_class(repo: Path) -> None:
    base = {"shelf.py": METHODS}
    mine = {"shelf.py": METHODS.replace("books", "volumes")}
    theirs = {
        "shelf.py": METHODS.replace("return 1", "return len(self.books())"),
        "new.py": "from shelf import Shelf\n\nShelf.books(x)\nother.books()\n",
    }
    expected = ["books -> volumes: new.py 3", "books -> volumes: shelf.py 9"]
    assert said(repo, base, mine, theirs) == expected


@pytest.mark.slow
def test_a_method_of_a_class_that_inherits_may_come_from_elsewhere(repo: Path) -> None:
    base = METHODS.replace("Shelf:", "Shelf(Store):")
    mine = base.replace("books", "volumes")
    theirs = base.replace("return 1", "return len(self.books())")
    assert said(repo, {"a.py": base}, {"a.py": mine}, {"a.py": theirs}) == []


@pytest.mark.slow
def test_the_same_name_of_another_module_is_no_warning(repo: Path) -> None:
    theirs = {
        "one.py": "from other.util import helper\n\nhelper()\n",
        "two.py": "def helper():\n    pass\n\n\nhelper()\n",
        "three.py": "thing.helper()\nf(helper=1)\n# helper\nx = 'helper'\n",
        "four.py": "from pkg.util import *\n\nhelper()\n",
        "five.py": "from pkg import util\n\n\ndef f(util):\n    util.helper()\n",
    }
    mine = {"pkg/util.py": RENAMED, "pkg/use.py": "x = 1\n"}
    assert said(repo, PY, mine, theirs) == []


@pytest.mark.slow
def test_who_defines_the_name_again_is_not_warned(repo: Path) -> None:
    base = {"a.py": UTIL + "# one\n# two\n# three\n"}
    mine = {"a.py": RENAMED + "# one\n# two\n# three\n"}
    theirs = {"a.py": base["a.py"] + "\n\ndef helper():\n    pass\n\n\nhelper()\n"}
    assert said(repo, base, mine, theirs) == []


OTHERS = {
    "typescript": (
        {"src/util.ts": "export function helper(a: T) {\n  return a\n}\n"},
        {
            "src/deep/new.tsx": "import {helper} from '../util';\nconst x = <p>{helper(1)}</p>;\n",
            "src/all.ts": "import * as u from './util.js';\nu.helper(1);\nother.helper(1);\n",
            "src/old.js": "const {helper} = require('./util');\nhelper(1);\n",
            "src/no.ts": "import {helper} from 'util';\nhelper(1);\n",
        },
        ["src/all.ts 2", "src/deep/new.tsx 1 2", "src/old.js 1 2"],
    ),
    "go": (
        {"go.mod": "module x.org/m\n", "st/util.go": "package st\n\nfunc helper(a int) {}\n"},
        {
            "st/new.go": "package st\n\nfunc f() { helper(1) }\nfunc g(helper T) { h(helper) }\n",
            "cmd/new.go": 'package cmd\n\nimport "x.org/m/st"\n\nfunc f() { st.helper(1) }\n',
            "cmd/no.go": 'package cmd\n\nimport "x.org/o/st"\n\nfunc h() { st.helper(1) }\n',
        },
        ["cmd/new.go 5", "st/new.go 3"],
    ),
    "rust": (
        {"src/util.rs": "pub fn helper(a: u8) -> u8 {\n    a\n}\n"},
        {
            "src/new.rs": "use crate::util::{self, helper};\nfn f() { helper(1); }\n",
            "src/path.rs": "fn f() { crate::util::helper(1); other::helper(1); }\n",
            "src/no.rs": "use other::util::helper;\nfn f() { helper(1); }\n",
        },
        ["src/new.rs 1 2", "src/path.rs 1"],
    ),
    "java": (
        {"src/a/b/Util.java": "package a.b;\nclass Util {\n  static int helper() {}\n}\n"},
        {
            "src/a/b/New.java": "package a.b;\nclass New { int x = Util.helper(); }\n",
            "src/a/c/New.java": "package a.c;\nimport a.b.Util;\nclass C { T x=Util.helper(); }\n",
            "src/a/c/No.java": "package a.c;\nimport z.Util;\nclass D { int x = Util.helper(); }\n",
        },
        ["src/a/b/New.java 2", "src/a/c/New.java 3"],
    ),
    "ruby": (
        {"lib/util.rb": "module Tools\n  class Helper\n  end\nend\n"},
        {"lib/new.rb": "Tools::Helper.new\nOther::Helper.new\nHelper.new\n"},
        ["lib/new.rb 1"],
    ),
    "c": (
        {"util.c": "int helper(int a)\n{\n    return a;\n}\n", "util.h": "int helper(int a);\n"},
        {
            "new.c": "int f(void) { return helper(1); }\nint g(int helper) { return helper; }\n",
            "no.c": "static int helper(void) { return 1; }\nint h(void) { return helper(); }\n",
        },
        ["new.c 1"],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_have_the_same_rule(repo: Path, language: str) -> None:
    base, theirs, expected = OTHERS[language]
    names = ("helper", "assist"), ("Helper", "Assist")
    mine = {path: text.replace(*names[0]).replace(*names[1]) for path, text in base.items()}
    changed = {path: text for path, text in mine.items() if text != base[path]}
    losses = lost(repo, base, changed, theirs)
    assert [f"{loss.used_in} {' '.join(map(str, loss.lines))}" for loss in losses] == expected
    assert {loss.new_name.lower() for loss in losses} == {"assist"}


@pytest.mark.slow
def test_a_function_of_c_that_another_file_still_defines_is_none(repo: Path) -> None:
    base = {
        "a.c": "int usage(void)\n{\n    return 1;\n}\n",
        "b.c": "int usage(void) { return 2; }\n",
    }
    mine = {"a.c": "int explain(void)\n{\n    return 1;\n}\n"}
    assert said(repo, base, mine, {"c.c": "int main(void) { return usage(); }\n"}) == []


def test_a_file_that_is_being_written_counts_by_its_words(repo: Path) -> None:
    mine = {"pkg/util.py": "def other(:\n  )) helper\n", "pkg/use.py": "x = 1\n"}
    assert said(repo, PY, mine, {"new.py": "from pkg.util import helper\n"}) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        b"\0\1\2def helper(\xff\n",
        b"(" * 200_000 + b"helper",
        b"f(" * 100_000 + b"helper",
        b"from pkg.util import helper\n" * 20_000,
        b"x" * 600_000 + b" helper\n",
        b"\r\n".join([b"from pkg.util import helper"] * 2),
        b"if x:\n"
        + b"".join(b" " * n + b"if x:\n" for n in range(1, 800))
        + b" " * 801
        + b"helper",
    ],
    ids=["binary", "brackets", "calls", "imports", "long", "crlf", "deep"],
)
def test_hostile_files_end_nothing(repo: Path, hostile: bytes) -> None:
    mine = {"pkg/util.py": RENAMED, "pkg/use.py": "x = 1\n"}
    theirs: Files = {"a.py": hostile, "z.py": "import pkg.util\n\npkg.util.helper('x')\n"}
    lines = said(repo, PY, mine, theirs)
    assert lines[-1:] == ["helper -> assist: z.py 3"]


def test_a_file_that_is_a_link_is_no_file(repo: Path) -> None:
    pair = fork(repo, PY, {"pkg/util.py": RENAMED, "pkg/use.py": "x = 1\n"}, {"b.py": "x = 1\n"})
    git(repo, "checkout", "--quiet", "--detach", pair.base)
    (repo / "link.py").symlink_to("from pkg.util import helper")
    git(repo, "add", "link.py")
    git(repo, "commit", "--quiet", "-m", "Link")
    pair = pair._replace(right=ChangedSide("bob", git(repo, "rev-parse", "HEAD")))
    assert definitions.find(repo / ".git", [pair], ManualClock(), seconds=60.0) == []


@pytest.mark.slow
def test_nothing_is_left_in_the_repository(repo: Path) -> None:
    pair = fork(repo, PY, {"pkg/util.py": RENAMED}, {"new.py": "from pkg.util import helper\n"})
    before = everything(repo)
    assert definitions.find(repo / ".git", [pair], ManualClock(), seconds=60.0) != []
    assert everything(repo) == before


def test_without_time_nothing_is_found(repo: Path) -> None:
    pair = fork(repo, PY, {"pkg/util.py": RENAMED}, {"new.py": "from pkg.util import helper\n"})
    assert definitions.find(repo / ".git", [pair], ManualClock(), seconds=0.0) == []


def test_without_the_extra_nothing_is_found(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = fork(repo, PY, {"pkg/util.py": RENAMED}, {"new.py": "from pkg.util import helper\n"})
    monkeypatch.setattr(parse, "find_spec", lambda name: None)
    assert definitions.find(repo / ".git", [pair], ManualClock()) == []


def test_a_commit_that_does_not_exist_is_no_error(repo: Path) -> None:
    pair = Pair("0" * 40, ChangedSide("ann", "1" * 40), ChangedSide("bob", "2" * 40))
    assert definitions.find(repo / ".git", [pair], ManualClock()) == []
