"""What the parts of a search are. z is the condition, None for models without one."""

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from jaxtyping import Array


@runtime_checkable
class Tractable(Protocol):
    """A law that can be drawn from and scored, such as q0: q0(x | z)."""

    def sample(self, key: Array, z: Any, /) -> Array:
        """A draw x."""
        ...

    def log_prob(self, x: Array, z: Any, /) -> Array:
        """log q0(x | z)."""
        ...


@runtime_checkable
class ScoresVariants(Protocol):
    """What a q0 may offer beyond that: to score states that are nearly alike for less."""

    def log_prob_near(
        self, x: Array, variants: Array, owner: Array, z: Any, max_changed_before: Sequence[int], /
    ) -> tuple[Array, Array, Array]:
        """log q0 of targets x, of variants of them, and which variants found room in the buffer.

        `owner` names the target of each variant; `max_changed_before[i]` bounds the number of
        variants that differ from their target before site i.
        """
        ...


@runtime_checkable
class Editor(Protocol):
    """An editor q_A(x' | x, z): it changes one part of x, always."""

    def sample(self, key: Array, x: Array, z: Any, /) -> Array:
        """A draw x'."""
        ...

    def log_prob(self, x: Array, x_next: Array, z: Any, /) -> Array:
        """log q_A(x' | x, z); -inf if no single edit leads there."""
        ...


@runtime_checkable
class StopPolicy(Protocol):
    """A stop policy: q_stop(x | z) = sigmoid of what it returns."""

    def __call__(self, x: Array, z: Any, /) -> Array:
        """The log-odds of stopping at x."""
        ...
