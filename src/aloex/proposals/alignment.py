"""Shortest edit scripts between two token sequences: count them, draw one uniformly.

A script is a list of t single edits (insert, delete or replace one token), t being the Levenshtein
distance. It is an optimal alignment together with an order of its edits, and both can be read back
from it: next to each other an insertion and a deletion would be one replacement, so no two optimal
alignments make the same edits, and

    number of scripts = A t!,   A = number of optimal alignments.

Not all stay in the space: an insertion made before a deletion may exceed max_length. Of the orders
of an alignment with k insertions and l deletions, starting with room for h more tokens, the share

    B(k, l, h) = 1 - C(k + l, k - h - 1) / C(k + l, k)

stays inside (reflection principle), whatever the number of replacements. So alignments are counted
by their number of insertions, and N = t! sum_k A_k B(k, l, h) scripts are left. There is always
one: deletions first never exceeds the longer of the two.

The tables take about 6 max_length^3 numbers for a pair of sequences.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

DELETE, INSERT = 1, 2  # columns of a token and a gap; kind 0 has two tokens


class Scripts(NamedTuple):
    """The shortest scripts from one sequence to another that stay within max_length."""

    distance: Int[Array, ""]
    log_count: Float[Array, " insertions"]  # log(A_k B), so without the factor t!
    log_moves: Float[Array, "diagonals 3 rows insertions"]  # see `_count_alignments`

    @property
    def log_num(self) -> Float[Array, ""]:
        """log N."""
        return jax.nn.logsumexp(self.log_count) + jax.lax.lgamma(self.distance + 1.0)


class Columns(NamedTuple):
    """An alignment: source token over target token, either of them `pad` for a gap."""

    source: Int[Array, " columns"]
    target: Int[Array, " columns"]


def count_scripts(source: Int[Array, " dim"], target: Int[Array, " dim"], pad: int) -> Scripts:
    """Count the shortest scripts that turn `source` into `target`."""
    distance, log_moves = _count_alignments(source, target)
    n, m = jnp.sum(source != pad), jnp.sum(target != pad)
    log_alignments = jax.nn.logsumexp(log_moves[n + m, :, n], axis=0)
    insertions = jnp.arange(source.size + 1)
    deletions = jnp.maximum(insertions - (m - n), 0)
    share = jax.vmap(_fitting_share, in_axes=(0, 0, None, None))(
        insertions, deletions, source.size - n, source.size
    )
    return Scripts(distance[n + m, n], log_alignments + jnp.log(share), log_moves)


def _count_alignments(
    source: Int[Array, " dim"], target: Int[Array, " dim"]
) -> tuple[Int[Array, "diagonals rows"], Float[Array, "diagonals 3 rows insertions"]]:
    """Distances of all pairs of prefixes, and their optimal alignments by last column.

    Diagonal s holds in row i the pair (first i of source, first s - i of target): all its cells are
    filled at once from the two diagonals before it. log_moves[s, c, i, k] is the log number of
    optimal alignments with k insertions whose last column is of kind c.
    """
    dim = source.size
    rows = jnp.arange(dim + 1)
    far = 2 * dim + 1  # farther than any two sequences: cells outside the table
    no_distance = jnp.full(dim + 1, far, jnp.int32)
    no_counts = jnp.full((dim + 1, dim + 1), -jnp.inf)
    first_distance, first_counts = no_distance.at[0].set(0), no_counts.at[0, 0].set(0)

    def fill(carry: Any, s: Array) -> tuple[Any, tuple[Array, Array]]:
        (distance_2, counts_2), (distance_1, counts_1) = carry  # of diagonals s - 2 and s - 1
        columns = s - rows
        inside = (columns >= 0) & (columns <= dim)
        differs = source[rows - 1] != target[columns - 1]
        distances = jnp.stack(
            [_next_row(distance_2, far) + differs, _next_row(distance_1, far) + 1, distance_1 + 1]
        )
        counts = jnp.stack(
            [
                _next_row(counts_2, -jnp.inf),
                _next_row(counts_1, -jnp.inf),
                _next_row(counts_1.T, -jnp.inf).T,  # one insertion more
            ]
        )
        distance = distances.min(axis=0)
        moves = jnp.where((inside & (distances == distance))[:, :, None], counts, -jnp.inf)
        distance = jnp.where(inside, distance, far)
        here = distance, jax.nn.logsumexp(moves, axis=0)
        return ((distance_1, counts_1), here), (distance, moves)

    start = (no_distance, no_counts), (first_distance, first_counts)
    _, (distances, moves) = jax.lax.scan(fill, start, jnp.arange(1, 2 * dim + 1))
    first_moves = jnp.stack([first_counts, no_counts, no_counts])
    return (
        jnp.concatenate([first_distance[None], distances]),
        jnp.concatenate([first_moves[None], moves]),
    )


def _next_row(table: Array, fill: int | float) -> Array:
    """Row i becomes row i + 1."""
    return jnp.concatenate([jnp.full_like(table[:1], fill), table[:-1]])


def _fitting_share(
    insertions: Int[Array, ""], deletions: Int[Array, ""], spare: Int[Array, ""], dim: int
) -> Float[Array, ""]:
    """B: the share of orders that never need more than `spare` further tokens.

    The ratio of binomials is prod_{j=1}^{spare+1} (insertions - spare - 1 + j) / (deletions + j),
    which is exactly 0 when all insertions fit at once and exactly 1 when spare is -1.
    """
    j = jnp.arange(1, dim + 2)
    factors = jnp.maximum(insertions - spare - 1 + j, 0) / (deletions + j)
    return jnp.maximum(1 - jnp.prod(jnp.where(j <= spare + 1, factors, 1)), 0)


def sample_alignment(
    key: Key[Array, ""],
    scripts: Scripts,
    source: Int[Array, " dim"],
    target: Int[Array, " dim"],
    pad: int,
) -> Columns:
    """An optimal alignment, with probability proportional to its number of scripts.

    It is read backwards, one column (or none) for each diagonal of the table.
    """
    key_count, key_columns = jax.random.split(key)
    insertions = jax.random.categorical(key_count, scripts.log_count)

    def back(carry: Any, step: Any) -> tuple[Any, Columns]:
        s, log_moves, key = step
        i, j, k = carry
        kind = jax.random.categorical(key, log_moves[:, i, k])
        here = s == i + j  # else a column of two tokens has jumped over this diagonal
        takes_source, takes_target = here & (kind != INSERT), here & (kind != DELETE)
        column = Columns(
            jnp.where(takes_source, source[i - 1], pad), jnp.where(takes_target, target[j - 1], pad)
        )
        return (i - takes_source, j - takes_target, k - (here & (kind == INSERT))), column

    num_columns = 2 * source.size
    end = jnp.sum(source != pad), jnp.sum(target != pad), insertions
    keys = jax.random.split(key_columns, num_columns)
    diagonals = jnp.arange(1, num_columns + 1), scripts.log_moves[1:], keys
    return jax.lax.scan(back, end, diagonals, reverse=True)[1]


def sample_order(key: Key[Array, ""], columns: Columns, pad: int) -> Int[Array, " columns"]:
    """When each edited column has its turn (0, 1, ...), uniform among the orders that fit.

    The next edit is drawn with probability proportional to the orders of those left after it; of
    (edits left)! B of them the factorial is the same for each choice.
    """
    dim = columns.source.size // 2
    inserts = (columns.source == pad) & (columns.target != pad)
    deletes = (columns.source != pad) & (columns.target == pad)
    growth = inserts.astype(jnp.int32) - deletes
    later = dim  # the turn of edits not drawn yet

    def draw(turns: Array, step: Any) -> tuple[Array, None]:
        turn, key = step
        left = (columns.source != columns.target) & (turns == later)
        insertions, deletions = jnp.sum(left & inserts), jnp.sum(left & deletes)
        length = jnp.sum(jnp.where(turns < later, columns.target, columns.source) != pad)
        share = jax.vmap(_fitting_share, in_axes=(0, 0, 0, None))(
            insertions - inserts, deletions - deletes, dim - length - growth, dim
        )
        chosen = jax.random.categorical(key, jnp.where(left, jnp.log(share), -jnp.inf))
        is_chosen = left & (jnp.arange(2 * dim) == chosen)
        return jnp.where(is_chosen, turn, turns), None

    start = jnp.full(2 * dim, later, jnp.int32)
    steps = jnp.arange(dim, dtype=jnp.int32), jax.random.split(key, dim)
    return jax.lax.scan(draw, start, steps)[0]


def close_gaps(symbols: Int[Array, " columns"], dim: int, pad: int) -> Int[Array, " dim"]:
    """The tokens moved to the front, cut to a padded sequence of `dim` symbols."""
    return symbols[jnp.argsort(symbols == pad, stable=True)][:dim]


def count_edits(before: Int[Array, " dim"], after: Int[Array, " dim"], pad: int) -> Int[Array, ""]:
    """The number of single edits that turn one sequence into the other; 0 if more are needed.

    A token may have been inserted or deleted anywhere in a run of its equals, all these count.
    """
    replaced = jnp.sum(before != after) == 1
    n, m = jnp.sum(before != pad), jnp.sum(after != pad)
    longer, shorter = jnp.where(n < m, after, before), jnp.where(n < m, before, after)
    # Deleting place p leaves the places before it and moves those after it one to the left.
    moved = jnp.append(longer[1:], pad) == shorter
    same_before = jnp.cumprod(jnp.append(True, (longer == shorter)[:-1]))
    same_after = jnp.cumprod(moved[::-1])[::-1]
    deleted = jnp.sum(same_before & same_after & (longer != pad))
    return jnp.where(n == m, replaced, deleted).astype(jnp.int32)
