"""Four images: both depths, with and without a histogram and a text."""

import sys
from pathlib import Path


def chunk(kind: bytes, body: bytes) -> bytes:
    return kind + len(body).to_bytes(2, "little") + body


def image(width: int, height: int, depth: int, *chunks: bytes) -> bytes:
    return b"T1" + bytes([width, height, depth, 0]) + b"".join(chunks)


palette = chunk(b"P", bytes(range(0, 48)))
histogram = chunk(b"H", bytes(range(32)))
text = chunk(b"K", b"Title\0a small image")
seeds = {
    "plain": image(8, 6, 8, palette, chunk(b"R", bytes([47, *(i % 16 for i in range(48))]))),
    "runs": image(10, 4, 8, palette, text, chunk(b"R", bytes([145, 3, 145, 5, 1, 7, 8]))),
    "nibbles": image(
        6, 6, 4, palette, histogram, chunk(b"R", bytes([5, 1, 2, 3, 4, 5, 6, 138, 9]))
    ),
    "texts": image(4, 4, 8, text, chunk(b"K", b"Author\0nobody"), palette, histogram),
}
for name, data in seeds.items():
    (Path(sys.argv[1]) / name).write_bytes(data)
