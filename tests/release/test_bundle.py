"""The folder of a release: on disk before it appears, and the same results when it is read."""

import dataclasses
import os
from pathlib import Path

import pytest

from aliquot.release.bundle import CHECKED, read_release, write_release


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_a_release_is_on_disk_before_it_appears(two_classes, tmp_path, monkeypatch):
    folder, synced = tmp_path / "release", []

    def fsync(number):
        synced.append((Path(f"/proc/self/fd/{number}").readlink(), folder.exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    write_release(two_classes, folder)
    before = {path.name for path, there in synced if not there}
    assert {*CHECKED, "croissant.json"} < before
    assert any(name.endswith(".draft") for name in before)  # the folder itself
    assert synced[-1] == (tmp_path, True)


def test_results_are_read_as_they_were_written(two_classes, tmp_path):
    release = read_release(write_release(two_classes, tmp_path / "release"))
    assert release.results == two_classes.results
    assert release.metrics == two_classes.metrics


def test_metrics_are_the_documented_dictionary_and_cannot_be_replaced(two_classes):
    assert (
        two_classes.metrics["held_out"]["aliquot"]["auprc"]["mean"] == two_classes.results.held_out.aliquot.auprc.mean
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        two_classes.metrics = {}
