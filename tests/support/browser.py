"""browser.py - a headless Chromium, driven by chromedriver's HTTP protocol (WebDriver) with Python alone.

    with browser.start(folder) as page:
        page.go("http://127.0.0.1:8090/#/dead")
        page.wait("h1", "Dead letters")
        page.click("button", "Retry")

SPDX-License-Identifier: Apache-2.0
"""
import base64
import contextlib
import json
import re
import subprocess
import time
import urllib.error
import urllib.request

SECONDS = 60  # of a busy machine
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Failed(Exception):
    pass


def must(condition, text):
    if not condition:
        raise Failed(text)


class Page:
    def __init__(self, base, options):
        self.base = base
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
                                        "goog:loggingPrefs": {"browser": "ALL"}}}
        self.session = self.call("POST", "/session", {"capabilities": capabilities})["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failed(json.load(error)["value"]["message"].splitlines()[0]) from error

    def do(self, method, path, body=None):
        return self.call(method, f"/session/{self.session}{path}", body)

    def go(self, url):
        self.do("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def later(self, script, *arguments):
        """What the promise of the script ends with."""
        return self.do("POST", "/execute/async", {"args": list(arguments), "script": f"""
            const done = arguments[arguments.length - 1];
            (async () => {{ {script} }})().then(done, (error) => done(String(error)));"""})

    def find(self, selector, text=None):
        """The visible elements of the selector whose text has this in it."""
        return self.run("""
            const [selector, text] = arguments;
            return [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length > 0 &&
                (text === null || one.textContent.includes(text)));""", selector, text)

    def wait(self, selector, text=None):
        end = time.monotonic() + SECONDS
        while True:
            found = self.find(selector, text)
            if found:
                return found[0]
            if time.monotonic() > end:
                raise Failed(f"no {selector} {text!r} in: {self.text()[:1500]}")
            time.sleep(0.05)

    def on(self, selector, text, *calls):
        """Calls of an element; anew while the page replaces it."""
        end = time.monotonic() + SECONDS
        while True:
            element = self.wait(selector, text)[ELEMENT]
            try:
                for path, body in calls:
                    self.do("POST", f"/element/{element}/{path}", body)
                return
            except Failed as failure:
                if "stale" not in str(failure) or time.monotonic() > end:
                    raise

    def click(self, selector, text=None):
        self.on(selector, text, ("click", {}))

    def fill(self, selector, text):
        self.on(selector, None, ("clear", {}), ("value", {"text": text}))

    def text(self):
        return self.run("return document.body.innerText")

    def size(self, width, height):
        self.do("POST", "/window/rect", {"width": width, "height": height})

    def dark(self, is_dark):
        self.do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "features": [{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}]}})

    def picture(self, path):
        """A WebP file of what is visible."""
        taken = self.do("POST", "/goog/cdp/execute", {"cmd": "Page.captureScreenshot", "params": {"format": "webp", "quality": 45}})
        with open(path, "wb") as file:
            file.write(base64.b64decode(taken["data"]))

    def complaints(self):
        """Errors of the script, and what the content security policy refused."""
        return [entry["message"] for entry in self.do("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]


@contextlib.contextmanager
def start(folder):
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        for line in driver.stdout:
            found = re.search(r"successfully on port (\d+)", line)
            if found:
                break
        else:
            raise Failed("chromedriver does not start")
        page = Page(f"http://127.0.0.1:{found.group(1)}", {
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900",
                     "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                     "--disable-sync", "--no-first-run", f"--user-data-dir={folder}/browser"]})
        try:
            yield page
        finally:
            with contextlib.suppress(Exception):
                page.do("DELETE", "")
    finally:
        driver.kill()
        driver.wait()
        subprocess.run(["pkill", "-KILL", "-f", f"{folder}/browser"], check=False)  # one that hangs outlives its driver
