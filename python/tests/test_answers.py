"""check, solve, compare, convert, and what engines test with."""
import json

import numpy as np
import pytest
from conftest import yarn_frequencies

import ropescope as rs


def test_a_right_config_has_no_error(yarn):
    assert rs.check(yarn).at_least("error") == []


def test_findings_have_their_place(yarn_file):
    text = yarn_file.read_text().replace('"factor": 4.0', '"factor": 0.25')
    yarn_file.write_text(text)
    found = rs.check(yarn_file).at_least("error")
    assert found[0].key == "rope_scaling.factor" and found[0].fix
    assert found[0].line == 1 + text[: text.index('"factor"')].count("\n")
    assert f"{yarn_file}:{found[0].line}:" in str(rs.check(str(yarn_file)))


def test_an_engine_that_is_none(yarn):
    with pytest.raises(rs.InputError, match="vllm"):
        rs.check(yarn, engines="vlm")


def test_solve_by_one_and_by_all_criteria():
    one = rs.solve("base", length=131072, model="llama-2-7b", criterion="first_violation")
    every = rs.solve("base", length=131072, model="llama-2-7b")
    assert every["first_violation"] == one and len(every) >= 3
    assert one.value == pytest.approx(4.87e6, rel=0.01)
    with pytest.raises(ValueError):
        rs.solve("bases", length=1)


def test_compare_names_the_mistake(yarn):
    wrong = json.loads(json.dumps(yarn))
    wrong["rope_scaling"]["truncate"] = False
    comparison = rs.compare(yarn, wrong)
    assert not comparison.equal and comparison.differs == {"frequency"} and comparison.pairs > 0
    assert "truncate" in comparison.causes[0].text and comparison.causes[0].whole
    assert rs.compare(yarn, yarn).equal


def test_convert_gives_keys(yarn):
    made = rs.convert(yarn, "hf5", length=16384)
    assert made.keys["rope_parameters"]["factor"] == 4
    with pytest.raises(rs.InputError):
        rs.convert(yarn, "nobody")


def test_engines_that_are_right_pass(yarn):
    rs.testing.assert_inv_freq(yarn, yarn_frequencies().astype("float32"), 0.1 * np.log(4) + 1)


def test_engines_that_are_wrong_are_told_why(yarn):
    with pytest.raises(AssertionError, match="of 32 inverse frequencies differ"):
        rs.testing.assert_inv_freq(yarn, 10000.0 ** (-np.arange(32) / 32))
    with pytest.raises(AssertionError, match="multiplied by"):
        rs.testing.assert_inv_freq(yarn, yarn_frequencies(), 1.0)
    with pytest.raises(AssertionError, match="shape"):
        rs.testing.assert_inv_freq(yarn, yarn_frequencies()[:16])
    with pytest.raises(AssertionError):
        rs.testing.assert_inv_freq(yarn, np.full(32, np.nan))


def test_the_plugin(pytester, pytestconfig, yarn):
    """Packages that are installed by pip load it by themselves."""
    loaded = pytestconfig.pluginmanager.hasplugin("ropescope")
    plugin = () if loaded else ("-p", "ropescope.pytest_plugin")
    (pytester.mkdir("good") / "config.json").write_text(json.dumps(yarn))
    yarn["rope_scaling"]["factor"] = 0.25
    (pytester.mkdir("bad") / "config.json").write_text(json.dumps(yarn))
    (pytester.mkdir("other") / "config.json").write_text('{"name": "no model"}')
    pytester.makepyfile("def test_one(assert_inv_freq):\n    assert callable(assert_inv_freq)\n")
    arguments = (*plugin, "--check-configs", "error")
    result = pytester.runpytest(*arguments)
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*RS203*"])
    pytester.runpytest(*plugin).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: rs.frequencies("llama-9"),
        lambda: rs.solve("base", length=4096, head_dim=3, criterion="first_violation"),
        lambda: rs.solve("factor", base=10, model="llama-2-7b", criterion="ntk_aware"),
    ],
)
def test_messages_speak_of_no_option(call):
    """The same words serve the command line, where options have dashes."""
    with pytest.raises(rs.Error) as caught:
        call()
    assert "--" not in str(caught.value)
