"""Choices of `aloex fuzz`."""

from aloex.cli.choices import Choice


class RepairName(Choice):
    """What is mended in each mutant."""

    NONE = "none", "nothing"
    PNG = "png", "the checksums of PNG files"


class SanitizerName(Choice):
    """Which mutants run in the build with sanitizers, too."""

    SOME = "some", "one in fifty, and all that cover something new"
    ADDRESS = "address", "all: slower, and no error of memory is missed"
    NONE = "none", "none: only what crashes by itself is found"


class GuideName(Choice):
    """What the search goes by."""

    FEATURES = "features", "inputs that are new by their hit counts alone are started from, too"
    COMPARES = "compares", "what the target compares its input with is written into it"
    TOKENS = "tokens", "words from dictionaries, from the target's strings, from compares"
    FORGET = "forget", "what paid long ago counts less"
    STACK = "stack", "several operators on one mutant"


class FailOn(Choice):
    """What makes the exit status 1."""

    BUG = "bug", "any bug"
    NEW_BUG = "new-bug", "a bug that is not in --baseline"


class LearnMethod(Choice):
    """How a model of bytes is learned."""

    MASKED = "masked", "a network that predicts a byte, by maximum likelihood; the fastest"
    ALOE = "aloe", "an energy of up to four bytes, by ALOE"
    ALOE_WINDOW = "aloe-window", "the paper's energy of a window of 64 bytes, by ALOE"
    CD = "cd", "the energy of aloe, by contrastive divergence"
    ADE = "ade", "the energy of aloe, by ADE"
    LEARN_AND_FUZZ = "learn-and-fuzz", "an LSTM that reads the bytes before a byte"
    RNN_EBM = "rnn-ebm", "the same LSTM as an energy, so that the bytes after it count"
