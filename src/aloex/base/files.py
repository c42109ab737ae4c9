"""Files that are never half written."""

import os
from pathlib import Path


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file so that it is always there in full, the old one or the new one."""
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():  # a pipe or a device is not to be replaced
        path.write_bytes(data)
        return
    writing = path.with_name(f".{path.name}.writing")
    writing.write_bytes(data)
    os.replace(writing, path)
