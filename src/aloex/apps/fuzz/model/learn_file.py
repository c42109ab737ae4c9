"""Learn a model from a folder of files and write it, with how well it knows the files held out."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aloex.apps.fuzz.inputs import Corpus, read_corpus
from aloex.apps.fuzz.model.learn import learn_model, quality, training_seconds, training_settings
from aloex.base.seeds import check_seed


@dataclass(frozen=True)
class LearnedFile:
    """What a model was learned from, and its mean log p of a byte held out."""

    learned_from: Corpus
    held_out: Corpus | None
    quality: dict[float, float]  # by the visible fraction of the context; empty: none held out


def learn_to_file(
    corpus: Path,
    out: Path,
    *,
    method: str,
    held_out: float,
    seed: int,
    resume: bool,
    tell: Callable[[str], None],
    **changes: Any,
) -> LearnedFile:
    """Learn a model and write it to a file; the run is kept in a folder beside it.

    Args:
        corpus: a folder of files, or one file.
        out: the model file.
        method, seed, resume, changes: as of `learn_model`.
        held_out: the fraction of the files that are held out.
        tell: called with a note on files that were left out.
    """
    check_seed(seed)
    training_settings(method)  # reports a wrong method before the corpus is read
    files = read_corpus(corpus)
    if files.note:
        tell(files.note)
    learned_from, rest = files.split(held_out, seed)
    folder = out.with_suffix(".run")
    options = {"seed": seed, "folder": folder, "resume": resume}
    model = learn_model(learned_from, method=method, **options, **changes)
    found = {} if rest is None else quality(model, rest)
    known = {"held_out": max(found.values())} if found else {}
    model.save(out, seconds=training_seconds(folder), **known)
    return LearnedFile(learned_from, rest, found)
