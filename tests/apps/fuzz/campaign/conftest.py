from pathlib import Path

import pytest

from campaigns import End, run_in


@pytest.fixture(scope="session")
def whole(stairs, tmp_path_factory) -> End:
    """A campaign that nothing disturbed."""
    return run_in(Path(tmp_path_factory.mktemp("whole")), stairs)
