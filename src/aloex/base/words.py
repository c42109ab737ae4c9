"""Words for numbers."""


def count(number: int, noun: str) -> str:
    """1 seed, 2 seeds."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
