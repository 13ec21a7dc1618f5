"""A page in Debian's Chromium: the result of a script, and the errors of the browser."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "there is no Chromium here: make chromium installs Debian's"

needs_chromium = pytest.mark.skipif(PROGRAM is None and "CI" not in os.environ, reason=MISSING)

ALONE = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--enable-logging=stderr",
    "--dump-dom",
)
"""So that the browser itself asks nobody for anything, and says what it has."""

ASK = """
addEventListener("load", () => {
  const told = document.createElement("pre");
  told.id = "told-by-test";
  told.textContent = JSON.stringify((() => { %s })());
  parent.document.body.append(told);
});
"""

FRAME = '<!doctype html><iframe style="width: {width}px; height: 900px; border: 0" srcdoc="{page}">'
"""A window is at least 500 wide, a frame as narrow as one likes."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What came of opening a page."""

    message: Any
    """What the script returned."""
    complaints: list[str]
    """The lines of the console."""
    dom: str
    """The page after its scripts have run."""


def see(page: str, folder: Path) -> Seen:
    """Open a page in a folder of its own."""
    assert PROGRAM, MISSING
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    arguments = [PROGRAM, *ALONE, f"--user-data-dir={folder / 'browser'}", path.as_uri()]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=True)
    actual = re.search(r'<pre id="told-by-test">(.*?)</pre>', done.stdout, re.DOTALL)
    message = json.loads(unescape(actual[1])) if actual else None
    return Seen(message, re.findall(r".*CONSOLE.*", done.stderr), done.stdout)


def ask(page: str, folder: Path, script: str, *, width: int) -> Seen:
    """Open a page so wide, and run a script in it that returns something.

    A page lets its own script run only, so it is opened without that rule.
    """
    free = re.sub(r"script-src '[^']*'", "script-src 'unsafe-inline'", page, count=1)
    asking = free.replace("</body>", f"<script>{ASK % script}</script></body>")
    return see(FRAME.format(width=width, page=escape(asking)), folder)
