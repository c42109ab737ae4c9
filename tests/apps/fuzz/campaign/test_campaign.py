"""Campaigns: what they find, and that a mistake or damage is told and loses nothing."""

import json
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.campaign import Campaign, NoUsableSeed, notes_of
from aloex.apps.fuzz.campaign import record as records
from aloex.apps.fuzz.campaign.epochs import epoch_at
from aloex.apps.fuzz.campaign.record import Record
from aloex.apps.fuzz.execute import Executor, worker
from aloex.apps.fuzz.inputs import hash_of, read_seeds
from aloex.apps.fuzz.native import ALL_GUIDES, Guide
from aloex.apps.fuzz.target import Target
from aloex.apps.fuzz.tools import run_tool
from aloex.base.errors import AloexError, CheckpointError, InputError
from campaigns import NUM_INPUTS, SEEDS, assert_same, end_of, files_in, open_in, run_in, told_in

TEST = "int LLVMFuzzerTestOneInput(const unsigned char *data, long size) "
HEAD = "#include <stdlib.h>\n#include <unistd.h>\nvolatile int n;\n"


def compile_target(clang: str, folder: Path, name: str, source: str, *flags: str) -> Target:
    (folder / f"{name}.c").write_text(HEAD + source)
    library = folder / f"{name}.so"
    run_tool([clang, "-shared", "-fPIC", "-O1", *flags, library.with_suffix(".c"), "-o", library])
    return Target.load(library)


def test_it_finds_and_tells(whole, stairs):
    out = whole.out
    settings, of_seeds, *epochs = told_in(out)
    assert settings["settings"]["guides"] == [guide.name for guide in Guide]
    stops = [row["stop"] for row in [of_seeds, *epochs]]
    for first, stop in pairwise(stops[:-1]):
        assert stop == epoch_at(first).stop
    assert stops[0] == 0 and stops[-1] == NUM_INPUTS < epoch_at(stops[-2]).stop
    assert [row.get("is_partial", False) for row in epochs] == [*(len(epochs) - 1) * [False], True]
    corpus = files_in(out / "corpus")
    new = [x for row in [of_seeds, *epochs] for x in row["found"] if x["new_features"]]
    assert corpus.keys() == {x["input"] for x in new}
    with open_in(out, stairs) as campaign:
        assert campaign.run(num_inputs=NUM_INPUTS)
        mutants = [x for x in new if x["number"] >= 0]
        assert len(mutants) > 10
        assert any(x["from"] not in {hash_of(seed) for seed in SEEDS} for x in mutants)  # it grew
        record, engine = campaign.record, campaign.engine
        with Executor(stairs) as executor:
            executor.run(list(corpus.values()))
            assert record.now.edges == executor.edges == np.count_nonzero(engine.seen)
            assert record.now.features == executor.features
        assert record.edges_after(0) < record.now.edges
        sites = {failed["site"] for row in epochs for failed in row["failed"]}
        assert len(sites) == 2
        assert {bug.kind for bug in campaign.bugs.all()} == {"abort", "SEGV"}
        assert sum(bug.inputs for bug in campaign.bugs.all()) == len(record.failed) > 20
        curve = np.array(record.curve)
        paid = [arm.won for arm in engine.operators()]
    assert (np.diff(curve, axis=0) >= 0).all()
    assert sum(paid) > 0


def test_what_has_paid_is_what_found_new_edges(whole, stairs):
    """What was found at t counts t / now: the counts of the engine, from the journal."""
    with open_in(whole.out, stairs) as campaign:
        assert campaign.run(num_inputs=NUM_INPUTS)
        engine = campaign.engine
        operators, stacks, origins = engine.operators(), engine.stacks(), engine.origins()
    won, won_by_stack = np.zeros(len(operators)), np.zeros(len(stacks))
    for row in told_in(whole.out)[2:]:
        for x in row["found"]:
            if x["new_edges"]:
                bits = [i for i in range(len(operators)) if x["operators"] >> i & 1]
                won[bits] += row["stop"] / NUM_INPUTS
                won_by_stack[x["stack"]] += row["stop"] / NUM_INPUTS
    np.testing.assert_allclose([arm.won for arm in operators], won)
    np.testing.assert_allclose([arm.won for arm in stacks], won_by_stack)
    np.testing.assert_allclose(sum(arm.won for arm in origins), won_by_stack.sum())
    assert won_by_stack.sum() > 0.5


