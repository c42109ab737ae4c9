"""The PyTorch peers of the speed page: both have the same loss on the same draws."""

import pytest

torch = pytest.importorskip("torch", reason="the peers need PyTorch: pip install 'aloex[bench]'")

from studies.speed import peer_torch, peer_vectorised  # noqa: E402

SIZES = {"dim": 6, "max_edits": 3, "num_trajectories": 4}


@pytest.fixture(params=["factorized", "mlp"])
def steps(request):
    """A step in the authors' layout, and a vectorised one with its weights."""
    torch.manual_seed(0)
    authors = peer_torch.Step(q0=request.param, **SIZES)
    vectorised = peer_vectorised.Step(q0=request.param, **SIZES)
    peer_vectorised.same_weights(vectorised, authors)
    return authors, vectorised


def test_both_peers_have_the_same_loss_and_gradient_on_the_same_draws(steps):
    authors, vectorised = steps
    x = torch.randint(2, (20, 6)).float().repeat_interleave(4, dim=0)
    drawn = vectorised.propose(x)
    losses = [step.q_loss(x, *drawn) for step in steps]
    assert losses[0].item() == pytest.approx(losses[1].item(), rel=1e-5)
    for loss in losses:
        loss.backward()
    for name in ("editor", "stop"):
        pairs = zip(*(getattr(step.q, name).parameters() for step in steps), strict=True)
        for one, other in pairs:
            torch.testing.assert_close(one.grad, other.grad, rtol=1e-4, atol=1e-6)
    q0s = authors.q.q0, vectorised.q.q0
    if isinstance(q0s[0], peer_torch.FactorizedQ0):
        torch.testing.assert_close(q0s[0].logits.grad, q0s[1].logits.grad)
    else:
        torch.testing.assert_close(q0s[0].first.grad, q0s[1].first.grad, rtol=1e-4, atol=1e-6)
        for i, net in enumerate(q0s[0].prefix_nets):
            grad = q0s[1].layers[0].weight.grad[i]
            torch.testing.assert_close(net[0].weight.grad, grad[: i + 1].T, rtol=1e-4, atol=1e-6)
            assert (grad[i + 1 :] == 0).all()  # it learns nothing of later bits


def test_the_vectorised_walk_back_ends_where_its_flips_lead(steps):
    _, step = steps
    x = torch.randint(2, (50, 6)).float()
    x0, length, order = step.propose(x)
    assert length.max() <= 3 and length.float().std() > 0
    assert order.sort(1).values.tolist() == [list(range(6))] * 50
    for row in range(50):
        flipped = x[row].clone()
        flipped[order[row, : length[row]]] = 1 - flipped[order[row, : length[row]]]
        assert torch.equal(flipped, x0[row])


def test_q0_of_the_vectorised_peer_is_a_law(steps):
    """Its probabilities sum to one, and its draws have their frequencies: chi-square, 5 sigma."""
    _, step = steps
    every = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 6)
    with torch.no_grad():
        p = step.q.q0.log_prob(every).exp()
        drawn = step.q.q0.sample(6400) @ 2 ** torch.arange(5.0, -1.0, -1.0)
    assert p.sum().item() == pytest.approx(1, abs=1e-5)
    expected, counts = 6400 * p, torch.bincount(drawn.long(), minlength=64)
    chi = ((counts - expected) ** 2 / expected).sum().item()
    assert chi < 63 + 5 * (2 * 63) ** 0.5


def test_gibbs_of_the_vectorised_peer_draws_from_f(steps):
    """One position at a time: after a sweep from p_f the rows still follow p_f (5 sigma)."""
    _, step = steps
    with torch.no_grad():
        for parameter in step.f.parameters():
            parameter *= 2  # some contrast
        every = torch.cartesian_prod(*[torch.tensor([0.0, 1.0])] * 6)
        p = torch.softmax(step.f(every).squeeze(1), 0)
        x = every[torch.multinomial(p, 20_000, replacement=True)]
        moved = step.gibbs(x)
    assert not torch.equal(x, moved)
    counts = torch.bincount((moved @ 2 ** torch.arange(5.0, -1.0, -1.0)).long(), minlength=64)
    chi = ((counts - 20_000 * p) ** 2 / (20_000 * p)).sum().item()
    assert chi < 63 + 5 * (2 * 63) ** 0.5


def test_a_step_changes_all_weights(steps):
    for step in steps:
        weights = [*step.f[:-1].parameters(), *step.q.parameters()]  # f's last bias cancels
        before = [p.clone() for p in weights]
        losses = step(torch.randint(2, (20, 6)).float())
        assert all(loss.isfinite() for loss in losses)
        assert not any(torch.equal(a, b) for a, b in zip(before, weights, strict=True))
