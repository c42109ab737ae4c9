"""Hypothesis strategies for programs and texts, shared by the tests of the language."""

from hypothesis import strategies as st

from aloex.apps.fill.language import (
    CONSTANTS,
    REGEXES,
    ConstPos,
    ConstStr,
    ConstTok,
    RegexTok,
    SubStr,
)

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
