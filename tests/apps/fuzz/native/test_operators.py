"""Each operator on its own: what it may change, and what it may not."""

import re
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np
import pytest

from aloex.apps.fuzz.native import ALL_GUIDES, EDIT, LIKELY, Engine, Guide, TokenKind
from fuzz_engines import POOL, an_engine, mutants
from stats import assert_draws_match

KEEP, MAX_LEN = 3, 60
INPUTS = [
    *(data for data, _ in POOL),
    bytes(range(3)) + 3 * b"\x12\x34\x56\x78\0" + b"12 12 12",
    b"keep" + bytes(i * i % 251 for i in range(60)),  # longer than a mutant may be
]
LIKELY_BYTES, UPTO = b"ABCDEFG", [100, 150, 200, 210, 220, 230, 240]
TOKENS = {"dictionary": b"DICT", "string": b"a string", "compared": b"\xfe\xdc"}
EDITS = [
    (1, 1, 1, "", b"!"),  # of a byte that stays
    (8, 4, 2, "b", b"\x10\x00"),
    (4, 1, 5, "", b"three"),
    (10, 2, 0, "", b""),
]
ONE = ALL_GUIDES & ~Guide.STACK


def full_engine() -> Engine:
    pool = [(data, (8 * i,)) for i, data in enumerate(INPUTS)]
    engine = an_engine(pool, guides=ONE, keep=KEEP, max_len=MAX_LEN)
    edits = [
        (at, old, size, ord(order or "\0"), [*new, *bytes(25 - len(new))])
        for at, old, size, order, new in EDITS
    ]
    for i, data in enumerate(INPUTS):
        engine.set_trace(i, np.array(edits, EDIT), 0)
        table = np.zeros(len(data), LIKELY)
        table["bytes"], table["upto"] = list(LIKELY_BYTES), UPTO
        engine.set_likely(i, table)
    for kind, token in zip(TokenKind, TOKENS.values(), strict=True):
        engine.add_tokens(kind, [token])
    engine.plan()
    return engine


# ---- what may come of an operator: (before, after) -> whether it may be

Check = Callable[[bytes, bytes], bool]


def changed(a: bytes, b: bytes) -> list[int]:
    """The positions that differ."""
    return [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]


def flips_one_bit(a: bytes, b: bytes) -> bool:
    return sum((x ^ y).bit_count() for x, y in zip(a, b, strict=True)) == 1


def changes_up_to(count: int) -> Check:
    return lambda a, b: len(changed(a, b)) <= count


def takes_bytes_of_others(count: int) -> Check:
    def check(a: bytes, b: bytes) -> bool:
        other = lambda x: all(x[i : i + 1] == b[i : i + 1] for i in changed(a, b))
        return 1 <= len(changed(a, b)) <= count and any(map(other, INPUTS))

    return check


def replaced_everywhere(a: bytes, at: int, width: int, new: bytes) -> bytes:
    old, x, i = a[at : at + width], bytearray(a), KEEP
    x[at : at + width] = new
    while i <= len(x) - width:
        if x[i : i + width] == old:
            x[i : i + width] = new
            i += width
        else:
            i += 1
    return bytes(x)


def changes_a_number(is_everywhere: bool) -> Check:
    def check(a: bytes, b: bytes) -> bool:
        if len(a) != len(b) or a == b:
            return False
        for width in (1, 2, 4, 8):
            for at in range(KEEP, len(a) - width + 1):
                new = b[at : at + width]
                once = a[:at] + new + a[at + width :]
                if b == (replaced_everywhere(a, at, width, new) if is_everywhere else once):
                    return True
        return False

    return check


def changes_digits(a: bytes, b: bytes) -> bool:
    for match in re.finditer(rb"\d+", a[KEEP:]):
        begin, end = KEEP + match.start(), KEEP + match.end()
        new = b[begin : len(b) - (len(a) - end)]
        if a[:begin] + new + a[end:] == b and re.fullmatch(rb"0|[1-9]\d*", new):
            return True
    return False


def deletes(a: bytes, b: bytes) -> bool:
    lost = len(a) - len(b)
    return lost > 0 and any(a[:at] + a[at + lost :] == b for at in range(KEEP, len(b) + 1))


def inserts(is_good: Callable[[bytes, bytes], bool]) -> Check:
    def check(a: bytes, b: bytes) -> bool:
        more = len(b) - len(a)
        places = (at for at in range(KEEP, len(a) + 1) if a[:at] + b[at : at + more] + a[at:] == b)
        return more > 0 and any(is_good(a, b[at : at + more]) for at in places)

    return check