def test_mutants_are_those_of_the_engine_when_their_epoch_began(stairs, tmp_path):
    """What the journal says of an input is how it was made."""
    with open_in(tmp_path, stairs) as campaign:
        campaign.run(num_inputs=0)
        for _ in range(8):
            known = {hash_of(campaign.engine.input(i)) for i in range(campaign.engine.num_inputs)}
            first = campaign.record.num_run
            made = {n: campaign.engine.mutate(n) for n in range(*epoch_at(first))}
            campaign.run(num_inputs=epoch_at(first).stop)
            for x in told_in(tmp_path)[-1]["found"]:
                data, recipe = made[x["number"]]
                assert x["input"] == hash_of(data)
                assert (x["operators"], x["stack"]) == (recipe.operators, recipe.stack)
                assert x["from"] in known


def test_the_number_of_workers_may_change_and_a_run_may_be_longer(stairs, whole, tmp_path):
    for num_inputs in (0, 700, 700, 1500, NUM_INPUTS):  # 700 is within an epoch
        with open_in(tmp_path, stairs, workers=1 + num_inputs % 3) as campaign:
            assert campaign.run(num_inputs=num_inputs)
            assert campaign.record.num_run == num_inputs
            end = end_of(campaign)
    assert_same(end, whole)


def test_one_run_after_another_in_one_process(stairs, whole, tmp_path):
    with open_in(tmp_path, stairs) as campaign:
        for num_inputs in (1, 100, 999, NUM_INPUTS):
            assert campaign.run(num_inputs=num_inputs)
        assert_same(end_of(campaign), whole)


def test_a_bound_on_time_ends_within_an_epoch(stairs, tmp_path):
    with open_in(tmp_path, stairs) as campaign:
        assert campaign.run(max_seconds=0.3)
        assert campaign.record.seconds >= 0.3
        num_run = campaign.record.num_run
        assert num_run > 0
        assert campaign.run(max_seconds=0.0) and campaign.record.num_run <= num_run


def test_other_settings_are_refused(stairs, whole, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole.out, out)
    for changed, words in (
        ({"seed": 2}, "has seed=1, now seed=2 is given"),
        ({"keep": 1}, "has keep=0, now keep=1"),
        ({"repair": "png"}, "has repair='none', now repair='png'"),
        ({"guides": ALL_GUIDES & ~Guide.STACK}, "has guides="),
        ({"dictionary": [b"token"]}, rf"the tokens \(--dict, .* not as when .*: --out {out}-2$"),
        (
            {"seeds": SEEDS[:2]},
            rf"the seeds \(--seeds\) are not as when the campaign in {out} began",
        ),
        ({"timeout": 2.0}, "has timeout=1.0, now timeout=2.0"),
        ({"settings": {"model": "x"}}, r"the model \(--model\) is not as when"),
    ):
        with pytest.raises(CheckpointError, match=words):
            open_in(out, stairs, **changed)
    other = tmp_path / "other.so"
    other.write_bytes(stairs.library.read_bytes() + b"!")
    again = f"aloex fuzz run {other} --seeds {out}/corpus --out {out}-2$"
    with pytest.raises(CheckpointError, match=f"the target was built again since .*: {again}"):
        open_in(out, replace(stairs, library=other))
    (tmp_path / "out-2").mkdir()
    with pytest.raises(CheckpointError, match=f": --out {out}-3$"):
        open_in(out, stairs, seed=2)


def test_damage_is_told(stairs, whole, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole.out, out)
    with open_in(out, stairs), pytest.raises(AloexError, match="another process is at work"):
        open_in(out, stairs)
    lines = (whole.out / "journal.jsonl").read_bytes().splitlines(keepends=True)
    state = (whole.out / "state").read_bytes()
    for name, content, words in (
        ("journal.jsonl", b"".join([*lines[:2], b"{oops\n", *lines[3:]]), "damaged in line 3"),
        ("journal.jsonl", b'{"step": 1}\n', "is not the journal of a campaign"),
        ("journal.jsonl", b"".join(lines[:3]), "is not of this journal; delete it to run"),
        ("state", state[:-1], "is damaged; delete it to run the campaign again"),
        ("state", state[:100] + b"!" + state[101:], "is damaged; delete it"),
        ("state", b"", "is damaged; delete it"),
    ):
        (out / "journal.jsonl").write_bytes(b"".join(lines))
        (out / "state").write_bytes(state)
        (out / name).write_bytes(content)
        with pytest.raises(CheckpointError, match=words):
            open_in(out, stairs)
        assert (out / name).read_bytes() == content  # nothing is thrown away
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(AloexError, match=r"cannot write to .*: (Not a directory|File exists)"):
        open_in(tmp_path / "file", stairs)
    with pytest.raises(AloexError, match=r"cannot write to /proc/nope: .*; check the path$"):
        open_in(Path("/proc/nope"), stairs)  # there is nothing to resume
    with pytest.raises(InputError, match=r"holds other files \(file, out\) and no campaign"):
        open_in(tmp_path, stairs)
    assert not (tmp_path / "corpus").exists()


