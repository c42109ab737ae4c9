"""Errors that are the caller's to mend: each says what was wrong, what was given, how to fix it."""


class AloexError(Exception):
    """Base of every error that Aloex raises on purpose."""


class InputError(AloexError, ValueError):
    """Bad data or a bad argument."""


class CheckpointError(AloexError):
    """A run folder, checkpoint or model file that cannot be used."""


class NonFiniteLossError(AloexError):
    """Training turned NaN or infinite."""


def require(ok: bool, message: str) -> None:
    """Raise `InputError(message)` unless `ok`."""
    if not ok:
        raise InputError(message)
