"""Edits, scripts of them, editors and the beam over q0 and edits."""

from collections import Counter
from itertools import product

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aloex.apps.programs.networks import q0
from aloex.apps.programs.networks.editor_file import build_editor, editor_memory
from aloex.apps.programs.networks.programs import edits, grammar
from aloex.apps.programs.networks.programs.codes import EXPR_LENGTH, EXPR_TOKENS, FIRST_SUBSTR
from aloex.apps.programs.networks.search import joint_beam
from aloex.apps.programs.networks.search.beam import beam_search
from aloex.apps.programs.networks.train import train_editor
from stats import assert_draws_match, assert_mean_matches, compiled, randomised
from studies.synth import evaluate
from studies.synth.frozen import frozen


def padded(program):
    return np.array([*program, *[0] * (10 - len(program))], np.int32)


def edited(program, choice, expr):
    """A plain edit, to compare with."""
    program = list(program)
    if choice == edits.STOP:
        return tuple(program)
    if choice >= edits.INSERT:
        program.insert(choice - edits.INSERT, expr)
    elif choice >= edits.DELETE:
        del program[choice - edits.DELETE]
    else:
        program[choice] = expr
    return tuple(program)


def all_edits(program, symbols):
    """Choices and expressions that change a program and leave one of 1 to 10."""
    allowed = np.flatnonzero(edits.allowed(jnp.asarray(padded(program))))
    for choice, symbol in product(allowed[:-1].tolist(), symbols):
        if bool(edits.writes(jnp.asarray(choice))):
            if edited(program, choice, symbol) != program:
                yield choice, symbol
        elif symbol == symbols[0]:
            yield choice, 0


def shortest_scripts(start, target, symbols):
    """All of them, breadth first."""
    paths = [((), start)]
    while True:
        ends = [path for path, program in paths if program == target]
        if ends:
            return ends
        paths = [
            ((*path, edit), edited(program, *edit))
            for path, program in paths
            for edit in all_edits(program, symbols)
        ]


draw_scripts = jax.jit(jax.vmap(edits.draw_script, in_axes=(0, None, None)))


def test_edits_do_what_they_say():
    apply = jax.jit(edits.apply)
    for program in ((5,), (5, 7, 7), tuple(range(1, 11))):
        for choice, symbol in all_edits(program, (9,)):
            after = apply(padded(program), jnp.asarray(choice), jnp.asarray(symbol))
            np.testing.assert_array_equal(after, padded(edited(program, choice, symbol)))
    stops = apply(padded((5, 7)), jnp.asarray(edits.STOP), jnp.asarray(0))
    np.testing.assert_array_equal(stops, padded((5, 7)))


@pytest.mark.parametrize(
    ("start", "target"), [((1, 2), (2,)), ((1, 1), (1, 1, 1)), ((1, 2), (3, 1)), ((3,), (3,))]
)
def test_scripts_are_drawn_uniformly_from_the_shortest(start, target):
    """s_x of the proposal, so weights q / s_x are those of the scripts drawn."""
    listed = shortest_scripts(start, target, (1, 2, 3))
    keys = jax.random.split(jax.random.key(1), 2000)
    scripts, log_s = draw_scripts(keys, padded(start), padded(target))
    np.testing.assert_allclose(log_s, -np.log(len(listed)), atol=1e-5)
    num_edits = len(listed[0])
    assert (scripts.num_edits == num_edits).all()
    assert (scripts.choices[:, num_edits:] == edits.STOP).all()
    drawn = np.stack([scripts.choices, scripts.exprs], axis=-1)[:, :num_edits].tolist()
    counts = Counter(tuple(map(tuple, script)) for script in drawn)
    assert set(counts) <= set(listed)
    if len(listed) > 1:
        uniform = np.full(len(listed), 1 / len(listed))
        assert_draws_match([counts[script] for script in listed], uniform)
    program = start
    for i, edit in enumerate(drawn[0]):
        np.testing.assert_array_equal(scripts.programs[0, i], padded(program))
        program = edited(program, *edit)
    np.testing.assert_array_equal(scripts.programs[0, -1], padded(target))


def test_some_steps_count_for_all():
    """The mean of what a step counts is 1, for each step that is a choice of the editor."""
    loss = train_editor.EditorLoss(q0.build(settings("q0", "paper")), jax.random.key(0))
    keys = jax.random.split(jax.random.key(3), 4000)
    for num_edits, num_choices in ((0, 1), (2, 3), (10, 10)):
        choose = jax.vmap(loss.choose_steps, in_axes=(0, None))
        steps, scale = choose(keys, jnp.array([[num_edits]]))
        counted = (np.asarray(steps)[..., None] == np.arange(11)) * np.asarray(scale)[..., None]
        assert_mean_matches(counted.sum(axis=-2)[:, 0, 0], np.arange(11) < num_choices)


def settings(kind, model):
    return {"kind": kind, "model": model, "size": "tiny", "q0_size": "tiny"}


