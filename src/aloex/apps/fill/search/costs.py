"""What each feature of a program costs: a program's cost is the sum, and cheap ones are likely.

One unit is the cost of one more joined part.
"""

from collections.abc import Iterable

Features = dict[str, float]

COSTS: dict[str, float] = {
    # copied parts
    "part": 1.0,
    "cell": -0.3,
    "match": 0.2,
    "split": 0.1,
    "slice": 0.5,
    "k": 0.15,
    "from_right": 0.1,
    "k_from_right": 0.4,
    "keep": 0.1,
    "keep_more": 0.15,
    "keep_last": 0.2,
    "match_word": 0.0,
    "match_number": 0.0,
    "match_name": 0.25,
    "match_decimal": 0.2,
    "match_alnum": 0.2,
    "match_capitalized": 0.4,
    "match_upper": 0.3,
    "match_lower": 0.6,
    "match_nonspace": 0.1,
    "match_line": 0.3,
    "edge": 0.0,
    "counted": 0.5,
    "counted_far": 0.05,
    "at_literal": 0.2,
    "at_pattern": 0.3,
    "offset": 0.4,
    "offset_far": 0.15,
    "case": 0.5,
    "case_swap": 1.0,
    "case_sentence": 0.2,
    # constants
    "constant": -0.4,
    "constant_letters": 0.6,
    "constant_marks": 0.1,
    "constant_copied": 1.5,
    "constant_repeated": -0.3,
    "constant_written": 1.0,
    # rewritten texts
    "replace": 0.9,
    "collapse": 0.3,
    "strip": 0.4,
    "strip_chars": 0.3,
    "pad": 0.8,
    "truncate": 1.5,
    "every": 0.9,
    "every_after": 0.3,
    "every_rest": 1.5,
    "every_last": 0.8,
    "order": 0.8,
    "join": 0.5,
    "count": 1.2,
    "count_plus": 1.0,
    "two_columns": 0.8,
    "idle": 1.5,
    # numbers
    "number": 0.3,
    "number_k": 0.15,
    "number_from_right": 0.1,
    "number_spaces": 0.2,
    "number_round": 0.4,
    "number_floor": 0.15,
    "number_ceiling": 0.25,
    "number_half_even": 0.5,
    "number_down": 0.4,
    "number_up": 0.6,
    "number_step": 0.5,
    "number_range": 0.5,
    "number_range_upper": 0.1,
    "number_range_offset": 1.0,
    "number_range_closed_above": 0.5,
    "number_range_pair": -1.5,
    "number_range_alone": 0.5,
    "number_scale": 0.7,
    "number_factor": 1.3,
    "number_add": 0.8,
    "number_negate": 0.8,
    "number_absolute": 0.6,
    "number_combined": 0.8,
    "number_difference": 0.1,
    "number_product": 0.1,
    "number_quotient": 0.2,
    "number_decimals": 0.1,
    "number_comma": 0.1,
    "number_group": 0.15,
    "number_lakhs": 0.3,
    "number_zeros": 0.2,
    "number_plus": 0.2,
    "number_parentheses": 0.2,
    "number_sign_after": 0.3,
    # dates
    "date_part": 0.2,
    "date_number": 0.15,
    "date_floor": 0.5,
    "date_nearest": 0.6,
    "date_next": 0.6,
    "date_ceiling": 0.7,
    "date_last": 0.8,
    "date_add": 1.2,
    "date_unusual_step": 0.3,
    "date_sunday_week": 0.2,
    "date_rare_part": 0.8,
    "date_other_language": 0.2,
    "date_year_first": 0.3,
    "date_open_order": 0.5,
    "date_decade": 1.0,
    "date_shared": -0.6,
    "date_shared_change": -0.5,
    "date_clock": 2.0,
    "date_padding": 0.5,
    "date_back": 0.8,
    # conditions
    "condition": 1.5,
    "if_rare": 2.0,
    "if_not": 0.3,
    "if_isempty": -0.3,
    "if_equals": 0.0,
    "if_contains": 0.4,
    "if_has": 0.3,
    "if_least": 0.4,
    "if_isall": 0.3,
    "if_hasnocapitals": 0.6,
    "if_atleast": 0.5,
    "if_same": 0.0,
    "if_ignore_case": 0.2,
    "if_larger": 0.4,
    "lookup": 6.0,
    # what other rows say
    "fails": 3.0,
    "fails_somewhere": 0.5,
    "new_shape": 1.0,
    "new_context": 1.0,
}


def cost_of(features: Features) -> float:
    """The sum over features of their costs."""
    return sum(COSTS.get(name, 0.0) * amount for name, amount in features.items())


def total(all_features: Iterable[Features]) -> Features:
    """Features of several parts, added up."""
    found: Features = {}
    for features in all_features:
        for name, amount in features.items():
            found[name] = found.get(name, 0.0) + amount
    return found
