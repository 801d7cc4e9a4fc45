"""Recipes and tables against formulas written out."""
import gc
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import yarn_frequencies

import ropescope as rs


def test_plain_frequencies_are_the_geometric_ladder():
    expected = 10000.0 ** (-2 * np.arange(64) / 128)
    np.testing.assert_allclose(rs.frequencies("llama-2-7b"), expected, rtol=1e-14)


def test_a_dict_a_file_and_a_folder_give_the_same(yarn, yarn_file):
    expected = yarn_frequencies()
    for given in (yarn, yarn_file, str(yarn_file), yarn_file.parent):
        np.testing.assert_allclose(rs.frequencies(given, 16384), expected, rtol=1e-12)


def test_a_gguf_file_gives_the_same_as_its_config(yarn, yarn_file):
    path = yarn_file.parent / "model.gguf"
    source = Path(__file__).resolve().parents[2] / "tests/golden/models/twins.py"
    loader = importlib.util.spec_from_file_location("twins", source)
    twins = importlib.util.module_from_spec(loader)
    loader.loader.exec_module(twins)
    yarn |= {"num_hidden_layers": 1, "vocab_size": 2, "rms_norm_eps": 1e-5, "head_dim": 64}
    said = {**twins.sizes_of(yarn, "llama"), **twins.positions_of(yarn, "llama")}
    metadata = {"general.architecture": "llama", **{f"llama.{key}": value for key, value in said.items()}}
    twins.write(path, metadata | {"llama.rope.dimension_count": 64}, {})
    for given in (path, str(path)):
        np.testing.assert_allclose(rs.frequencies(given, 16384), yarn_frequencies(), rtol=1e-12)
    assert rs.compare(path, yarn_file).equal
    assert not rs.check(path).at_least("error")


def test_what_has_to_dict_is_read_as_a_config(yarn):
    class Config:
        def to_dict(self):
            return yarn

    np.testing.assert_allclose(rs.frequencies(Config()), yarn_frequencies(), rtol=1e-12)


def test_a_recipe_says_what_it_is(yarn):
    recipe = rs.recipe(yarn)
    assert (recipe.method, recipe.heads, recipe.head_dim, recipe.rotary_dim) == ("yarn", 8, 64, 64)
    assert (recipe.train_length, recipe.max_length, recipe.theta) == (4096, 16384, 10000.0)
    assert recipe.parameters["factor"].value == "4" and recipe.parameters["factor"].given
    assert not recipe.interleaved
    assert "yarn" in repr(recipe)


def test_attention_factor_is_yarns(yarn):
    assert rs.recipe(yarn).tables().attention_factor == pytest.approx(0.1 * np.log(4) + 1)


def test_cos_sin_turn_by_position_times_frequency(yarn):
    tables = rs.recipe(yarn).tables(4096)
    cosine, sine = tables.cos_sin(100, 116)
    angle = np.arange(100, 116)[:, None] * tables.inv_freq
    np.testing.assert_allclose(cosine, tables.attention_factor * np.cos(angle), atol=1e-12)
    np.testing.assert_allclose(sine, tables.attention_factor * np.sin(angle), atol=1e-12)


def test_alibi_has_slopes_and_bias():
    tables = rs.recipe("llama-2-7b", "alibi").tables(64)
    slopes = 2.0 ** (-8 * np.arange(1, 33) / 32)
    np.testing.assert_allclose(tables.slopes, slopes, rtol=1e-14)
    np.testing.assert_allclose(tables.bias(3, 40), -slopes[3] * (40 - np.arange(41)), rtol=1e-14)
    assert tables.bias(3, 40, 10, 20).shape == (10,)


def test_positions_of_both_sides():
    tables = rs.recipe("llama-2-7b", {"name": "pi", "factor": 2}).tables(8)
    assert tables.positions("query").shape == (8, 1)
    np.testing.assert_array_equal(tables.positions("key"), tables.positions("query"))
    with pytest.raises(ValueError, match="side"):
        tables.positions("queries")


