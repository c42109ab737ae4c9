"""A trained model of the study, in memory and as a file."""

import dataclasses
import os
from typing import Any

import equinox as eqx
import jax

from aloex.apps.synthetic.methods import Settings, build_networks
from aloex.runs import model_file


@dataclasses.dataclass(frozen=True)
class About:
    """Where a model comes from."""

    recipe: str
    data: str
    seed: int
    train_seconds: float  # of the whole group that was trained at once, compilation included
    group_size: int
    device: str
    compile_seconds: float = 0.0  # of the train_seconds


class Trained(eqx.Module):
    """f with p(x) ~ exp f(x), the sampler q learned beside it, or q alone; the other is None."""

    settings: Settings = eqx.field(static=True)
    about: About = eqx.field(static=True)
    f: Any
    q: Any

    def save(self, path: str | os.PathLike[str]) -> None:
        settings = {"settings": self.settings, "about": self.about}
        settings = {name: dataclasses.asdict(part) for name, part in settings.items()}
        model_file.write(path, {"f": self.f, "q": self.q}, {"study": "synthetic", **settings})


def load(path: str | os.PathLike[str]) -> Trained:
    """The model that `Trained.save` wrote."""
    unpack = lambda saved: (Settings.from_dict(saved["settings"]), About(**saved["about"]))

    def build(saved: dict[str, Any]) -> dict[str, Any]:
        f, q = build_networks(unpack(saved)[0], jax.random.key(0))
        return {"f": f, "q": q}

    networks, saved = model_file.read(path, build)
    return Trained(*unpack(saved), **networks)
