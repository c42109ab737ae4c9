"""Three ledgers that use every command."""

import sys
from pathlib import Path

seeds = {
    "plain": "open rent\nopen food\nadd rent 700\nadd food 12\nadd food 8\ntotal food\n"
    "close cash\n",
    "tree": "open all\nopen food\nopen fruit\nunder food all\nunder fruit food\nadd fruit 3\n"
    "total fruit\ntotal all\n",
    "undone": "open a\nuse a\npay 10\nundo\nclose a\nopen b\nuse b\npay 5\nagain 2\n",
}
for name, text in seeds.items():
    (Path(sys.argv[1]) / name).write_text(text)
