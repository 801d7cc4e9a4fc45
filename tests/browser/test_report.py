"""Usage: test_report.py ROPESCOPE. Reports in a headless Chromium: what the mouse and the keyboard get from a page is what
the CSV files say. Exit status 77 (skipped) where Chromium or chromedriver is not installed, or the program has no charts."""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from webdriver import ARROW_DOWN, ARROW_RIGHT, ENTER, SPACE, Browser, programs

MEGABYTE = 1_000_000

CARD = "return [...document.querySelectorAll('.card')].findIndex((c) => c.id === arguments[0])"


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def ready(browser, page, drawn=False):
    """Opens the page; with `drawn`, waits until no chart moves another any more."""
    browser.open(page.as_uri())
    browser.wait("return document.documentElement.dataset.ready" + (" === 'all'" if drawn else ""), seconds=60)


def card(browser, name):
    """Brings a chart into view; its number."""
    index = browser.run(CARD, f"chart-0-{name}")
    assert index >= 0, f"no chart {name}"
    browser.run("document.querySelectorAll('.card')[arguments[0]].scrollIntoView({block: 'center'})", index)
    browser.wait("return document.querySelectorAll('.card')[arguments[0]].querySelector('.frame canvas')", index)
    return index


def readout(browser, index):
    return browser.run("return document.querySelectorAll('.card')[arguments[0]].querySelector('.readout').textContent", index)


def focus(browser, index):
    browser.run("document.querySelectorAll('.card')[arguments[0]].querySelector('.frame').focus()", index)


def check_quiet(browser):
    said = [entry for entry in browser.log() if entry["level"] in ("SEVERE", "WARNING")]
    assert not said, f"the console: {said}"


def check_hover(browser, demo):
    """The mouse over a point of a curve: the readout has the CSV's number, digit by digit."""
    rows = {(row["method"], row["distance_tokens"]): row["mean_cosine"] for row in read(demo / "decay.csv")
            if row["length_tokens"] == "32768"}
    index = card(browser, "decay--mean_cosine--1k")
    for share in (0.2, 0.5, 0.8):
        box = browser.run("const b = document.querySelectorAll('.card')[arguments[0]].querySelector('.chart canvas')"
                          ".getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", index)
        browser.hover(box[0] + share * box[2], box[1] + 0.4 * box[3])
        words = browser.wait("return document.querySelectorAll('.card')[arguments[0]].querySelector('.readout').textContent", index)
        place, line = words.split(" · ")[:2]
        method, numbers = line.split(": ")
        number = numbers.split(",")[0]
        distance = place.split(" ")[1]
        assert float(rows[method, distance]) == float(number) and len(number) >= 1, f"{words}: CSV {rows[method, distance]}"
        values = browser.run("return Object.fromEntries([...document.querySelectorAll('.card')[arguments[0]].querySelectorAll("
                             "'.legend li')].map((li) => [li.querySelector('input').parentElement.textContent.split(' ◯')[0].trim(),"
                             " li.querySelector('.value').textContent]))", index)
        for name, value in values.items():
            wanted = rows.get((name, distance), "")  # empty where nothing turns
            good = abs(float(value) - float(wanted)) <= 1e-5 * abs(float(value)) if wanted else value in ("", "–")
            assert good, (name, value, wanted)


def check_mean(browser, demo):
    """A value of the summary is the mean over the seeds."""
    rows = [row for row in read(demo / "summary.csv") if row["method"] == "rope" and row["source"] == "gaussian"]
    index = card(browser, "entropy_nats--gaussian")
    focus(browser, index)
    words = readout(browser, index)
    assert words.startswith("length 1024 tokens · rope: "), words
    mean = sum(float(row["entropy_nats"]) for row in rows if row["length_tokens"] == "1024") / 2
    assert abs(float(words.split(": ")[1].split(",")[0]) - mean) < 1e-12, (words, mean)


