"""Three meshes: with small and large indices, with and without a texture and a name."""

import struct
import sys
from pathlib import Path


def mesh(
    vertices: int, each: int, faces: int, index: int, side: tuple[int, int] = (0, 0), name: str = ""
) -> bytes:
    body = bytes(i % 251 for i in range(vertices * each))
    body += b"".join((i % vertices).to_bytes(index, "little") for i in range(3 * faces))
    body += bytes(range(side[0] * side[1] * 4))
    numbers = (vertices, each, faces, index, 27 + len(body), len(name), *side)
    return b"MSH1" + struct.pack("<IHIBIIHH", *numbers) + body + name.encode()


seeds = {
    "triangle": mesh(3, 12, 1, 1, name="a triangle"),
    "box": mesh(8, 16, 12, 2, side=(4, 3), name="box"),
    "plain": mesh(4, 24, 4, 4),
    "wide": mesh(5, 32, 3, 1, side=(2, 8)),
}
for name, data in seeds.items():
    (Path(sys.argv[1]) / name).write_bytes(data)
