"""One device, eight devices, two processes: the same losses up to rounding.

Run as a program, this file is one of the processes to compare.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from aloex.base.errors import InputError
from aloex.kernels import Gibbs
from aloex.learning import ALOE, Config, HostBatches, Stopped, build_networks, fit
from aloex.proposals import Inverse
from aloex.runs import devices
from toy import Toy, X

NUM_STEPS = 10


def train_aloe(folder=None, persistence=1) -> dict:
    """Every step's infos and the final weights of a small run; with a folder it is resumed once."""
    cond_dim = 2 if persistence == 1 else 0
    config = Config(dim=4, f_hidden=(8,), q_hidden=(8,), max_edits=3, cond_dim=cond_dim)
    sgd = optax.sgd(0.1)  # Adam would hide a gradient of the wrong length
    learner = ALOE(
        Gibbs(config.space),
        Inverse(space=config.space, max_edits=3),
        num_trajectories=3,
        persistence=persistence,
        resample=persistence > 1,
        num_f_steps=persistence,
        optimizer_f=sgd,
        optimizer_q=sgd,
    )
    state = learner.init(*build_networks(config, jax.random.key(0)), jnp.asarray(X[:16]))
    rows, z = [], X[:, :2].astype(np.float32) if cond_dim else None
    settings = {"batch_size": 16, "log_every": 1, "progress": False, "on_log": rows.append}
    if folder is None:
        state = fit(learner, state, X, z, num_steps=NUM_STEPS, **settings)
    else:
        fit(learner, state, X, z, num_steps=NUM_STEPS // 2, folder=folder, **settings)
        settings |= {"folder": folder, "resume": True}
        state = fit(learner, state, X, z, num_steps=NUM_STEPS, **settings)
    columns = {k: [row[k] for row in rows] for k in rows[0] if k != "seconds"} if rows else {}
    return {"rows": columns, "weights": np.asarray(state.f.first.weight).tolist()}


def train_on_host() -> list[float]:
    """The weights of a toy after batches that the host makes."""
    source = HostBatches(lambda step: X[8 * step : 8 * (step + 1)])
    state = fit(Toy(), Toy().init(), source, num_steps=5, batch_size=8, progress=False)
    return np.asarray(state.logits).tolist()


def stop_by_a_signal_to_the_second_process(folder) -> int:
    """The step at which this process stopped."""

    def send():
        while not (folder / "metrics.jsonl").exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    if jax.process_index() == 1:
        threading.Thread(target=send).start()
    try:
        fit(Toy(), Toy().init(), X, num_steps=10**7, batch_size=4, folder=folder, progress=False)
    except Stopped as stopped:
        return stopped.step
    raise AssertionError("it was not stopped")


def main(out: Path, port: str = "", process: str = "0") -> None:
    result = {}
    if port:
        for _ in range(2):  # the second call does nothing
            devices.initialize(f"127.0.0.1:{port}", 2, int(process))
        result |= train_aloe(out / "run")
        result["stopped_at"] = stop_by_a_signal_to_the_second_process(out / "stopped")
    else:
        result |= train_aloe()
        result["persistent"] = train_aloe(persistence=2)
        result["on_host"] = train_on_host()
    result["num_devices"] = jax.device_count()
    (out / f"{process}.json").write_text(json.dumps(result))


@pytest.fixture(scope="module")
def alone():
    return train_aloe()


def start(*arguments, num_devices: int = 1) -> subprocess.Popen:
    flags = f"--xla_force_host_platform_device_count={num_devices}"
    flags += " --xla_backend_optimization_level=0"  # compiles sooner
    program = [sys.executable, __file__, *(str(a) for a in arguments)]
    shared = str(Path(__file__).parents[1])  # where the toy is
    path = os.pathsep.join(filter(None, [shared, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}
    return subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen, result: Path) -> dict:
    _, errors = child.communicate(timeout=300)  # processes that disagree wait for each other
    assert child.returncode == 0, errors
    return json.loads(result.read_text())


def assert_same_up_to_rounding(result: dict, alone: dict) -> None:
    """Sums of 16 terms in another order; ten steps carry the difference on."""
    assert result["rows"].keys() == alone["rows"].keys()
    for name, values in alone["rows"].items():
        np.testing.assert_allclose(result["rows"][name], values, rtol=1e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(result["weights"], alone["weights"], rtol=1e-5, atol=1e-6)


def test_eight_devices_give_the_losses_of_one(alone, tmp_path):
    result = finish(start(tmp_path, num_devices=8), tmp_path / "0.json")
    assert result["num_devices"] == 8
    assert_same_up_to_rounding(result, alone)
    assert_same_up_to_rounding(result["persistent"], train_aloe(persistence=2))
    np.testing.assert_allclose(result["on_host"], train_on_host(), rtol=1e-5)


def test_two_processes_give_the_losses_of_one(alone, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    children = [start(tmp_path, port, process) for process in (0, 1)]
    try:
        first, second = (finish(child, tmp_path / f"{i}.json") for i, child in enumerate(children))
    finally:
        for child in children:
            child.kill()
    assert first["num_devices"] == second["num_devices"] == 2
    assert_same_up_to_rounding(first, alone)
    assert second["rows"] == {} and second["weights"] == first["weights"]  # one process logs
    assert first["stopped_at"] == second["stopped_at"] > 0
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == NUM_STEPS


def test_batch_must_be_split_evenly(monkeypatch):
    assert devices.mesh(7) is None  # one device takes any batch
    monkeypatch.setattr(jax, "devices", lambda: [None] * 8)
    with pytest.raises(InputError, match=r"batch_size=100 .* 8 devices; .* such as 104"):
        devices.mesh(100)


def test_no_cluster_to_join():
    with pytest.raises(InputError, match="cannot join the other processes"):
        devices.initialize()


def test_putting_on_devices_copies():
    learner = Toy()
    state = learner.init()
    copy = devices.put_on_devices(state, None)
    assert copy.logits.unsafe_buffer_pointer() != state.logits.unsafe_buffer_pointer()
    assert copy.function is state.function
    assert np.array_equal(jax.random.key_data(copy.key), jax.random.key_data(state.key))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