# Of each chart of lines: its file and column, the words of its name, whether its axes are logarithmic, and how many
# points the library has placed in the picture.
DRAWN = """
return [...ropescope.charts].map((c) => {
  const area = c.graph.getArea(), [x, y] = [area.x + area.w, area.y + area.h].map((end) => end + 0.5);
  const inside = (p) => p.canvasx >= area.x - 0.5 && p.canvasx <= x && p.canvasy >= area.y - 0.5 && p.canvasy <= y;
  return {file: c.spec.file, column: c.spec.column, name: c.spec.group, length: c.spec.length, log: [c.axes.x, c.axes.y],
          points: c.graph.layout_.points.flat().filter(inside).length};
});
"""


def count_points(rows, index, chart):
    """The means of the CSV's rows that the axes of a chart have a place for."""
    words, means = chart["name"].split("--"), {}
    sources = {row["source"] for row in rows}
    for row in rows:
        here = row["source"] in words or not sources.intersection(words)
        if here and row[chart["column"]] and chart["length"] in (None, float(row["length_tokens"])):
            means.setdefault((row["method"], float(row[index])), []).append(float(row[chart["column"]]))
    x_log, y_log = chart["log"]
    return sum((x > 0 or not x_log) and (sum(values) > 0 or not y_log) for (_, x), values in means.items())


def check_points(browser, demo):
    """Each chart draws every point that its CSV file has and its axes have a place for, on either kind of axis."""
    files = {file["file"]: file["columns"] for file in json.loads((demo / "manifest.json").read_text())["files"]}
    index = {name: next((c["name"] for c in columns if c["role"] == "index"), "length_tokens") for name, columns in files.items()}
    rows = {name: read(demo / name) for name in files}
    for axis in (None, "y", "x"):
        if axis:
            browser.run("ropescope.charts.forEach((c) => c[`${arguments[0]}Box`].click())", axis)
        charts = browser.run(DRAWN)
        assert len(charts) > 20, len(charts)
        for chart in charts:
            wanted = count_points(rows[chart["file"]], index[chart["file"]], chart)
            assert chart["points"] == wanted, f"{chart}: the file has {wanted} points"
    browser.run("ropescope.charts.forEach((c) => { for (const axis of ['x', 'y'])"
                " if (c[`${axis}Box`].checked !== c.spec[axis].log) c[`${axis}Box`].click(); })")


def check_keys(browser):
    """Arrows walk along and between lines, space hides one, plus and 0 zoom."""
    index = card(browser, "entropy_nats--gaussian")
    focus(browser, index)
    browser.keys(ARROW_RIGHT)
    assert readout(browser, index).startswith("length 2048 tokens · rope"), readout(browser, index)
    browser.keys(ARROW_DOWN)
    assert "length 2048 tokens · nope" in readout(browser, index), readout(browser, index)
    span = "const c = [...ropescope.charts].find((c) => c.element.closest('.card') === document.querySelectorAll('.card')[arguments[0]]);"
    before = browser.run(span + "return c.graph.xAxisRange()", index)
    browser.keys("+")
    near = browser.run(span + "return c.graph.xAxisRange()", index)
    assert near[0] >= before[0] * (1 - 1e-9) and near[1] < 0.9 * before[1], (before, near)
    browser.keys("0")
    again = browser.run(span + "return c.graph.xAxisRange()", index)
    assert max(abs(a / b - 1) for a, b in zip(before, again)) < 1e-9, (before, again)
    browser.run("document.querySelectorAll('.card')[arguments[0]].querySelector('.legend input').focus()", index)
    browser.keys(SPACE)
    assert browser.run(span + "return c.graph.visibility()[0]", index) is False
    browser.keys(SPACE)
    assert browser.run(span + "return c.graph.visibility()[0]", index) is True
    browser.run("document.querySelectorAll('.card')[arguments[0]].querySelector('.controls input').focus()", index)
    browser.keys(SPACE)
    assert browser.run(span + "return c.axes.x", index) is False


