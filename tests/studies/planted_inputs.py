"""For each planted fault an input of ours that hits it."""

import struct


def chunk(kind: bytes, body: bytes) -> bytes:
    return kind + len(body).to_bytes(2, "little") + body


def image(width: int, height: int, depth: int, flags: int, *chunks: bytes) -> bytes:
    return b"T1" + bytes([width, height, depth, flags]) + b"".join(chunks)


def packet(kind: int, body: bytes) -> bytes:
    inner = bytes([kind]) + len(body).to_bytes(2, "big") + body
    low = high = 0
    for byte in inner:
        low = (low + byte) % 255
        high = (high + low) % 255
    return b"\x7e" + inner + bytes([high, low])


def mesh(body: int = 100, **numbers: int) -> bytes:
    usual = {"vertices": 1, "each": 12, "faces": 1, "index": 1}
    usual |= {"begin": 0, "length": 0, "width": 0, "height": 0}
    return b"MSH1" + struct.pack("<IHIBIIHH", *(usual | numbers).values()) + bytes(body)


PALETTE, HELLO = chunk(b"P", bytes(48)), packet(1, b"\2me")
SIGNATURE, ROLLOVER = struct.pack("<Q", 0x1D0C5AFE8BADF00D), struct.pack("<I", 0xC0DEC0DE)
INPUTS: dict[str, dict[str, bytes]] = {
    "tiles": {
        "histogram": image(2, 2, 8, 0, PALETTE, chunk(b"H", bytes(80))),
        "keyword": image(2, 2, 8, 0, chunk(b"K", b"A" * 40)),
        "run": image(4, 4, 4, 0, PALETTE, chunk(b"R", bytes([200, 1]))),
        "interlaced": image(4, 4, 8, 1, PALETTE, chunk(b"R", bytes([142, 1]))),
    },
    "ledger": {
        "current": b"open a\nuse a\npay 1\nclose a\npay 2\n",
        "undone": b"open a\nadd a 5\nclose a\nundo\n",
        "parent": b"open a\nopen b\nopen c\nunder a b\nunder a c\nclose c\ntotal a\n",
        "again": b"open a\nadd a 5\nagain 9\n",
    },
    "vault": {
        "signature": b"VLT\1" + chunk(b"DATA", SIGNATURE + bytes(20)),
        "rollover": b"VLT\1" + chunk(b"KEYS", b"\1" + ROLLOVER + b"rollover"),
        "transpose": b"VLT\1" + chunk(b"META", b"transpose=5;") + chunk(b"DATA", bytes(12)),
        "nibbles": b"VLT\1" + chunk(b"META", b"packing=nibbles;") + chunk(b"DATA", b"\xff" * 4),
    },
    "parcel": {
        "fragment": HELLO + packet(2, b"\0\0\0\4abcd") + packet(2, b"\0\4\0\10efgh"),
        "list": HELLO + packet(3, b"\2\1a\4b"),
        "received": HELLO + packet(4, b"\0\x0c\x0b"),
    },
    "mesh": {
        "vertices": mesh(200, vertices=0x80000001, each=32),
        "faces": mesh(60, faces=0x10000),
        "texture": mesh(width=30000, height=30000),
        "name": mesh(begin=0xFFFFFFF0, length=16),
    },
}
