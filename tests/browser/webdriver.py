"""A headless Chromium by chromedriver, spoken to in the WebDriver protocol (W3C) by Python's own library."""

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# Keys as WebDriver names them (section 17.4.2).
ARROW_LEFT, ARROW_UP, ARROW_RIGHT, ARROW_DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
TAB, ENTER, SPACE = "\ue004", "\ue007", " "


def programs():
    """chromedriver and Chromium, or None where either is not installed."""
    driver = shutil.which("chromedriver")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    return (driver, browser) if driver and browser else None


class Browser:
    def __init__(self, width=1280, height=900, dark=False):
        driver, browser = programs()
        self.profile = tempfile.TemporaryDirectory(prefix="ropescope-browser-")
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.base = f"http://127.0.0.1:{self._port()}"
        self.session = None
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "--hide-scrollbars"]
        if dark:
            options.append("--blink-settings=preferredColorScheme=0")
        found = self._call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"binary": browser, "args": options},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = found["sessionId"]

    def _port(self):
        for line in self.process.stdout:
            if "successfully on port" in line:
                return int(line.rstrip().rstrip(".").rsplit(" ", 1)[1])
        raise RuntimeError("chromedriver did not start")

    def _call(self, verb, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=verb)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def call(self, verb, path, body=None):
        return self._call(verb, f"/session/{self.session}{path}", body)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What the body of a function returns in the page."""
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=20):
        end = time.monotonic() + seconds
        while not (value := self.run(script, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(f"did not come true in {seconds} s: {script}")
            time.sleep(0.02)
        return value

    def keys(self, *keys):
        """Types into what has the focus."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def hover(self, x, y):
        """Moves the mouse to a place of the window, in pixels."""
        moves = [{"type": "pointerMove", "duration": 0, "x": int(x) + d, "y": int(y), "origin": "viewport"} for d in (1, 0)]
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": moves}]})

    def drag(self, x1, y1, x2, y2):
        places = [(x1, y1, 0), (x2, y2, 100)]
        moves = [{"type": "pointerMove", "duration": d, "x": int(x), "y": int(y), "origin": "viewport"} for x, y, d in places]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, moves[1], {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def log(self):
        """What the console said since the last time."""
        return self.call("POST", "/se/log", {"type": "browser"})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))

    def command(self, name, **parameters):
        """One of DevTools' own."""
        return self.call("POST", "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def close(self):
        if self.session:
            self._call("DELETE", f"/session/{self.session}")
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.profile.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
