"""Recipes in the place of texts and dicts, and through pickle to other processes."""
import copy
import multiprocessing
import os
import pickle

import numpy as np
import pytest

import ropescope as rs

YARN = {"name": "yarn", "factor": 8}


def slowed(asked):
    return asked.plain / asked.parameters["slowness"]


def library_of_slowed():
    library = rs.Library()
    library.add_method("slowed", slowed, parameters=[rs.ParameterSpec("slowness", 1, 100, 2)])
    return library


def recipes():
    library = library_of_slowed()
    return {
        "preset": rs.recipe("llama-2-7b"),
        "method": rs.recipe("llama-2-7b", YARN, length=32768),
        "layers": rs.recipe("gemma-3", layers="sliding_attention"),
        "lists": rs.recipe("phi-3-mini-128k"),
        "precision": rs.recipe("llama-2-7b", precision={"positions": "bf16"}),
        "library": rs.recipe("llama-2-7b", {"name": "slowed", "slowness": 4}, library=library),
    }


@pytest.mark.parametrize("kind", recipes())
@pytest.mark.parametrize("way", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy])
def test_a_recipe_pickles_and_copies(kind, way):
    recipe = recipes()[kind]
    again = way(recipe)
    assert again == recipe and hash(again) == hash(recipe) and again is not recipe
    assert (again.text, again.model, again.length, again.parameters) == (
        recipe.text, recipe.model, recipe.length, recipe.parameters,
    )  # fmt: skip
    np.testing.assert_array_equal(again.tables(64).inv_freq, recipe.tables(64).inv_freq)
    np.testing.assert_array_equal(way(recipe.tables(64)).inv_freq, recipe.tables(64).inv_freq)


def test_recipes_that_say_different_things_differ(yarn):
    made = [*recipes().values(), rs.recipe("llama-2-7b", YARN, length=4096), rs.recipe(yarn)]
    for i, one in enumerate(made):
        assert [j for j, other in enumerate(made) if one == other] == [i]
    assert rs.recipe("llama-2-7b") != "llama-2-7b"


def test_a_recipe_keeps_what_its_file_said(yarn_file, tmp_path, monkeypatch):
    for given in (yarn_file, str(yarn_file.parent), os.path.relpath(yarn_file)):
        text = yarn_file.read_text()
        recipe = rs.recipe(given)
        expected, written = recipe.tables(64).inv_freq, pickle.dumps(recipe)
        yarn_file.unlink()
        monkeypatch.chdir(tmp_path)
        again = pickle.loads(written)
        assert again == recipe
        np.testing.assert_array_equal(again.tables(64).inv_freq, expected)
        monkeypatch.undo()
        yarn_file.write_text(text)


