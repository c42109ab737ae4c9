"""What each feature of a program costs: a program's cost is the sum, and cheap ones are likely.

A program that costs 1 more is e times less likely. Costs were set by hand, then learned on tasks
(`python -m studies.fill learn`).
"""

from collections.abc import Iterable

Features = dict[str, float]

COSTS: dict[str, float] = {
    # copied parts
    "part": 2.26,
    "cell": -0.43,
    "match": 0.93,
    "split": 0.05,
    "slice": 0.82,
    "k": 0.4,
    "from_right": 0.82,
    "k_from_right": 0.79,
    "keep": 0.63,
    "keep_more": 0.34,
    "keep_last": 0.48,
    "match_word": 0.51,
    "match_number": -0.05,
    "match_name": 0.67,
    "match_decimal": 0.2,
    "match_alnum": 0.48,
    "match_capitalized": 0.87,
    "match_upper": 0.5,
    "match_lower": 1.23,
    "match_nonspace": 0.21,
    "match_line": 0.6,
    "edge": -0.48,
    "counted": 0.99,
    "counted_far": 0.3,
    "at_literal": -0.36,
    "at_pattern": 1.5,
    "offset": 1.12,
    "offset_far": 0.31,
    "case": 0.94,
    "case_swap": 2.0,
    "case_sentence": 0.54,
    "case_upper": -0.11,
    "case_lower": -0.5,
    # constants
    "constant": -1.23,
    "constant_letters": 1.88,
    "constant_marks": -0.34,
    "constant_copied": 2.84,
    "constant_repeated": -0.78,
    "constant_written": 2.04,
    # rewritten texts
    "replace": 2.44,
    "collapse": 0.45,
    "strip": 1.36,
    "strip_chars": 1.09,
    "pad": 1.73,
    "truncate": 3.0,
    "every": 2.64,
    "every_after": 0.6,
    "every_first": 0.21,
    "every_all": 0.73,
    "every_rest": 3.0,
    "every_last": 1.6,
    "order": 1.81,
    "join": 0.56,
    "count": 2.26,
    "count_plus": 1.89,
    "two_columns": 1.9,
    "two_shorter": 0.24,
    "two_longer": 0.21,
    "idle": 3.18,
    # numbers
    "number": 1.19,
    "number_k": 0.44,
    "number_from_right": 0.69,
    "number_spaces": 0.4,
    "number_round": 1.28,
    "number_floor": 0.72,
    "number_ceiling": 0.66,
    "number_half_even": 1.13,
    "number_half_up": -0.26,
    "number_down": 0.84,
    "number_up": 1.2,
    "number_step": 1.19,
    "number_range": 0.85,
    "number_range_upper": 0.07,
    "number_range_offset": 2.0,
    "number_range_closed_above": 1.1,
    "number_range_pair": -3.03,
    "number_range_alone": 0.92,
    "number_scale": 1.12,
    "number_factor": 2.65,
    "number_add": 1.63,
    "number_negate": 1.61,
    "number_absolute": 1.38,
    "number_combined": 1.34,
    "number_difference": 0.2,
    "number_product": 0.16,
    "number_sum": -0.14,
    "number_quotient": 0.32,
    "number_decimals": 0.38,
    "number_comma": 0.65,
    "number_group": 0.33,
    "number_lakhs": 0.6,
    "number_zeros": 0.46,
    "number_plus": 0.41,
    "number_parentheses": 0.4,
    "number_sign_after": 0.6,
    # dates
    "date_part": 0.16,
    "date_number": 0.38,
    "date_floor": 0.93,
    "date_nearest": 1.23,
    "date_next": 1.63,
    "date_ceiling": 1.42,
    "date_last": 1.5,
    "date_add": 2.48,
    "date_unusual_step": 0.83,
    "date_sunday_week": 0.44,
    "date_rare_part": 1.45,
    "date_other_language": 0.4,
    "date_year_first": 0.6,
    "date_open_order": 1.0,
    "date_decade": 2.12,
    "date_shared": -1.65,
    "date_shared_change": -1.23,
    "date_clock": 4.04,
    "date_padding": 1.32,
    "date_back": 1.73,
    # conditions
    "condition": 3.0,
    "if_rare": 4.02,
    "if_not": 0.79,
    "if_isempty": -0.68,
    "if_equals": -0.03,
    "if_contains": 1.19,
    "if_contains_end": 0.13,
    "if_contains_anywhere": 0.3,
    "if_has": 0.25,
    "if_least": 0.79,
    "if_isall": 0.57,
    "if_hasnocapitals": 1.18,
    "if_atleast": 1.31,
    "if_same": -0.2,
    "if_ignore_case": 0.4,
    "if_larger": 0.8,
    "lookup": 12.0,
    # what other rows say
    "fails": 6.05,
    "fails_somewhere": 1.26,
    "new_shape": 1.8,
    "new_context": 2.89,
}


def cost_of(features: Features) -> float:
    """The sum over features of their costs."""
    return sum((COSTS.get(name, 0.0) * amount for name, amount in features.items()), 0.0)


def total(all_features: Iterable[Features]) -> Features:
    """Features of several parts, added up."""
    found: Features = {}
    for features in all_features:
        for name, amount in features.items():
            found[name] = found.get(name, 0.0) + amount
    return found
