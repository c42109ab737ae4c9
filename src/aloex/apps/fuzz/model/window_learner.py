"""Algorithm 1 on windows that are drawn jointly, and between its steps on a byte given the rest.

In the second kind all but the byte in the centre is given, so a step of Gibbs is an exact draw from
p, wherever it starts. The gradient of the likelihood then needs no q and costs little. Such windows
teach f the distribution of a byte; windows drawn jointly teach it how bytes depend on each other.
"""

from typing import NamedTuple

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key, PyTree

from aloex.baselines import pcd
from aloex.cursor import Energy
from aloex.learning import ALOE, aloe
from aloex.samplers import LocalSearch


class JointState(NamedTuple):
    """The state of training."""

    joint: aloe.ALOEState
    opt_conditional: PyTree


class JointInfo(NamedTuple):
    """Means over the batch."""

    f_loss: Float[Array, ""]  # of a byte given the rest
    f_loss_joint: Float[Array, ""]
    q_loss: Float[Array, ""]
    num_edits: Float[Array, ""]


class JointAndConditional(eqx.Module):
    """Of the first `num_joint` windows of a batch all is drawn, of the others only the centre."""

    joint: ALOE
    conditional: pcd.CD
    num_joint: int = eqx.field(static=True)

    def init(self, f: Energy, q: LocalSearch) -> JointState:
        """The state before the first step."""
        return JointState(self.joint.init(f, q), self.conditional.init(f).opt_f)

    def step(
        self,
        key: Key[Array, ""],
        state: JointState,
        x: Int[Array, "batch sites"],
        z: Float[Array, "batch cond"],
    ) -> tuple[JointState, JointInfo]:
        """One step on either part."""
        (key_joint, key_conditional), n = jax.random.split(key), self.num_joint
        joint, info = self.joint.step(key_joint, state.joint, x[:n], z[:n])
        start = pcd.CDState(joint.f, joint.ema_f, state.opt_conditional, None, joint.step)
        conditional, info_of_byte = self.conditional.step(key_conditional, start, x[n:], z[n:])
        joint = joint._replace(f=conditional.f, ema_f=conditional.ema_f)
        losses = info_of_byte.f_loss, info.f_loss, info.q_loss, info.num_edits
        return JointState(joint, conditional.opt_f), JointInfo(*losses)
