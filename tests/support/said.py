"""What agents and other programs may say, for hypothesis: ours, a newer version's, a hand's."""

import json

from hypothesis import strategies as st

from ghp_agents.state.presence import Presence

NAMES = st.sampled_from(("worker-1", "worker-2", "claude-3f9a"))
# Finite: NaN and Infinity are no JSON. Surrogates: a path or a title may hold half a pair.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=4)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
FIELDS = st.sampled_from(("status", "issue", "lastAction", "fromANewerVersion", "capabilities"))
POSITIONS = st.fixed_dictionaries(
    {}, optional={"epoch": st.integers(0, 2), "seq": st.integers(0, 3)}
)


def _joined(position: dict[str, int], fields: dict[str, object]) -> Presence:
    return {**fields, **position}


# Positions and fields are drawn apart, so that equal positions with other contents are common.
PRESENCES = st.builds(_joined, POSITIONS, st.dictionaries(FIELDS, JSON, max_size=3))
AGENTS = st.dictionaries(NAMES, PRESENCES)


def exactly(value: object) -> str:
    """A value as JSON, to compare: in Python True equals 1 and 1.0."""
    return json.dumps(value, sort_keys=True)