def writes(is_good: Callable[[bytes, bytes], bool]) -> Check:
    """A stretch that is good replaces another of its length."""

    def check(a: bytes, b: bytes) -> bool:
        if len(a) != len(b):
            return False
        differ = changed(a, b)
        if not differ:
            return True  # the same was there
        first, last = differ[0], differ[-1] + 1
        return any(
            is_good(a, b[begin:end])
            for begin in range(KEEP, first + 1)
            for end in range(last, len(b) + 1)
        )

    return check


def shuffles(a: bytes, b: bytes) -> bool:
    differ = changed(a, b)
    return not differ or (Counter(a) == Counter(b) and differ[-1] - differ[0] < 16)


def crosses(is_aligned: bool) -> Check:
    def check(a: bytes, b: bytes) -> bool:
        for at in range(KEEP, len(a) + 1):
            for y in INPUTS if a[:at] == b[:at] else ():
                for start in range(KEEP, len(y)):
                    context = y[start:][:2]
                    good = not is_aligned or (len(context) == 2 and a[at:][:2] == context)
                    if good and b[at:] == y[start:][: MAX_LEN - at]:
                        return True
        return False

    return check


def follows_a_compare(a: bytes, b: bytes) -> bool:
    for at, old, _, order, new in EDITS:
        low = new[-1] if order else 0
        nearby = [new, *(new[:-1] + bytes([(low + d) % 256]) for d in (-1, 1) if order)]
        if any(a[:at] + x + a[at + old :] == b for x in nearby):
            return True
    return False


def is_token(kind: str) -> Callable[[bytes, bytes], bool]:
    return lambda a, new: new == TOKENS[kind]


of_others = lambda a, new: any(new in x[KEEP:] for x in INPUTS)
of_itself = lambda a, new: new in a[KEEP:]
CHECKS: dict[str, Check] = {
    "flip bit": flips_one_bit,
    "1 random byte": lambda a, b: len(changed(a, b)) == 1,
    **{f"{n} random bytes": changes_up_to(n) for n in (3, 10, 50)},
    "1 byte of another": takes_bytes_of_others(1),
    **{f"{n} bytes of another": takes_bytes_of_others(n) for n in (3, 10, 50)},
    "1 likely byte": changes_up_to(1),
    **{f"{n} likely bytes": changes_up_to(n) for n in (3, 10, 50)},
    "number": changes_a_number(False),
    "equal numbers": changes_a_number(True),
    "digits": changes_digits,
    "delete": deletes,
    "insert random": inserts(lambda a, new: len(new) <= 16),
    "insert repeated": inserts(lambda a, new: len(set(new)) == 1),
    "duplicate": inserts(of_itself),
    "copy over": writes(of_itself),
    "shuffle": shuffles,
    "splice insert": inserts(of_others),
    "splice over": writes(of_others),
    "crossover": crosses(False),
    "aligned crossover": crosses(True),
    "insert from dictionary": inserts(is_token("dictionary")),
    "write from dictionary": writes(is_token("dictionary")),
    "insert string": inserts(is_token("string")),
    "write string": writes(is_token("string")),
    "insert compared": inserts(is_token("compared")),
    "write compared": writes(is_token("compared")),
    "follow compare": follows_a_compare,
}


@pytest.fixture(scope="module")
def by_operator() -> dict[str, list[tuple[bytes, bytes]]]:
    """Pairs of an input and its mutant, by the name of the one operator that was applied."""
    engine, found = full_engine(), defaultdict(list)
    names = [arm.name for arm in engine.operators()]
    for mutant in mutants(engine, 20_000):
        if mutant.operators:
            name = names[mutant.operators.bit_length() - 1]
            found[name].append((INPUTS[mutant.parent][:MAX_LEN], mutant.data))
    assert found.keys() == set(names) == CHECKS.keys()
    return found


@pytest.mark.parametrize("name", CHECKS)
def test_an_operator_changes_what_it_may(by_operator, name):
    pairs = by_operator[name]
    assert len(pairs) > 20
    for before, after in pairs:
        assert after[:KEEP] == before[:KEEP]
        assert KEEP < len(after) <= MAX_LEN
        assert CHECKS[name](before, after), (before, after)
    assert sum(before != after for before, after in pairs) > len(pairs) / 2