def test_without_its_state_a_campaign_runs_again_with_the_same_results(stairs, whole, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole.out, out)
    (out / "state").unlink()
    assert_same(run_in(out, stairs), whole)


def test_a_target_that_cannot_be_loaded_is_told_in_seconds(clang, tmp_path, monkeypatch):
    assert worker.MAX_START == 10
    monkeypatch.setattr(worker, "MAX_START", 0.5)
    first = "__attribute__((constructor)) static void first(void) { sleep(1000); }\n"
    told = (
        'int LLVMFuzzerInitialize(int *c, char ***v) { write(2, "no licence\\n", 11); _exit(3); }\n'
    )
    dies = "int LLVMFuzzerInitialize(int *c, char ***v) { return *(volatile int *)8; }\n"
    plain = f"{TEST}{{ return 0; }}\n"
    counted = "-fsanitize=fuzzer-no-link"
    for name, source, flags, words in (
        ("plain", plain, (), "has no coverage counters"),
        ("hanging", first + plain, (counted,), r"not loaded after 0 seconds; does LLVMFuzzerInit"),
        ("leaving", told + plain, (counted,), "cannot be used: no licence"),
        ("dying", dies + plain, (counted,), "died of SIGSEGV as it was loaded; .*FuzzerInitialize"),
    ):
        target = compile_target(clang, tmp_path, name, source, *flags)
        with pytest.raises(InputError, match=words):
            open_in(tmp_path / "out", target)
    assert not (tmp_path / "out").exists()


def test_a_crash_on_the_empty_input_is_a_bug_like_others(clang, tmp_path):
    source = f"{TEST}{{ if (size == 0) abort(); n += data[0] == 'x'; return 0; }}\n"
    target = compile_target(clang, tmp_path, "picky", source, "-fsanitize=fuzzer-no-link")
    with open_in(tmp_path / "out", target, seeds=[b"abc", b"d"]) as campaign:
        assert campaign.run(num_inputs=500)
        assert [failed["number"] for failed in campaign.record.failed] == [-3]
        assert [bug.inputs for bug in campaign.bugs.all()] == [1]
        assert campaign.record.num_seeds == 2
    assert b"" in files_in(tmp_path / "out/crashes").values()
    with open_in(tmp_path / "again", target, seeds=[b"abc", b""]) as campaign:
        assert campaign.run(num_inputs=100)
        assert [failed["number"] for failed in campaign.record.failed] == [-1]


def test_a_target_that_writes_anywhere_is_fuzzed_and_two_workers_find_what_one_finds(
    wild, tmp_path
):
    ends = []
    for workers in (1, 2):
        out, seeds = tmp_path / str(workers), [b"n1", b"?y", b"nn"]
        ends.append(run_in(out, wild, 8000, seeds=seeds, workers=workers))
    assert_same(*ends)
    assert {"abort", "exit", "SEGV"} <= {kind for kind, _, _ in ends[0].bugs}


ZEROS = [bytes(size) for size in (1, 4, 16, 64, 256)]


def test_a_target_that_fails_on_all_seeds_is_fuzzed_from_zeros(stairs, tmp_path):
    always = [b"abc%04d\xff" % i for i in range(40)]  # more than a portion
    ends = []
    for workers in (1, 2):
        with open_in(tmp_path / str(workers), stairs, seeds=always, workers=workers) as campaign:
            assert campaign.run(num_inputs=1000)
            assert corpus_of(campaign)[:5] == ZEROS
            assert len(campaign.record.failed) >= 40
            assert (
                "could start from none of 40 seeds, so it began with zeros"
                in (notes_of(campaign)[0])
            )
            ends.append(end_of(campaign))
    assert_same(*ends)


@pytest.mark.parametrize("seeds", [[], [b"a", b"bc"]])
def test_a_target_that_fails_on_short_inputs_is_fuzzed(clang, tmp_path, seeds):
    target = compile_target(
        clang,
        tmp_path,
        "long",
        f"{TEST}{{ if (size < 16) abort(); n += data[0] > 9; return 0; }}\n",
        "-fsanitize=fuzzer-no-link",
    )
    with open_in(tmp_path / "out", target, seeds=seeds) as campaign:
        assert campaign.run(num_inputs=500)
        assert campaign.record.num_run == 500
        assert corpus_of(campaign)[:3] == ZEROS[2:]
        assert [bug.kind for bug in campaign.bugs.all()] == ["abort"]


