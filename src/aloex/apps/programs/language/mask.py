"""Which tokens may come next: the grammar as an automaton, in two tables for models.

From state `START`, token by token: `NEXT[state, token]` is the state after it, and
`ALLOWED[mode][state, token]` says whether it may be taken (elsewhere NEXT is meaningless). After
eos only pad may follow. In clean mode k = 0 and the regexes ^ and $ are left out; that the two
positions of a SubStr are in order is beyond a small automaton.
"""

import numpy as np

from aloex.apps.programs.language.canonical import ANCHORS
from aloex.apps.programs.language.tokens import CHARS, INDEX, KS, NAMES, REGEX_IDS, VOCABULARY

ANCHOR_IDS = {str(NAMES.index(name) + 1) for name in ANCHORS}


def _transitions() -> dict[tuple[str, str], str]:
    """(state, word) -> state; positions have the states twice, for p1 and p2."""
    table = {("expr", "ConstStr"): "char", ("expr", "SubStr"): "p1"}
    table |= {("char", char): "after" for char in CHARS}
    table |= {("after", "|"): "expr", ("after", "eos"): "done", ("done", "pad"): "done"}
    for p, then in (("p1", "p2"), ("p2", "after")):
        table |= {(p, "ConstPos"): f"{p} gap", (p, "RegPos"): f"{p} kind"}
        table |= {(f"{p} gap", k): then for k in KS}
        table |= {(f"{p} kind", "ConstTok"): f"{p} char", (f"{p} kind", "RegexTok"): f"{p} regex"}
        table |= {(f"{p} char", char): f"{p} k" for char in CHARS}
        table |= {(f"{p} regex", regex): f"{p} k" for regex in REGEX_IDS}
        table |= {(f"{p} k", k): f"{p} direct" for k in KS}
        table |= {(f"{p} direct", direct): then for direct in ("Start", "End")}
    return table


def _tables() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    shape = (len(STATES), len(VOCABULARY))
    following = np.zeros(shape, np.int32)
    allowed = {mode: np.zeros(shape, bool) for mode in ("paper", "clean")}
    for (state, word), then in TRANSITIONS.items():
        cell = STATES.index(state), INDEX[word]
        quirk = (state.endswith(" k") and word == "0") or (
            state.endswith(" regex") and word in ANCHOR_IDS
        )
        following[cell] = STATES.index(then)
        allowed["paper"][cell] = True
        allowed["clean"][cell] = not quirk
    return following, allowed


TRANSITIONS = _transitions()
STATES = tuple(dict.fromkeys(state for state, _ in TRANSITIONS))
START = STATES.index("expr")
NEXT, ALLOWED = _tables()
