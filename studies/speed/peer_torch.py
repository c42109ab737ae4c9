"""One ALOE training step on bits in plain PyTorch, the peer of the speed benchmark.

The model is p(x) proportional to exp(f(x)). The sampler q draws x_0 from q0 and then edits it:
before each edit it may stop, otherwise it flips one position. Everything runs eagerly, in float32
and with PyTorch's default settings: no torch.compile, no CUDA graphs. The work is laid out as the
authors' research program has it: the proposal draws one permutation per trajectory and walks back
edit by edit, the live edits are listed row by row in Python, and every trajectory is scored on its
own, even where several trajectories of one row share a state.
"""

import itertools
import math
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def mlp(*sizes: int) -> nn.Sequential:
    """Linear layers of the given sizes with ELU between them."""
    layers: list[nn.Module] = []
    for n_in, n_out in itertools.pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.ELU()]
    return nn.Sequential(*layers[:-1])


class FactorizedQ0(nn.Module):
    """Independent bits, one logit each."""

    def __init__(self, dim: int):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(dim))

    def sample(self, n: int) -> Tensor:
        """Draw n rows of bits."""
        return torch.bernoulli(torch.sigmoid(self.logits).expand(n, -1))

    def log_prob(self, x: Tensor) -> Tensor:
        """Log probability of each row of x."""
        logits = self.logits.expand_as(x)
        return -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)


class AutoregressiveQ0(nn.Module):
    """Bits from left to right: an MLP for each prefix length and one head shared by them all."""

    def __init__(self, dim: int):
        super().__init__()
        self.first = nn.Parameter(torch.randn(256) / 16)
        self.prefix_nets = nn.ModuleList(mlp(i, 512, 512, 256) for i in range(1, dim))
        self.head = mlp(256, 512, 2)

    def embed(self, x: Tensor, i: int) -> Tensor:
        """Features [B, 256] from which bit i is predicted, given the bits before it."""
        return self.prefix_nets[i - 1](x[:, :i]) if i > 0 else self.first.expand(len(x), -1)

    def sample(self, n: int) -> Tensor:
        """Draw n rows of bits, one position after another."""
        x = self.first.new_zeros(n, len(self.prefix_nets) + 1)
        for i in range(x.shape[1]):
            probs = F.softmax(self.head(self.embed(x, i)), dim=-1)
            x[:, i] = torch.bernoulli(probs[:, 1])
        return x

    def log_prob(self, x: Tensor) -> Tensor:
        """Log probability of each row of x, all positions going through the head at once."""
        features = torch.stack([self.embed(x, i) for i in range(x.shape[1])], dim=1)
        log_probs = F.log_softmax(self.head(features), dim=-1)
        return log_probs.gather(2, x.long().unsqueeze(2)).squeeze(2).sum(1)


class Sampler(nn.Module):
    """The learned local search q: q0, an editor choosing the bit to flip, and a stop policy."""

    Q0S: ClassVar[dict[str, type[nn.Module]]] = {
        "factorized": FactorizedQ0,
        "mlp": AutoregressiveQ0,
    }

    def __init__(self, dim: int, q0: str, max_edits: int):
        super().__init__()
        if q0 not in self.Q0S:
            raise ValueError(f"q0 must be one of {sorted(self.Q0S)}, got {q0!r}")
        self.max_edits = max_edits
        self.q0 = self.Q0S[q0](dim)
        self.editor = mlp(dim, 512, 512, dim)
        self.stop = mlp(dim, 512, 512, 1)

    @torch.no_grad()
    def sample(self, n: int) -> Tensor:
        """Draw n rows: x_0 from q0, then edits of the rows that have not stopped yet."""
        x = self.q0.sample(n)
        active = torch.arange(n, device=x.device)
        for _ in range(self.max_edits):
            stopped = torch.bernoulli(torch.sigmoid(self.stop(x[active]).squeeze(1))).bool()
            active = active[~stopped]
            if len(active) == 0:
                break
            probs = F.softmax(self.editor(x[active]), dim=-1)
            site = torch.multinomial(probs, 1).squeeze(1)
            x[active, site] = 1 - x[active, site]
        return x

    def log_prob(self, x: Tensor, x0: Tensor, length: Tensor, order: Tensor) -> Tensor:
        """Log q of M trajectories from the rows of x0 to those of x [M, dim].

        Walking backwards from x, trajectory m flips order[m, 0], order[m, 1], ... and reaches x_0
        after length[m] flips; `order` [M, dim] holds a permutation of the positions in each row.
        """
        rows, places, flipped_rows, flipped_sites = [], [], [], []
        for row, (t, sites) in enumerate(zip(length.tolist(), order.tolist(), strict=True)):
            for k in range(t):  # the state that lies k + 1 flips before x
                flipped_rows += [len(rows)] * (k + 1)
                flipped_sites += sites[: k + 1]
                rows.append(row)
                places.append(k)
        row, k = (torch.tensor(a, dtype=torch.long, device=x.device) for a in (rows, places))
        before = x[row]
        before[flipped_rows, flipped_sites] = 1 - before[flipped_rows, flipped_sites]
        log_site = F.log_softmax(self.editor(before), dim=-1)
        log_edit = log_site.gather(1, order[row, k].unsqueeze(1)).squeeze(1)
        log_go_on = F.logsigmoid(-self.stop(before).squeeze(1))

        log_stop = F.logsigmoid(self.stop(x).squeeze(1))
        log_stop = log_stop.masked_fill(length == self.max_edits, 0.0)  # there it must stop
        log_start = self.q0.log_prob(x0) + log_stop
        return log_start.index_add(0, row, log_edit + log_go_on)