@pytest.fixture(scope="module", params=["paper", "best"])
def pair(request):
    """A q0 and an editor, and some tasks."""
    texts = evaluate.encode([task.examples for task in frozen("validation")[:3]])
    start, editor = (
        randomised(lambda key, f=f, kind=kind: f(settings(kind, request.param)), scale=0.2)
        for f, kind in ((q0.build, "q0"), (build_editor, "editor"))
    )
    head = lambda q0: q0.head.bias if request.param == "paper" else q0.writer.head.bias
    start = eqx.tree_at(head, start, head(start).at[1].add(3.0))  # short programs
    return start, editor, texts.seen(3)


@compiled
def log_edit(start, editor, seen, programs, choices, exprs):
    """log q of edits [tasks, rows], all tokens at once."""
    memory = editor_memory(editor, start.encode(seen.inputs, seen.outputs, seen.shown), seen)
    reading = editor.read(memory, seen, programs)
    return reading, editor.log_exprs(memory, seen, reading, choices, exprs)


SUBSTR = FIRST_SUBSTR
EXPRS = np.array([[3, SUBSTR + 369 * 20 + 5], [SUBSTR + 7, 8], [SUBSTR + 369 * 9, 1]])
CHOICES = np.array([[0, 21], [20, 1], [22, 20]])
PROGRAMS = np.array([[padded((3, 2000))] * 2, [padded((5, 6, 7))] * 2, [padded((9999, 4))] * 2])


def test_edits_are_scored_as_they_are_written(pair):
    """Also: choices and tokens have probabilities that add up to 1 where they are allowed."""
    start, editor, seen = pair
    columns = map(jnp.asarray, (PROGRAMS, CHOICES, EXPRS))
    reading, log_probs = log_edit(start, editor, seen, *columns)
    np.testing.assert_allclose(np.exp(reading.log_choice).sum(axis=-1), 1, rtol=1e-5)
    np.testing.assert_array_equal(
        np.isfinite(reading.log_choice), edits.allowed(jnp.asarray(PROGRAMS))
    )

    @compiled
    def follow(start, editor, seen, reading, tokens):
        memory = editor_memory(editor, start.encode(seen.inputs, seen.outputs, seen.shown), seen)

        def one(memory, seen, reading, choice, tokens):
            def step(carry, token):
                carried, partial = carry
                carried, log_probs = editor.step(memory, carried, partial)
                return (carried, grammar.advance(partial, token, seen)), log_probs

            begin = editor.start(memory, seen, reading, choice)
            return jax.lax.scan(step, begin, tokens)[1]

        rows = jax.vmap(one, in_axes=(None, None, 0, 0, 0))
        return jax.vmap(rows)(memory, seen, reading, jnp.asarray(CHOICES), tokens)

    tokens = jnp.asarray(EXPR_TOKENS[EXPRS]).astype(jnp.int32)
    stepwise = np.asarray(follow(start, editor, seen, reading, tokens))
    live = np.arange(11) < EXPR_LENGTH[EXPRS][..., None]
    np.testing.assert_allclose(stepwise[live], np.asarray(log_probs)[live], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.exp(stepwise[live]).sum(axis=-1), 1, rtol=1e-5)


def test_the_joint_beam_adds_up_q0_and_edits(pair):
    start, editor, seen = pair
    before = beam_search(start, seen, width=1)
    found = joint_beam.joint_search(start, editor, seen, width=1, max_edits=1)
    np.testing.assert_array_equal(found.start, before.codes)
    np.testing.assert_array_equal(found.path[:, :, -1], found.codes)
    for task in range(3):
        program, after = (
            tuple(int(code) for code in codes[task, 0] if code)
            for codes in (found.start, found.codes)
        )
        added = float(found.log_prob[task, 0] - before.log_prob[task, 0])
        ways = [*all_edits(program, tuple(set(after))), (edits.STOP, 0)]
        ways = [way for way in ways if edited(program, *way) == after]
        totals = log_ways(start, editor, seen, program, ways)[task]
        assert np.min(np.abs(totals - added)) < 1e-3, (added, totals)


def log_ways(start, editor, seen, program, ways):
    """log q of edits of one program, as if it were that of each task."""
    room = 40  # so that there is one shape to compile
    ways = [*ways, *[(edits.STOP, 0)] * (room - len(ways))]
    choices, exprs = (np.tile(column, (3, 1)) for column in zip(*ways, strict=True))
    programs = np.tile(padded(program), (3, room, 1))
    columns = map(jnp.asarray, (programs, choices, exprs))
    reading, log_probs = log_edit(start, editor, seen, *columns)
    tokens = EXPR_TOKENS[exprs].astype(int)
    of_tokens = np.take_along_axis(np.asarray(log_probs), tokens[..., None], axis=-1)[..., 0]
    live = np.arange(11) < EXPR_LENGTH[exprs][..., None]
    of_choice = np.take_along_axis(np.asarray(reading.log_choice), choices[..., None], axis=-1)
    return of_choice[..., 0] + np.where(live, of_tokens, 0).sum(axis=-1)


