"""kill -9 in every stage, resume, same bytes."""

import random
import signal
import subprocess
import sys
import time

import pytest

SETTINGS = [
    "network.hidden=[4]",
    "expert.count=4",
    "expert.block=2",
    "expert.epochs=3",
    "curve.steps=40",
    "curve.check_every=20",
    "match.iterations=60",
    "match.judge_every=5",
    "match.student_steps=3",
    "evaluation.full_epochs=3",
    "evaluation.final_networks=2",
    "evaluation.search_epochs=3",
]
STAGES = [
    "expert length",
    "experts",
    "curves",
    "matching",
    "matching-*.safetensors",
    "full data",
    "held-out evaluation",
]


def command(*words):
    return [sys.executable, "-m", "aliquot", *words]


def demo(out):
    changes = [word for setting in SETTINGS for word in ("--set", setting)]
    return command("demo", "--budget", "smoke", "--rows-per-class", "5", "--quiet", "--out", str(out), *changes)


def reached(folder, stage) -> bool:
    if stage.endswith(".safetensors"):
        return any((folder / "private" / "store").glob(stage))
    log = folder / "private" / "log.txt"
    return log.exists() and f" {stage} (" in log.read_text()


def kill_in(stage, words, folder, rng) -> None:
    """Run a command and kill it at a random moment soon after it has reached a stage."""
    log = folder / "private" / "log.txt"
    if log.exists():
        log.unlink()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while not reached(folder, stage):
            assert process.poll() is None, process.stderr.read().decode()
            time.sleep(0.02)
        time.sleep(rng.random() * 0.2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("stages", [["matching-*.safetensors"], pytest.param(STAGES, marks=pytest.mark.slow)])
def test_killed_and_resumed_gives_the_same_bytes(tmp_path, stages):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    subprocess.run(demo(whole), check=True, stdout=subprocess.DEVNULL)
    rng = random.Random(0)
    for number, stage in enumerate(stages):
        kill_in(stage, demo(broken) if number % 2 == 0 else command("resume", str(broken), "--quiet"), broken, rng)
        assert not (broken / "release").exists()
    subprocess.run(command("resume", str(broken), "--quiet"), check=True, stdout=subprocess.DEVNULL)
    for name in ("rows.parquet", "rows.csv", "encoder.json", "recipe.toml"):
        assert (broken / "release" / name).read_bytes() == (whole / "release" / name).read_bytes(), name
    assert sorted(path.name for path in broken.iterdir()) == ["private", "release"]
    assert not list(broken.rglob("*.draft"))


def test_interrupted_by_the_user_says_how_to_continue(tmp_path):
    out = tmp_path / "run"
    # A test run started in the background of a script ignores Ctrl-C, and its children inherit that: listen again.
    listen = "import signal, aliquot.cli as c; signal.signal(signal.SIGINT, signal.default_int_handler); c.main()"
    words = [sys.executable, "-c", listen, *demo(out)[3:]]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not reached(out, "experts"):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert said.strip().count("\n") == 0
    assert "resume" in said
    assert "Traceback" not in said