def test_a_target_that_always_fails(clang, tmp_path):
    source = f"{TEST}{{ if (n < 9) abort(); return n; }}\n"
    target = compile_target(clang, tmp_path, "never", source, "-fsanitize=fuzzer-no-link")
    for _ in range(2):  # and says so again
        with (
            open_in(tmp_path / "out", target, seeds=[b"a", b"b"]) as campaign,
            pytest.raises(NoUsableSeed, match="never fails on all 2 seeds and on inputs of zeros"),
        ):
            campaign.run(num_inputs=100)
        numbers = [-3, -2, -1, *range(-8, -3)]  # the empty input, the seeds, zeros
        assert sorted(failed["number"] for failed in campaign.record.failed) == sorted(numbers)
        (bug,) = campaign.bugs.known
        assert (bug.kind, bug.inputs) == ("abort", 8)


def test_seeds_that_leave_nothing_to_change_are_told(stairs, tmp_path):
    """Before there is a folder."""
    words = "the first 12 bytes are to stay, the longest seed has 12"
    with pytest.raises(InputError, match=words):
        open_in(tmp_path / "12", stairs, keep=12)
    assert not (tmp_path / "12").exists()
    with open_in(tmp_path / "11", stairs, keep=11) as campaign:
        campaign.run(num_inputs=500)
        assert all(x.startswith(b"abcdefghijk") or x in SEEDS for x in corpus_of(campaign))


def corpus_of(campaign: Campaign) -> list[bytes]:
    return [campaign.engine.input(i) for i in range(campaign.engine.num_inputs)]


def test_seeds_that_cover_nothing_are_mutated_all_the_same(clang, tmp_path):
    """A target may ask to forget an input; here it wants a letter in its place first."""
    source = f"{TEST}{{ if (size < 2 || data[1] != 'k') return -1; n += data[0] > 9; return 0; }}\n"
    target = compile_target(clang, tmp_path, "shy", source, "-fsanitize=fuzzer-no-link")
    with open_in(tmp_path / "out", target, seeds=[b"abc"]) as campaign:
        assert campaign.run(num_inputs=3000)
        assert campaign.record.now.edges > 1


def test_finds_are_traced_beside_the_next_epoch(secrets, tmp_path):
    """Until then an input counts as dear as the one that it came from."""
    costs: list[dict[str, int]] = []

    def look(campaign):
        found = [f for row in campaign.journal.rows for f in row["found"]]
        engine = campaign.engine
        costs.append({f["input"]: engine.cost(place) for place, f in enumerate(found)})

    with open_in(tmp_path, secrets) as campaign:
        campaign.run(num_inputs=1000, on_epoch=look)
        found = [f for row in campaign.journal.rows for f in row["found"]]
        names = [f["input"] for f in found]
        inputs = [campaign.engine.input(place) for place in range(len(names))]
        traced = [record.cost for record in campaign.executor.trace(inputs)]
    at_last = dict(zip(names, traced, strict=True))
    assert len(costs) > 4 and len(costs[-1]) > len(costs[0])
    for before, now in pairwise(costs):
        assert before.keys() <= now.keys()
        assert all(now[name] == at_last[name] for name in before)
    parents = {f["input"]: f.get("from") for f in found}
    new = [name for name in costs[1] if name not in costs[0]]
    assert [costs[1][name] for name in new] == [costs[0][parents[name]] for name in new]


def test_compares_solve_what_chance_does_not(secrets, tmp_path):
    """Eight branches behind values of four bytes and more, and behind words."""
    found = {}
    for name, guides in (
        ("all", ALL_GUIDES),
        ("no", ALL_GUIDES & ~(Guide.COMPARES | Guide.TOKENS)),
    ):
        out, seeds = tmp_path / name, [b"0123456789" * 3]
        with open_in(out, secrets, seeds=seeds, guides=guides) as campaign:
            campaign.run(num_inputs=6000)
            found[name] = campaign.record.now.edges - campaign.record.edges_after(0)
    assert found["all"] >= 8 > 3 >= found["no"]


@pytest.mark.parametrize(("share", "kinds"), [(0.0, ["branching"]), (1.0, ["branching", "hidden"])])
def test_faults_that_do_not_crash_are_found_with_sanitizers(quiet, tmp_path, share, kinds):
    """What covers something new always runs with them; what does not, if its turn comes."""
    with open_in(tmp_path, quiet, seeds=[b"abcd0123"], sanitized_share=share) as campaign:
        assert campaign.run(num_inputs=1500)
        bugs = campaign.bugs.all()
    assert sorted(bug.top[0].function for bug in bugs) == kinds
    assert {bug.kind for bug in bugs} == {"heap-buffer-overflow"}
    lines = Path(str(quiet.source), "quiet.c").read_text().splitlines()
    assert all("return block[" in lines[bug.top[0].line - 1] for bug in bugs)