def constant_and_others():
    """The first task is a constant, which a beam finds; the others are beyond it."""
    rows = [("a,b", ","), ("ab,c", ","), ("x,yz", ","), (",ab", ",")]
    others = [task.examples[:4] for task in frozen("validation")[1:3]]
    return evaluate.encode([rows, *others])


@pytest.mark.parametrize("pair", ["paper"], indirect=True)
def test_programs_are_edited_until_they_fit_and_not_come_back_to(pair):
    start, editor, _ = pair
    texts = constant_and_others()
    found = joint_beam.joint_search(
        start, editor, texts.seen(4), width=10, until_fit=True, max_edits=3
    )
    there, edited = np.isfinite(found.log_prob), np.asarray(found.num_edits)
    fits = lambda codes: texts.passed(np.asarray(codes)).all(axis=2)
    assert there.any(axis=1).all() and (fits(found.codes) & there)[0].any()
    np.testing.assert_array_equal((fits(found.codes) | (edited == 3))[there], True)
    for step in range(3):
        left = there & (step < edited)
        assert not fits(found.path[:, :, step])[left].any()
    for task, beam in zip(*np.nonzero(there), strict=True):
        path = np.asarray(found.path)[task, beam, : edited[task, beam] + 1]
        assert len({*map(tuple, path.tolist())}) == len(path)


@pytest.mark.parametrize("pair", ["paper"], indirect=True)
def test_where_nothing_fits_the_editor_begins_with_what_fails(pair):
    start, _, _ = pair
    seen = constant_and_others().seen(4)
    plain, pruned = (beam_search(start, seen, width=10, prune=prune) for prune in (False, True))
    assert np.isfinite(pruned.log_prob).any(axis=1).tolist() == [True, False, False]
    found = joint_beam.starts(start, seen, width=10, prune=True)
    for ours, fits, fails in zip(found, pruned, plain, strict=True):
        np.testing.assert_array_equal(ours, np.concatenate([fits[:1], fails[1:]]))


def test_pruned_programs_give_their_places_to_those_of_q0():
    """Of two edited ones the first fails; of q0's one is there already, and one fails."""
    texts = evaluate.encode([[("a,b", ","), ("ab,c", ","), ("x,yz", ","), (",ab", ",")]])
    single = np.arange(1, len(EXPR_TOKENS))
    fits = texts.passed(np.array([[padded([code]) for code in single]]))[0].all(axis=1)
    good, bad = single[fits][:2], single[~fits][:2]
    rows = lambda codes, log_prob: joint_beam.Edited(
        codes=(programs := jnp.asarray([padded([code]) for code in codes])),
        log_prob=jnp.asarray(log_prob),
        num_edits=jnp.zeros(len(codes), jnp.int32),
        path=programs[:, None],
        stopped=jnp.ones(len(codes), bool),
    )
    edited = rows([bad[0], good[0]], [-1.0, -2.0])
    unedited = rows([good[0], bad[1], good[1]], [-0.5, -3.0, -4.0])
    seen = jax.tree.map(lambda a: a[0], texts.seen(4))
    kept = joint_beam._prune(edited, unedited, seen)
    assert kept.codes[:, 0].tolist() == good.tolist()
    assert kept.log_prob.tolist() == [-2.0, -4.0]


@pytest.mark.parametrize("size", ["tiny", "full"])
def test_an_editor_begins_with_encoder_and_writer_of_a_q0_of_its_size(size):
    start = q0.build({"kind": "q0", "model": "paper", "size": "tiny"}, 1)
    settings = {"kind": "editor", "model": "paper", "size": size, "q0_size": "tiny"}
    editor = build_editor(settings, 2)
    begun = editor.begin_like(start)
    expected = start if size == "tiny" else editor
    assert eqx.tree_equal(begun.head, expected.head)
    assert eqx.tree_equal(begun.encoder, expected.encoder)
    assert eqx.tree_equal(begun.chooser, editor.chooser)


def test_an_editor_that_stops_changes_nothing(pair):
    start, editor, seen = pair
    where = lambda editor: editor.chooser.stop.bias
    stops = eqx.tree_at(where, editor, where(editor) + 1000.0)
    before = beam_search(start, seen, width=1)
    found = joint_beam.joint_search(start, stops, seen, width=1, max_edits=1)
    np.testing.assert_array_equal(found.codes, before.codes)
    assert (found.num_edits == 0).all()


def test_a_step_of_training_with_several_trajectories(pair):
    """Several trajectories share the weight, and gradients are finite."""
    start, editor, _ = pair
    batch = train_editor.EditBatcher(8, 5, start.mode == "clean")(0)
    loss = train_editor.EditorLoss(start, jax.random.key(0), 3)
    grads, info = compiled(eqx.filter_grad(loss, has_aux=True))(editor, batch)
    assert all(np.isfinite(a).all() for a in jax.tree.leaves(grads))
    assert all(np.any(a != 0) for a in jax.tree.leaves(grads))
    assert 1.1 < info.effective_sample_size < 2.9  # neither equal nor all on one: 2.4 was seen
    assert 1 < info.num_edits < 9 and np.isfinite(info.loss)  # 3.8 were seen
