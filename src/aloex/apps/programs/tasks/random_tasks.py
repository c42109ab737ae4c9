"""Random tasks, compiled: a program, and ten inputs with what it writes in paper mode.

To the figures of the paper's appendix (`app:exp_robustfill`). An input has 3 to 5 groups of
tokens: a third of them constants, the others a delimiter and 1 to 4 characters of a regex, each 1
to 4 times, shuffled in each example and cut at 20 characters. A program has 1 to 10 expressions,
none of them empty on any example, and outputs of up to 50 characters. Each task has a random
stream of its own, from the seed and the task's number, so that a part of a set is the same as in
the whole.

Counts are drawn with k = 0, the last match, but not with k = -(n + 1), which wraps around to it:
no clean program does that.
"""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from aloex.apps.programs.language.alphabet import (
    CHAR_CODES,
    CONSTANTS,
    NUM_CHARS,
    NUM_PATTERNS,
    NUM_REGEXES,
    WORD_CHARS,
    char_table,
)
from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.apps.programs.language.tokens import (
    BAR,
    EOS,
    T_CONSTPOS,
    T_CONSTSTR,
    T_CONSTTOK,
    T_REGEXTOK,
    T_REGPOS,
    T_START,
    T_SUBSTR,
    ZERO,
)
from aloex.apps.programs.tasks.tasks import MAX_INPUT, MAX_OUTPUT, NUM_EXAMPLES
from aloex.base.errors import InputError

try:
    from numba import njit
except ImportError:
    raise InputError("tasks are made by numba; install it: pip install 'aloex[networks]'") from None


Function = TypeVar("Function", bound=Callable[..., Any])
Tables = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # count, start, end, fewest


def compiled(function: Function) -> Function:
    """The function itself compiled, not what a type checker wrapped around it."""
    return cast(Function, njit(cache=True, inline="never", nogil=True)(inspect.unwrap(function)))


MAX_GROUPS, MAX_REPEATS, MAX_WORD = 5, 4, 4
PROPER, CAPS, LOWER, DIGITS, LETTERS, ALNUM, SPACE, BEGIN, FINISH = range(NUM_CHARS, NUM_PATTERNS)
DELIMITERS = np.append(CHAR_CODES, ord(" ")).astype(np.uint8)
LETTERS_OF = [*WORD_CHARS.values()]  # of the regexes that stand for words, in their order
NUM_WORDS = len(LETTERS_OF)
NUM_LETTERS = np.array([len(letters) for letters in LETTERS_OF])
LETTER_CODES = np.array([list(letters.ljust(62).encode()) for letters in LETTERS_OF], np.uint8)

CAPITAL, SMALL, DIGIT, BLANK = 1, 2, 3, 4  # kinds of characters; 0 for the others
KIND = char_table(
    {
        WORD_CHARS["Caps"]: CAPITAL,
        WORD_CHARS["Lower"]: SMALL,
        WORD_CHARS["Digits"]: DIGIT,
        WORD_CHARS["Space"]: BLANK,
    }
)
CHAR_PATTERN = char_table({char: i for i, char in enumerate(CONSTANTS)}, default=-1)


