"""Arguments of the wrong type or value: what is raised is TypeError or ValueError, and names the argument."""
import numpy as np
import pytest

import ropescope as rs

Q = np.ones((2, 8, 64))
RECIPE = rs.recipe("llama-2-7b")
TABLES = RECIPE.tables(16)
CONFIG = {"model": "llama-2-7b", "methods": ["rope"], "lengths": [64], "metrics": ["decay"]}
WRONG = object()

#: What is called, and the argument that is wrong.
CALLS = {
    "recipe model": (lambda w: rs.recipe(w), "model"),
    "recipe model dict": (lambda w: rs.recipe({"model_type": w}), "model"),
    "recipe method": (lambda w: rs.recipe("gpt2", w), "method"),
    "recipe method dict": (lambda w: rs.recipe("gpt2", {"name": "pi", "factor": w}), "method.factor"),
    "recipe layers": (lambda w: rs.recipe("gpt2", layers=w), "layers"),
    "recipe length": (lambda w: rs.recipe("gpt2", length=w), "length"),
    "recipe tokens": (lambda w: rs.recipe("gpt2", tokens=w), "tokens"),
    "recipe precision": (lambda w: rs.recipe("gpt2", precision=w), "precision"),
    "recipe library": (lambda w: rs.recipe("gpt2", library=w), "library"),
    "frequencies model": (lambda w: rs.frequencies(w), "model"),
    "frequencies length": (lambda w: rs.frequencies("gpt2", w), "length"),
    "Tables recipe": (lambda w: rs.Tables(w, 8), "recipe"),
    "Tables length": (lambda w: rs.Tables(RECIPE, w), "length"),
    "tables length": (lambda w: RECIPE.tables(w), "length"),
    "positions side": (lambda w: TABLES.positions(w), "side"),
    "positions view": (lambda w: TABLES.positions(view=w), "view"),
    "cos_sin begin": (lambda w: TABLES.cos_sin(w), "begin"),
    "cos_sin end": (lambda w: TABLES.cos_sin(0, w), "end"),
    "cos_sin view": (lambda w: TABLES.cos_sin(view=w), "view"),
    "cos_sin head": (lambda w: TABLES.cos_sin(head=w), "head"),
    "bias head": (lambda w: TABLES.bias(w, 1), "head"),
    "bias query": (lambda w: TABLES.bias(0, w), "query"),
    "bias end": (lambda w: TABLES.bias(0, 1, 0, w), "end"),
    "embedding begin": (lambda w: TABLES.embedding(w), "begin"),
    "embedding count": (lambda w: TABLES.embedding(0, w), "count"),
    "statistics q": (lambda w: rs.statistics(w, Q), "q"),
    "statistics k": (lambda w: rs.statistics(Q, w), "k"),
    "statistics ragged": (lambda w: rs.statistics([[1.0], [1.0, 2.0]], Q), "q"),
    "statistics recipe": (lambda w: rs.statistics(Q, Q, w), "model"),
    "statistics method": (lambda w: rs.statistics(Q, Q, method=w), "method"),
    "statistics layout": (lambda w: rs.statistics(Q, Q, layout=w), "layout"),
    "statistics mask": (lambda w: rs.statistics(Q, Q, mask=w), "mask"),
    "statistics mask list": (lambda w: rs.statistics(Q, Q, mask=[w]), "mask"),
    "statistics window": (lambda w: rs.statistics(Q, Q, mask="window", window=w), "window"),
    "statistics queries": (lambda w: rs.statistics(Q, Q, queries=w), "queries"),
    "statistics queries real": (lambda w: rs.statistics(Q, Q, queries=[1.5]), "queries"),
    "statistics first_query": (lambda w: rs.statistics(Q, Q, first_query=w), "first_query"),
    "statistics targets": (lambda w: rs.statistics(Q, Q, targets=w), "targets"),
    "statistics targets text": (lambda w: rs.statistics(Q, Q, targets=["a"] * 8), "targets"),
    "statistics softmax_scale": (lambda w: rs.statistics(Q, Q, softmax_scale=w), "softmax_scale"),
    "statistics soft_cap": (lambda w: rs.statistics(Q, Q, soft_cap=w), "soft_cap"),
    "statistics learned_sinks": (lambda w: rs.statistics(Q, Q, learned_sinks=w), "learned_sinks"),
    "statistics learned_sinks text": (lambda w: rs.statistics(Q, Q, learned_sinks="ab"), "learned_sinks"),
    "statistics first_keys": (lambda w: rs.statistics(Q, Q, first_keys=w), "first_keys"),
    "statistics bins_per_octave": (lambda w: rs.statistics(Q, Q, bins_per_octave=w), "bins_per_octave"),
    "statistics metrics": (lambda w: rs.statistics(Q, Q, metrics=w), "metrics"),
    "statistics seed": (lambda w: rs.statistics(Q, Q, seed=w), "seed"),
    "statistics threads": (lambda w: rs.statistics(Q, Q, threads=w), "threads"),
    "statistics library": (lambda w: rs.statistics(Q, Q, library=w), "library"),
    "run config": (lambda w: rs.run(w), "config"),
    "run config value": (lambda w: rs.run({**CONFIG, "lengths": [w]}), "config.lengths"),
    "run edits text": (lambda w: rs.run(CONFIG, edits="lengths=[8]"), "edits"),
    "run edits": (lambda w: rs.run(CONFIG, edits=[w]), "edits"),
    "run directory": (lambda w: rs.run(CONFIG, directory=w), "directory"),
    "run checkpoints": (lambda w: rs.run(CONFIG, checkpoints=w), "checkpoints"),
    "run threads": (lambda w: rs.run(CONFIG, threads=w), "threads"),
    "run threads text": (lambda w: rs.run(CONFIG, threads="two"), "threads"),
    "run progress": (lambda w: rs.run(CONFIG, progress=w), "progress"),
    "run library": (lambda w: rs.run(CONFIG, library=w), "library"),
    "results directory": (lambda w: rs.results(w), "directory"),
    "plot what": (lambda w: rs.plot(w), "directory"),
    "check config": (lambda w: rs.check(w), "config"),
    "check engines": (lambda w: rs.check({"model_type": "llama"}, engines=w), "engines"),
    "at_least severity": (lambda w: rs.check({"model_type": "llama"}).at_least(w), "severity"),
    "solve sought": (lambda w: rs.solve(w), "sought"),
    "solve length": (lambda w: rs.solve("base", length=w), "length"),
    "solve model": (lambda w: rs.solve("base", length=8, model=w), "model"),
    "solve base": (lambda w: rs.solve("base", length=8, model="gpt2", base=w), "base"),
    "solve head_dim": (lambda w: rs.solve("base", length=8, head_dim=w), "head_dim"),
    "solve criterion": (lambda w: rs.solve("base", length=8, model="gpt2", criterion=w), "criterion"),
    "compare a": (lambda w: rs.compare(w, "gpt2"), "a"),
    "compare b": (lambda w: rs.compare("gpt2", w), "b"),
    "compare rows": (lambda w: rs.compare("gpt2", np.ones((2, 32))), "b"),
    "compare model": (lambda w: rs.compare("rope", "pi", model=w), "model"),
    "compare tolerance": (lambda w: rs.compare("gpt2", "gpt2", tolerance=w), "tolerance"),
    "convert model": (lambda w: rs.convert(w, "hf5"), "model"),
    "convert to": (lambda w: rs.convert("gpt2", w), "to"),
    "convert length": (lambda w: rs.convert("gpt2", "hf5", length=w), "length"),
    "methods library": (lambda w: rs.methods(w), "library"),
    "add_method name": (lambda w: rs.Library().add_method(w, len), "name"),
    "add_method frequencies": (lambda w: rs.Library().add_method("a", 3), "frequencies"),
    "add_method parameters": (lambda w: rs.Library().add_method("a", len, parameters=["b"]), "parameters"),
    "add_method range": (
        lambda w: rs.Library().add_method("a", len, parameters=[rs.ParameterSpec("b", w, 2, 1)]),
        "parameters['b'].min",
    ),
    "assert_inv_freq model": (lambda w: rs.testing.assert_inv_freq(w, [1.0]), "model"),
    "assert_inv_freq inv_freq": (lambda w: rs.testing.assert_inv_freq("llama-2-7b", "abc"), "inv_freq"),
    "assert_inv_freq tolerance": (lambda w: rs.testing.assert_inv_freq("llama-2-7b", [1.0], tolerance=w), "tolerance"),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_of_the_wrong_type_is_named(name):
    call, argument = CALLS[name]
    with pytest.raises((TypeError, ValueError)) as caught:
        call(WRONG)
    said = str(caught.value)
    assert argument in said, said
    assert not any(word in said for word in ("_pointer", "cffi", "cdata", "ctype", "attribute", "initializer")), said


@pytest.mark.parametrize("name", [None, 3, b"decay", ("decay",)])
def test_what_is_no_name_is_no_key(name):
    results = rs.run(CONFIG)
    for of in (results, results.frame("summary"), rs.plot(results)):
        with pytest.raises(KeyError):
            of[name]
    assert name not in results
    for get in (results.file, results.frame):
        with pytest.raises(KeyError):
            get(name)


@pytest.mark.parametrize("kind", [rs.Recipe, rs.Results, rs.Statistics, rs.Frame])
def test_objects_of_the_library_are_made_by_it(kind):
    count = {rs.Recipe: 3, rs.Results: 1, rs.Statistics: 3, rs.Frame: 2}[kind]
    with pytest.raises(TypeError, match="no constructor"):
        kind(*[None] * count)


@pytest.mark.parametrize("call", [rs.run, rs.results, rs.check, rs.recipe, lambda text: rs.convert("gpt2", text)])
def test_a_nul_is_refused_everywhere(call):
    with pytest.raises(ValueError, match="NUL"):
        call("a\0b")