def check_zoom(browser):
    """A drag shows less, the button all."""
    index = card(browser, "needle_rank--needle")
    span = "const c = [...ropescope.charts].find((c) => c.element.closest('.card') === document.querySelectorAll('.card')[arguments[0]]);"
    box = browser.run("const b = document.querySelectorAll('.card')[arguments[0]].querySelector('.chart canvas')"
                      ".getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", index)
    before = browser.run(span + "return c.graph.xAxisRange()", index)
    browser.drag(box[0] + 0.4 * box[2], box[1] + 0.5 * box[3], box[0] + 0.7 * box[2], box[1] + 0.5 * box[3])
    near = browser.run(span + "return c.graph.xAxisRange()", index)
    assert near[0] > before[0] and near[1] < before[1], (before, near)
    browser.run("[...document.querySelectorAll('.card')[arguments[0]].querySelectorAll('button')].find("
                "(b) => b.textContent === 'Reset zoom').click()", index)
    assert browser.run(span + "return c.graph.xAxisRange()[0]", index) == before[0]


def check_sort(browser):
    """The heads of the table are buttons; rows without a value stand last."""
    browser.run("[...document.querySelectorAll('#summary .sort')].find((b) => b.textContent.startsWith('first_violation')).focus()")
    cells = ("const i = [...document.querySelectorAll('#summary thead th')].findIndex((h) => h.textContent.startsWith("
             "'first_violation')); return [...document.querySelectorAll('#summary tbody tr:not([hidden])')]"
             ".map((r) => r.cells[i].textContent)")
    for sign in (1, -1):
        browser.keys(ENTER)
        found = browser.run(cells)
        numbers = [sign * float(text) for text in found if text]
        assert numbers == sorted(numbers) and len(set(numbers)) > 2, found
        assert found[-1] == "" and found[len(numbers)] == "", found


def check_file(browser, demo):
    """What is within the page is the file."""
    text = browser.run("""const done = document.querySelector('a.csv[data-name="summary.csv"]');
        document.addEventListener('click', (event) => { if (done.href.startsWith('blob:')) event.preventDefault(); });
        done.click(); return true""")
    assert text
    browser.wait("return document.querySelector('a.csv[data-name=\"summary.csv\"]').href.startsWith('blob:')")
    found = browser.call("POST", "/execute/async", {"args": [], "script": "const end = arguments[arguments.length - 1];"
                         "const bytes = Uint8Array.from(atob(document.getElementById('csv-0-0').textContent), (c) => c.charCodeAt(0));"
                         "new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(end)"})
    assert found == (demo / "summary.csv").read_text()


KEYS = [{"name": name, "role": "key", "unit": "tokens" if name == "length_tokens" else ""}
        for name in ("cell", "model", "method", "length_tokens", "scale", "source", "seed", "heads")]
STATUS = [{"name": "status", "role": "status"}, {"name": "message", "role": "status"}]


