"""Three containers with texts and data."""

import sys
from pathlib import Path


def section(tag: bytes, body: bytes) -> bytes:
    return tag + len(body).to_bytes(2, "little") + body


def vault(version: int, *sections: bytes) -> bytes:
    return b"VLT" + bytes([version]) + b"".join(sections)


meta = section(b"META", b"title=a box;author=nobody;colour=red;")
seeds = {
    "short": vault(1, section(b"META", b"title=x;"), section(b"DATA", bytes(range(20)))),
    "long": vault(2, meta, section(b"DATA", bytes(range(200, 256)) * 2)),
    "two": vault(3, section(b"DATA", b"first"), meta, section(b"DATA", b"the second " * 4)),
}
for name, data in seeds.items():
    (Path(sys.argv[1]) / name).write_bytes(data)
