"""Errors that are the caller's to mend: each says what was wrong, what was given, how to fix it."""

from typing import Any


class AloexError(Exception):
    """Base of every error that Aloex raises on purpose."""


class InputError(AloexError, ValueError):
    """Bad data or a bad argument."""


class CheckpointError(AloexError):
    """A run folder, checkpoint or model file that cannot be used."""


class NonFiniteLossError(AloexError):
    """Training turned NaN or infinite."""


class UntrustedEstimate(UserWarning):
    """An estimate whose error may be larger than it says."""


class Stopped(AloexError):
    """Training ended early, at a step from which it can be resumed.

    Attributes:
        step: the last step that was done.
        state: the state after it.
        number: that of the signal that stopped it; None if its time was up.
    """

    def __init__(self, message: str, step: int, state: Any, number: int | None = None):
        super().__init__(message)
        self.step, self.state, self.number = step, state, number


def require(ok: bool, message: str) -> None:
    """Raise `InputError(message)` unless `ok`.

    Args:
        ok: what must hold.
        message: what was wrong, what was given, how to fix it.

    Example:
        >>> from aloex import errors
        >>> errors.require(1 < 2, "never said")
        >>> try:
        ...     errors.require(False, "dim must be at least 1, got 0")
        ... except errors.InputError as error:
        ...     print(error)
        dim must be at least 1, got 0
    """
    if not ok:
        raise InputError(message)
