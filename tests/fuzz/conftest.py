"""One of everything, made once."""

import pytest

from . import cases, made


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A folder with one of everything that Aliquot reads."""
    folder = tmp_path_factory.mktemp("whole")
    made.make(folder)
    cases.stays(folder / "stays.npz")
    return folder
