"""Why a campaign cannot be resumed: what has changed since it began, and how to go on."""

import shlex
from itertools import count
from pathlib import Path
from typing import Any

HASHED = {  # settings of which a campaign knows a hash, which says nothing to a user
    "seeds": "the seeds (--seeds) are",
    "tokens": "the tokens (--dict, the target's dictionary, its strings) are",
    "model": "the model (--model) is",
}


def what_has_changed(setting: str, before: Any, now: Any, *, out: Path, command: str) -> str:
    """A line on a setting that was another when the campaign began.

    Args:
        setting: its name.
        before, now: its values.
        out: the folder of the campaign.
        command: that runs campaigns of this target.
    """
    other = shlex.quote(str(next(path for i in count(2) if not (path := _other(out, i)).exists())))
    if setting == "library":
        corpus = out / "corpus"
        seeds = f" --seeds {shlex.quote(str(corpus))}" if any(corpus.glob("*")) else ""
        return (
            f"the target was built again since the campaign in {out} began, and what covers what "
            f"may have changed; begin another with the inputs that it found: {command}{seeds} "
            f"--out {other}"
        )
    if setting in HASHED:
        return (
            f"{HASHED[setting]} not as when the campaign in {out} began; give the same to resume "
            f"it, or use another folder: --out {other}"
        )
    return (
        f"the campaign in {out} has {setting}={before!r}, now {setting}={now!r} is given; repeat "
        f"the same settings, or use another folder: --out {other}"
    )


def _other(out: Path, number: int) -> Path:
    """A folder beside that of the campaign."""
    return out.with_name(f"{out.name}-{number}")
