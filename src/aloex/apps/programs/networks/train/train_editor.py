"""Training the editor against a fixed q0, with trajectories of the edit distance proposal.

For each task x_0 is drawn from q0. If it writes all ten outputs it is itself the target, and the
editor should stop; else the target is the task's program. log q of a script is the sum over its
steps (q0's own term is fixed and stands in s_x, too). With one trajectory its weight is 1, and some
of its steps, drawn at random and scaled, give an unbiased gradient for less. With N of them all
steps are scored, and the weights are q / s_x, normalised.
"""

from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Integer, Key

from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.editor_file import build_editor, editor_memory
from aloex.apps.programs.networks.programs import edits
from aloex.apps.programs.networks.programs.codes import EXPR_TOKENS
from aloex.apps.programs.networks.programs.edits import MAX_EDITS, Script, draw_script
from aloex.apps.programs.networks.programs.grammar import PublicPairs, execute
from aloex.apps.programs.networks.search.beam import sample
from aloex.apps.programs.networks.train.feed import codes_of, gaps_of
from aloex.apps.programs.networks.train.train import Run
from aloex.apps.programs.tasks.tasks import NUM_PUBLIC, generate, require_free
from aloex.base.errors import require
from aloex.nets import to_bfloat16


class EditBatch(NamedTuple):
    """Tasks with all their pairs."""

    number: Any  # of the batch
    codes: Any  # int32 [tasks, expressions]
    inputs: Any
    outputs: Any
    gaps: Any

    def seen(self, num_pairs: int) -> PublicPairs:
        """The first pairs of each task."""
        shown = jnp.ones((len(self.codes), num_pairs), bool)
        inputs, outputs, gaps = (a[:, :num_pairs] for a in self[2:])
        return PublicPairs(inputs, outputs, shown, gaps)


class EditBatcher(NamedTuple):
    """Makes batch i."""

    batch_size: int
    seed: int
    canonical: bool

    def __call__(self, i: int) -> EditBatch:
        made = generate(self.batch_size, seed=self.seed, first=i * self.batch_size)
        codes, gaps = codes_of(made.tokens, self.canonical), gaps_of(made.inputs)
        return EditBatch(np.uint32(i), codes, made.inputs, made.outputs, gaps)


class EditorInfo(NamedTuple):
    """Of one step."""

    loss: Float[Array, ""]  # nats for a script, without q0's
    choice_accuracy: Float[Array, ""]
    token_accuracy: Float[Array, ""]  # of new expressions
    num_edits: Float[Array, ""]
    solved: Float[Array, ""]  # share of the x_0 that need no edit
    effective_sample_size: Float[Array, ""]  # effective number of trajectories


class EditorLoss(eqx.Module):
    """-log q of scripts that end in the target."""

    q0: q0.Q0
    key: Key[Array, ""]
    num_trajectories: int = eqx.field(static=True, default=1)
    num_scored: int = eqx.field(static=True, default=4)  # steps, of a single trajectory

    def __call__(self, editor: Any, batch: EditBatch) -> tuple[Float[Array, ""], EditorInfo]:
        fixed, editor = jax.lax.stop_gradient(to_bfloat16(self.q0)), to_bfloat16(editor)
        key_start, key_path, key_steps = jax.random.split(
            jax.random.fold_in(self.key, batch.number), 3
        )
        tasks, n = len(batch.codes), self.num_trajectories
        seen = batch.seen(NUM_PUBLIC)
        memory = fixed.encode(seen.inputs, seen.outputs, seen.shown)
        draw = lambda key: sample(fixed, memory, seen, jax.random.split(key, tasks))
        starts = jax.lax.map(draw, jax.random.split(key_start, n)).swapaxes(0, 1)
        every = batch.seen(batch.inputs.shape[1])
        is_right = lambda x, seen: jnp.all(execute(x, seen).right)
        solved = jax.vmap(jax.vmap(is_right, in_axes=(0, None)))(starts, every)
        targets = jnp.where(solved[..., None], starts, batch.codes[:, None])
        keys = jax.random.split(key_path, (tasks, n))
        scripts, log_s = jax.vmap(jax.vmap(draw_script))(keys, starts, targets)
        steps, scale = self.choose_steps(key_steps, scripts.num_edits)
        log_q, right = score_steps(editor, memory, seen, scripts, steps)
        log_q = jnp.sum(jnp.where(scale > 0, scale * log_q, 0), axis=-1)
        weights = jax.nn.softmax(jax.lax.stop_gradient(log_q) - log_s, axis=1)
        loss = -jnp.mean(jnp.sum(weights * log_q, axis=1))
        counted = (scale > 0)[..., None] & (right >= 0)
        share = lambda part: (
            jnp.sum((right > 0) & counted, where=part) / jnp.sum(counted, where=part)
        )
        is_choice = jnp.arange(right.shape[-1]) == 0
        return loss, EditorInfo(
            loss=loss,
            choice_accuracy=share(is_choice),
            token_accuracy=share(~is_choice),
            num_edits=jnp.mean(scripts.num_edits.astype(jnp.float32)),
            solved=jnp.mean(solved.astype(jnp.float32)),
            effective_sample_size=jnp.mean(1 / jnp.sum(weights**2, axis=1)),
        )

    def choose_steps(
        self, key: Key[Array, ""], num_edits: Integer[Array, "tasks n"]
    ) -> tuple[Integer[Array, "tasks n steps"], Float[Array, "tasks n steps"]]:
        """Which steps are scored, and how much each counts."""
        # At MAX_EDITS the search is stopped, not the editor: that step is no choice of it.
        count = jnp.minimum(num_edits + 1, MAX_EDITS)[..., None]
        if self.num_trajectories > 1:
            steps = jnp.broadcast_to(jnp.arange(MAX_EDITS), (*num_edits.shape, MAX_EDITS))
            return steps, (steps < count).astype(jnp.float32)
        shape = (*num_edits.shape, self.num_scored)
        steps = (jax.random.uniform(key, shape) * count).astype(jnp.int32)
        return steps, jnp.broadcast_to(count / self.num_scored, shape)


