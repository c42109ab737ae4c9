"""The two kinds of q0, in a full and a tiny size, and their files."""

import hashlib
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from aloex.apps.programs.networks.nets.guided import Guided
from aloex.apps.programs.networks.nets.seq2seq import Seq2Seq
from aloex.base.errors import require
from aloex.runs import model_file

Q0 = Seq2Seq | Guided
KINDS: dict[str, Any] = {"paper": Seq2Seq, "best": Guided}
SIZES: dict[str, dict[str, dict[str, int]]] = {
    "paper": {"full": {}, "tiny": {"hidden": 32, "num_layers": 1}},
    "best": {
        "full": {},
        "tiny": {"width": 32, "num_heads": 2, "num_readers": 1, "num_writers": 1},
    },
}

# Parts of names that differ in the files of older versions, such as the study's weights.
RENAMED = {"reader": "encoder", "think": "mlp", "place": "site"}


def build(settings: dict[str, Any], seed: int = 0) -> Q0:
    """A new q0; `settings` has its `model` and `size`, and a `kind` which is q0."""
    kind, model, size = (settings.get(name) for name in ("kind", "model", "size"))
    require(kind == "q0", f"this is no q0, but {kind!r}")
    require(model in KINDS, f"a q0 is one of {', '.join(KINDS)}, got {model!r}")
    sizes = SIZES[str(model)]
    require(size in sizes, f"the size is one of {', '.join(sizes)}, got {size!r}")
    return KINDS[str(model)](key=jax.random.key(seed), **sizes[str(size)])


def save(path: Path, model: Any, settings: dict[str, Any]) -> None:
    """Write a model with its weights in float16: it computes in bfloat16 anyway."""
    model_file.write(path, cast(model, jnp.float16), settings)


def load(path: Path) -> tuple[Q0, dict[str, Any]]:
    """A q0 and its settings, from a file or from the folder of its run."""
    like = lambda settings: cast(build(settings), jnp.float16)
    model, settings = model_file.read(file_of(path), like, rename=current_name)
    return cast(model, jnp.float32), settings


def current_name(name: str) -> str:
    """The name of an array that files of older versions call `name`."""
    return ".".join(RENAMED.get(part, part) for part in name.split("."))


def file_of(path: Path) -> Path:
    """A model file, or the one in the folder of a run."""
    return path / "model.safetensors" if path.is_dir() else path


def fingerprint(path: Path) -> str:
    """Tells one model file from another, wherever it is."""
    return hashlib.sha256(file_of(path).read_bytes()).hexdigest()[:16]


def cast(model: Any, dtype: Any) -> Any:
    return jax.tree.map(lambda a: a.astype(dtype) if eqx.is_inexact_array(a) else a, model)