def test_finds_of_the_last_epoch_run_with_sanitizers_too(quiet, tmp_path):
    """Where it ends, how often it was stopped before, and the number of workers do not matter."""
    options = {"seeds": [b"abcd0123"], "sanitized_share": 0.0}
    once = run_in(tmp_path / "once", quiet, 1500, **options)
    first = next(row["failed"][0]["number"] for row in told_in(once.out) if row.get("failed"))
    out = tmp_path / "early"
    early = run_in(out, quiet, first + 1, workers=1, **options)
    assert [kind for kind, _, _ in early.bugs] == ["heap-buffer-overflow"]
    last = told_in(out)[-1]
    assert last["is_partial"] and last["failed"] and not last["found"]
    for stop in (first + 1, first + 200):
        assert run_in(out, quiet, stop, **options).bugs == early.bugs
    assert_same(run_in(out, quiet, 1500, **options), once)


def test_mutants_that_seem_to_hang_take_a_share_of_the_time():
    assert (records.FREE_SLOW, records.SLOW_SHARE) == (4, 0.05)
    hang = records.COST_OF_HANG
    assert hang == 1 << 28  # as the worker counts it
    for num_slow, cost, skips in (
        (0, 0, False),
        (4, 0, False),
        (5, 0, True),
        (5, 99 * hang, True),
        (5, 101 * hang, False),
        (9, 101 * hang, True),
    ):
        assert Record(1, num_slow=num_slow, cost=cost).skips_slow == skips


def test_without_a_build_with_sanitizers_there_is_no_share(stairs, quiet, tmp_path):
    for target, share in ((stairs, 0), (quiet, 0.02)):
        with open_in(tmp_path / target.name, target) as campaign:
            assert campaign.settings["sanitized_share"] == share


def test_seeds_of_all_kinds(tmp_path):
    with pytest.raises(InputError, match=r"no seeds in .*none; check the path"):
        read_seeds(tmp_path / "none", max_len=100)
    with pytest.raises(InputError, match="it is empty; put at least one"):
        read_seeds(tmp_path, max_len=100)
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(InputError, match="it has only empty files"):
        read_seeds(tmp_path, max_len=100)
    with (tmp_path / "big").open("wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b").write_bytes(b"seed")
    found = read_seeds(tmp_path, max_len=1 << 20)
    assert found.inputs == [b"", b"seed"]
    assert sorted(found.notes) == [
        "left out 1 of the seeds (No such file or directory): gone",
        "left out 1 of the seeds (longer than 1048576 bytes): big",
    ]
    assert read_seeds(tmp_path / "deep" / "b", max_len=100).inputs == [b"seed"]
    with pytest.raises(InputError, match=r"longer than 3 bytes\): b;"):
        read_seeds(tmp_path / "deep", max_len=3)


def test_the_journal_is_lines_of_json(whole):
    rows = [json.loads(x) for x in (whole.out / "journal.jsonl").read_text().splitlines()]
    assert sum(row["target_seconds"] for row in rows[2:]) > 0
    seconds = [row["seconds"] for row in rows[1:]]
    assert seconds == sorted(seconds)


def test_mutants_that_are_cut_short_are_the_same_with_any_number_of_workers(heavy, tmp_path):
    """Most mutants of these seeds cost far more than the seeds."""
    how = {"seeds": [b"\0abcd", b"\1abcd"], "num_inputs": 1500, "timeout": 0.1}
    ends = [run_in(tmp_path / f"{n}", heavy, workers=n, **how) for n in (1, 2)]
    assert_same(*ends)
    with open_in(tmp_path / "1", heavy, **{k: how[k] for k in ("seeds", "timeout")}) as campaign:
        by_epoch = [row.get("num_cut", 0) for row in campaign.journal.rows]
        assert campaign.record.num_cut == sum(by_epoch) > 100
        assert by_epoch[:2] == [0, 0]  # at first it is not known what mutants cost


def test_what_a_killed_process_has_not_finished_is_removed(stairs, tmp_path):
    left = [tmp_path / folder / ".abc.1.writing" for folder in ("corpus", "crashes")]
    run_in(tmp_path, stairs, num_inputs=64)
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half of")
    open_in(tmp_path, stairs).__exit__()
    assert not any(path.exists() for path in left)
