"""The content of a file after a tool's edit, computed before the tool runs.

The rules are those of each client: Claude Code matches lines with LF and keeps the file's CRLF;
Gemini keeps the final newline; OpenCode and Gemini also find text whose indentation differs.
Copilot CLI, pi and Qwen Code do so, too, each in its own way; there only exact text in UTF-8 is
computed. Other bytes stay as they are.
"""

import os

from ghp_agents.hooks.event import UnknownEditError, first
from ghp_agents.hooks.paths import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ghp_agents.hooks.event import Event, ToolEdit

LIMIT = 32_000_000  # bytes of a file, before and after; a larger one is not computed
SCANNED = 128_000_000  # bytes that all replacements of one edit may search
LOOSE_LIMIT = 500_000  # bytes of a file that is searched with other quotes or indentation
LOOSE_EDITS = 20  # replacements at most of a tool that searches so
PATCHES = ("apply_patch", "patch")
NOTEBOOKS = ("NotebookEdit",)
DELETIONS = ("Delete",)
OLD = ("old_string", "oldString", "old_str", "oldText")
NEW = ("new_string", "newString", "new_str", "newText")
ALL = ("replace_all", "replaceAll", "allow_multiple")
CONTENT = ("content", "contents", "file_text")
# Clients that write all lines with one ending; that keep CRLF in a file that they write anew; that
# delete the rest of a line, too; that find similar text in ways that are not computed here.
ONE_ENDING = ("claude", "pi", "qwen")
KEEP_CRLF = ("gemini", "qwen")
DELETE_LINES = ("claude", "copilot", "qwen")
EXACT = ("copilot", "pi", "qwen")
UTF16, BOM8 = b"\xff\xfe", b"\xef\xbb\xbf"


def content_after(event: "Event", path: str, before: bytes | None) -> bytes | None:
    """The file at `path` after the event's edits; None if they delete it.

    `path` is one of the event's, or its resolved path. `before` is the content now, None if there
    is no file. Raises UnknownEditError where the content cannot be computed.
    """
    if before is not None and len(before) > LIMIT:
        raise UnknownEditError(f"the file has {len(before)} bytes")
    if not event.edits:
        raise UnknownEditError("the event has no edit")
    for edit in event.edits:
        before = _after(event, edit, path, before)
        if before is not None and len(before) > LIMIT:
            raise UnknownEditError(f"the file would have {len(before)} bytes")
    return before


def _after(event: "Event", edit: "ToolEdit", path: str, before: bytes | None) -> bytes | None:
    if edit.tool in PATCHES:
        return _after_patch(event, edit, path, before)
    if edit.tool in NOTEBOOKS:
        from ghp_agents.hooks import notebook_edit

        return notebook_edit.edited_notebook(edit.arguments, before)
    if edit.tool in DELETIONS:
        return None
    return _changed(event.client, edit.arguments, before)


def _after_patch(event: "Event", edit: "ToolEdit", path: str, before: bytes | None) -> bytes | None:
    from ghp_agents.hooks import patch_edit

    if edit.sections is None:
        patch = first(edit.arguments, ("command", "patchText", "patch", "input"))
        edit.sections = {}
        for section in patch_edit.sections(patch):
            section.name = _whole_path(event, os.path.join(edit.folder, section.name))
            if section.moved_to:
                section.moved_to = _whole_path(event, os.path.join(edit.folder, section.moved_to))
            for name in {section.name, section.moved_to} - {""}:
                edit.sections.setdefault(name, []).append(section)
    name = _whole_path(event, path)
    is_exact = event.client in EXACT
    if is_exact and before:
        _refuse_uncomputable(event.client, before)
        if not before.endswith(b"\n"):
            raise UnknownEditError("the file does not end with a newline")
    parts = edit.sections.get(name, ())
    return patch_edit.patched_content(parts, name, before, _read, is_exact=is_exact)


def _whole_path(event: "Event", path: str) -> str:
    return resolved(path, event.cwd) or path


def _read(path: str) -> bytes | None:
    """The content of the file that a patch moves; None if it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        size = os.fstat(file).st_size
        return os.read(file, size + 1) if size <= LIMIT else None
    except OSError:  # a folder
        return None
    finally:
        os.close(file)


def _changed(client: str, arguments: "Any", before: bytes | None) -> bytes:
    """The content after a tool that writes or replaces text; its arguments tell which."""
    if not isinstance(arguments, dict):
        raise UnknownEditError("the tool has no arguments")
    edits = arguments.get("edits")
    for key in CONTENT:
        if isinstance(arguments.get(key), str) and edits is None:
            return _written(client, encoded(arguments[key]), before)
    return _replaced_all(client, edits if isinstance(edits, list) else [arguments], before)


def _written(client: str, content: bytes, before: bytes | None) -> bytes:
    """A whole new content; some clients keep the file's line endings or its encoding."""
    if client in KEEP_CRLF and before and b"\r\n" in before:
        content = _crlf(_lf(content))
    if before and client in ("claude", "qwen"):
        if before.startswith(UTF16):
            return _as_utf16(content)
        if before.startswith(BOM8):
            return BOM8 + content.removeprefix(BOM8)
    return content


