"""Repairs let a mutant pass a check that mutations break, such as a checksum.

A repair is a function from bytes to bytes. Write one for your format, and give it to a mutator.
"""

import zlib

PNG = b"\x89PNG\r\n\x1a\n"


def png_crc(data: bytes) -> bytes:
    """Write the right CRC into every complete chunk of a PNG file; other data stay as they are."""
    if not data.startswith(PNG):
        return data
    result, start = bytearray(data), len(PNG)
    while start + 12 <= len(data):
        stop = start + 8 + int.from_bytes(data[start : start + 4])
        if stop + 4 > len(data):
            break
        result[stop : stop + 4] = zlib.crc32(data[start + 4 : stop]).to_bytes(4)
        start = stop + 4
    return bytes(result)


REPAIRS = {"png": png_crc}
