"""Sweeps, their files and pictures."""
import csv
import io
import os
import signal
import threading

import numpy as np
import pytest

import ropescope as rs

CONFIG = {
    "model": "llama-2-7b",
    "methods": ["rope", {"name": "pi", "factor": 4}],
    "lengths": [64, 256],
    "metrics": ["entropy", "decay"],
}


@pytest.fixture(scope="module")
def results():
    return rs.run(CONFIG)


def test_a_sweep_in_memory_touches_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rs.run(CONFIG)
    assert os.listdir(tmp_path) == []


def test_files_are_those_of_a_folder(results, tmp_path):
    on_disk = rs.run(CONFIG, directory=tmp_path / "out", threads=1)
    for name in ("summary.csv", "decay.csv", "config.yaml"):
        assert results.file(name) == (tmp_path / "out" / name).read_bytes() == on_disk.file(name)
    again = rs.results(tmp_path / "out")
    assert again.files == on_disk.files


def test_columns_are_the_csvs(results):
    rows = list(csv.DictReader(io.StringIO(results.file("summary.csv").decode())))
    frame = results.frame("summary")
    assert [c.name for c in frame.columns] == list(rows[0])
    np.testing.assert_array_equal(frame["entropy_nats"], [float(row["entropy_nats"]) for row in rows])
    assert frame["method"].tolist() == [row["method"] for row in rows]
    units = {c.name: c.unit for c in frame.columns}
    assert units["entropy_nats"] == "nats"


def test_columns_of_integers_are_integers(tmp_path):
    """In every file: the library says which columns hold integers; a field that is empty makes them floats."""
    metrics = ["entropy", "decay", "frequencies", "score_by_distance", "argmax_distance", "ood_angles", "pair_norms"]
    metrics += ["top_mass"]
    methods = ["rope", {"name": "pi", "factor": [2, 4]}, {"name": "self_extend", "group": [4, 8]}]
    results = rs.run({**CONFIG, "methods": methods, "metrics": metrics, "seeds": [3, 5]}, directory=tmp_path / "out")
    integers = {"cell", "length_tokens", "seed", "pair", "distance_tokens", "distance_end_tokens", "logits", "k_keys"}
    for of in (results, rs.results(tmp_path / "out")):
        seen = set()
        for name in of:
            frame = of.frame(name)
            for column in frame.columns:
                values, array = frame[column.name], frame.array()[column.name]
                integer = column.name in integers
                if integer and not (values.dtype == np.float64 and np.isnan(values).any()):
                    assert values.dtype == array.dtype == np.int64, (name, column.name)
                    seen.add(column.name)
                assert not (column.unit == "nats" or column.name in ("scale", "factor")) or values.dtype == np.float64
        assert seen == integers
    summary = results.frame("summary")
    assert summary["seed"].tolist() == [3, 5] * 10 and summary["length_tokens"].max() == 256
    assert results["summary"]["cell"].dtype == np.int64  # a DataFrame where pandas is there
    assert np.isnan(results.frame("decay")["seed"]).all()  # of tables alone: every field is empty


def test_a_table_is_a_frame_of_pandas_or_an_array(results, monkeypatch):
    array = results.frame("summary").array()
    assert array.dtype.names[0] == "cell" and len(array) == 4
    pandas = pytest.importorskip("pandas")
    assert isinstance(results["summary"], pandas.DataFrame)
    np.testing.assert_array_equal(results["summary"]["entropy_nats"], array["entropy_nats"])


def test_names_that_are_none_say_what_there_is(results):
    with pytest.raises(KeyError, match="decay"):
        results["decai"]
    with pytest.raises(KeyError):
        results.frame("summary")["entropy"]
    assert set(results) >= {"summary", "decay"} and "manifest" not in set(results)


def test_progress_and_edits(tmp_path):
    told = []
    results = rs.run(CONFIG, edits=["methods[1].factor=8"], progress=lambda *of: told.append(of))
    assert told[-1][:2] == (4, 4) and told[-1][2] == pytest.approx(1)
    assert "factor: 8" in results.file("config.yaml").decode()


def test_an_exception_of_progress_ends_the_run():
    def progress(done, cells, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rs.run(CONFIG, progress=progress)


@pytest.fixture
def ctrl_c():
    """Python's own answer to Ctrl-C, which it does not take where the signal is ignored, as in a shell's background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_run(ctrl_c):
    """Many small cells: a run ends behind the rows that are at work."""
    long = {**CONFIG, "lengths": [1024], "seeds": list(range(20000)), "metrics": ["entropy"]}
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rs.run(long)
    finally:
        timer.cancel()


def test_ctrl_c_within_callbacks_is_not_lost(ctrl_c, capfd):
    """Raised from the first line of a callback on, where no `try` of its own is entered yet."""

    def progress(done, cells, share):
        signal.raise_signal(signal.SIGINT)

    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            rs.run(CONFIG, progress=progress)
    library = rs.Library()
    library.add_method("slow", lambda asked: signal.raise_signal(signal.SIGINT) or asked.plain)
    with pytest.raises(KeyboardInterrupt):
        rs.frequencies("llama-2-7b", method="slow", library=library)
    assert capfd.readouterr().err == ""


def test_mistakes_in_a_config_all_say_where():
    with pytest.raises(rs.InputError) as caught:
        rs.run("model: llama-2-7b\nmethods: [rope]\nlengths: [-1]\nmetrics: [entropi]\n")
    assert [problem.line for problem in caught.value.problems] == [3, 4]
    assert "entropy" in caught.value.problems[1].hint


def test_two_methods_of_one_label_are_refused_with_both_places():
    methods = ["rope", {"name": "pi", "factor": 2, "label": "a"}, {"name": "yarn", "factor": 4, "label": "a"}]
    with pytest.raises(rs.InputError) as caught:
        rs.run({**CONFIG, "methods": methods})
    problem = caught.value.problems[0]
    assert problem.key == "methods[2].label" and "methods[1].label at config:1:" in problem.text


def test_a_method_of_ones_own_in_a_sweep():
    library = rs.Library()
    library.add_method("half", lambda asked: asked.plain / 2)
    config = {**CONFIG, "methods": ["half", {"name": "pi", "factor": 2, "scale": "fixed"}], "metrics": ["decay"]}
    frame = rs.run(config, library=library).frame("decay")
    values = {method: frame["mean_cosine"][frame["method"] == method] for method in ("half", "pi")}
    np.testing.assert_allclose(values["half"], values["pi"], atol=1e-12)


def test_pictures_are_svg(results, tmp_path):
    pictures = rs.plot(results)
    assert len(pictures) > 0
    for name, picture in pictures.items():
        assert picture._repr_svg_().lstrip().startswith("<svg") and name == picture.name
        picture.save(tmp_path / "p.svg")
        assert (tmp_path / "p.svg").read_text() == picture.svg
    with pytest.raises(KeyError):
        rs.plot(results, "no such picture")


def test_a_singular_fit_is_a_row_that_says_so():
    """Pairs that hardly turn, whose sines are nothing: what GSL solves is not finite, and its handler, which would abort, is off."""
    still = {"head_dim": 64, "heads": 1, "rope_theta": 1e300, "train_length": 64}
    fit = {"name": "calibration", "ridge": 0}
    frame = rs.run({"model": still, "methods": ["rope"], "lengths": [128], "metrics": [fit]}).frame("summary")
    assert frame["status"].tolist() == ["domain"]
    assert "no unique solution" in frame["message"][0]
    assert np.isnan(frame["calibration_outside_nats"][0])