def score_steps(
    editor: Any,
    memory: Any,
    seen: PublicPairs,
    scripts: Script,
    steps: Integer[Array, "tasks n k"],
) -> tuple[Float[Array, "tasks n k"], Array]:
    """log q of some steps of each script; and 1 for what was foreseen, 0 for not, -1 for none.

    The last axis of the latter has the choice first, then the tokens of the expression.
    """
    tasks, n, k = steps.shape
    at = lambda a: jax.vmap(jax.vmap(lambda a, i: a[i]))(a, steps).reshape(
        tasks, n * k, *a.shape[3:]
    )
    programs, choices, exprs = (at(a) for a in scripts[:3])
    memory = editor_memory(editor, memory, seen)
    reading = editor.read(memory, seen, programs)
    log_choice = jnp.take_along_axis(reading.log_choice, choices[..., None], axis=-1)[..., 0]
    log_probs = editor.log_exprs(memory, seen, reading, choices, exprs)
    tokens = jnp.asarray(EXPR_TOKENS)[exprs]
    live = (tokens > 0) & edits.writes(choices)[..., None]
    wanted = jax.nn.one_hot(tokens, log_probs.shape[-1], dtype=bool) & live[..., None]
    log_expr = jnp.sum(jnp.where(wanted, log_probs, 0), axis=(-2, -1))
    hits = jnp.where(live, jnp.argmax(log_probs, axis=-1) == tokens, -1)
    foreseen = (jnp.argmax(reading.log_choice, axis=-1) == choices).astype(hits.dtype)
    right = jnp.concatenate([foreseen[..., None], hits], axis=-1)
    return (log_choice + log_expr).reshape(steps.shape), right.reshape(*steps.shape, -1)


def train_editor(
    folder: Path,
    *,
    q0_path: Path,
    size: str = "full",
    num_steps: int,
    batch_size: int,
    learning_rate: float = 1e-3,
    num_trajectories: int = 1,
    seed: int = 200,
    resume: bool = False,
    seconds: float | None = None,
    **loop: Any,
) -> None:
    """Train an editor for a q0, which stays as it is."""
    require_free(seed)
    require(num_trajectories >= 1, f"trajectories: 1 or more, got {num_trajectories}")
    fixed, found = q0.load(q0_path)
    settings = {"kind": "editor", "model": found["model"], "size": size, "q0_size": found["size"]}
    editor = build_editor(settings, seed).begin_like(fixed)
    loss = EditorLoss(fixed, jax.random.key(seed), num_trajectories)
    config = {
        "q0": q0.fingerprint(q0_path),
        "learning_rate": learning_rate,
        "batch_size": batch_size,
    }
    config |= {"num_trajectories": num_trajectories, "num_steps": num_steps}
    run = Run(folder, settings, config, seed, num_steps, batch_size, learning_rate, seconds)
    run.fit(
        editor, loss, EditBatcher(batch_size, seed, fixed.mode == "clean"), resume=resume, **loop
    )
