"""What a model expects, as tables for the engine: by their definition, and used in a campaign."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.fuzz.campaign import CampaignSettings, open_campaign
from aloex.apps.fuzz.model import ModelSettings, likely, likely_bytes
from aloex.apps.fuzz.model.byte_predictor import BytePredictor
from aloex.apps.fuzz.model.contexts import context, mask
from aloex.apps.fuzz.native import LIKELY, Engine, Guide
from aloex.base.errors import CheckpointError
from stats import assert_draws_match, randomised

INPUTS = [b"", b"0123456789", b"#", bytes(range(100))]


def model(seed=0) -> BytePredictor:
    sizes = ModelSettings(hidden=8, embed_dim=2)
    return randomised(BytePredictor, sizes, seed=seed, scale=0.8)


def expected(net, data, position) -> np.ndarray:
    """The probabilities of the 256 values: the mean over three fractions and two temperatures."""
    found = []
    for i, fraction in enumerate((0.0, 0.5, 1.0)):
        around = context(
            np.frombuffer(data, np.uint8), np.array(0), np.array(len(data)), np.array(position)
        )
        key = jax.random.fold_in(jax.random.fold_in(jax.random.key(0), position), i)
        x = mask(key, jnp.asarray(around), jnp.asarray(fraction))
        place = jnp.asarray(position), jnp.asarray(len(data) - 1 - position)
        log_p = np.asarray(net(x, *place), np.float64)
        for temperature in (1.0, 3.0):
            p = np.exp(log_p / temperature)
            p[data[position]] = 0
            found.append(p / p.sum())
    return np.mean(found, axis=0)


def test_tables_by_their_definition():
    net = model()
    tables = likely_bytes(net)(INPUTS)
    assert [len(table) for table in tables] == [len(data) for data in INPUTS]
    assert all(table.dtype == LIKELY for table in tables)
    for i, position in ((1, 0), (1, 9), (2, 0), (3, 50)):
        row, p = tables[i][position], expected(net, INPUTS[i], position)
        named = row["bytes"].tolist()
        assert len(set(named)) == 7 and INPUTS[i][position] not in named
        np.testing.assert_allclose(p[named], np.sort(p)[:-8:-1], atol=1e-5)  # the likeliest first
        np.testing.assert_allclose(row["upto"], 255 * np.cumsum(p[named]), atol=0.51)
        assert row["upto"][6] < 255  # the rest is any byte


def test_a_table_does_not_depend_on_the_inputs_beside_it():
    ask = likely_bytes(model())
    together = ask(INPUTS)
    for data, table in zip(INPUTS, together, strict=True):
        np.testing.assert_array_equal(ask([data])[0], table)
    assert ask([]) == []
    assert (likely_bytes(model(seed=1))(INPUTS)[3] != together[3]).any()


def test_of_a_long_input_the_beginning_is_looked_at():
    table = likely_bytes(model())([bytes(3000)])[0]
    assert likely.MAX_POSITIONS == 1024
    assert (table["upto"][:1024, 6] > 0).all() and not table["upto"][1024:].any()


def test_the_engine_draws_bytes_by_their_shares():
    """Null hypothesis: a likely byte is the table's k-th with (upto[k] - upto[k - 1]) / 256.

    Mutants of one likely byte at the only position; what is left goes to any byte.
    """
    data, n = b"#", 40_000
    table = likely_bytes(model())([data])[0]
    with_rest = np.append(table["upto"][0], 256).astype(float)
    shares = np.diff(with_rest, prepend=0) / 256
    probs = np.full(256, shares[-1] / 256)
    probs[table["bytes"][0]] += shares[:-1]
    engine = Engine(8, max_len=1, seed=1, guides=Guide(0))
    engine.add(data, np.array([0], np.uint32))
    engine.set_likely(0, table)
    engine.plan()
    names = [arm.name for arm in engine.operators()]
    alone = 1 << names.index("1 likely byte")
    drawn = [x[0] for x, recipe in map(engine.mutate, range(n)) if recipe.operators == alone]
    engine.close()
    assert len(drawn) > 1000
    probs[data[0]] = 0  # another operator is tried where nothing changes
    assert_draws_match(np.bincount(drawn, minlength=256), probs / probs.sum())


def test_a_campaign_with_a_model(stairs, tmp_path):
    """It tries the operators of the model, and none without; another model is another campaign."""
    (tmp_path / "seed").write_bytes(b"--------")
    path = tmp_path / "m.safetensors"
    model().save(path)

    def tried(out, file) -> float:
        settings = CampaignSettings(
            str(stairs.library.parent),
            **{"seeds": tmp_path / "seed", "out": tmp_path / out, "model": file, "workers": 1},
        )
        with open_campaign(settings) as campaign:
            assert campaign.run(num_inputs=300)
            arms = campaign.engine.operators()
            return sum(arm.tried for arm in arms if "likely" in arm.name)

    assert tried("without", None) == 0
    assert tried("with", path) > 0
    model(seed=1).save(path)
    with pytest.raises(CheckpointError, match="model"):
        tried("with", path)
