"""The built documentation: its pages, their links, and how they look in a browser."""

from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

from tests.browser import DESKTOP, PHONE

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
WIDTHS = {"desktop": DESKTOP, "phone": PHONE}


def pages(site=SITE):
    """Every page, but for those that Sphinx makes for itself."""
    own = ("_static", "_sources", "_downloads")
    return sorted(
        path
        for path in site.rglob("*.html")
        if path.relative_to(site).parts[0] not in own
    )


class Links(HTMLParser):
    """What a page points to, and what can be pointed to in it."""

    def __init__(self):
        super().__init__()
        self.targets, self.anchors, self.nameless = [], set(), []
        self.unresolved, self.in_link = [], False

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for key in ("href", "src"):
            if values.get(key):
                self.targets.append(values[key])
        self.in_link = self.in_link or tag == "a"
        # Sphinx leaves a reference that it cannot resolve as a mere word
        if "xref" in (values.get("class") or "").split() and not self.in_link:
            self.unresolved.append(self.get_starttag_text())
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        # an empty one says that the words are beside it; a path is Sphinx's own
        if tag == "img" and values.get("alt", "/").count("/"):
            self.nameless.append(values.get("src"))

    def handle_endtag(self, tag):
        self.in_link = self.in_link and tag != "a"


def links_of(path):
    links = Links()
    links.feed(path.read_text(encoding="utf-8"))
    return links


def dead_links(all_pages):
    """Targets inside the site that are no file, or no place in one."""
    known = {path.resolve(): links_of(path) for path in all_pages}
    for path, links in known.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            file = file / "index.html" if file.is_dir() else file
            place = unquote(parts.fragment)
            found = file in known and place in known[file].anchors | {"", "top"}
            if not (found or (file.is_file() and file not in known)):
                yield f"{path.name}: {target}"


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextmanager
def served(folder):
    """The address of a folder, served on this machine alone."""
    handler = partial(Silent, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Reader:
    """A window of some width, in which pages are opened one after the other."""

    def __init__(self, browser, address, width, scheme="light"):
        self.address, self.wrong = address, []
        self.context = browser.new_context(viewport=WIDTHS[width], color_scheme=scheme)
        self.page = self.context.new_page()
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", self._send)
        self.page.on("response", self._receive)

    def _listen(self, said):
        if said.type in ("error", "warning"):
            self.wrong.append(said.text)

    def _receive(self, response):
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")

    def _send(self, request):
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"asked for {request.url}")

    def look(self, path):
        """Open a page; what can be seen of it, and what went wrong on the way."""
        self.wrong.clear()
        self.page.goto(f"{self.address}/{path}", wait_until="load")
        return self.page.evaluate(LOOK) | {"wrong": list(self.wrong)}


#: formulas are drawn, pictures are there, nothing is wider than the window, and no
#: words end beyond its edge, but in what scrolls by itself (code, tables)
LOOK = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  const pictures = [...document.images];
  pictures.forEach((image) => { image.loading = 'eager'; });
  await Promise.all(pictures.map((image) => image.decode().catch(() => 0)));
  const undrawn = [...document.querySelectorAll('.math')]
    .filter((formula) => !formula.querySelector('mjx-container'));
  const article = document.querySelector('.bd-article') ?? document.body;
  const scrolls = (element) => element !== article
    && (['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
      || scrolls(element.parentElement));
  const words = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const cut = [];
  const place = document.createRange();
  while (words.nextNode()) {
    place.selectNodeContents(words.currentNode);
    const beyond = place.getBoundingClientRect().right > window.innerWidth + 1;
    if (beyond && !scrolls(words.currentNode.parentElement)) {
      cut.push(words.currentNode.textContent);
    }
  }
  return {
    cut,
    wider: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
    broken: pictures.filter((image) => !image.naturalWidth).map((image) => image.src),
    undrawn: undrawn.map((formula) => formula.textContent),
    headings: document.querySelectorAll('h1').length,
  };
}"""
