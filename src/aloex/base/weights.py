"""Files of weights: named arrays as safetensors, settings as JSON, and a hash of all of it.

A file is written whole or not at all, and reading it checks every bit: the header holds the SHA-256
that the file has with zeros in place of the hash. It needs NumPy only.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from aloex.base.errors import CheckpointError
from aloex.base.files import explain_os_error, make_folder, write_file

HASH = "sha256"  # its name among the settings
BLANK = "0" * 64
METADATA = "aloex"  # the one entry of the header's metadata


def write_weights(path: Path, arrays: dict[str, np.ndarray], settings: dict[str, Any]) -> None:
    """Write arrays, and settings that are JSON values."""
    make_folder(path.parent)
    write_file(path, _pack(arrays, settings), durable=True)


def _pack(arrays: dict[str, np.ndarray], settings: dict[str, Any]) -> bytes:
    """The bytes of the file."""
    if HASH in settings:
        raise ValueError(f"{HASH} is the name of the hash; give the setting another name")
    # The hash comes first, so that the first blank in the file is its own.
    metadata = {METADATA: json.dumps({HASH: BLANK, **settings})}
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = safetensors.numpy.save(plain, metadata=metadata)
    return content.replace(BLANK.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def read_weights(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the settings of a file, or a `CheckpointError` that says what is wrong.

    A file without a hash is read if the file NAME.sha256 beside it holds it, as `sha256sum` writes.
    """
    try:
        content = path.read_bytes()
        arrays = safetensors.numpy.load(content)
        settings = _settings(content)
    except FileNotFoundError:
        raise CheckpointError(f"there is no model file {path}; check the path") from None
    except OSError as error:
        raise CheckpointError(
            f"cannot read {explain_os_error(error, path, reading=True)}"
        ) from None
    except (safetensors.SafetensorError, KeyError) as error:
        raise CheckpointError(
            f"{path} is not a safetensors file, or was cut short ({error}); copy or save it again"
        ) from None
    except (ValueError, TypeError):
        raise CheckpointError(
            f"{path} has no Aloex config that can be read: it is damaged, or no file of Aloex"
        ) from None
    _check(path, content, settings.pop(HASH, None))
    return arrays, settings


def _settings(content: bytes) -> dict[str, Any]:
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    settings = json.loads(header.get("__metadata__", {}).get(METADATA, "null"))
    if not isinstance(settings, dict):
        raise ValueError
    return settings


def _check(path: Path, content: bytes, wanted: Any) -> None:
    """A `CheckpointError` unless the content has the hash that it should have."""
    if isinstance(wanted, str) and len(wanted) == len(BLANK):
        content = content.replace(wanted.encode(), BLANK.encode(), 1)
    else:
        beside = path.with_name(f"{path.name}.sha256")
        if not beside.exists():
            raise CheckpointError(
                f"{path} has no hash, so that damage could not be seen; if you trust it: "
                f"sha256sum {path} > {beside}"
            )
        wanted = (beside.read_text().split() or [""])[0]
    if hashlib.sha256(content).hexdigest() != wanted:
        raise CheckpointError(
            f"{path} is damaged: its SHA-256 is not the recorded one; copy or save it again"
        )
