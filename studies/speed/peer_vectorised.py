"""The peer's step as somebody writes it who knows PyTorch well: the same loss, no Python over rows.

It differs from `peer_torch.py`, the authors' layout, in this:

- Gibbs sampling keeps the score of the current row and scores only the flipped one.
- One sort of random numbers draws all permutations; a cumulative sum finds all states of all
  trajectories, and a mask picks the live ones.
- The networks see a row once, however many trajectories share it.
- The prefix networks of the autoregressive q0 are stacked: one matrix product for the first layers
  of all positions, batched products for the others.

It still runs eagerly, in float32 and with PyTorch's default settings.
"""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from studies.speed import peer_torch
from studies.speed.peer_torch import mlp


class Stacked(nn.Module):
    """A linear layer for each position; those of `mask` [positions, n_in] see part of the input."""

    def __init__(self, positions: int, n_in: int, n_out: int, mask: Tensor | None = None):
        super().__init__()
        mask = torch.ones(positions, n_in) if mask is None else mask
        bound = 1 / mask.sum(1).sqrt()[:, None, None]  # as nn.Linear has it
        uniform = lambda *shape: bound * (2 * torch.rand(positions, *shape) - 1)
        self.weight = nn.Parameter(uniform(n_in, n_out) * mask[:, :, None])
        self.bias = nn.Parameter(uniform(1, n_out))
        self.register_buffer("mask", mask[:, :, None])

    def forward(self, h: Tensor) -> Tensor:
        """[positions, B, n_in] -> [positions, B, n_out]."""
        return torch.baddbmm(self.bias, h, self.weight)

    def shared(self, x: Tensor) -> Tensor:
        """[B, n_in] -> [positions, B, n_out], the same rows for all positions."""
        positions, n_in, n_out = self.weight.shape
        weight = (self.weight * self.mask).transpose(0, 1).reshape(n_in, -1)
        return (x @ weight).view(-1, positions, n_out).transpose(0, 1) + self.bias

    def at(self, i: int, h: Tensor) -> Tensor:
        """The layer of one position, [B, n_in] -> [B, n_out]."""
        return torch.addmm(self.bias[i], h, self.weight[i, : h.shape[1]])


class AutoregressiveQ0(nn.Module):
    """Bits from left to right: the prefix networks of all positions side by side, one head."""

    def __init__(self, dim: int):
        super().__init__()
        self.first = nn.Parameter(torch.randn(256) / 16)
        before = torch.tril(torch.ones(dim - 1, dim - 1))  # position i sees the bits before it
        sizes = [(dim - 1, 512), (512, 512), (512, 256)]
        masks = [before, None, None]
        self.layers = nn.ModuleList(
            Stacked(dim - 1, *size, mask) for size, mask in zip(sizes, masks, strict=True)
        )
        self.head = mlp(256, 512, 2)

    def sample(self, n: int) -> Tensor:
        """Draw n rows of bits, one position after another."""
        bits = [torch.bernoulli(self._prob_one(self.first.expand(n, -1)))]
        for i in range(self.layers[0].weight.shape[0]):
            h = torch.stack(bits, dim=1)
            for layer in self.layers[:-1]:
                h = F.elu(layer.at(i, h))
            bits.append(torch.bernoulli(self._prob_one(self.layers[-1].at(i, h))))
        return torch.stack(bits, dim=1)

    def _prob_one(self, features: Tensor) -> Tensor:
        return F.softmax(self.head(features), dim=-1)[:, 1]

    def log_prob(self, x: Tensor) -> Tensor:
        """Log probability of each row of x."""
        one, two, three = self.layers
        features = three(F.elu(two(F.elu(one.shared(x[:, :-1])))))
        features = torch.cat([self.first.expand(1, len(x), -1), features])
        log_probs = F.log_softmax(self.head(features), dim=-1)
        return log_probs.gather(2, x.T.long().unsqueeze(2)).sum((0, 2))


class Sampler(peer_torch.Sampler):
    """The learned local search, with trajectories scored all at once."""

    Q0S: ClassVar[dict[str, type[nn.Module]]] = {
        "factorized": peer_torch.FactorizedQ0,
        "mlp": AutoregressiveQ0,
    }

    def log_prob(self, x: Tensor, x0: Tensor, length: Tensor, order: Tensor) -> Tensor:
        """Log q of M trajectories from the rows of x0 to those of x [M, dim]."""
        order = order[:, : self.max_edits]
        steps = torch.arange(self.max_edits, device=x.device)
        row, k = torch.nonzero(steps < length[:, None], as_tuple=True)  # the live edits
        flips = F.one_hot(order, x.shape[1]).cumsum(1)  # [M, edits, dim], up to each edit
        before = (x[row] - flips[row, k]).abs()
        states, of = torch.unique(torch.cat([x, x0, before]), dim=0, return_inverse=True)
        at_end, at_start, at_edit = of.split([len(x), len(x0), len(row)])

        stop = self.stop(states).squeeze(1)
        edited, of = torch.unique(at_edit, return_inverse=True)
        log_site = F.log_softmax(self.editor(states[edited]), dim=-1)
        log_edit = log_site[of, order[row, k]] + F.logsigmoid(-stop)[at_edit]
        log_stop = F.logsigmoid(stop)[at_end].masked_fill(length == self.max_edits, 0.0)
        starts, of = torch.unique(at_start, return_inverse=True)
        log_start = self.q0.log_prob(states[starts])[of] + log_stop
        return log_start.index_add(0, row, log_edit)


class Step(peer_torch.Step):
    """One training step of f and q, vectorised."""

    sampler: ClassVar[type[peer_torch.Sampler]] = Sampler

    @torch.no_grad()
    def gibbs(self, x: Tensor) -> Tensor:
        """Sweeps of Gibbs sampling from f over the positions in order, one score for each."""
        x, score = x.clone(), self.f(x)
        for _ in range(self.num_sweeps):
            for i in range(x.shape[1]):
                other = x.clone()
                other[:, i] = 1 - other[:, i]
                other_score = self.f(other)
                flip = torch.bernoulli(torch.sigmoid(other_score - score)).bool()
                x, score = torch.where(flip, other, x), torch.where(flip, other_score, score)
        return x

    @torch.no_grad()
    def propose(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Walk back from each row of x: x_0, the lengths and the orders of the flips."""
        n, dim = x.shape
        order = torch.rand(n, dim, device=x.device).argsort(1)
        length = torch.multinomial(self.length_probs, n, replacement=True)
        rank = order.argsort(1)  # when each position would be flipped
        return (x - (rank < length[:, None]).float()).abs(), length, order


def same_weights(step: Step, other: peer_torch.Step) -> None:
    """Give `step` the weights of a step in the authors' layout."""
    step.f.load_state_dict(other.f.state_dict())
    for name in ("editor", "stop"):
        getattr(step.q, name).load_state_dict(getattr(other.q, name).state_dict())
    if isinstance(other.q.q0, peer_torch.FactorizedQ0):
        step.q.q0.load_state_dict(other.q.q0.state_dict())
        return
    with torch.no_grad():
        step.q.q0.first.copy_(other.q.q0.first)
        step.q.q0.head.load_state_dict(other.q.q0.head.state_dict())
        for i, net in enumerate(other.q.q0.prefix_nets):
            linear = [layer for layer in net if isinstance(layer, nn.Linear)]
            for stacked, layer in zip(step.q.q0.layers, linear, strict=True):
                stacked.weight[i, : layer.in_features] = layer.weight.T
                stacked.bias[i] = layer.bias