def _replaced_all(client: str, edits: "Sequence[Any]", before: bytes | None) -> bytes:
    """The content after all replacements, in their order."""
    if before and before.startswith(UTF16) and client not in ("copilot", "pi"):
        return _as_utf16(_replaced_all(client, edits, _from_utf16(before)))
    if client in EXACT:
        _refuse_uncomputable(client, before or b"")
    has_crlf = _has_crlf(client, before or b"")
    is_lf = has_crlf or client in ONE_ENDING
    text: bytes | None = _lf(before) if before is not None and is_lf else before
    scanned = 0
    for edit in edits:
        scanned += len(text or b"")
        if scanned > SCANNED:
            raise UnknownEditError(f"{len(edits)} replacements are too many")
        text = _replaced(client, edit, text, len(edits) <= LOOSE_EDITS)
    if text is None:
        raise UnknownEditError("the tool replaces nothing")
    return _crlf(text) if has_crlf else text


def _refuse_uncomputable(client: str, content: bytes) -> None:
    """Raise UnknownEditError for content that the client also changes in other places."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        raise UnknownEditError("the file is not UTF-8") from None
    if client == "copilot" and 0 < content.count(b"\r\n") < content.count(b"\n"):
        raise UnknownEditError("the file has lines with CRLF and with LF")
    if client == "pi" and content.count(b"\r") > content.count(b"\r\n"):
        raise UnknownEditError("the file has a lone CR")


def _replaced(client: str, edit: "Any", text: bytes | None, is_loose: bool) -> bytes:
    """The text after one replacement."""
    old, new = _argument(edit, OLD), _argument(edit, NEW)
    if not old:
        if client != "opencode" and (text or b"").strip():
            raise UnknownEditError("the text to replace is empty")
        return new
    if old == new:
        raise UnknownEditError("the edit changes nothing")
    if text is None:
        raise UnknownEditError("there is no file")
    if client in DELETE_LINES and not new and not old.endswith(b"\n") and old + b"\n" in text:
        old += b"\n"
    count = text.count(old)
    if not count:
        from ghp_agents.hooks import loose_match

        if len(text) > LOOSE_LIMIT or not is_loose or client in EXACT:
            raise UnknownEditError("the text to replace was not found")
        old, new = loose_match.found(client, text, old, new)
        count = text.count(old)
    if count > 1 and not _is_for_all(edit, count):
        raise UnknownEditError(f"the text to replace is there {count} times")
    if len(text) + count * (len(new) - len(old)) > LIMIT:
        raise UnknownEditError("the file would be too large")
    after = text.replace(old, new)
    return _same_end(text, after) if client == "gemini" else after


def _is_for_all(edit: "Mapping[str, Any]", count: int) -> bool:
    """Whether the tool replaces each occurrence, not only one."""
    return edit.get("expected_replacements") == count or any(
        edit.get(key) is True or edit.get(key) == "true" for key in ALL
    )


def _argument(edit: "Any", keys: "Sequence[str]") -> bytes:
    values = [edit[key] for key in keys if key in edit] if isinstance(edit, dict) else []
    if not values or not isinstance(values[0], str):
        raise UnknownEditError(f"the edit has no {keys[0]}")
    return _lf(encoded(values[0]))


def _has_crlf(client: str, content: bytes) -> bool:
    """Whether the client writes the file's lines with CRLF."""
    if client == "pi":
        return content.partition(b"\n")[0].endswith(b"\r")
    if client != "claude":
        return b"\r\n" in content
    start = content[:4096]
    return start.count(b"\r\n") > start.count(b"\n") / 2


def _same_end(before: bytes, after: bytes) -> bytes:
    """The text with a final newline if it had one before, else without."""
    if before.endswith(b"\n"):
        return after if after.endswith(b"\n") else after + b"\n"
    return after.removesuffix(b"\n")


def encoded(text: str) -> bytes:
    """The text in UTF-8. Half of a surrogate pair becomes U+FFFD, as in clients in JavaScript."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode("utf-8")


def _lf(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _crlf(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def _from_utf16(content: bytes) -> bytes:
    return BOM8 + content[2:].decode("utf-16-le", "replace").encode("utf-8")


def _as_utf16(content: bytes) -> bytes:
    text = content.removeprefix(BOM8).decode("utf-8", "replace")
    return UTF16 + text.encode("utf-16-le", "surrogatepass")
