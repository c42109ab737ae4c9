"""What to do when the compiler or the linker misses a file, or finds something twice."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from aloex.apps.fuzz.target.compile import PACKAGES
from aloex.apps.fuzz.tools import ToolError

LIBRARY = re.compile(r"cannot find -l(\S+?)(?::|\s|$)|unable to find library -l(\S+)")
HEADER = re.compile(r"(\S+?):\d+:\d+: fatal error: '([^']+)' file not found")
HARNESS = "undefined reference to `LLVMFuzzerTestOneInput'"
TWICE = re.compile(
    r"([^\s:]+):\d+: multiple definition of `([^']+)'; \S*?([^\s:]+):\d+: first defined here"
)
UNDEFINED = re.compile(r"undefined (?:reference to `|symbol: )([^'\s]+)")
RUNTIME = re.compile(r"cannot find \S*libclang_rt\.")

# Debian's package with the header and the library for the linker, where its name is no guess.
LIBRARIES = {
    "archive": "libarchive-dev",
    "bz2": "libbz2-dev",
    "crypto": "libssl-dev",
    "curl": "libcurl4-openssl-dev",
    "expat": "libexpat1-dev",
    "jpeg": "libjpeg-dev",
    "lzma": "liblzma-dev",
    "pcap": "libpcap-dev",
    "png": "libpng-dev",
    "sqlite3": "libsqlite3-dev",
    "ssl": "libssl-dev",
    "stdc++": "g++",
    "tiff": "libtiff-dev",
    "xml2": "libxml2-dev",
    "yaml": "libyaml-dev",
    "z": "zlib1g-dev",
    "zstd": "libzstd-dev",
}
HEADERS = {
    "archive.h": "libarchive-dev",
    "bzlib.h": "libbz2-dev",
    "curl/curl.h": "libcurl4-openssl-dev",
    "expat.h": "libexpat1-dev",
    "jpeglib.h": "libjpeg-dev",
    "libxml/parser.h": "libxml2-dev",
    "lzma.h": "liblzma-dev",
    "openssl/ssl.h": "libssl-dev",
    "pcap.h": "libpcap-dev",
    "png.h": "libpng-dev",
    "sqlite3.h": "libsqlite3-dev",
    "tiffio.h": "libtiff-dev",
    "yaml.h": "libyaml-dev",
    "zlib.h": "zlib1g-dev",
    "zstd.h": "libzstd-dev",
}
SYMBOLS = {  # how the functions of a library begin, or are called, by the library's name
    "archive": r"archive_",
    "bz2": r"BZ2_",
    "crypto": r"(EVP|BN|RSA|EC|X509|ASN1|BIO|ERR|PEM|RAND|HMAC|AES|MD5|SHA\d+)_|d2i_|i2d_",
    "curl": r"curl_",
    "expat": r"XML_",
    "jpeg": r"jpeg_",
    "lzma": r"lzma_",
    "m": r"(a?(sin|cos|tan)h?|atan2|sqrt|cbrt|pow|exp2?|expm1|log(2|10|1p)?|fmod|floor|ceil"
    r"|l?l?round|trunc|rint|hypot|ldexp|frexp|erf|tgamma|lgamma)[fl]?$",
    "pcap": r"pcap_",
    "png": r"png_",
    "sqlite3": r"sqlite3_",
    "ssl": r"SSL_|TLS_",
    "tiff": r"TIFF",
    "xml2": r"xml[A-Z]|html[A-Z]",
    "yaml": r"yaml_",
    "z": r"(crc32|adler32)(_z|_combine\w*)?$|(inflate|deflate)([A-Z]\w*_?)?$|(un)?compress2?$"
    r"|compressBound$|gz[a-z]+(64)?$|zlibVersion$",
    "zstd": r"ZSTD_",
}


@contextmanager
def explained(name: str, log: Path, tree: Path | None) -> Generator[None]:
    """If a target cannot be built for want of a file, say which and where it is from.

    Args:
        name: of the target.
        log: the log of its build.
        tree: the source tree of a recipe, in which headers are looked for.
    """
    try:
        yield
    except ToolError as error:
        message = what_is_missing(str(error), tree)
        if message is None:
            raise
        raise ToolError(f"{name} needs {message} (all output: {log})") from None


def what_is_missing(message: str, tree: Path | None) -> str | None:
    """What a message of the compiler or linker asks for, and how to get it."""
    if RUNTIME.search(message):
        return f"clang's runtime libraries; install them: apt-get install {PACKAGES}"
    if HARNESS in message:
        return (
            "a file that defines LLVMFuzzerTestOneInput: name it with --harness (harness in "
            'target.toml); in C++ it must be declared extern "C"'
        )
    if found := TWICE.search(message):
        second, name, first = Path(found[1]), found[2], Path(found[3])
        advice = "leave one out"
        if tree and second.is_relative_to(tree):
            advice += f': sources = [..., "!{second.relative_to(tree)}"]'
        return f"one {name}, but both {first.name} and {second.name} define it; {advice}"
    if found := UNDEFINED.search(message):
        return defining(found[1])
    if found := LIBRARY.search(message):
        library = found[1] or found[2]
        package = LIBRARIES.get(library)
        how = package or f"lib{library}-dev, or whichever package has lib{library}.so"
        return f"the library {library}: -l{library} cannot be found; apt-get install {how}"
    if found := HEADER.search(message):
        path, header = found.groups()
        missing = f"the header {header}, which {Path(path).name} includes and which cannot be found"
        if tree and (advice := header_in(tree, header)):
            return f"{missing}; {advice}"
        package = HEADERS.get(header)
        how = f"apt-get install {package}" if package else "install the package that has it"
        return f"{missing}; {how}, or name its folder: --include FOLDER (include in target.toml)"
    return None


def defining(symbol: str) -> str:
    """What to do about a function that no file defines."""
    library = next((name for name, begin in SYMBOLS.items() if re.match(begin, symbol)), None)
    if library is None:
        return (
            f"{symbol}, which no file defines: name the file that does with --sources (sources in "
            "target.toml), or the library that has it with --library (libraries)"
        )
    how = f'--library {library} (libraries = ["{library}"] in target.toml)'
    return f"{symbol}, which is in the library {library}: {how}"


def header_in(tree: Path, header: str) -> str | None:
    """What to do about a header that lies in the source tree, or is made from a file there."""
    # A template comes first: what lies elsewhere may be for another system.
    for path in sorted(tree.rglob(f"{Path(header).name}.*")):
        if path.suffix in (".in", ".cmake"):
            return (
                f"it is made from {path.relative_to(tree)}: name the commands that make it "
                "(configure in target.toml), then its folder (include)"
            )
    for path in sorted(tree.rglob(Path(header).name)):
        folder = str(path).removesuffix(f"/{header}")
        if folder != str(path):
            return f"name its folder: include = [{json.dumps(str(Path(folder).relative_to(tree)))}]"
    return None
