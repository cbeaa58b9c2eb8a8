"""Pictures of the documentation's pages, to be looked at.

``python -m tests.site.screenshots FOLDER [PAGE ...]``: FOLDER/PAGE-WIDTH-SCHEME.png.
"""

import sys
from pathlib import Path

from tests.browser import chromium
from tests.site.pages import SITE, WIDTHS, Reader, pages, served


def shoot(folder, names, schemes=("light", "dark")):
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [str(path.relative_to(SITE)) for path in pages()]
    wanted = [
        name for name in wanted if not names or name.removesuffix(".html") in names
    ]
    with chromium() as browser, served(SITE) as address:
        for width in WIDTHS:
            for scheme in schemes:
                reader = Reader(browser, address, width, scheme)
                for name in wanted:
                    reader.look(name)
                    title = name.removesuffix(".html").replace("/", "-")
                    file = folder / f"{title}-{width}-{scheme}.png"
                    reader.page.screenshot(path=file, full_page=True)
                reader.context.close()


if __name__ == "__main__":
    shoot(Path(sys.argv[1]), sys.argv[2:])
