"""Algorithm 1 on whole windows, and between its steps on windows of which one byte is drawn.

There all but the byte in the centre is given, so a step of Gibbs is an exact draw from p, wherever
it starts. The likelihood's slope then needs no q, and many more can be had for the same work. They
teach f the law of a byte, whole windows teach it how bytes go together.
"""

from typing import NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key, PyTree

from aloex.baselines import pcd
from aloex.cursor import Energy
from aloex.learning import ALOE, aloe
from aloex.samplers import LocalSearch


class State(NamedTuple):
    """All that training carries from step to step."""

    whole: aloe.ALOEState
    opt_given: PyTree


class Info(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]  # of windows that are given but for a byte
    f_loss_whole: Float[Array, ""]
    q_loss: Float[Array, ""]
    num_edits: Float[Array, ""]


class WholeAndGiven(eqx.Module):
    """The first `num_whole` windows of a batch are drawn whole, of the others only the centre."""

    whole: ALOE
    given: pcd.CD
    num_whole: int = eqx.field(static=True)

    def init(self, f: Energy, q: LocalSearch) -> State:
        """The state before the first step."""
        return State(self.whole.init(f, q), self.given.init(f).opt_f)

    def step(
        self,
        key: Key[Array, ""],
        state: State,
        x: Int[Array, "batch sites"],
        z: Float[Array, "batch cond"],
    ) -> tuple[State, Info]:
        """One step on either part."""
        (key_whole, key_given), n = jax.random.split(key), self.num_whole
        whole, info = self.whole.step(key_whole, state.whole, x[:n], z[:n])
        given = pcd.CDState(whole.f, whole.ema_f, state.opt_given, None, whole.step)
        given, info_given = self.given.step(key_given, given, x[n:], z[n:])
        whole = whole._replace(f=given.f, ema_f=given.ema_f)
        losses = info_given.f_loss, info.f_loss, info.q_loss, info.num_edits
        return State(whole, given.opt_f), Info(*losses)
