"""Choices of `aloex fuzz`."""

from aloex.cli.choices import Choice


class MutatorName(Choice):
    """How mutants are made."""

    ADAPTIVE = "adaptive", "learns from what its mutants cover, with --model or without"
    UNIFORM = "uniform", "any other byte"
    OTHER_SEED = "other-seed", "the byte of another seed at the same offset"
    NUMBERS = "numbers", "like uniform, and numbers in half of the mutants"
    LEARNED = "learned", "bytes drawn from --model"
    BEST = "best", "likewise, with settings by how much the model knows"
    RESAMPLE = "resample", "likewise, one byte after the other, as in the paper"


class RepairName(Choice):
    """What is mended after the edits."""

    PNG = "png", "the checksums of PNG files"


class LearnMethod(Choice):
    """How a model of bytes is learned."""

    MASKED = "masked", "a network that predicts a byte, by maximum likelihood; the fastest"
    ALOE = "aloe", "an energy of up to four bytes, by ALOE"
    ALOE_WINDOW = "aloe-window", "the paper's energy of a window of 64 bytes, by ALOE"
    CD = "cd", "the energy of aloe, by contrastive divergence"
    ADE = "ade", "the energy of aloe, by ADE"
    LEARN_AND_FUZZ = "learn-and-fuzz", "an LSTM that reads the bytes before a byte"
    RNN_EBM = "rnn-ebm", "the same LSTM as an energy, so that the bytes after it count"
