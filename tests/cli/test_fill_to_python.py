"""`aloex fill --save-program FILE.py`: the program as Python code."""

from commands import aloex, assert_mistakes_are_one_line
from exported_programs import names_of

TABLE = "name,Short name\nAda Lovelace,Lovelace\nAlan Turing,Turing\nKurt Gödel,\n"


def test_a_program_is_saved_as_python_code(tmp_path):
    (tmp_path / "names.csv").write_text(TABLE)
    done = aloex("fill", "names.csv", "--save-program", "new/Short.PY", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    source = (tmp_path / "new" / "Short.PY").read_text("utf-8")
    assert source.startswith("def short_name(name: str) -> str | None:")
    assert names_of(source)["short_name"]("Emmy Noether") == "Noether"
    words = "Short.PY is Python code, to be used from Python; `aloex fill apply` needs the JSON"
    mistakes = {("apply", "new/Short.PY", "names.csv"): words}
    assert_mistakes_are_one_line(("fill",), mistakes, tmp_path)