def test_arrays_are_not_to_be_changed():
    frequencies = rs.frequencies("llama-2-7b")
    with pytest.raises(ValueError):
        frequencies[0] = 2


def test_tables_outlive_what_they_are_of():
    tables = rs.recipe("llama-2-7b").tables(16)
    del tables.recipe
    gc.collect()
    assert tables.inv_freq[0] == 1


@pytest.mark.parametrize("order", ["library", "recipe", "tables", "cycle"])
def test_a_library_is_freed_behind_what_needs_it(order):
    """Whatever Python lets go of first; the memory of a freed method would not be read unpunished under
    MALLOC_PERTURB_, which meson's tests set."""
    library = rs.Library()
    library.add_method("steep", lambda asked: asked.plain, bias=lambda asked, head, query, keys: 0.0 * keys)
    recipe = rs.recipe("llama-2-7b", "steep", library=library)
    tables = recipe.tables(16)
    things = {"library": library, "recipe": recipe, "tables": tables, "pointers": [recipe._pointer, tables._pointer]}
    if order == "cycle":
        library.cycle = things
        recipe._library = tables.recipe = None
    else:
        recipe._library = tables.recipe = None
        del things[order]
    lent = library._lender
    del library, recipe, tables
    gc.collect()
    things.clear()
    del things
    gc.collect()
    assert not lent._borrowers and not lent._frees


def test_layers_that_differ_are_told_apart():
    recipe = rs.recipe("gemma-3", layers="sliding_attention")
    assert recipe.theta == 10000
    assert [kind.name for kind in recipe.layer_kinds if kind.chosen] == ["sliding_attention"]
    assert rs.recipe("gemma-3").theta == 1e6


def test_a_mistake_says_where_and_what_would_do(tmp_path, yarn_file):
    text = yarn_file.read_text().replace('"factor": 4.0', '"factor": "four"')
    yarn_file.write_text(text)
    with pytest.raises(rs.InputError) as caught:
        rs.recipe(yarn_file)
    error = caught.value
    line = 1 + text[: text.index('"four"')].count("\n")
    assert isinstance(error, ValueError) and error.status == "input"
    assert (error.file, error.line, error.key) == (str(yarn_file), line, "rope_scaling.factor")
    assert str(error).startswith(f"{yarn_file}:{line}:")


def test_every_wrong_word_is_one_of_the_errors():
    for call in (
        lambda: rs.recipe("llama-2-8b"),
        lambda: rs.recipe("llama-2-7b", "yarm"),
        lambda: rs.recipe("llama-2-7b", {"name": "yarn", "factor": -1}),
        lambda: rs.recipe("no/such/config.json"),
        lambda: rs.recipe("llama-2-7b", layers=99),
    ):
        with pytest.raises(rs.Error) as caught:
            call()
        assert str(caught.value) and not isinstance(caught.value, SystemExit)
    assert not os.path.exists("no")


def test_a_nul_in_a_text_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        rs.recipe("llama-2-7b", "rope\0")


def test_methods_of_ones_own():
    library = rs.Library()

    @library.method("slowed", parameters=[rs.ParameterSpec("slowness", 1, 100, 2)])
    def slowed(asked):
        return asked.plain / asked.parameters["slowness"], 1.5

    recipe = rs.recipe("llama-2-7b", {"name": "slowed", "slowness": 8}, library=library)
    np.testing.assert_allclose(recipe.tables().inv_freq, rs.frequencies("llama-2-7b") / 8)
    assert recipe.tables().attention_factor == 1.5
    assert "slowed" in [method.name for method in rs.methods(library)]
    assert "slowed" not in [method.name for method in rs.methods()]
    with pytest.raises(rs.InputError):
        rs.recipe("llama-2-7b", {"name": "slowed", "slowness": 101}, library=library)
    with pytest.raises(rs.InputError):
        library.add_method("yarn", slowed)


