"""What each fault is that the page on planted bugs tells of, in words, by target."""

from collections.abc import Mapping

Faults = Mapping[str, Mapping[str, str]]

WRITES, READS, FREED = "writes past the heap", "reads past the heap", "use after free"

PLANTED: Faults = {
    "tiles": {
        "histogram": f"{WRITES}: a histogram has more entries than there are colours",
        "keyword": f"{READS}: a keyword of 40 bytes leaves no room for its closing zero",
        "run": f"{WRITES}: a run is not cut off at the last pixel if a pixel has 4 bits",
        "interlaced": f"{READS}: a line beyond the last, in interlaced images of even height",
    },
    "ledger": {
        "current": f"{FREED}: the account in use is closed, then paid into",
        "undone": f"{FREED}: an account is closed, then its last entry is undone or repeated",
        "parent": f"{FREED}: an account is closed though another one was moved under it",
        "again": f"{FREED}: an entry is repeated until the list of entries has to move",
    },
    "vault": {
        "signature": f"{WRITES}: behind a magic value of 8 bytes",
        "rollover": f"{READS}: behind a magic value of 4 bytes and the word `rollover`",
        "transpose": f"{READS}: behind the word `transpose` and a number",
        "nibbles": f"{WRITES}: behind the words `packing` and `nibbles`",
    },
    "parcel": {
        "fragment": f"{WRITES}: a later part names a larger whole than the first part",
        "list": f"{READS}: an item is longer than what is left",
        "received": f"{WRITES}: the size of a bit map is rounded down",
    },
    "mesh": {
        "vertices": f"{WRITES}: number times size wraps at 32 bits",
        "faces": f"{WRITES}: the size of the list is cut off to 16 bits",
        "texture": "width times height times 4 exceeds a signed integer; no memory is harmed",
        "name": "reads far away: begin plus length wraps at 32 bits",
    },
}
OLD: Faults = {
    "cares": {
        "CVE-2016-5180": f"{WRITES}: a name that ends in an escaped dot is made into a query",
        "CVE-2017-1000381": f"{READS}: a reply with a damaged NAPTR record is read",
    }
}
