"""What a proposal is."""

from typing import Protocol, runtime_checkable

from jaxtyping import Array, Float, Int, Key

from aloex.spaces import Space
from aloex.trajectory import BufferSizes, Trajectory


@runtime_checkable
class Proposal(Protocol):
    """Draws trajectories that end in x and knows their probability s_x.

    One that depends on the q which is being trained has a method `following(q)` as well, which
    gives the proposal for the current q; see `EditDistance`.

    Example:
        >>> from aloex import proposals, spaces
        >>> inverse = proposals.Inverse(space=spaces.Bits(4), max_edits=3)
        >>> isinstance(inverse, proposals.Proposal)
        True
    """

    @property
    def space(self) -> Space:
        """What x is."""
        ...

    def sample(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None = None
    ) -> tuple[Trajectory, Float[Array, ""]]:
        """One trajectory and log s_x of it."""
        ...

    def sample_many(
        self, key: Key[Array, ""], x: Int[Array, " dim"], z: Array | None, n: int
    ) -> tuple[Trajectory, Float[Array, " n"]]:
        """n trajectories whose average law is s_x (they may be stratified), and log s_x."""
        ...

    def log_prob(self, trajectory: Trajectory, z: Array | None = None) -> Float[Array, ""]:
        """log s_x of a trajectory, x being its end; -inf where it cannot be drawn."""
        ...

    def buffer_sizes(self, num_targets: int, n: int) -> BufferSizes:
        """Rows enough to score n trajectories for each target."""
        ...