@pytest.mark.parametrize("what", ["random bytes", "bytes of another", "likely bytes"])
def test_as_many_bytes_change_as_the_name_says(by_operator, what):
    most = lambda n: max(len(changed(a, b)) for a, b in by_operator[f"{n} {what}"])
    assert (most(3), most(10)) == (3, 10)
    assert most(50) > 20


def test_numbers_are_of_every_width_and_order():
    """A little less than 0: all bytes are 255, but for the lowest."""
    engine, seen = an_engine([(bytes(40), (0,))], guides=ONE), set()
    bit = [arm.name for arm in engine.operators()].index("number")
    for mutant in mutants(engine, 20_000):
        if mutant.operators == 1 << bit:
            new = mutant.data.strip(b"\0")
            low = {"<": new[:1], ">": new[-1:]}
            for order, byte in low.items():
                rest = new[1:] if order == "<" else new[:-1]
                if set(rest) == {255} and byte and 256 - 35 <= byte[0] < 255:
                    seen.add((len(new), order, byte[0]))
    for width in (2, 4, 8):
        for order in "<>":
            lows = [low for w, o, low in seen if (w, o) == (width, order)]
            assert len(lows) > 5
    assert min(low for _, _, low in seen) < 256 - 30


def test_equal_numbers_change_if_they_are_near():
    """Within 256 bytes before and after the one that was chosen; there are ten, 100 bytes apart."""
    number, data = b"\xaa\xbb\xcc\xdd", bytearray(7 * i % 160 for i in range(1000))
    places = range(0, 1000, 100)
    for at in places:
        data[at : at + 4] = number
    engine = an_engine([(bytes(data), (0,))], guides=ONE, max_len=1000)
    bit, spans = [arm.name for arm in engine.operators()].index("equal numbers"), Counter()
    for mutant in mutants(engine, 10_000):
        if mutant.operators == 1 << bit and changed(data, mutant.data):
            differ = changed(data, mutant.data)
            found = [at for at in places if any(at <= i < at + 4 for i in differ)]
            if len(found) > 1 and all(i % 100 < 4 for i in differ):
                near = [[x for x in places if c - 256 <= x < c + 256] for c in found]
                assert found in near
                spans[len(found)] += 1
    assert set(spans) == {3, 4, 5}  # at an end, beside it, and in the middle


# One test of draws, at level stats.ALPHA.
def test_draws_of_likely_bytes():
    """Byte k has share (upto[k] - upto[k - 1]) / 256; what is left is uniform."""
    zeros = bytes(1000)
    engine = an_engine([(zeros, (0,))], guides=ONE, max_len=1000)
    table = np.zeros(1000, LIKELY)
    table["bytes"], table["upto"] = list(LIKELY_BYTES), UPTO
    engine.set_likely(0, table)
    engine.plan()
    bit = [arm.name for arm in engine.operators()].index("50 likely bytes")
    counts = np.zeros(256)
    for mutant in mutants(engine, 8000):
        if mutant.operators == 1 << bit:
            counts += np.bincount(np.frombuffer(mutant.data, np.uint8), minlength=256)
    probs = np.full(256, (256 - UPTO[-1]) / 256**2)
    probs[list(LIKELY_BYTES)] += np.diff([0, *UPTO]) / 256
    counts[0] = 0  # where nothing was written, too
    assert counts.sum() > 5000
    assert_draws_match(counts[1:], probs[1:] / probs[1:].sum())


def chunk(name: bytes, data: bytes) -> bytes:
    whole = name + data
    return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))


def test_repair_of_png():
    signature = b"\x89PNG\r\n\x1a\n"
    png = signature + chunk(b"IHDR", bytes(13)) + chunk(b"IDAT", b"data" * 9) + chunk(b"IEND", b"")
    pool = [(png, (0,)), (b"no picture" * 5, (8,)), (png[:20], (16,)), (signature, (24,))]
    engine = an_engine(pool, repair="png", max_len=300)
    plain = an_engine(pool, max_len=300)
    num_repaired = 0
    for repaired, mutant in zip(mutants(engine, 3000), mutants(plain, 3000), strict=True):
        a, b, at = mutant.data, repaired.data, 8
        expected = bytearray(a)
        while a.startswith(signature) and at + 12 <= len(a):
            stop = at + 8 + struct.unpack_from(">I", a, at)[0]
            if stop + 4 > len(a):
                break
            expected[stop : stop + 4] = struct.pack(">I", zlib.crc32(a[at + 4 : stop]))
            at = stop + 4
        assert b == expected
        num_repaired += a != b
    assert num_repaired > 200
