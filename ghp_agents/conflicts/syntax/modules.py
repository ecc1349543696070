"""Which file an import names. Only what is certain counts: a relative path, a path below the root
of the sources, the module that `go.mod` names."""

import posixpath
import sys

from ghp_agents.conflicts.syntax.facts import Import
from ghp_agents.conflicts.syntax.languages import family

SOURCE_ROOTS = ("src", "lib", "python")
_GLOBAL = ("ruby", "c")  # one space of names in the whole repository
_JS_SUFFIXES = (
    ".d.ts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs",
)  # fmt: skip


def module_of(path: str) -> str:
    """Files with one module share their names: a Python module, a Go or Java package, the whole
    repository for C."""
    language = family(path)
    folder, name = posixpath.split(path)
    if language in _GLOBAL:
        return ""
    if language in ("go", "java"):
        return folder
    if language == "javascript":
        return _without_suffix(path).removesuffix("/index")
    stem = name.rpartition(".")[0]
    if stem == {"python": "__init__", "rust": "mod"}.get(language):
        return folder
    if language == "rust" and stem in ("lib", "main"):
        return folder
    return posixpath.join(folder, stem)


def names_module(spelled: str, importer: str, module: str, go_module: str = "") -> bool:
    """Whether `spelled` in the file `importer` is the module `module`."""
    language = family(importer)
    if language == "python":
        return _python(spelled, importer, module)
    if language == "javascript":
        path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), spelled))
        is_relative = spelled.startswith(("./", "../")) or spelled in (".", "..")
        return is_relative and module in (path, _without_suffix(path).removesuffix("/index"))
    if language == "java":
        return f"/{module}".endswith("/" + spelled.replace(".", "/"))
    if language == "go":
        return bool(go_module) and spelled == posixpath.join(go_module, module).rstrip("/")
    return language == "rust" and _rust(spelled, importer) == module


def module_in(imported: Import, importer: str) -> str:
    """The module that `from a import b` would import if b is one."""
    if not imported.name:
        return imported.module
    joint = "::" if family(importer) == "rust" else "."
    ends = imported.module.endswith(joint)
    return f"{imported.module}{'' if ends else joint}{imported.name}"


def _without_suffix(path: str) -> str:
    return next((path.removesuffix(end) for end in _JS_SUFFIXES if path.endswith(end)), path)


def _python(spelled: str, importer: str, module: str) -> bool:
    parts = spelled.lstrip(".").split(".") if spelled.strip(".") else []
    if dots := len(spelled) - len(spelled.lstrip(".")):
        around = posixpath.dirname(importer).split("/") if "/" in importer else []
        if dots - 1 > len(around):
            return False
        return "/".join([*around[: len(around) - dots + 1], *parts]) == module
    own = module.split("/")
    if not parts or own[-len(parts) :] != parts:
        return False
    root = own[: -len(parts)]
    if not root or root[-1] in SOURCE_ROOTS:
        return True
    is_beside = importer.startswith("/".join(root) + "/")
    return is_beside and parts[0] not in sys.stdlib_module_names


def _rust(spelled: str, importer: str) -> str:
    parts = spelled.split("::")
    own = module_of(importer).split("/")
    if parts[0] == "crate" and "src" in own:
        start = own[: len(own) - own[::-1].index("src")]
    elif parts[0] == "self":
        start = own
    elif parts[0] == "super":
        start = own[:-1]
    else:
        return "\0"  # another crate, or a name that we do not follow
    return "/".join([*start, *parts[1:]])
