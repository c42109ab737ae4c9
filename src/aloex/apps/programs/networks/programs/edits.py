"""Edits of programs, and shortest lists of them: the edit distance proposal (Eq. short_proposal).

An edit replaces an expression, deletes one or inserts one. A choice is one of 32: which of these
and where, or to stop. A script is a list of edits from x_0 to the target x, then a stop. Shortest
scripts are drawn uniformly (`aloex.proposals.alignment` counts them):

    s_x(script) = q0(x_0) / N(x_0, x).

Here a trajectory is the script, not only the programs along it: where two edits give the same
program they are told apart, in q as in s_x, so weights q / s_x need no sum over them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Integer, Key

from aloex.apps.programs.language.syntax import MAX_EXPRESSIONS
from aloex.proposals import alignment

MAX_EDITS = 10
EDITS_TO_KEEP = 8  # are made for one beam that is kept, in a search until programs fit
REPLACE, DELETE, INSERT, STOP = 0, 10, 20, 31  # the first choice of each kind
NUM_CHOICES = 32
PAD = 0


class Script(NamedTuple):
    """x_0..x_t, padded with x_t, and the choice and the new expression at each."""

    programs: Integer[Array, "steps expressions"]
    choices: Integer[Array, " steps"]  # STOP from step t on
    exprs: Integer[Array, " steps"]  # 0 where the choice writes none
    num_edits: Integer[Array, ""]


def draw_script(
    key: Key[Array, ""], x_0: Integer[Array, " expressions"], x: Integer[Array, " expressions"]
) -> tuple[Script, Float[Array, ""]]:
    """A uniform shortest script from x_0 to x, and log s_x without q0(x_0)."""
    key_alignment, key_order = jax.random.split(key)
    scripts = alignment.count_scripts(x_0, x, PAD)
    columns = alignment.sample_alignment(key_alignment, scripts, x_0, x, PAD)
    turns = alignment.sample_order(key_order, columns, PAD)

    def step(i: Integer[Array, ""]) -> tuple[Array, Array, Array]:
        now = jnp.where(turns < i, columns.target, columns.source)
        edited = jnp.argmax((turns == i) & (columns.source != columns.target))
        index = jnp.sum((now != PAD) & (jnp.arange(now.size) < edited))
        old, new = columns.source[edited], columns.target[edited]
        kind = jnp.where(old == PAD, INSERT, jnp.where(new == PAD, DELETE, REPLACE))
        made = i < scripts.distance
        choice = jnp.where(made, kind + index, STOP)
        return alignment.close_gaps(now, x.size, PAD), choice, jnp.where(made, new, 0)

    programs, choices, exprs = jax.vmap(step)(jnp.arange(MAX_EDITS + 1))
    return Script(programs, choices, exprs, scripts.distance), -scripts.log_num


def apply(
    program: Integer[Array, " expressions"], choice: Integer[Array, ""], expr: Integer[Array, ""]
) -> Integer[Array, " expressions"]:
    """The program after an edit."""
    i = jnp.arange(program.size)
    index = expression_index(choice)
    replaced = jnp.where(i == index, expr, program)
    deleted = jnp.where(i < index, program, jnp.append(program[1:], PAD))
    inserted = jnp.where(i < index, program, jnp.where(i == index, expr, jnp.roll(program, 1)))
    by_kind = jnp.stack([replaced, deleted, inserted, program])
    return by_kind[kind_of(choice)]


def kind_of(choice: Integer[Array, "*n"]) -> Integer[Array, "*n"]:
    """0 to replace, 1 to delete, 2 to insert, 3 to stop."""
    return jnp.where(choice == STOP, 3, jnp.minimum(choice // DELETE, 2))


def expression_index(choice: Integer[Array, "*n"]) -> Integer[Array, "*n"]:
    """The expression that is replaced or deleted, or before which one is inserted."""
    return jnp.where(choice == STOP, 0, choice - DELETE * kind_of(choice))


def writes(choice: Integer[Array, "*n"]) -> Bool[Array, "*n"]:
    """Whether a new expression belongs to the choice."""
    return (choice < DELETE) | ((choice >= INSERT) & (choice != STOP))


def allowed(program: Integer[Array, "*n expressions"]) -> Bool[Array, "*n choices"]:
    """The choices that leave a program of 1 to 10 expressions."""
    size = jnp.sum(program != PAD, axis=-1)[..., None]
    i = jnp.arange(MAX_EXPRESSIONS)
    there = i < size
    more = (jnp.arange(MAX_EXPRESSIONS + 1) <= size) & (size < MAX_EXPRESSIONS)
    stop = jnp.ones_like(size, bool)
    return jnp.concatenate([there, there & (size > 1), more, stop], axis=-1)
