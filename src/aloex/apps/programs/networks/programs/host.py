"""Compiled functions that prepare tasks for a network: find positions, number and run programs.

`find_gaps` gives for each input the gap that each of the 369 positions means there, or -1. To run a
program is then to look up gaps and to compare text, here and on the device. All programs are run in
paper mode; inputs have 3 characters or more.
"""

from typing import Any, NamedTuple

import numpy as np

from aloex.apps.programs.language.alphabet import CHAR_CODES, NUM_CHARS, NUM_PATTERNS
from aloex.apps.programs.language.mask import START
from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS, MAX_K
from aloex.apps.programs.language.tokens import (
    BAR,
    EOS,
    T_CONSTPOS,
    T_CONSTSTR,
    T_REGEXTOK,
    T_START,
    ZERO,
)
from aloex.apps.programs.networks.programs.codes import (
    CANON,
    EXPR_LENGTH,
    EXPR_TOKENS,
    FIRST_SUBSTR,
    FOLLOWING,
    FULL,
    NUM_KS,
    NUM_POS,
    RANK,
)
from aloex.apps.programs.tasks.random_tasks import compiled, find_matches
from aloex.apps.programs.tasks.tasks import MAX_INPUT

Numbers = Any  # an array: numpy's on the host, JAX's in compiled code


@compiled
def find_gaps(inputs: np.ndarray, gaps: np.ndarray) -> None:
    """Fill gaps[task, example, position] for inputs[task, example, character]."""
    count = np.empty(NUM_PATTERNS, np.int64)
    start = np.empty((NUM_PATTERNS, MAX_INPUT + 1), np.int64)
    end = np.empty((NUM_PATTERNS, MAX_INPUT + 1), np.int64)
    for task in range(inputs.shape[0]):
        for e in range(inputs.shape[1]):
            length = 0
            while length < inputs.shape[2] and inputs[task, e, length] > 0:
                length += 1
            find_matches(inputs[task, e], length, count, start, end)
            row = gaps[task, e]
            for i in range(NUM_KS):
                k = i - MAX_K
                row[i] = min(k, length) if k >= 0 else max(length + k + 1, 0)
            for pattern in range(NUM_PATTERNS):
                n = count[pattern]
                for i in range(NUM_KS):
                    k = i - MAX_K
                    number = k if k >= 0 else n + k + 1
                    at = NUM_KS + 2 * (NUM_KS * pattern + i)
                    if n == 0 or number < 0 or number > n:
                        row[at] = row[at + 1] = -1
                        continue
                    number = number - 1 if number > 0 else n - 1  # wraps around
                    row[at], row[at + 1] = start[pattern, number], end[pattern, number]


@compiled
def number_programs(tokens: np.ndarray, codes: np.ndarray) -> None:
    """Fill codes[task, expression] with the numbers of the expressions of each program."""
    for task in range(tokens.shape[0]):
        words, at = tokens[task], 0
        codes[task] = 0
        for x in range(MAX_EXPRESSIONS):
            if words[at] == T_CONSTSTR:
                codes[task, x] = words[at + 1] - ZERO
                at += 2
            else:
                at += 1
                code = FIRST_SUBSTR
                for scale in (NUM_POS, 1):
                    if words[at] == T_CONSTPOS:
                        pos = words[at + 1] - ZERO + MAX_K
                        at += 2
                    else:
                        pattern = words[at + 2] - ZERO - 1
                        if words[at + 1] == T_REGEXTOK:
                            pattern += NUM_CHARS
                        i = NUM_KS * pattern + words[at + 3] - ZERO + MAX_K
                        pos = NUM_KS + 2 * i + words[at + 4] - T_START
                        at += 5
                    code += scale * pos
                codes[task, x] = code
            at += 1
            if words[at - 1] == EOS:
                break


@compiled
def canonicalise(codes: np.ndarray) -> None:
    """Write the expressions in canonical form, in place."""
    for task in range(codes.shape[0]):
        for x in range(codes.shape[1]):
            if codes[task, x] >= FIRST_SUBSTR:
                p1, p2 = divmod(codes[task, x] - FIRST_SUBSTR, NUM_POS)
                p1, p2 = CANON[p1], CANON[p2]
                if RANK[p1] > RANK[p2]:
                    p1, p2 = p2, p1
                codes[task, x] = FIRST_SUBSTR + NUM_POS * p1 + p2


