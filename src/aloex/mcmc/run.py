"""What `sample` does outside of the compiled program: pauses, progress, signals, what is NaN."""

import signal
import time
import warnings
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from aloex.base.errors import InputError, Stopped
from aloex.base.progress import Progress
from aloex.base.signals import StopSignals
from aloex.kernels import ParallelTempering
from aloex.mcmc import loop
from aloex.mcmc.adapt import equalised, round_ends
from aloex.mcmc.draws import Draws, Seconds, draws_of
from aloex.mcmc.loop import Record, Task

SECONDS = 0.5  # that a run of the program should take, so that a signal is answered soon
MAX_STEPS = 2**20  # of a run of the program in the warm-up


class Run:
    """One call of `sample`."""

    def __init__(self, task: Task, num_samples: int, thin: int, adapt: bool):
        self.task, self.num_samples, self.thin = task, num_samples, thin
        self.num_warmup = int(task.num_warmup)
        self.moves_ladder = adapt and isinstance(task.algorithm.kernel, ParallelTempering)
        self.total = self.num_warmup + num_samples * thin
        self.parts: list[Record] = []
        self.seconds_per_step, self.step = SECONDS, 0
        self.signals = StopSignals(on_first=self._say_stopping)

    def run(self, first: Any, key: Key[Array, ""], *, progress: bool) -> Draws:
        """Warm-up and draws; fewer if a signal comes."""
        with Progress(0, self.total, progress, doing="warm-up") as self.bar, self.signals:
            times = [time.monotonic()]
            for part in (lambda: self._start(first, key), self._warm_up, self._draw):
                part()
                times.append(time.monotonic())
        num_draws = sum(len(part.energy) for part in self.parts)
        if self.signals.received:
            self.signals.wait_for_on_first()
            message = f"stopped after {num_draws} of {self.num_samples} draws of each chain"
            if self.signals.number == signal.SIGTERM or num_draws == 0:
                raise Stopped(message, self.step, self.chains.states, self.signals.number)
            warnings.warn(f"{message}; these are returned", stacklevel=3)
        seconds = Seconds(*np.diff(times).tolist())
        last, functions = self.chains.states, self.task.functions
        return draws_of(self._tuned_algorithm(), last, self.parts, functions, seconds)

    def _start(self, first: Any, key: Key[Array, ""]) -> None:
        """First states, checked, and the compiled program, which is called for no draws."""
        is_x = not hasattr(first, "x")
        self.chains = loop.start(self.task, first, key, restarts=not is_x)
        self._check_first_states(first if is_x else first.x)
        record = self._advance(0, 1, counts=True)
        self.rows = len(record.energy)

    def _check_first_states(self, x: Array) -> None:
        """Kernels say what is wrong with a state, but outside of compiled code only."""
        energy = np.asarray(loop.energies(self.task, self.chains.states))
        is_nan = np.isnan(energy)
        for leaf in jax.tree.leaves(eqx.filter(self.chains.states, eqx.is_inexact_array)):
            is_nan |= np.isnan(np.asarray(leaf, np.float64)).reshape(len(energy), -1).any(axis=1)
        for in_doubt in (is_nan, np.isneginf(energy)):
            for chain in np.flatnonzero(in_doubt)[:1]:
                try:
                    self.task.algorithm.init(x[chain])
                except InputError as error:
                    raise InputError(f"chain {chain}, x = {_shown(x[chain])}: {error}") from None

    def _warm_up(self) -> None:
        ends = round_ends(self.num_warmup) if self.moves_ladder else [self.num_warmup]
        for end in ends:
            while self.step < end and not self.signals.received:
                num_steps = min(self._num_steps(), end - self.step, MAX_STEPS)
                self._advance(1, num_steps, counts=False)
            if self.moves_ladder and self.step == end > 0:
                self._move_ladder()

    def _move_ladder(self) -> None:
        kernel: Any = self.task.algorithm.kernel
        report = self.chains.report
        swaps, proposed = (
            np.asarray(a, np.float64).sum(axis=0) for a in (report.swaps, report.num_proposed_swaps)
        )
        bs = kernel.inverse_temperatures
        if (proposed == 0).any():
            return
        even = equalised(np.asarray(bs, np.float64), swaps / proposed).astype(bs.dtype)
        tuned = eqx.tree_at(
            lambda t: t.algorithm.kernel.inverse_temperatures, self.task, jnp.asarray(even)
        )
        key = jax.random.fold_in(self.task.keys[0], 2**31 + self.step)  # of no step
        begun = loop.start(tuned, self.chains.states, key, restarts=True)
        self.task, self.chains = tuned, begun._replace(step=self.chains.step)

    def _draw(self) -> None:
        self.bar.doing = "sampling"
        zeros = jax.tree.map(jnp.zeros_like, self.chains.report)
        self.chains = self.chains._replace(report=zeros)
        done = 0
        while done < self.num_samples and not self.signals.received:
            num_draws = min(
                max(1, self._num_steps() // self.thin), self.rows, self.num_samples - done
            )
            self.parts.append(self._advance(num_draws, self.thin, counts=True))
            done += num_draws

    def _num_steps(self) -> int:
        """Of the next run of the program."""
        return max(1, int(SECONDS / max(self.seconds_per_step, 1e-9)))

    def _advance(self, num_draws: int, steps_per_draw: int, *, counts: bool) -> Record:
        """Run the program: the draws, on the host, of which none is NaN."""
        began = time.monotonic()
        counted = jnp.array(num_draws, jnp.int32), jnp.array(steps_per_draw, jnp.int32)
        self.chains, buffer = loop.advance(self.task, self.chains, *counted, jnp.array(counts))
        if num_draws == 0:
            return jax.block_until_ready(buffer)
        record = jax.tree.map(lambda a: np.array(np.asarray(a)[:num_draws]), buffer)
        self.step += num_draws * steps_per_draw
        self.seconds_per_step = (time.monotonic() - began) / (num_draws * steps_per_draw)
        self._check_nan(record, counts)
        self.bar.update({"step": self.step, "f(x)": record.energy[-1]})
        return record

    def _check_nan(self, record: Record, counts: bool) -> None:
        if not record.is_nan.any():
            return
        draw, chain = (int(i) for i in np.argwhere(record.is_nan)[0])
        draw += sum(len(part.energy) for part in self.parts)
        when = f"at draw {draw}" if counts else f"in the warm-up, by step {self.step}"
        # A chain stays where the energy is NaN (of tempering, that replica), not where it is near.
        states = loop.replicas_of(self.chains.states)
        found = np.argwhere(np.asarray(loop.is_nan_at(self.task, states))[chain])
        x = states.x[(chain, *found[0])] if len(found) else states.x[chain]
        raise InputError(
            f"the energy became NaN in chain {chain} {when}, at x = {_shown(x)} or one change of a "
            "site away; mend it there (no logarithm of what may be negative, no inf less inf)"
        )

    def _tuned_algorithm(self) -> Any:
        kernel = loop.tuned_kernel(self.task, self.chains)
        return eqx.tree_at(lambda a: a.kernel, self.task.algorithm, kernel)

    def _say_stopping(self) -> None:
        self.bar.say("stopping after the steps that run now; Ctrl-C again stops without draws")


def _shown(x: Array) -> str:
    """A state in a message."""
    return np.array2string(np.asarray(x), threshold=64, max_line_width=10**6)
