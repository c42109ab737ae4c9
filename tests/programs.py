"""Programs and texts for hypothesis, and words of a program, for tests of the language."""

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st

from aloex.apps.programs.language import (
    CONSTANTS,
    REGEXES,
    ConstPos,
    ConstStr,
    ConstTok,
    RegexTok,
    SubStr,
)
from aloex.apps.programs.language.mask import ALLOWED, NEXT, START
from aloex.apps.programs.language.tokens import VOCABULARY

ks = st.integers(-4, 4)
constants = st.sampled_from(CONSTANTS)
directs = st.sampled_from(["Start", "End"])


def programs(chars=constants, regexes=tuple(REGEXES), ks=ks):
    """Any program of up to 4 expressions over some characters, regexes and counts."""
    positions = st.one_of(
        st.builds(ConstPos, st.integers(-4, 4)),
        st.builds(ConstTok, chars, ks, directs),
        st.builds(RegexTok, st.sampled_from(regexes), ks, directs),
    )
    exprs = st.one_of(st.builds(ConstStr, chars), st.builds(SubStr, positions, positions))
    return st.lists(exprs, min_size=1, max_size=4).map(tuple)


texts = st.text(alphabet="aB3 ,-", max_size=12)


def state_after(tokens: Iterable[int], state: int = START) -> int | None:
    """The state after some tokens, or None where one of them is not allowed."""
    for token in tokens:
        if not ALLOWED["paper"][state, token]:
            return None
        state = int(NEXT[state, token])
    return state


def next_words(tokens: Iterable[int], mode: str = "paper") -> list[str]:
    """The words that may follow."""
    state = state_after(tokens)
    return [] if state is None else [VOCABULARY[i] for i in np.flatnonzero(ALLOWED[mode][state])]