def trace(codes: np.ndarray, gaps: np.ndarray, traced: "Traced") -> None:
    """Fill the tokens of programs and, for each token, what has been executed before it."""
    _trace(codes, gaps, EXPR_TOKENS, EXPR_LENGTH, FOLLOWING, *traced)


class Traced(NamedTuple):
    """Programs token by token."""

    tokens: Numbers  # int8 [tasks, tokens]
    states: Numbers  # int8 [tasks, tokens]: of the grammar, before the token
    pointers: Numbers  # int8 [tasks, tokens, examples]: characters the expressions before wrote
    anchors: Numbers  # int8 [tasks, tokens, examples]: the gap of p1, once it is known, else -1

    @classmethod
    def empty(cls, num_tasks: int, num_tokens: int, num_examples: int) -> "Traced":
        shape = num_tasks, num_tokens
        return cls(
            np.zeros(shape, np.int8),
            np.zeros(shape, np.int8),
            np.zeros((*shape, num_examples), np.int8),
            np.full((*shape, num_examples), -1, np.int8),
        )


class Part(NamedTuple):
    """Tasks of one length bucket, with their programs token by token: what a q0 learns from."""

    inputs: Numbers  # uint8 [tasks, 4, 20]
    outputs: Numbers  # uint8 [tasks, 4, max_output]
    shown: Numbers  # bool [tasks, 4]: the public pairs that the network is given
    programs: Traced


@compiled
def _trace(
    codes: np.ndarray,
    gaps: np.ndarray,
    expr_tokens: np.ndarray,
    expr_length: np.ndarray,
    following: np.ndarray,
    tokens: np.ndarray,
    states: np.ndarray,
    pointers: np.ndarray,
    anchors: np.ndarray,
) -> None:
    for task in range(codes.shape[0]):
        at, state = 0, START
        for x in range(codes.shape[1]):
            code = codes[task, x]
            if code == 0:
                break
            size = expr_length[code]
            first = 3 if expr_tokens[code, 1] == T_CONSTPOS else 6  # the token after p1
            last = x + 1 == codes.shape[1] or codes[task, x + 1] == 0
            for i in range(size + 1):
                token = expr_tokens[code, i] if i < size else EOS if last else BAR
                if i == size and x + 1 == codes.shape[1]:
                    state = FULL
                tokens[task, at + i], states[task, at + i] = token, state
                state = following[state, token]
            for e in range(gaps.shape[1]):
                g1, g2 = _ends(code, gaps[task, e])
                for i in range(1, size + 1):
                    pointers[task, at + i, e] = pointers[task, at, e]
                    if code >= FIRST_SUBSTR and i >= first:
                        anchors[task, at + i, e] = g1
                if not last:
                    wrote = 1 if code < FIRST_SUBSTR else abs(g2 - g1) if min(g1, g2) >= 0 else 0
                    pointers[task, at + size + 1, e] = pointers[task, at, e] + wrote
            at += size + 1


@compiled
def _ends(code: int, gaps: np.ndarray) -> tuple[int, int]:
    """The two gaps of a SubStr; -1 where there is none."""
    if code < FIRST_SUBSTR:
        return -1, -1
    p1, p2 = divmod(code - FIRST_SUBSTR, NUM_POS)
    return gaps[p1], gaps[p2]


@compiled
def check_programs(
    codes: np.ndarray, inputs: np.ndarray, outputs: np.ndarray, gaps: np.ndarray, passed: np.ndarray
) -> None:
    """Fill passed[task, program, example]: whether codes[task, program] writes that output."""
    for task in range(codes.shape[0]):
        for program in range(codes.shape[1]):
            for e in range(inputs.shape[1]):
                passed[task, program, e] = _writes(
                    codes[task, program], inputs[task, e], outputs[task, e], gaps[task, e]
                )


@compiled
def _writes(codes: np.ndarray, text: np.ndarray, wanted: np.ndarray, gaps: np.ndarray) -> bool:
    at = 0
    for x in range(len(codes)):
        code = codes[x]
        if code == 0:
            break
        if code < FIRST_SUBSTR:
            if at >= len(wanted) or wanted[at] != CHAR_CODES[code - 1]:
                return False
            at += 1
            continue
        g1, g2 = _ends(code, gaps)
        if min(g1, g2) < 0:
            continue
        for i in range(min(g1, g2), max(g1, g2)):
            if at >= len(wanted) or wanted[at] != text[i]:
                return False
            at += 1
    return codes[0] != 0 and (at == len(wanted) or wanted[at] == 0)
