"""A real browser for tests and for the pictures of the documentation."""

import os
import shutil
from contextlib import contextmanager

import numpy as np

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-quic",
    "--disable-sync",
    # machines without a graphics card draw in software
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def chromium_path():
    """Where Chromium is, or None."""
    named = os.environ.get("GRAPHFOLD_CHROMIUM")
    return named or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def chromium():
    """A browser; a session uses one."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=ARGUMENTS
        )
        yield browser
        browser.close()


class Page:
    """One opened map: what it said, what it asked for, and short ways to its parts."""

    def __init__(self, browser, path, *, scheme="light", viewport=None, fragment=""):
        self.context = browser.new_context(
            viewport=viewport or DESKTOP,
            color_scheme=scheme,
            offline=True,
            accept_downloads=True,
        )
        self.page = self.context.new_page()
        self.errors, self.requests = [], []
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def _listen(self, message):
        # of the driver, on machines that draw in software: not of the page
        if "GL Driver Message" not in message.text:
            self.errors.append(f"{message.type}: {message.text}")

    def __getattr__(self, name):
        return getattr(self.page, name)

    def settle(self):
        """Wait for what was asked to be drawn."""
        frames = "async () => { for (let k = 0; k < 4; k += 1) "
        frames += "await new Promise(requestAnimationFrame); }"
        self.page.evaluate(frames)

    def state(self, name):
        return self.page.evaluate(f"graphfold.store.state.{name}")

    def wait_for_state(self, condition):
        self.page.wait_for_function(
            f"(() => {{ const s = graphfold.store.state; return {condition}; }})()"
        )
        self.settle()

    def pixels(self, kind="points", view=0):
        """Pixels that are not empty, that are red, and a sum that tells pictures."""
        self.settle()
        return self.page.evaluate(
            """([kind, view]) => {
              const canvas = document.querySelectorAll(`canvas.${kind}`)[view];
              if (!canvas.width || !canvas.height) return {filled: 0, red: 0, sum: 0};
              const read = new OffscreenCanvas(canvas.width, canvas.height)
                .getContext('2d', { willReadFrequently: true });
              read.drawImage(canvas, 0, 0);
              const { data } = read.getImageData(0, 0, canvas.width, canvas.height);
              let [filled, red, sum] = [0, 0, 0];
              for (let i = 0; i < data.length; i += 4) {
                if (data[i + 3] > 8) filled += 1;
                const [r, g, b, a] = data.subarray(i, i + 4);
                if (a > 60 && r > 150 && g < 90 && b < 90) red += 1;
                sum = (sum + (i % 9973) * (r + 3 * g + 7 * b + 11 * a)) % 2 ** 32;
              }
              return { filled, red, sum };
            }""",
            [kind, view],
        )

    def point(self, i, view=0):
        """Where a point stands in the window."""
        return self.page.evaluate("([i, view]) => graphfold.screen(i, view)", [i, view])

    def hover(self, i, view=0):
        self.page.mouse.move(5, 5)
        self.settle()
        x, y = self.point(i, view)
        self.page.mouse.move(x, y, steps=4)
        self.page.wait_for_selector("#card:not([hidden])")

    def click_point(self, i, view=0):
        self.settle()
        x, y = self.point(i, view)
        self.page.mouse.move(x, y, steps=4)
        self.wait_for_state(f"s.hover && s.hover.point === {i}")
        self.page.mouse.click(x, y)
        self.wait_for_state(f"s.focus === {i}")

    def lasso(self, corners):
        """Draw around a polygon given in window coordinates."""
        self.page.click("#lasso")
        first, *others = [*corners, corners[0]]
        self.page.mouse.move(*first)
        self.page.mouse.down()
        for corner in others:
            self.page.mouse.move(*corner, steps=8)
        self.page.wait_for_timeout(60)
        self.page.mouse.up()
        self.wait_for_state("s.mode === 'panZoom' && s.selection.length > 0")

    def download(self, button):
        """The text of the file that a button saves."""
        with self.page.expect_download() as found:
            self.page.click(button)
        with open(found.value.path(), encoding="utf-8") as stream:
            return stream.read()

    def close(self):
        self.context.close()


def around(page, points, view=0, margin=14):
    """A box around points, in the window."""
    places = np.array([page.point(int(i), view) for i in points])
    (left, top), (right, bottom) = places.min(0) - margin, places.max(0) + margin
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def box_of(page, view=0):
    """Left, top, right and bottom of a panel, in the window."""
    script = "view => { const b = document.querySelectorAll('canvas.points')[view]"
    script += ".getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }"
    return page.evaluate(script, view)


def many(n):
    """Points in twelve groups, and their groups."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 12, n)
    Z = 4 * rng.standard_normal((12, 2))[group] + rng.standard_normal((n, 2))
    return Z.astype(np.float32), group
