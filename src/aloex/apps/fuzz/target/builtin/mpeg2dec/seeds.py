"""Seeds for mpeg2dec: a few small frames of ffmpeg's test pictures, encoded in many ways."""

import sys
from pathlib import Path

from aloex.apps.fuzz.tools import run_tool

SOURCES = {
    "bars": "testsrc2=size=64x48:rate=25",
    "clock": "testsrc=size=48x32:rate=25",
    "fractal": "mandelbrot=size=64x32:rate=25",
    "life": "life=size=32x32:rate=25:seed=1:mold=10",
}
OPTIONS = {
    "mpeg1": "-c:v mpeg1video",
    "mpeg1_b": "-c:v mpeg1video -bf 2",
    "plain": "",
    "intra": "-g 1",
    "b_frames": "-bf 2",
    "interlaced": "-flags +ildct+ilme -top 1",
    "alternate": "-flags +ildct+ilme -alternate_scan 1 -bf 1",
    "vlc": "-intra_vlc 1 -non_linear_quant 1 -qmax 28",
    "chroma_422": "-pix_fmt yuv422p",
    "coarse": "-q:v 31",
    "fine": "-q:v 1",
    "low_delay": "-flags +low_delay",
    "precision": "-dc 10 -q:v 3",
}


def main(out: Path) -> None:
    for name, source in SOURCES.items():
        for option, words in OPTIONS.items():
            codec = [] if "-c:v" in words else ["-c:v", "mpeg2video"]
            run_tool(
                ["ffmpeg", "-loglevel", "error", "-bitexact", "-f", "lavfi", "-i", source,
                 "-frames:v", "4", "-threads", "1", *codec, *words.split(), "-f", "rawvideo",
                 out / f"{name}_{option}.m2v"])  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
