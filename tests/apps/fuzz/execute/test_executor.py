"""The executor: coverage is libFuzzer's, verdicts are right, neighbours are not disturbed."""

import dataclasses
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from aloex.apps.fuzz.execute import Executor
from aloex.apps.fuzz.inputs import ExitStatus, Inputs, Outcomes
from aloex.apps.fuzz.target import Target
from aloex.base.errors import AloexError, InputError

FAILING = {
    b"s": (ExitStatus.CRASH, signal.SIGSEGV),
    b"a": (ExitStatus.CRASH, signal.SIGABRT),
    b"r": (ExitStatus.CRASH, signal.SIGSEGV),  # the stack overflows
    b"e": (ExitStatus.CRASH, 0),  # it calls exit
    b"h": (ExitStatus.HANG, 0),
    b"z": (ExitStatus.HANG, 0),
    b"o": (ExitStatus.OOM, 0),
    b"b": (ExitStatus.OOM, 0),
    b"k": (ExitStatus.OOM, signal.SIGKILL),  # as the kernel does when memory runs out
}


def random_inputs(n: int, letters: bytes, seed: int = 0) -> list[bytes]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 12, size=n) ** 2
    return [bytes(rng.choice(list(letters), size=k).astype(np.uint8)) for k in lengths]


def cov(fuzzer: Path | None, folder: Path) -> int:
    """libFuzzer's count of edges for the files in a folder."""
    command = [str(fuzzer), "-runs=0", "-max_len=1000000", str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stderr
    return int(re.findall(r"DONE +cov: (\d+)", said)[-1])


def assert_same(a: Outcomes, b: Outcomes) -> None:
    for field in dataclasses.fields(Outcomes):
        x, y = getattr(a, field.name), getattr(b, field.name)
        assert np.array_equal(x, y), field.name


def write_all(folder: Path, inputs: list[bytes]) -> Path:
    for i, x in enumerate(inputs):
        (folder / f"{i:05}").write_bytes(x)
    return folder


def test_edges_are_those_of_libfuzzer(tiny, tmp_path):
    inputs = [*random_inputs(600, b"nlALOEX-m"), b"nALOEX"]
    with Executor(tiny) as executor:
        executor.run(inputs)
        assert executor.edges == cov(tiny.fuzzer, write_all(tmp_path, inputs))
        assert executor.edges > 8


def test_a_libfuzzer_binary_runs_like_the_library(tiny):
    inputs = [*random_inputs(600, b"nlALOEX-m"), b"s", b"o"]
    with Executor(tiny) as library, Executor(Target.load(str(tiny.fuzzer))) as binary:
        a, b = library.run(inputs, full=True), binary.run(inputs, full=True)
    assert np.array_equal(a.status, b.status)
    assert np.array_equal(a.features, b.features)


def test_what_is_new_is_decided_in_the_order_of_the_inputs(tiny):
    inputs = random_inputs(1500, b"nlALOEX-")
    with Executor(tiny, workers=2) as executor:
        first, second = executor.run(inputs[:700]), executor.run(inputs[700:])
        total = executor.edges, executor.features
    with Executor(tiny, workers=2) as executor:
        full = executor.run(inputs, full=True)
    seen, edges = set(), set()
    new_features, new_edges = [], []
    for i in range(len(inputs)):
        features = set(full.features_of(i).tolist())
        assert len(features) == full.num_edges[i]
        hit = {feature // 8 for feature in features}
        new_features.append(features - seen)
        new_edges.append(len(hit - edges))
        seen |= features
        edges |= hit
    assert total == (len(edges), len(seen))
    assert np.array_equal(full.new_edges, new_edges)
    assert np.array_equal(np.concatenate([first.new_edges, second.new_edges]), new_edges)
    for i, expected in enumerate(new_features):
        outcomes, j = (first, i) if i < 700 else (second, i - 700)
        assert set(outcomes.features_of(j).tolist()) == expected


def test_number_of_workers_does_not_matter(tiny):
    inputs = random_inputs(2600, b"nlALOEX-msao")
    outcomes = []
    for workers in (1, 3):
        with Executor(tiny, workers=workers, memory_mb=64) as executor:
            outcomes.append(executor.run(inputs))
    assert len(outcomes[0].failures) > 10
    assert_same(*outcomes)


def test_buckets_are_those_of_libfuzzer(tiny):
    counts = [1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 127, 128, 255, 256, 257]
    with Executor(tiny) as executor:
        outcomes = executor.run([b"l" + b"x" * (n + 1) for n in counts], full=True)
    features = [set(outcomes.features_of(i).tolist()) for i in range(len(counts))]
    expected = [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, None, 0]  # at 256 a counter is 0 again
    back = [  # the edge from the loop's end to its start
        edge
        for edge in range(len(executor.seen))
        if all(
            {f % 8 for f in found if f // 8 == edge} == (set() if b is None else {b})
            for found, b in zip(features, expected, strict=True)
        )
    ]
    assert len(back) == 1


def test_verdicts_and_their_neighbours(tiny):
    good = random_inputs(60, b"nlALOEX")
    with Executor(tiny, workers=1) as executor:
        alone = executor.run(good, full=True)
    mixed = [x for i, x in enumerate(good) for x in (x, *list(FAILING)[i : i + 1])]
    with Executor(tiny, workers=1, timeout=0.5, memory_mb=48) as executor:
        outcomes = executor.run(mixed, full=True)
        assert executor.edges == len(np.unique(alone.features // 8))  # failures do not count
    assert len(outcomes.failures) == len(FAILING)
    for failure in outcomes.failures:
        assert (failure.status, failure.signal) == FAILING[mixed[failure.index]]
        assert outcomes.new_edges[failure.index] == 0
        if failure.signal != signal.SIGKILL:
            assert len(failure.frames) > 0
            assert len(outcomes.edges_of(failure.index)) == outcomes.num_edges[failure.index] > 0
    well = np.flatnonzero(outcomes.status == ExitStatus.OK)
    assert [mixed[i] for i in well] == good
    for i, j in enumerate(well):
        assert np.array_equal(alone.features_of(i), outcomes.features_of(int(j)))


def test_what_a_failing_input_covers_is_still_new(tiny):
    with Executor(tiny) as executor:
        alone = executor.run([b"f??"])
    with Executor(tiny) as executor:
        after = executor.run([b"f?!", b"f??", b"f?!", b"f??"])
    assert after.new_edges.tolist() == [0, alone.new_edges[0], 0, 0]
    assert np.array_equal(after.features_of(1), alone.features_of(0))


def test_an_input_does_not_pay_for_those_before_it(tiny):
    """Each leaks a little; together they pass the limit, but none does alone."""
    with Executor(tiny, workers=1, memory_mb=48) as executor:
        assert not executor.run([b"m"] * 300).status.any()


def slow(n: int) -> list[bytes]:
    return [b"w" + bytes([i % 256]) * (i % 5) for i in range(n)]  # a millisecond each


def child_of(pid: int) -> int:
    while not (said := Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        time.sleep(0.001)
    return int(said[0])


@pytest.mark.parametrize("whom", [lambda pid: pid, child_of], ids=["worker", "child"])
def test_a_killed_process_loses_nothing(tiny, whom):
    inputs = slow(1200)
    with Executor(tiny, workers=2) as executor:
        executor.run(inputs[:2])
        victim = executor.workers.all[0].process.pid
        timer = threading.Timer(0.2, lambda: os.kill(whom(victim), signal.SIGKILL))
        timer.start()
        outcomes = executor.run(inputs, full=True)
        timer.join()
    with Executor(tiny, workers=2) as executor:
        executor.run(inputs[:2])
        assert_same(outcomes, executor.run(inputs, full=True))


def test_workers_that_keep_dying_are_an_error_not_a_loop(tiny):
    stop = threading.Event()

    def kill_all() -> None:
        while not stop.wait(0.02):
            for worker in list(executor.workers.all):
                worker.process.kill()

    with Executor(tiny, workers=1) as executor:
        killer = threading.Thread(target=kill_all)
        killer.start()
        with pytest.raises(AloexError):
            executor.run(slow(500))
        stop.set()
        killer.join()
        assert not executor.run([b"n"]).status.any()  # and it can go on


def test_processes_end_with_the_executor(tiny):
    with Executor(tiny, workers=2) as executor:
        executor.run(slow(20))
        processes = [worker.process for worker in executor.workers.all]
    assert all(process.poll() is not None for process in processes)


def test_processes_end_with_python(tiny):
    """Even if it is killed in the middle of a batch."""
    program = (
        "from pathlib import Path; import sys\n"
        "from aloex.apps.fuzz.execute import Executor\n"
        "from aloex.apps.fuzz.target import Target\n"
        "executor = Executor(Target.load(sys.argv[1]), workers=1, timeout=1000.0)\n"
        "print(executor.workers.all[0].process.pid, flush=True)\n"
        "executor.run([b'z'])\n"
    )
    command = [sys.executable, "-c", program, str(tiny.library)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as python:
        assert python.stdout is not None
        worker = int(python.stdout.readline())
        child = child_of(worker)
        python.kill()
    deadline = time.monotonic() + 30
    while any(is_running(pid) for pid in (worker, child)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_target_that_hangs_as_it_is_loaded_ends_with_python(clang, tmp_path):
    source, library = tmp_path / "hanging.c", tmp_path / "hanging.so"
    source.write_text(
        "#include <unistd.h>\n"
        "__attribute__((constructor)) static void first(void) { sleep(1000); }\n"
        "int LLVMFuzzerTestOneInput(const char *data, long size) { return 0; }\n"
    )
    subprocess.run([clang, "-shared", "-fPIC", source, "-o", library], check=True)
    program = (
        "import sys\n"
        "from aloex.apps.fuzz.execute import Executor\n"
        "from aloex.apps.fuzz.target import Target\n"
        "target = Target.load(sys.argv[1])\n"
        "print('ready', flush=True)\n"
        "Executor(target, workers=1)\n"
    )
    command = [sys.executable, "-c", program, str(library)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as python:
        assert python.stdout is not None and python.stdout.readline() == "ready\n"
        worker = child_of(python.pid)
        while str(library) not in Path(f"/proc/{worker}/maps").read_text():
            time.sleep(0.001)
        assert is_running(worker)
        python.kill()
    deadline = time.monotonic() + 30
    while is_running(worker):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_inputs_in_one_buffer(tiny):
    inputs = random_inputs(700, b"nlALOEX")
    data = np.frombuffer(b"".join(inputs), np.uint8)
    bounds = np.cumsum([0, *map(len, inputs)])
    with Executor(tiny) as a, Executor(tiny) as b:
        assert_same(a.run(inputs), b.run(Inputs(data, bounds)))
        assert len(a.run([]).status) == 0
        with pytest.raises(InputError, match="beyond the data"):
            a.run(Inputs(data[:-1], bounds))
        with pytest.raises(InputError, match="ascending"):
            a.run(Inputs(data, bounds[::-1]))


def test_a_run_may_be_bounded_as_a_whole(tiny):
    """However long each of its inputs may take; the next run has new workers."""
    with Executor(tiny, workers=1, timeout=1000.0) as executor:
        with pytest.raises(TimeoutError, match=r"took longer than 0\.2 seconds"):
            executor.run([b"n", b"h"], max_seconds=0.2)
        assert executor.run([b"n"], max_seconds=60.0).status.tolist() == [ExitStatus.OK]


def test_mistakes_are_told(tiny, tmp_path):
    with Executor(tiny) as executor, pytest.raises(InputError, match="got one of 16777217"):
        executor.run([bytes((16 << 20) + 1)])
    for wrong in ({"workers": 0}, {"timeout": 0.0}, {"memory_mb": 0}):
        with pytest.raises(InputError, match="got 0"):
            Executor(tiny, **wrong)
    plain = tmp_path / "plain.c"
    plain.write_text("int LLVMFuzzerTestOneInput(const char *data, long size) { return 0; }\n")
    empty = tmp_path / "empty.c"
    empty.write_text("int nothing;\n")
    for path, words in (
        (plain, "has no coverage counters; compile it with"),
        (empty, "has no function LLVMFuzzerTestOneInput"),
    ):
        library = path.with_suffix(".so")
        subprocess.run(["clang-19", "-shared", path, "-o", library], check=True)
        with pytest.raises(InputError, match=words):
            Executor(Target.load(library))
    with pytest.raises(InputError, match="no 64-bit program or shared library"):
        Executor(Target.load(plain))
    (tmp_path / "fuzzer").write_bytes(tiny.fuzzer.read_bytes())
    with pytest.raises(InputError, match="cannot be run: Permission denied"):
        Executor(Target.load(tmp_path / "fuzzer"))


def test_libpng_is_covered_as_by_libfuzzer(libpng, tmp_path):
    seeds = libpng.read_seeds()
    assert len(seeds) == 169
    rng = np.random.default_rng(0)
    inputs = []
    for i in range(400):
        x = np.frombuffer(seeds[i % len(seeds)], np.uint8).copy()
        x[rng.integers(8, len(x), size=10)] = rng.integers(256, size=10)
        inputs.append(x.tobytes())
    with Executor(libpng) as executor:
        executor.run(seeds)
        assert executor.edges == cov(libpng.fuzzer, libpng.seeds)
        executor.run(inputs)
        both = write_all(tmp_path, seeds + inputs)
        assert executor.edges == cov(libpng.fuzzer, both)
