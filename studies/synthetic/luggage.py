"""What lanes have made, packed to be carried to another machine in a few files of bounded size.

TABLE.json   the rows so far, as in the folder of results
log.txt      the end of what the lanes said, and why jobs failed
state.00 ..  runs that can be gone on with, and models whose log Z is still an estimate
"""

import io
import tarfile
from pathlib import Path
from typing import Any

from aloex.base.errors import require
from aloex.base.files import write_file
from studies import results
from studies.synthetic.jobs import JOBS, Job
from studies.synthetic.lane import Lane
from studies.synthetic.table import KEYS

PART = 15_000_000  # bytes of a file
MAX_PARTS = 4
LOG = 4000  # characters of each log
STATE = "state."


def collect(lane: Lane, out: Path, names: list[str]) -> list[str]:
    """Pack the jobs' rows, logs and state into `out`; returns a line for each job."""
    out.mkdir(parents=True, exist_ok=True)
    lines: list[str] = []
    tables: dict[str, list[dict[str, Any]]] = {}
    packed, size = io.BytesIO(), 0
    with tarfile.open(fileobj=packed, mode="w") as state:
        for job in map(lane.job, names):
            rows = lane.rows(job) if lane.rows_path(job).exists() else []
            tables.setdefault(job.table, []).extend(rows)
            said = _state_of(lane, job, len(rows))
            content = _pack(lane, job)
            if content and size + len(content) > PART * MAX_PARTS - 100_000:
                said += f"; left out: its {len(content):,} bytes are too many"
            elif content:
                size += len(content)
                _add(state, f"{job.name}.tar.gz", content)
            lines.append(f"{job.name}: {said}")
    for name, rows in tables.items():
        if rows:
            results.save(out / f"{name}.json", rows, KEYS, quiet=True)
    data = packed.getvalue() if size else b""
    for old in out.glob(f"{STATE}*"):
        old.unlink()
    for number, start in enumerate(range(0, len(data), PART)):
        write_file(out / f"{STATE}{number:02}", data[start : start + PART])
    write_file(out / "log.txt", _logs(lane.folder, lines))
    return lines


def restore(source: Path, lane: Lane) -> list[str]:
    """Put rows where results are committed and state where lanes look for it."""
    saved: list[str] = []
    for table in {job.table for job in JOBS.values()}:
        if (source / f"{table}.json").exists():
            rows = results.read(source / f"{table}.json")
            results.save(lane.committed / f"{table}.json", rows, KEYS, quiet=True)
            saved.append(f"{len(rows)} rows in {lane.committed / table}.json")
    parts = sorted(source.glob(f"{STATE}*"))
    require(bool(saved or parts), f"there is nothing in {source} that `collect` wrote")
    data = b"".join(path.read_bytes() for path in parts)
    if not data:
        return saved
    with tarfile.open(fileobj=io.BytesIO(data)) as state:
        for member in state.getmembers():
            content = state.extractfile(member)
            assert content is not None, "it holds files only"
            with tarfile.open(fileobj=content, mode="r:gz") as job:
                job.extractall(lane.folder, filter="data")
            saved.append(f"the state of {member.name.removesuffix('.tar.gz')} in {lane.folder}")
    return saved


def _state_of(lane: Lane, job: Job, num_rows: int) -> str:
    if lane.is_done(job):
        return "done, log Z exact" if lane.is_exact(job) else "done, log Z estimated"
    if (lane.folder / "failed" / f"{job.name}.txt").exists():
        return "failed"
    run = lane.run_path(job) / "run" / "metrics.jsonl"
    if not run.exists() or not run.read_text():
        return "not begun"
    last = run.read_text().splitlines()[-1]
    return f"{num_rows} of {len(job.problems)} rows; {last[: last.find(',')]}}}"


def _pack(lane: Lane, job: Job) -> bytes:
    """What a later lane needs of a job: its models until log Z is exact, or its last checkpoint."""
    if not job.travels or lane.is_exact(job) or (lane.is_done(job) and not job.exact):
        return b""
    models = lane.models(job)
    paths = [p for m in models for p in (m, m.with_suffix(".json")) if p.exists()]
    if not models:
        paths = _unfinished(lane.run_path(job) / "run")
    if lane.rows_path(job).exists():
        paths.append(lane.rows_path(job))
    if not paths:
        return b""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        for path in paths:
            archive.add(path, path.relative_to(lane.folder))
    return packed.getvalue()


def _unfinished(run: Path) -> list[Path]:
    """The files from which a run goes on; none if it has saved nothing."""
    checkpoints = sorted(p for p in run.glob("checkpoints/*") if p.name.isdigit())
    if not checkpoints:
        return []
    files = [run / name for name in ("config.json", "run.json", "metrics.jsonl")]
    return [*files, *sorted(checkpoints[-1].iterdir())]


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _logs(folder: Path, lines: list[str]) -> str:
    paths = [*sorted(folder.glob("*.log")), *sorted(folder.glob("failed/*.txt"))]
    parts = [f"== {path.name}\n{path.read_text(errors='replace')[-LOG:]}" for path in paths]
    return "\n".join([*lines, *parts]) + "\n"
