"""The weights that come with the study, by name."""

import hashlib
from pathlib import Path

from aloex.base.errors import CheckpointError
from studies.synth.frozen import DATA

SHIPPED = {  # SHA-256 of the models in data/, by name
    "best": "a31f307b223d0728e6602c98ada424fad278c2e4ac27a965447ae880149d9748",
    "best_editor": "6f8de62ec62dd69b6ab233d90bc9a8e2fa389f3a412f7383c6459f4abd79ab86",
}


def weights_file(path: Path) -> Path:
    """The path itself, or the file of a model of the study that it names."""
    if str(path) not in SHIPPED or path.exists():
        return path
    file = DATA / f"{path}.safetensors"
    if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != SHIPPED[str(path)]:
        raise CheckpointError(f"{file} is damaged or of another version; check it out again")
    return file