def write_zeros(folder):
    """Values of two seeds on a log axis: bands that end at 0 or below it, means that do, and values that are missing."""
    folder.mkdir()
    columns = KEYS + [{"name": "metric", "role": "value", "unit": "1", "axis": "log", "summary": "a metric"}] + STATUS
    pairs = {1024: ("0", "2"), 2048: ("1", "3"), 4096: ("0", "0"), 8192: ("", "5"), 16384: ("", ""), 32768: ("4", "4")}
    (folder / "manifest.json").write_text(json.dumps({"name": "zeros", "config": "name: zeros", "sources": [], "files": [
        {"file": "summary.csv", "columns": columns}]}))
    with open(folder / "summary.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([column["name"] for column in columns])
        cells = [("a", length, seed, pair[seed]) for length, pair in pairs.items() for seed in (0, 1)]
        cells += [("b", length, seed, "7") for length in pairs for seed in (0, 1)]
        for cell, (method, length, seed, value) in enumerate(cells):
            rows.writerow([cell, "m", method, length, "", "", seed, 8, value, "ok", ""])


def check_zeros(browser, program, folder):
    """A band that reaches 0 ends at the log axis and its mean is drawn; a mean of 0 breaks the line and is marked."""
    write_zeros(folder)
    subprocess.run([program, "report", folder], check=True, stdout=subprocess.DEVNULL)
    ready(browser, folder / "report.html", drawn=True)
    index = card(browser, "metric")
    found = browser.run("""const c = [...ropescope.charts][0], [line] = c.graph.layout_.points, area = c.graph.getArea();
        return {log: c.axes.y, points: line.map((p) => [p.xval, p.yval, p.canvasy <= area.y + area.h]),
                foot: line[0].y_top, name: c.yName.textContent}""")
    assert found["log"] and found["name"] == "metric · ▽ 0 or less", found
    assert [point for point in found["points"] if point[2]] == [[1024, 1, True], [2048, 2, True], [8192, 5, True], [32768, 4, True]], found
    assert found["foot"] == 1, found
    browser.run("[...document.querySelectorAll('.card')[arguments[0]].querySelectorAll('button')].find("
                "(b) => b.textContent === 'No lines').click()", index)
    check_quiet(browser)


def write_wide(folder):
    """100 methods by 20 lengths, of which names and texts are not kind to a page."""
    folder.mkdir()
    values = [{"name": f"metric_{i}", "role": "value", "unit": "1", "axis": "linear", "better": "higher",
               "summary": "</script><b>bold</b> & \"quoted\""} for i in range(6)]
    manifest = {"name": "</title><script>alert(1)</script>", "config": "name: wide", "sources": [],
                "files": [{"file": "summary.csv", "columns": KEYS + values + STATUS}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with open(folder / "summary.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([column["name"] for column in KEYS + values + STATUS])
        for m in range(100):
            for l in range(20):
                name = '</script><img src=x onerror="alert(1)">' if m == 0 else f"méthode {m}"
                rows.writerow([m * 20 + l, "m", name, 1024 * (l + 1), "", "", "", 8, *(m + l * i for i in range(6)), "ok", ""])


# Of each chart that the library draws: whether the page could be read before it, and how much it has to draw.
COUNTER = """
let library;
window.counted = [];
Object.defineProperty(window, "Dygraph", {get: () => library, set(value) {
  library = new Proxy(value, {construct(target, [place, rows, options]) {
    counted.push({ready: document.documentElement.dataset.ready, rows: rows.length, lines: options.labels.length - 1});
    return new target(place, rows, options);
  }});
}});
"""


def check_wide(browser, program, folder):
    """The page can be read before a chart is drawn, and each chart is drawn once, of no more points than the file has."""
    write_wide(folder)
    page = folder / "report.html"
    subprocess.run([program, "report", folder], check=True, stdout=subprocess.DEVNULL)
    browser.command("Page.enable")
    counter = browser.command("Page.addScriptToEvaluateOnNewDocument", source=COUNTER)["identifier"]
    browser.open("about:blank")
    begin = time.monotonic()
    ready(browser, page)
    browser.wait("return document.querySelector('.chart canvas')") # the first chart stands
    print(f"100 methods by 20 lengths: {time.monotonic() - begin:.2f} s")
    browser.wait("return document.documentElement.dataset.ready === 'all'", seconds=60)
    browser.command("Page.removeScriptToEvaluateOnNewDocument", identifier=counter)
    drawn = browser.run("return counted")
    assert drawn == [{"ready": "charts", "rows": 20, "lines": 100}] * 6, f"charts drawn on opening: {drawn}"
    assert browser.run("return document.querySelectorAll('#summary tbody tr').length") == 2000
    assert browser.run("return document.images.length + document.querySelectorAll('main b > b, main script b').length") == 0
    assert browser.run("return document.querySelector('.legend').textContent").find("<img src=x") >= 0


MAPS = """name: maps
lengths: [512]
model: {name: m, heads: 2, head_dim: 32, train_length: 256}
methods: [rope, nope]
sources: [{name: needle, depth: [0.25, 0.5, 0.75]}]
metrics: [needle]
seeds: 1
heads: 1
"""


def check_map(browser, program, base):
    """Arrow keys read the cells of a map."""
    (base / "maps.yaml").write_text(MAPS)
    subprocess.run([program, "run", "maps.yaml", "--quiet", "--out", "maps"], check=True, cwd=base)
    subprocess.run([program, "report", "maps"], check=True, cwd=base, stdout=subprocess.DEVNULL)
    ready(browser, base / "maps" / "report.html", drawn=True)
    rows = [row for row in read(base / "maps" / "summary.csv") if row["method"] == "nope"]
    wanted = {float(row["depth"]): float(row["needle_logit_nats"]) for row in rows}
    assert len(wanted) == 3, rows
    browser.run("const c = [...document.querySelectorAll('.card')].find((c) => c.id.includes('needle_logit'));"
                "[...c.querySelectorAll('figure')].find((f) => f.textContent.startsWith('nope')).querySelector('canvas').focus();")
    for step, (depth, value) in enumerate(sorted(wanted.items())):
        if step > 0:
            browser.keys(ARROW_RIGHT)
        words = browser.run("return document.activeElement.closest('.card').querySelector('.readout').textContent")
        assert words.startswith(f"nope · depth {depth:g}: ") and float(words.split(": ")[1]) == value, (words, depth, value)
    check_quiet(browser)


SAME = """name: same
lengths: [256, 512, 1024, 2048]
model: {name: m, heads: 2, head_dim: 32, train_length: 256}
methods: [rope, {name: pi, factor: 1}, {name: yarn, factor: 1}, nope]
sources: [gaussian]
metrics: [entropy]
seeds: 1
heads: 1
"""


def check_together(browser, program, base):
    """Lines on each other show as stripes and name each other; a line that is hidden is on none."""
    (base / "same.yaml").write_text(SAME)
    subprocess.run([program, "run", "same.yaml", "--quiet", "--out", "same"], check=True, cwd=base)
    subprocess.run([program, "report", "same"], check=True, cwd=base, stdout=subprocess.DEVNULL)
    ready(browser, base / "same" / "report.html", drawn=True)
    index = card(browser, "entropy_nats--gaussian")
    chart = "const c = [...ropescope.charts].find((c) => c.element.closest('.card') === document.querySelectorAll('.card')[arguments[0]]);"
    names = chart + "return [...c.legend.children].map((li) => li.querySelector('.together').textContent)"
    dashes = chart + "return c.spec.lines.map((_, s) => c.graph.getOption('strokePattern', `s${s}`))"
    assert browser.run(names, index) == [" = pi, yarn", "", " = rope, yarn", " = rope, pi"], browser.run(names, index)
    assert browser.run(dashes, index) == [None, [8, 3], [18, 9], [9, 18]], browser.run(dashes, index)
    focus(browser, index)
    assert readout(browser, index).endswith(" · on the same line: pi, yarn"), readout(browser, index)
    browser.run("document.querySelectorAll('.card')[arguments[0]].querySelectorAll('.legend input')[2].click()", index)
    assert browser.run(names, index) == [" = yarn", "", "", " = rope"], browser.run(names, index)
    assert browser.run(dashes, index)[3] == [9, 9] and browser.run(dashes, index)[0] is None, browser.run(dashes, index)
    if os.environ.get("ROPESCOPE_SCREENSHOTS"):
        browser.run("document.querySelectorAll('.card')[arguments[0]].querySelectorAll('.legend input')[2].click()", index)
        browser.screenshot(os.environ["ROPESCOPE_SCREENSHOTS"])
    check_quiet(browser)


INTERVALS = {("yarn", 512): (0.1, 0.05, 0.3), ("yarn", 1024): (0.5, 0.25, 4), ("window", 512): (0, 0, 0), ("window", 1024): (0, 0, 0)}

INTERVAL_BAR = """const c = [...ropescope.charts].find((c) => c.element.closest('.card') === document.querySelectorAll('.card')[arguments[0]]);
const canvas = c.graph.hidden_, share = canvas.width / c.graph.width_;
const x = c.graph.getArea().x + c.shareOf(c.graph, arguments[1]) * c.graph.getArea().w;
const column = canvas.getContext('2d').getImageData(x * share - 2, 0, 5, canvas.height).data;
return arguments[2].map((value) => Math.round(c.graph.toDomYCoord(value) * share))
  .map((y) => column.slice(20 * (y - 1), 20 * (y + 2)).some((part, i) => i % 4 === 3 && part > 0));"""


def write_intervals(folder, lengths):
    keys = ["cell", "model", "method", "length_tokens", "source", "seed", "heads"]
    names = ["loss_difference_nats", "loss_difference_nats_low", "loss_difference_nats_high"]
    columns = [{"name": key, "role": "key"} for key in keys] + [
        {"name": name, "role": "value", "unit": "nats", "axis": "linear", "summary": "", **({"map": part} if part else {})}
        for name, part in zip(names, ("", "low", "high"))]
    folder.mkdir()
    (folder / "manifest.json").write_text(json.dumps({"name": "bars", "files": [{"file": "summary.csv", "columns": columns}]}))
    with open(folder / "summary.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(keys + names)
        for cell, ((method, length), numbers) in enumerate(INTERVALS.items()):
            if length in lengths:
                rows.writerow([cell, "m", method, length, "t", 1, "", *numbers])


def check_intervals(browser, program, base):
    """An interval is a bar on the chart, words in its table, and a bar on the row of a dot."""
    write_intervals(base / "bars", (512, 1024))
    write_intervals(base / "row", (1024,))
    subprocess.run([program, "report", "bars"], check=True, cwd=base, stdout=subprocess.DEVNULL)
    subprocess.run([program, "report", "row"], check=True, cwd=base, stdout=subprocess.DEVNULL)
    ready(browser, base / "bars" / "report.html", drawn=True)
    index = card(browser, "loss_difference_nats--t")
    bar = browser.run(INTERVAL_BAR, index, 1024, [3.9, 2.3, 4.15])
    assert bar == [True, True, False], bar
    browser.run("document.querySelectorAll('.card')[arguments[0]].querySelector('.behind summary').click()", index)
    cells = browser.wait("const b = document.querySelectorAll('.card')[arguments[0]].querySelector('.behind tbody');"
                         "return b && [...b.querySelectorAll('td')].map((td) => td.textContent)", index)
    assert cells == ["0", "0.1 [0.05, 0.3]", "0", "0.5 [0.25, 4]"], cells
    check_quiet(browser)
    ready(browser, base / "row" / "report.html", drawn=True)
    bars = browser.run("return [...document.querySelectorAll('.dots tbody tr')].map((tr) => [tr.querySelector('.number').textContent,"
                       " tr.querySelector('b') && [tr.querySelector('b').style.left, tr.querySelector('b').style.width]])")
    assert bars == [["0", None], ["0.5 [0.25, 4]", ["6.25%", "93.75%"]]], bars
    check_quiet(browser)


def main():
    program = os.path.abspath(sys.argv[1])
    if programs() is None:
        print("skipped: no chromium, or no chromedriver")
        return 77
    with tempfile.TemporaryDirectory(prefix="ropescope-page-") as base:
        base = pathlib.Path(base)
        demo, page = base / "demo", base / "demo" / "report.html"
        subprocess.run([program, "run", "--quiet", "--out", demo], check=True, cwd=base)
        subprocess.run([program, "report", demo], check=True, stdout=subprocess.DEVNULL)
        if "Dygraph" not in page.read_text():
            print("skipped: the program has no charts")
            return 77
        size = page.stat().st_size
        print(f"the demo's page: {size / MEGABYTE:.2f} MB")
        assert size < 2 * MEGABYTE, size
        with Browser() as browser:
            ready(browser, page, drawn=True)
            for check in (check_points, check_hover, check_mean):
                check(browser, demo)
            for check in (check_keys, check_zoom, check_sort):
                check(browser)
            check_file(browser, demo)
            check_quiet(browser)
            check_map(browser, program, base)
            check_together(browser, program, base)
            check_intervals(browser, program, base)
            check_zeros(browser, program, base / "zeros")
            check_wide(browser, program, base / "wide")
            check_quiet(browser)
        with Browser(width=500, dark=True) as browser:
            browser.command("Emulation.setDeviceMetricsOverride", width=400, height=900, deviceScaleFactor=1, mobile=False)
            check_together(browser, program, base)
            ready(browser, page)
            assert browser.run("return document.documentElement.scrollWidth") <= 400, "a narrow page scrolls sideways"
            check_quiet(browser)
    return 0


if __name__ == "__main__":
    sys.exit(main())