def test_recipes_and_results_reach_other_processes(yarn):
    config = {"model": "llama-2-7b", "methods": ["rope"], "lengths": [64], "metrics": ["decay"]}
    given = [rs.recipe(yarn), rs.recipe("llama-2-7b", YARN, length=32768)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        got = pool.map(rs.frequencies, given)
        results, found = pool.apply(rs.run, (config,)), pool.apply(rs.check, (yarn,))
    for recipe, array in zip(given, got):
        np.testing.assert_array_equal(array, rs.frequencies(recipe))
    assert results.file("decay.csv") == rs.run(config).file("decay.csv")
    assert found == rs.check(yarn) and found.name == "config"


def test_what_does_not_pickle_says_so():
    q = np.ones((8, 64))
    for thing in (rs.statistics(q, q), rs.run({"model": "gpt2", "lengths": [64], "metrics": ["decay"]}).frame("decay")):
        with pytest.raises(TypeError, match=f"a {type(thing).__name__} cannot be pickled"):
            pickle.dumps(thing)


def test_a_recipe_is_compared_as_it_is(yarn):
    plain, by_8 = rs.recipe("llama-2-7b"), rs.recipe("llama-2-7b", YARN, length=32768)
    by_text = rs.compare("llama-2-7b", YARN, model="llama-2-7b", length=32768)
    for got in (rs.compare(plain, by_8, length=32768), rs.compare(plain, YARN, length=32768)):
        assert (got.differs, got.pairs, got.worst) == (by_text.differs, by_text.pairs, by_text.worst)
        np.testing.assert_array_equal(got.b, by_text.b)
        assert [cause.text for cause in got.causes] == [cause.text for cause in by_text.causes]
    assert rs.compare(by_8, rs.frequencies(by_8)).equal and rs.compare(rs.recipe(yarn), yarn).equal
    sides = [rs.recipe("gemma-3", layers=layers) for layers in ("sliding_attention", "full_attention")]
    two = rs.compare(*sides)  # layers, and models, of their own
    np.testing.assert_array_equal(two.a, rs.frequencies(sides[0]))
    np.testing.assert_array_equal(two.b, rs.frequencies(sides[1]))
    assert rs.compare(rs.recipe(yarn), by_8).differs >= {"width"}
    library = library_of_slowed()
    assert rs.compare(plain, rs.recipe(plain, {"name": "slowed", "slowness": 4}, library=library)).pairs == 64
    with pytest.raises(rs.UnsupportedError, match="precision"):
        rs.compare(plain, rs.recipe("llama-2-7b", precision={"positions": "bf16"}))


def test_frequencies_solve_and_convert_take_recipes(yarn):
    by_8 = rs.recipe("llama-2-7b", YARN, length=32768)
    expected = rs.frequencies("llama-2-7b", 32768, method=YARN)
    np.testing.assert_array_equal(rs.frequencies(by_8), expected)
    np.testing.assert_array_equal(rs.frequencies("llama-2-7b", 32768, method=by_8), expected)
    np.testing.assert_array_equal(rs.frequencies(by_8, method="rope"), rs.frequencies("llama-2-7b"))
    assert rs.recipe(by_8, length=16384).length == 16384 and rs.recipe(by_8, length=16384).text == by_8.text
    made = rs.convert(by_8, "hf5").keys["rope_parameters"]
    assert (made["rope_type"], made["factor"]) == ("yarn", 8)
    assert rs.convert(rs.recipe(yarn), "hf5") == rs.convert(yarn, "hf5")
    by_text = rs.solve("length", model="llama-2-7b", method=YARN, criterion="out_of_range")
    assert rs.solve("length", model=by_8, criterion="out_of_range") == by_text
    rs.testing.assert_inv_freq(by_8, expected)
    for call in (lambda r: rs.convert(r, "hf5"), lambda r: rs.solve("length", model=r)):
        with pytest.raises(ValueError, match="model: the recipe has a method of a Library"):
            call(recipes()["library"])
        with pytest.raises(ValueError, match="model: the recipe has precision"):
            call(recipes()["precision"])


@pytest.mark.parametrize("preset", [preset.name for preset in rs.presets()])
def test_a_published_recipe_is_a_method_in_words(preset):
    """What is said of a method of many numbers, too, makes the same frequencies again."""
    published = rs.recipe(preset)
    again = rs.recipe(preset, published)
    np.testing.assert_array_equal(again.tables(64).inv_freq, published.tables(64).inv_freq)
    assert again.tables(64).attention_factor == published.tables(64).attention_factor


def test_recipes_are_methods_of_a_sweep():
    config = {"model": "llama-2-7b", "lengths": [64, 8192], "metrics": ["decay"]}
    by_text = rs.run({**config, "methods": ["rope", YARN]})
    given = [rs.recipe("llama-2-7b"), rs.recipe("llama-2-7b", YARN, length=32768)]
    assert rs.run({**config, "methods": given}).file("decay.csv") == by_text.file("decay.csv")
    library = library_of_slowed()
    own = rs.recipe("llama-2-7b", {"name": "slowed", "slowness": 4}, library=library)
    assert set(rs.run({**config, "methods": ["rope", own]}).frame("decay")["method"]) == {"rope", "slowed"}
    with pytest.raises(ValueError, match="library: the recipes have methods of another Library"):
        rs.run({**config, "methods": [own]}, library=rs.Library())
    with pytest.raises(ValueError, match=r"methods\[1\]: the recipe has precision"):
        rs.run({**config, "methods": ["rope", recipes()["precision"]]})
    with pytest.raises(rs.InputError, match=r'methods\[1\].*has the label "yarn factor=8", as methods\[0\]'):
        rs.run({**config, "methods": [given[1], given[1]]})
