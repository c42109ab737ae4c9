"""Three lines of packets with right checksums."""

import sys
from pathlib import Path


def packet(kind: int, body: bytes) -> bytes:
    inner = bytes([kind]) + len(body).to_bytes(2, "big") + body
    low = high = 0
    for byte in inner:
        low = (low + byte) % 255
        high = (high + low) % 255
    return b"\x7e" + inner + bytes([high, low])


def fragment(place: int, size: int, data: bytes) -> bytes:
    return packet(2, place.to_bytes(2, "big") + size.to_bytes(2, "big") + data)


hello, old = packet(1, b"\x02someone"), packet(1, b"\x01me")
seeds = {
    "parts": hello + fragment(0, 24, b"first part, ") + fragment(12, 24, b"second part."),
    "list": hello + packet(3, b"\x03\x05apple\x04pear\x06cherry"),
    "received": old + packet(4, b"\0\x20" + bytes([0, 3, 9, 31])) + fragment(0, 3, b"end"),
}
for name, data in seeds.items():
    (Path(sys.argv[1]) / name).write_bytes(data)
