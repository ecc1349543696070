"""What a command found out by the way, and must say whatever it was asked for."""

_pending: dict[str, None] = {}  # in order, each once


def note(text: str) -> None:
    """Let the command say this at its end; others' words in it are quoted already."""
    _pending[text] = None


def take() -> list[str]:
    """What is to be said now; it is said once."""
    texts = [*_pending]
    _pending.clear()
    return texts
