"""Writes the installed hooks into docs/clients/*.md: part of `make docs`."""

from importlib import import_module
from pathlib import Path

from ghp_agents.core.jsonc_edit import fresh
from ghp_agents.integrations.clients import hook_entries
from ghp_agents.integrations.clients.events import CLIENTS, HookSubscription
from ghp_agents.integrations.clients.hook_entries import HOMES, PLUGINS
from ghp_agents.integrations.git_hooks.script import HOOKS, new_hook

PAGES = Path(__file__).parents[1] / "docs/clients"
BEGIN, END = "<!-- installed: written by `make docs` -->", "<!-- installed: end -->"
PYTHON = "/path/to/python"
DOES = {
    "start": "registers the session as an agent; shows its name and what it needs to continue",
    "prompt": "sends a heartbeat",
    "edit": "checks each file; a refusal says who holds it, since when, and what to do next",
    "batch": "sends a heartbeat with the last action",
    "stop": "saves a checkpoint of the work",
    "compact": "saves a checkpoint before the context is compacted",
    "end": "marks the agent as stopped, and releases its implicit leases",
    "wait": "shows that the agent waits for its person, and for what",
    "fail": "shows that an error of the model ended the turn, and which; saves a checkpoint",
}
WARNINGS = "; shows warnings about an edit that is allowed"
NEWS = "; shows new answers, and whether the claim was taken"


def main() -> None:
    """Update all pages."""
    for name in (*HOMES, "git"):
        page = PAGES / f"{name}.md"
        page.write_text(with_section(page.read_text(), section(name)))


def section(name: str) -> str:
    """What is installed for a client, or for git."""
    if name == "git":
        return _git()
    home = HOMES[name]
    below, variable = home.own
    other = f" (or in `${variable}`)" if variable else ""
    return "\n".join([
        f"In every worktree: `{home.project}`. With `--user`: `~/{below}/{home.user}`{other}.",
        "",
        "| event | tools | what happens | seconds |",
        "|---|---|---|---|",
        *(_row(name, subscription) for subscription in CLIENTS[name]),
        "",
        *_example(name),
    ])  # fmt: skip


def _row(name: str, subscription: HookSubscription) -> str:
    kind = subscription.kind
    tools = ", ".join(f"`{tool}`" for tool in subscription.tools)
    tools = tools or ("every tool" if kind == "batch" else "")
    hears = import_module(f"ghp_agents.hooks.{name}").CLIENT.hears
    news = WARNINGS if kind == "edit" else NEWS if kind != "start" else ""
    news = news if kind in hears else ""
    return f"| `{subscription.event}` | {tools} | {DOES[kind]}{news} | {subscription.timeout} |"


def _example(name: str) -> list[str]:
    if name in PLUGINS:
        command = " ".join(hook_entries.hook_command(PYTHON, name))
        return ["Each event calls:", "", "```sh", command, "```"]
    (event,) = [subscription.event for subscription in CLIENTS[name] if subscription.kind == "edit"]
    whole = hook_entries.document(name, PYTHON)
    shown = whole | {"hooks": {event: whole["hooks"][event]}}
    return ["One of these entries:", "", "```json", fresh(shown).rstrip(), "```"]


def _git() -> str:
    block = new_hook(HOOKS[0]).decode().rstrip()
    return "\n".join([
        "A block in git's hooks `pre-commit`, `prepare-commit-msg`, `pre-push` and "
        "`reference-transaction`. A missing hook is created:",
        "",
        "```sh",
        block,
        "```",
    ])  # fmt: skip


def with_section(page: str, text: str) -> str:
    """The page with the section between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    assert END in rest, f"the page needs the lines {BEGIN} and {END}"
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


if __name__ == "__main__":
    main()
