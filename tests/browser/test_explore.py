"""ropescope explore in headless Chromium: it redraws while a slider moves, by keyboard too, says what is wrong, and
brings its settings back. Arguments: the program. Exit status 77 where Chromium or chromedriver is not there."""

import csv
import io
import json
import signal
import subprocess
import sys
import unittest

from webdriver import ARROW_LEFT, ARROW_RIGHT, ENTER, TAB, Browser, programs

PROGRAM = None
# Counts questions, those on their way at once, and how often each chart is drawn.
COUNT = """
window.counted = {questions: 0, open: 0, most: 0, draws: {}};
if (!window.counting) {
  window.counting = true;
  const ask = window.fetch, kind = Object.getPrototypeOf([...ropescope.charts][0]), draw = kind.draw;
  window.fetch = async (...query) => {
    counted.questions++;
    counted.most = Math.max(counted.most, ++counted.open);
    try { return await ask(...query); } finally { counted.open--; }
  };
  kind.draw = function () {
    const {id} = this.element.closest("section");
    counted.draws[id] = (counted.draws[id] || 0) + 1;
    draw.call(this);
  };
}
"""
# Of each chart that is shown, its points and how many pixels it is wide.
POINTS = """
return [...ropescope.charts].filter((chart) => !chart.element.closest("section").hidden).map((chart) =>
  [chart.element.closest("section").id, Math.max(...chart.spec.lines.map((line) => line.x.length)), chart.graph.getArea().w]);
"""

MOVE = """
const [name, share] = arguments, slider = document.getElementById(`p-${name}`).closest(".field").querySelector("[type=range]");
delete document.body.dataset.redraw;
slider.focus();
slider.value = String(Number(slider.max) * share);
slider.dispatchEvent(new Event("input", {bubbles: true}));
"""
REDRAWN = "return document.body.dataset.redraw"
# Every control with its accessible name.
UNNAMED = """
return [...document.querySelectorAll("input:not(.dygraph-roller), select, button, [tabindex='0']")].filter((e) => !(e.labels && e.labels.length && e.labels[0].textContent.trim()) && !e.getAttribute("aria-label") &&
  !e.textContent.trim()).map((e) => e.outerHTML.slice(0, 120));
"""


