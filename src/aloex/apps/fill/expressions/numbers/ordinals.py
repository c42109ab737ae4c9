"""English ordinals in digits."""


def ordinal(number: int) -> str:
    """A number from 0 on as an ordinal.

    >>> ordinal(11), ordinal(22)
    ('11th', '22nd')
    """
    tens, ones = divmod(number % 100, 10)
    return f"{number}{'th' if tens == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(ones, 'th')}"
