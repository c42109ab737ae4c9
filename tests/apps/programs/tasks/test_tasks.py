"""Tasks: to the stated figures, the same for the same seed, and what the interpreter writes."""

import lzma

import numpy as np
import pytest

from aloex.apps.programs.language import CONSTANTS, ConstStr, canonical, run, tokenize
from aloex.apps.programs.language.mask import ALLOWED, NEXT, START, STATES
from aloex.apps.programs.tasks.tasks import FROZEN, Task, generate, load, save
from aloex.base.errors import CheckpointError, InputError
from stats import assert_draws_match
from studies.synth.frozen import frozen


@pytest.fixture(scope="module")
def made():
    return generate(400, seed=5)


def test_the_outputs_are_what_the_interpreter_writes(made):
    for task in made.tasks():
        program = task.program
        for x, y in task.examples:
            assert run(program, x, "paper") == y
            assert all(run((expr,), x, "paper") for expr in program), "an empty expression"
            assert run(canonical(program), x) == y


def test_the_figures_of_the_paper(made):
    assert made.inputs.shape == (400, 10, 20) and made.outputs.shape == (400, 10, 50)
    sizes = [len(task.program) for task in made.tasks()]
    assert min(sizes) == 1 and max(sizes) == 10
    assert (made.inputs > 0).sum(axis=2).min() >= 3
    for task in made.tasks():
        assert len(task.public) == 4 and len(task.private) == 6


def test_the_tokens_are_those_of_the_program(made):
    for task, tokens in zip(made.tasks(), made.tokens.tolist(), strict=True):
        own = tokenize(task.program)
        assert tokens[: len(own)] == own and not any(tokens[len(own) :])
        state = START
        for token in tokens:
            assert ALLOWED["paper"][state, token]
            state = NEXT[state, token]
        assert STATES[state] == "done"


def test_a_seed_says_it_all(made):
    part = generate(50, seed=5, first=300)
    for one, other in zip(part, made[300:350], strict=True):
        assert np.array_equal(one, other)
    for other in (generate(50, seed=6, first=300), generate(50, seed=5, first=301)):
        same = (part.inputs == other.inputs).all(axis=(1, 2))
        assert not same.any()


def test_constants_are_uniform():
    """Which character a first ConstStr writes has no bearing on whether the task is kept."""
    drawn = generate(6000, seed=11).tokens
    first = drawn[drawn[:, 0] == tokenize((ConstStr("]"),))[0], 1]
    counts = np.bincount(first - tokenize((ConstStr("]"),))[1], minlength=len(CONSTANTS))
    assert_draws_match(counts, np.full(len(CONSTANTS), 1 / len(CONSTANTS)))


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_sets(name):
    seed, number, _ = FROZEN[name]
    tasks = frozen(name)
    assert len(tasks) == number
    assert tasks[:20] == generate(20, seed=seed).tasks()
    assert tasks[-1] == generate(1, seed=seed, first=number - 1).tasks()[0]


def test_files_of_tasks(tmp_path):
    path = tmp_path / "some.tsv.xz"
    tasks = [Task('ConstStr("@")', (("a b", "@"), ("é", "@")))]
    save(path, tasks)
    assert load(path) == tasks
    with pytest.raises(CheckpointError, match="damaged or of another version"):
        load(path, "0" * 64)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="holds no tasks"):
        load(path)
    path.write_bytes(lzma.compress(b"program\tone\ttwo\tthree\n"))
    with pytest.raises(CheckpointError, match="holds no tasks"):
        load(path)
    with pytest.raises(InputError, match="no file"):
        load(tmp_path / "none")


def test_what_cannot_be_asked():
    for arguments in ({"num_tasks": -1}, {"num_tasks": 1, "seed": -1}):
        with pytest.raises(InputError):
            generate(**{"seed": 0, **arguments})
    with pytest.raises(InputError, match="frozen sets are test, validation"):
        frozen("train")
