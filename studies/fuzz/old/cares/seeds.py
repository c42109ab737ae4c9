"""A name, and a reply of each kind that the harness reads."""

import sys
from pathlib import Path


def name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"


def number(*values: int) -> bytes:
    return b"".join(value.to_bytes(2, "big") for value in values)


def string(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def reply(kind: int, data: bytes, asked: str = "www.example.com") -> bytes:
    head = number(1, 0x8180, 1, 1, 0, 0)
    question = name(asked) + number(kind, 1)
    answer = b"\xc0\x0c" + number(kind, 1, 0, 300, len(data)) + data
    return head + question + answer


HOST = name("mail.example.com")
seeds = {
    "query": b"\0www.example.com",
    "a": b"\1" + reply(1, bytes([192, 0, 2, 1])),
    "aaaa": b"\2" + reply(28, bytes(range(16))),
    "ns": b"\3" + reply(2, HOST),
    "ptr": b"\4" + reply(12, HOST, "1.0.0.127.in-addr.arpa"),
    "mx": b"\5" + reply(15, number(10) + HOST),
    "srv": b"\6" + reply(33, number(1, 2, 5060) + HOST),
    "txt": b"\7" + reply(16, string("some text") + string("more")),
    "soa": b"\10" + reply(6, HOST + name("admin.example.com") + bytes(range(20))),
    "naptr": b"\11" + reply(35, number(1, 2) + string("S") + string("SIP+D2U") + string("") + HOST),
}
for file, data in seeds.items():
    (Path(sys.argv[1]) / file).write_bytes(data)
