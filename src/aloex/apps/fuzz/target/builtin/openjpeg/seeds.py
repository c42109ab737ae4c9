"""Seeds for OpenJPEG: small test frames, compressed with options of every kind, as J2K and JP2."""

import sys
import tempfile
from pathlib import Path

from aloex.apps.fuzz.tools import run_tool

FRAMES = {  # name: ffmpeg's source, pixel format, file ending
    "colour": ("testsrc2=size=48x32", "rgb24", "ppm"),
    "grey": ("testsrc=size=40x40", "gray", "pgm"),
    "smooth": ("nullsrc=size=57x41,geq=r=4*X:g=6*Y:b=X+Y", "rgb24", "ppm"),
}
OPTIONS = {
    "plain": "",
    "lossy": "-r 20,10,1",
    "irreversible": "-I -r 10",
    "quality": "-q 30,40,50",
    "levels": "-n 2",
    "one_level": "-n 1",
    "tiles": "-t 16,16 -n 4",
    "tile_parts": "-t 16,16 -n 3 -TP R",
    "rlcp": "-p RLCP",
    "rpcl": "-p RPCL",
    "pcrl": "-p PCRL",
    "cprl": "-p CPRL -n 3",
    "precincts": "-c [16,16],[8,8] -n 3",
    "blocks": "-b 8,8",
    "markers": "-SOP -EPH",
    "bypass": "-M 1",
    "all_modes": "-M 63",
    "region": "-ROI c=0,U=5",
    "offset": "-d 3,5 -T 1,2 -t 20,20 -n 3",
    "guard": "-PLT -TLM",
}


def main(out: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        images = {}
        for name, (source, pixels, ending) in FRAMES.items():
            images[name] = f"{folder}/{name}.{ending}"
            quiet = ["-loglevel", "error", "-bitexact"]
            run_tool(["ffmpeg", *quiet, "-f", "lavfi", "-i", source, "-frames:v", "1",
                "-pix_fmt", pixels, "-update", "1", images[name]])  # fmt: skip
        for i, (option, words) in enumerate(OPTIONS.items()):
            for j, (name, image) in enumerate(images.items()):
                if j < 2 or option in ("plain", "lossy", "tiles", "blocks"):
                    ending = "j2k" if (i + j) % 2 else "jp2"
                    run_tool(["opj_compress", "-i", image, "-o", out / f"{name}_{option}.{ending}",
                              *words.split()])  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