@compiled
def _below(rng: np.ndarray, n: int) -> np.int64:
    """A number from 0 to n - 1: splitmix64, its upper half scaled."""
    rng[0] += np.uint64(0x9E3779B97F4A7C15)
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64(((z >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@compiled
def _inputs(rng: np.ndarray, inputs: np.ndarray, lengths: np.ndarray) -> None:
    """Fill the inputs of one task."""
    groups = np.empty(MAX_GROUPS, np.int64)
    delimiters = np.empty(MAX_GROUPS, np.uint8)
    tokens = np.empty(MAX_GROUPS * MAX_REPEATS, np.int64)
    num_groups, num_tokens = 3 + _below(rng, 3), 0
    for g in range(num_groups):
        is_const = _below(rng, 3) == 0
        groups[g] = _below(rng, NUM_CHARS) if is_const else NUM_CHARS + _below(rng, NUM_WORDS)
        delimiters[g] = DELIMITERS[_below(rng, len(DELIMITERS))]
        for _ in range(1 + _below(rng, MAX_REPEATS)):
            tokens[num_tokens] = g
            num_tokens += 1
    for e in range(NUM_EXAMPLES):
        length = 0
        for t in range(num_tokens):
            if length >= MAX_INPUT:
                break
            other = t + _below(rng, num_tokens - t)
            tokens[t], tokens[other] = tokens[other], tokens[t]
            pattern = groups[tokens[t]]
            if pattern < NUM_CHARS:
                inputs[e, length] = CHAR_CODES[pattern]
                length += 1
                continue
            inputs[e, length] = delimiters[tokens[t]]
            length += 1
            regex = pattern - NUM_CHARS
            size = 1 + _below(rng, MAX_WORD)
            if pattern == PROPER:
                size = max(size, 2)
            for i in range(min(size, MAX_INPUT - length)):
                letters = 1 if pattern == PROPER and i == 0 else regex
                inputs[e, length] = LETTER_CODES[letters, _below(rng, NUM_LETTERS[letters])]
                length += 1
        lengths[e] = length


@compiled
def find_matches(
    text: np.ndarray, length: int, count: np.ndarray, start: np.ndarray, end: np.ndarray
) -> None:
    """All matches in one input: count[pattern], start and end[pattern, number]."""
    count[:] = 0
    before = 0
    for i in range(length + 1):
        kind = 0
        if i < length:
            kind = KIND[text[i]]
            char = CHAR_PATTERN[text[i]]
            if char >= 0:
                start[char, count[char]], end[char, count[char]] = i, i + 1
                count[char] += 1
        if kind != before:
            if before == CAPITAL:
                end[CAPS, count[CAPS] - 1] = i
            elif before == SMALL:
                end[LOWER, count[LOWER] - 1] = i
                if count[PROPER] > 0 and end[PROPER, count[PROPER] - 1] < 0:
                    end[PROPER, count[PROPER] - 1] = i
            elif before == DIGIT:
                end[DIGITS, count[DIGITS] - 1] = i
            elif before == BLANK:
                end[SPACE, count[SPACE] - 1] = i
            if before in (CAPITAL, SMALL) and kind not in (CAPITAL, SMALL):
                end[LETTERS, count[LETTERS] - 1] = i
            if before in (CAPITAL, SMALL, DIGIT) and kind not in (CAPITAL, SMALL, DIGIT):
                end[ALNUM, count[ALNUM] - 1] = i
            if kind == CAPITAL:
                _open(CAPS, i, count, start)
            elif kind == SMALL:
                _open(LOWER, i, count, start)
                if before == CAPITAL:
                    end[PROPER, count[PROPER]] = -1  # its end is not known yet
                    _open(PROPER, i - 1, count, start)
            elif kind == DIGIT:
                _open(DIGITS, i, count, start)
            elif kind == BLANK:
                _open(SPACE, i, count, start)
            if kind in (CAPITAL, SMALL) and before not in (CAPITAL, SMALL):
                _open(LETTERS, i, count, start)
            if kind in (CAPITAL, SMALL, DIGIT) and before not in (CAPITAL, SMALL, DIGIT):
                _open(ALNUM, i, count, start)
            before = kind
    count[BEGIN] = count[FINISH] = 1
    start[BEGIN, 0] = end[BEGIN, 0] = 0
    start[FINISH, 0] = end[FINISH, 0] = length


@compiled
def _open(pattern: int, i: int, count: np.ndarray, start: np.ndarray) -> None:
    start[pattern, count[pattern]] = i
    count[pattern] += 1


@compiled
def _position(rng: np.ndarray, fewest: np.ndarray, words: np.ndarray) -> int:
    """Draw a position that all examples have into `words`; returns the number of tokens."""
    if _below(rng, 2) == 0:
        words[0], words[1] = T_CONSTPOS, ZERO + _below(rng, 9) - 4
        return 2
    is_const = _below(rng, 2) == 0
    if is_const:
        some = False
        for pattern in range(NUM_CHARS):
            some = some or fewest[pattern] > 0
        is_const = some
    while True:
        pattern = _below(rng, NUM_CHARS) if is_const else NUM_CHARS + _below(rng, NUM_REGEXES)
        k = _below(rng, 9) - 4
        if fewest[pattern] > 0 and -fewest[pattern] <= k <= fewest[pattern]:
            break
    words[0], words[1] = T_REGPOS, T_CONSTTOK if is_const else T_REGEXTOK
    words[2] = ZERO + 1 + (pattern if is_const else pattern - NUM_CHARS)
    words[3], words[4] = ZERO + k, T_START + _below(rng, 2)
    return 5


@compiled
def _gap(
    words: np.ndarray, e: int, length: int, count: np.ndarray, start: np.ndarray, end: np.ndarray
) -> int:
    """The gap of example e that a position means."""
    if words[0] == T_CONSTPOS:
        k = words[1] - ZERO
        return min(k, length) if k >= 0 else length + k + 1
    pattern = words[2] - ZERO - 1
    if words[1] == T_REGEXTOK:
        pattern += NUM_CHARS
    k = words[3] - ZERO
    number = (k if k >= 0 else count[e, pattern] + k + 1) - 1
    if number < 0:
        number = count[e, pattern] - 1  # wraps around
    return start[e, pattern, number] if words[4] == T_START else end[e, pattern, number]


@compiled
def _program(
    rng: np.ndarray,
    inputs: np.ndarray,
    lengths: np.ndarray,
    tables: Tables,
    outputs: np.ndarray,
    written: np.ndarray,
    tokens: np.ndarray,
) -> bool:
    """Draw a program and write its outputs; False where one gets too long."""
    low, high = np.empty(NUM_EXAMPLES, np.int64), np.empty(NUM_EXAMPLES, np.int64)
    written[:] = 0
    at, num_expressions = 0, 1 + _below(rng, MAX_EXPRESSIONS)
    for x in range(num_expressions):
        if _below(rng, 2) == 0:
            char = _below(rng, NUM_CHARS)
            tokens[at], tokens[at + 1] = T_CONSTSTR, ZERO + 1 + char
            at += 2
            for e in range(NUM_EXAMPLES):
                if written[e] == MAX_OUTPUT:
                    return False
                outputs[e, written[e]] = CHAR_CODES[char]
                written[e] += 1
        else:
            tokens[at] = T_SUBSTR
            size = _substring(rng, lengths, tables, tokens[at + 1 :], low, high)
            at += 1 + size
            for e in range(NUM_EXAMPLES):
                if written[e] + high[e] - low[e] > MAX_OUTPUT:
                    return False
                for i in range(low[e], high[e]):
                    outputs[e, written[e]] = inputs[e, i]
                    written[e] += 1
        tokens[at] = EOS if x == num_expressions - 1 else BAR
        at += 1
    tokens[at:] = 0
    return True


@compiled
def _substring(
    rng: np.ndarray,
    lengths: np.ndarray,
    tables: Tables,
    words: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> int:
    """Draw two positions with something between them in all examples; returns the tokens."""
    count, start, end, fewest = tables
    while True:
        first = _position(rng, fewest, words)
        both = first + _position(rng, fewest, words[first:])
        empty = False
        for e in range(NUM_EXAMPLES):
            one = _gap(words, e, lengths[e], count, start, end)
            other = _gap(words[first:], e, lengths[e], count, start, end)
            low[e], high[e] = min(one, other), max(one, other)
            if one == other:
                empty = True
                break
        if not empty:
            return both


@compiled
def fill_tasks(
    seed: int, first: int, inputs: np.ndarray, outputs: np.ndarray, tokens: np.ndarray
) -> None:
    """Fill arrays of zeros [tasks, examples, characters], [tasks, tokens], from task `first` on."""
    rng = np.empty(1, np.uint64)
    lengths, written = np.empty(NUM_EXAMPLES, np.int64), np.empty(NUM_EXAMPLES, np.int64)
    count = np.empty((NUM_EXAMPLES, NUM_PATTERNS), np.int64)
    start = np.empty((NUM_EXAMPLES, NUM_PATTERNS, MAX_INPUT + 1), np.int64)
    end = np.empty((NUM_EXAMPLES, NUM_PATTERNS, MAX_INPUT + 1), np.int64)
    fewest = np.empty(NUM_PATTERNS, np.int64)
    for t in range(len(inputs)):
        rng[0] = np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        for _ in range(3):  # far apart, also for neighbouring seeds and numbers
            rng[0] ^= np.uint64(_below(rng, 1 << 32)) << np.uint64(32)
        rng[0] += np.uint64(first + t) * np.uint64(0xDA942042E4DD58B5)
        _inputs(rng, inputs[t], lengths)
        fewest[:] = MAX_INPUT
        for e in range(NUM_EXAMPLES):
            find_matches(inputs[t, e], lengths[e], count[e], start[e], end[e])
            for pattern in range(NUM_PATTERNS):
                fewest[pattern] = min(fewest[pattern], count[e, pattern])
        tables = (count, start, end, fewest)
        while not _program(rng, inputs[t], lengths, tables, outputs[t], written, tokens[t]):
            pass
        for e in range(NUM_EXAMPLES):
            outputs[t, e, written[e] :] = 0
