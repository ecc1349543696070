"""An agent that has used something."""

import json
from pathlib import Path
from typing import Any

from ghp_agents.hotpath import usage
from ghp_agents.hotpath.usage import Reading


def use(repo: Path, agent: str, model: str = "opus", **used: Any) -> None:
    """Add to what an agent of this clone has used: usd, inputTokens, …"""
    path = repo / f".git/ghp/agents/{agent}.json"
    record = json.loads(path.read_bytes())
    record["seq"] += 1
    session = f"session {record['seq']}"  # it counts from zero
    usage.count(record, {}, Reading("transcript", used, model=model), session, None, 0.0)
    path.write_text(json.dumps(record))