def test_a_bias_of_ones_own_reaches_the_logits():
    library = rs.Library()
    library.add_method("steep", bias=lambda asked, head, query, keys: -(head + 1.0) * (query - keys))
    tables = rs.recipe("llama-2-7b", "steep", library=library).tables(32)
    np.testing.assert_allclose(tables.bias(2, 9), -3.0 * np.arange(9, -1, -1))


def test_what_a_method_raises_is_raised():
    library = rs.Library()
    library.add_method("broken", lambda asked: asked.plain[:3])
    with pytest.raises(ValueError, match="broadcast|shape"):
        rs.frequencies("llama-2-7b", method="broken", library=library)


def test_what_is_installed_says_what_pyproject_says():
    """Two templates stand beside pyproject.toml, for builds without pip."""
    tomllib = pytest.importorskip("tomllib")
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    about = (root / "python" / "METADATA.in").read_text().splitlines()
    wanted = {f"Requires-Dist: {needed.replace(' ', '')}" for needed in project["dependencies"]}
    assert wanted == {line for line in about if line.startswith("Requires-Dist")}
    for key, value in (("Name", "name"), ("Summary", "description")):
        assert f"{key}: {project[value]}" in about
    assert f"Requires-Python: {project['requires-python'].replace(' ', '')}" in about
    lines = (root / "python" / "entry_points.txt").read_text().split("\n")
    for group, points in project["entry-points"].items():
        assert f"[{group}]" in lines and all(f"{name} = {value}" in lines for name, value in points.items())


def test_objects_say_what_they_are(yarn):
    recipe = rs.recipe(yarn)
    assert "factor: 4" in repr(recipe.tables()) and "16384 tokens" in repr(recipe.tables())
    assert "no method" in repr(rs.Library()) and "slow" in repr(with_method("slow"))
    seen = rs.statistics(*np.ones((2, 2, 8, 64)), method="rope", queries=3)
    assert repr(seen).startswith("<ropescope.Statistics of 3 queries at positions 5 to 7 in 2 heads")
    assert repr(rs.compare(yarn, yarn)) == "<ropescope.Comparison: equal>"
    wrong = dict(yarn, rope_scaling=dict(yarn["rope_scaling"], truncate=False))
    assert "truncate" in repr(rs.compare(yarn, wrong)) and "array" not in repr(rs.compare(yarn, wrong))
    found = rs.check(dict(yarn, rope_scaling={"rope_type": "linear", "factor": 0.5}))
    assert "error: " in repr(found) and "RS203" in repr(found)
    assert set(dir(rs)) == {*rs.__all__, "__version__"}


def with_method(name):
    library = rs.Library()
    library.add_method(name, lambda asked: asked.plain)
    return library


@pytest.mark.parametrize("length", ["32k", "32K", 32768, 32768.0, np.int64(32768), "32768", "0.03125M"])
def test_lengths_are_written_as_in_configs(length):
    assert rs.recipe("llama-2-7b", length=length).length == 32768
    assert rs.recipe("llama-2-7b").tables(length).length == 32768


@pytest.mark.parametrize("length", [-1, "32q", "", "k", 0.5, float("nan"), float("inf"), 1 << 80, object()])
def test_what_is_no_length_is_named(length):
    with pytest.raises(ValueError, match="length = .*must be a number of tokens"):
        rs.recipe("llama-2-7b", length=length)


def test_wrong_arguments_are_named():
    q, k = np.ones((2, 8, 32))
    with pytest.raises(TypeError, match="model = 3: must be"):
        rs.recipe(3)
    with pytest.raises(ValueError, match="threads = -1"):
        rs.statistics(q, k, threads=-1)
    with pytest.raises(ValueError, match="queries = -1"):
        rs.statistics(q, k, queries=[-1])
    frame = rs.run({"model": "llama-2-7b", "methods": ["rope"], "lengths": [64], "metrics": ["decay"]})
    with pytest.raises(KeyError, match="method, .*length_tokens"):
        frame.frame("summary")["nothing"]
    with pytest.raises(KeyError, match="decay"):
        rs.plot(frame, "nothing")
