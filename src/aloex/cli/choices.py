"""Choices of the command line: enumerations whose members have a line of help each."""

from enum import StrEnum


class Choice(StrEnum):
    """A choice by its value, with a line of help."""

    help: str

    def __new__(cls, value: str, help: str) -> "Choice":
        member = str.__new__(cls, value)
        member._value_, member.help = value, help
        return member


def help_with_choices(text: str, choices: type[Choice]) -> str:
    """The help of an option, with a line for each choice (\\b keeps the line breaks)."""
    lines = "\n".join(f"{choice.value}: {choice.help}" for choice in choices)
    return f"{text}\n\n\b\n{lines}"


class DataName(Choice):
    """The seven pictures of the synthetic study."""

    SPIRALS = "2spirals", "two arms wound into each other"
    GAUSSIANS = "8gaussians", "eight spots on a circle"
    CIRCLES = "circles", "two circles, one inside the other"
    MOONS = "moons", "two half circles that interlock"
    PINWHEEL = "pinwheel", "five bent arms"
    SWISSROLL = "swissroll", "one spiral"
    CHECKERBOARD = "checkerboard", "eight squares"


class MethodName(Choice):
    """What learns a picture: an energy f, a sampler q, or both."""

    ALOE = "aloe", "f and a local search with an autoregressive start"
    ALOE_RNN = "aloe-rnn", "the same with a recurrent start"
    ALOE_FAC_EDIT = "aloe-fac-edit", "the same with a start of independent bits"
    ALOE_FAC_NOEDIT = "aloe-fac-noedit", "a start of independent bits, and no edits"
    PCD = "pcd", "f by persistent contrastive divergence"
    CD = "cd", "f by contrastive divergence"
    ADE = "ade", "f and an autoregressive sampler that plays against it"
    ADE_FAC = "ade-fac", "the same with a sampler of independent bits"
    ADE_RNN = "ade-rnn", "the same with a recurrent sampler"
    AUTOREGRESSIVE = "autoregressive", "q alone, by maximum likelihood"
    VAE = "vae", "a variational autoencoder"


class RecipeName(Choice):
    """Which settings."""

    PAPER = "paper", "those of the paper"
    BEST = "best", "what our ablation found"


class PresetName(Choice):
    """How large."""

    PAPER = "paper", "the paper's networks and numbers of steps, for a GPU"
    QUICK = "quick", "small networks, minutes on a CPU"
