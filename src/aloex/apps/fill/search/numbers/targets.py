"""What the outputs of the examples ask of a number: its value in each must be one found there."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from aloex.apps.fill.expressions.numbers.arithmetic import EXACT
from aloex.apps.fill.expressions.numbers.values import NumberExpression
from aloex.apps.fill.search.numbers.columns import Source
from aloex.apps.fill.search.numbers.tokens import Token, by_value, number_tokens

MAX_NEAR = 10  # values of an output that are compared with a number not yet rounded


class Targets(NamedTuple):
    """The numbers of the outputs, by value, and each value with the unit of its last decimal."""

    tokens: list[list[Token]]
    values: list[dict[Decimal, list[Token]]]
    units: list[list[tuple[Decimal, Decimal]]]
    pivot: int  # the example with the fewest: what is solved for starts there

    @classmethod
    def of(cls, outputs: Sequence[str]) -> "Targets":
        """The targets that outputs set."""
        tokens = [number_tokens(output) for output in outputs]
        units = [
            list(dict.fromkeys((token.value, unit(token.decimals)) for token in each))[:MAX_NEAR]
            for each in tokens
        ]
        pivot = min(range(len(outputs)), key=lambda i: len(units[i]))
        return cls(tokens, [by_value(each) for each in tokens], units, pivot)

    def derive(
        self, source: Source, function: Callable[[Decimal], Decimal], expression: NumberExpression
    ) -> Source | None:
        """The source with a function applied, if every example then has a value of its output."""
        for target, x in zip(self.values, source.values, strict=False):
            if x is None or function(x) not in target:
                return None
        return apply(source, function, expression)

    def are_told(self, values: Sequence[Decimal]) -> bool:
        """Whether they are near, and some is not just rounded to 0 or 1 of the last decimal."""
        return self.are_near(values) and any(
            abs(value - target) < one <= abs(value)
            for value, near in zip(values, self.units, strict=True)
            for target, one in near
        )

    def are_near(self, values: Sequence[Decimal]) -> bool:
        """Whether rounding may turn each value into one of its output."""
        return all(
            any(abs(value - target) < one for target, one in near)
            for value, near in zip(values, self.units, strict=True)
        )


def apply(
    source: Source, function: Callable[[Decimal], Decimal], expression: NumberExpression
) -> Source:
    """The source with a function applied to all rows."""
    values = [None if x is None else function(x) for x in source.values]
    finite = tuple(value if value is not None and value.is_finite() else None for value in values)
    return source._replace(expression=expression, values=finite)


def unit(decimals: int) -> Decimal:
    """1 at the last of so many decimals."""
    return Decimal(1).scaleb(-decimals)


def is_short(value: Decimal, digits: int = 3) -> bool:
    """Whether a number has few digits besides zeros at its ends."""
    return value.is_finite() and len(value.normalize(EXACT).as_tuple().digits) <= digits