class Step:
    """An energy f, a sampler q, their optimisers, and one training step of both when called."""

    sampler: ClassVar[type[Sampler]] = Sampler

    def __init__(
        self,
        dim: int = 32,
        q0: str = "factorized",
        num_trajectories: int = 10,
        max_edits: int = 16,
        stop_prob: float = 0.5,
        num_sweeps: int = 1,
        device: str | torch.device = "cpu",
        lr: float = 1e-3,
        clip: float = 5.0,
    ):
        if max_edits > dim:
            raise ValueError("max_edits must not exceed dim: a trajectory flips distinct positions")
        self.num_trajectories, self.num_sweeps, self.clip = num_trajectories, num_sweeps, clip
        self.f = mlp(dim, 256, 256, 256, 1).to(device)
        self.q = self.sampler(dim, q0, max_edits).to(device)
        self.f_optimizer = torch.optim.Adam(self.f.parameters(), lr=lr)
        self.q_optimizer = torch.optim.Adam(self.q.parameters(), lr=lr)

        # The inverse proposal s: a truncated geometric length, then distinct positions in a
        # uniformly random order, dim! / (dim - t)! of them for length t.
        t = torch.arange(max_edits + 1, device=device)
        geometric = stop_prob * (1 - stop_prob) ** t
        self.length_probs = geometric / geometric.sum()
        log_orders = math.lgamma(dim + 1) - torch.lgamma(dim + 1.0 - t)
        self.log_proposal = self.length_probs.log() - log_orders

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """One step on a batch x [B, dim] of zeros and ones; returns the losses of f and q."""
        x_neg = self.gibbs(self.q.sample(len(x)))
        return self.update_f(x, x_neg), self.update_q(x_neg)

    @torch.no_grad()
    def gibbs(self, x: Tensor) -> Tensor:
        """Sweeps of Gibbs sampling from f over the positions in order, both values scored."""
        x = x.clone()
        for _ in range(self.num_sweeps):
            for i in range(x.shape[1]):
                zero, one = x.clone(), x.clone()
                zero[:, i], one[:, i] = 0, 1
                scores = self.f(torch.cat([zero, one])).view(2, -1)
                x[:, i] = torch.bernoulli(F.softmax(scores, dim=0)[1])
        return x

    def update_f(self, x: Tensor, x_neg: Tensor) -> Tensor:
        """Raise f on the data x and lower it on the samples x_neg."""
        loss = self.f(x_neg).mean() - self.f(x).mean()
        self.f_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.f.parameters(), self.clip)
        self.f_optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def propose(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Walk back from each row of x: x_0, the lengths and the orders of the flips."""
        x0, (n, dim) = x.clone(), x.shape
        order = torch.stack([torch.randperm(dim) for _ in range(n)]).to(x.device)
        length = torch.multinomial(self.length_probs, n, replacement=True)
        for k in range(self.q.max_edits):
            active = torch.nonzero(length > k).squeeze(1)
            if len(active) == 0:
                break
            x0[active, order[active, k]] = 1 - x0[active, order[active, k]]
        return x0, length, order

    def update_q(self, target: Tensor) -> Tensor:
        """Raise log q of the target rows by self-normalised importance sampling."""
        x = target.repeat_interleave(self.num_trajectories, dim=0)
        loss = self.q_loss(x, *self.propose(x))
        self.q_optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.q.parameters(), self.clip)
        self.q_optimizer.step()
        return loss.detach()

    def q_loss(self, x: Tensor, x0: Tensor, length: Tensor, order: Tensor) -> Tensor:
        """-log q of x by N trajectories for each row of data, with self-normalised weights."""
        log_q = self.q.log_prob(x, x0, length, order).view(-1, self.num_trajectories)
        log_s = self.log_proposal[length].view(-1, self.num_trajectories)
        weights = F.softmax((log_q - log_s).detach(), dim=1)
        return -(weights * log_q).sum(dim=1).mean()
