"""Pieces of networks that all of Aloex shares: one of each."""

from aloex.nets.attention import Attention, FeedForward, LayerNorm
from aloex.nets.dense import Dense, Features, Linear, check_condition, elu, on_cpu
from aloex.nets.precision import to_bfloat16
from aloex.nets.recurrent import LSTM, LSTMs, LSTMState, lstm_cell

__all__ = [
    "LSTM",
    "Attention",
    "Dense",
    "Features",
    "FeedForward",
    "LSTMState",
    "LSTMs",
    "LayerNorm",
    "Linear",
    "check_condition",
    "elu",
    "lstm_cell",
    "on_cpu",
    "to_bfloat16",
]