class Explore(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([PROGRAM, "explore", "--quiet", "--model", "llama-2-7b", "--method",
                                       "{name: yarn, factor: 8}", "--length", "32k"], stdout=subprocess.PIPE, text=True)
        cls.url = cls.server.stdout.readline().strip()
        if not cls.url:
            cls.server.stdout.close()
            cls.server.wait()
            raise unittest.SkipTest("this build has no server")
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.server.send_signal(signal.SIGINT)
        assert cls.server.wait() == 0
        cls.server.stdout.close()

    def open(self, query=""):
        self.browser.open("about:blank")
        self.browser.open(self.url + ("#" + query if query else ""))
        self.browser.wait(REDRAWN)

    def text(self, id):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", id)

    def value(self, name):
        return self.browser.run("return document.getElementById(`p-${arguments[0]}`).value", name)

    def type(self, name, text):
        self.browser.run("""const [name, text] = arguments, input = document.getElementById(`p-${name}`);
            delete document.body.dataset.redraw; input.value = text; input.dispatchEvent(new Event("change"));""", name, text)

    def expect_quiet(self):
        self.assertEqual([line["message"] for line in self.browser.log()], [])

    def test_begins_with_what_the_command_said(self):
        self.open()
        self.assertEqual(self.text("recipe"), "{name: yarn, factor: 8} on llama-2-7b at 32k tokens")
        self.assertEqual((self.value("model"), self.value("method"), self.value("factor")), ("llama-2-7b", "yarn", "8"))
        self.assertIn("--method '{name: yarn, factor: 8}' --length 32768", self.text("command"))
        keys = json.loads(self.text("fragment"))["rope_parameters"]
        self.assertEqual(keys, {"rope_type": "yarn", "rope_theta": 10000, "factor": 8, "original_max_position_embeddings": 4096})
        self.assertEqual(self.browser.run(UNNAMED), [])
        self.expect_quiet()

    def test_redraws_while_a_slider_moves(self):
        cases = [("model=llama-3.1-8b&method=yarn&factor=16&length=131072", "factor"),
                 ("model=llama-2-7b&method=rope&length=32768", "rope_theta"),
                 ("model=llama-2-7b&method=ntk&length=131072", "length"),
                 ("model=llama-2-7b&method=self_extend&length=131072", "length"),
                 ("model=llama-2-7b&method=alibi&length=32768", "bias_max"),
                 ("model=llama-3.1-8b&method=llama3&length=131072", "low_freq_factor"),
                 ("model=phi-3-mini-128k&method=longrope&length=131072", "train_length"),
                 ("model=llama-2-7b&method=xpos&length=65536", "xpos_gamma"),
                 ("model=llama-2-7b&method=sandwich&length=65536", "train_length")]
        for query, name in cases:
            self.open(query)
            times, seen = [], set()
            for share in (0.3, 0.42, 0.5, 0.55, 0.6, 0.62, 0.7, 0.44):
                self.browser.run(COUNT)
                self.browser.run(MOVE, name, share)
                times.append(float(self.browser.wait(REDRAWN)))
                seen.add(self.text("config"))
                counted = self.browser.run("return counted")
                said = f"{query}: {name} to {share}: {counted}"
                plain = name in ("length", "train_length")  # what plain RoPE does changes with these
                self.assertLessEqual(counted["questions"], 2 if plain else 1, said)
                self.assertEqual(counted["most"], 1, said)
                self.assertEqual(set(counted["draws"].values()), {1}, said)
            for id, points, width in self.browser.run(POINTS):
                self.assertLessEqual(points, width, f"{query}: {id}")
            self.assertEqual(len(seen), 8, f"{query}: {name} says something else each time")
            print(f"{query}: {name}: drawn anew in {min(times):.0f} ms")
        self.expect_quiet()

    def test_table_holds_the_numbers_of_show(self):
        self.open()
        self.browser.run("document.querySelector('#frequencies details').open = true")
        rows = self.browser.wait("""const rows = [...document.querySelectorAll("#frequencies tbody tr")];
            return rows.length && rows.map((row) => [...row.cells].map((cell) => cell.textContent));""")
        heads = self.browser.run("return [...document.querySelectorAll('#frequencies th')].map((cell) => cell.textContent)")
        shown = subprocess.run([PROGRAM, "show", "frequencies", "--model", "llama-2-7b", "--method",
                                "{name: yarn, factor: 8}", "--length", "32k", "--quiet"], check=True,
                               capture_output=True, text=True).stdout
        wanted = list(csv.DictReader(io.StringIO(shown)))
        self.assertEqual(len(rows), len(wanted))
        for row, line in zip(rows, wanted):
            self.assertEqual(float(row[heads.index("omega_rad_per_token")]), float(line["omega_rad_per_token"]))

    def test_keyboard_moves_sliders_and_reads_charts(self):
        self.open()
        self.browser.run("document.getElementById('p-factor').closest('.field').querySelector('[type=range]').focus();"
                         "delete document.body.dataset.redraw")
        self.browser.keys(ARROW_RIGHT)
        self.browser.wait(REDRAWN)
        after = float(self.value("factor"))
        self.assertGreater(after, 8)
        self.assertIn(f"factor: {self.value('factor')}}}", self.text("recipe"))
        self.browser.keys(ARROW_LEFT)
        self.browser.wait("return document.getElementById('p-factor').value === '8'")
        self.browser.run("document.querySelector('#angles .frame').focus()")
        self.assertIn("Pair 0: 4,096 rad in training, 32,767 rad here",
                      self.browser.run("return document.querySelector('#angles .readout').textContent"))
        self.browser.keys(ARROW_RIGHT)
        self.assertIn("Pair 1: ", self.browser.run("return document.querySelector('#angles .readout').textContent"))
        self.browser.keys(*[TAB] * self.browser.run("return 1 + document.querySelectorAll('#angles .legend input').length"))
        self.assertEqual(self.browser.run("return document.activeElement.tagName"), "SUMMARY")
        self.browser.keys(ENTER)
        self.browser.wait("return document.querySelector('#angles table') !== null")
        self.expect_quiet()

    def test_fragment_keeps_the_state(self):
        self.open()
        self.type("beta_fast", "20")
        self.browser.wait(REDRAWN)
        said = self.text("recipe")
        self.assertIn("beta_fast: 20", said)
        fragment = self.browser.run("return location.hash")
        self.open(fragment[1:])
        self.assertEqual(self.text("recipe"), said)
        self.assertEqual(self.value("beta_fast"), "20")

    def test_wrong_values_are_said_beside_what_was_drawn(self):
        self.open()
        self.type("factor", "eight")
        self.browser.wait("return !document.getElementById('problem').hidden")
        self.assertIn("factor: ", self.text("problem"))
        self.assertEqual(self.browser.run("return document.getElementById('p-factor').getAttribute('aria-invalid')"), "true")
        self.assertEqual(self.value("factor"), "eight")
        self.type("factor", "4")
        self.browser.wait("return document.getElementById('problem').hidden")
        self.assertIn("factor: 4}", self.text("recipe"))
        self.browser.log()  # a refusal is a failed request to the console

    def test_every_method_and_model_can_be_chosen(self):
        self.open()
        for name in ("method", "model"):
            for word in self.browser.run("return [...document.getElementById(`p-${arguments[0]}`).options].map((o) => o.value)", name):
                self.browser.run("delete document.body.dataset.answered")
                self.type(name, word)
                self.browser.wait("return document.body.dataset.answered !== undefined")
                self.assertEqual(self.value(name), word)
                if self.browser.run("return document.getElementById('problem').hidden"):
                    self.assertIn(" on ", self.text("recipe"))
                    self.assertEqual(self.browser.run(UNNAMED), [], word)
        messages = [line["message"] for line in self.browser.log()]
        self.assertEqual([m for m in messages if "400 (Bad Request)" not in m], [])

    def test_narrow_pages_do_not_scroll_sideways(self):
        self.browser.command("Emulation.setDeviceMetricsOverride", width=360, height=800, deviceScaleFactor=1, mobile=False)
        try:
            self.open("model=qwen2-vl&method=yarn&factor=16&length=1048576&beta_fast=31.25&beta_slow=1.0625")
            self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 360)
        finally:
            self.browser.command("Emulation.clearDeviceMetricsOverride")

    def test_follows_the_dark_scheme(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        self.open()
        light = self.browser.run(ground)
        self.browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        self.assertNotEqual(self.browser.run(ground), light)
        self.browser.command("Emulation.setEmulatedMedia", features=[])


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    if programs() is None:
        sys.exit(77)
    unittest.main()
