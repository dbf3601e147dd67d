"""The practice page in a real browser: from the key to the painted verdict, many tabs, many grades.

    python benchmarks/page.py [--grades 500] [--tabs 20]

The browser times a warm grade, from Ctrl-Enter to the frame after the verdict; it is told as a share of
`import torch`, in turn with it. Then all tabs grade at once; then memory is read over many grades.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from grader.catalog import load_catalog

ROUNDS = 9
PATIENCE = 240_000  # milliseconds
TIMED = "performance.measure('grade', 'grade-asked', 'grade-painted').duration"
CLEAR = "for (const mark of ['grade-asked', 'grade-painted']) performance.clearMarks(mark)"
PAINTED = "performance.getEntriesByName('grade-painted').length > 0"


def graded(page: Page) -> float:
    """Grade by the key; milliseconds until the verdict is painted."""
    page.evaluate(CLEAR)
    page.locator(".cm-content").press("Control+Enter")
    page.wait_for_function(PAINTED, timeout=PATIENCE)
    return float(page.evaluate(TIMED))


def import_torch() -> float:
    """Milliseconds of a fresh interpreter that imports torch."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return 1000 * (time.perf_counter() - began)


def resident(process: int) -> float:
    """Megabytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def main() -> None:
    """One server, one browser, three tables' worth of figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--grades", type=int, default=500)
    parser.add_argument("--tabs", type=int, default=20)
    wanted = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as home,
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as driver,
        contextlib.ExitStack() as ending,
    ):
        kata = Path(sys.executable).with_name("kata")
        server = subprocess.Popen(
            [kata, "web", "--no-open"],
            cwd=folder,
            env={**os.environ, "KATA_HOME": home},
            stdout=subprocess.PIPE,
            text=True,
        )
        ending.callback(server.terminate)
        assert server.stdout is not None
        address = next(line.strip() for line in server.stdout if line.startswith("http"))
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), chromium_sandbox=os.geteuid() != 0
        )
        context = browser.new_context(bypass_csp=True)  # to wait for a mark, the browser evaluates
        page = context.new_page()
        page.goto(address)
        page.wait_for_url(re.compile(r":\d+/$"))
        page.goto(f"{page.url}katas/v3")
        page.get_by_role("button", name="Start with the stub").click()
        page.locator("[data-ready]").wait_for()
        page.locator(".cm-content").press("Control+A")
        page.keyboard.insert_text(load_catalog().get("v3").solution.read_text(encoding="utf-8"))
        for _ in range(3):
            graded(page)  # the first is cold, and starts the engine
        pairs = [(graded(page), import_torch()) for _ in range(ROUNDS)]
        times, shares = [one for one, _ in pairs], [one / torch for one, torch in pairs]
        print(
            f"warm grade: {statistics.median(times):.0f} ms, {statistics.median(shares):.2f} of import torch",
            flush=True,
        )
        tabs = [page, *(context.new_page() for _ in range(wanted.tabs - 1))]
        for tab in tabs[1:]:
            tab.goto(page.url)
            tab.locator("[data-ready]").wait_for()
        for tab in tabs:
            tab.evaluate(CLEAR)
            tab.evaluate("document.getElementById('grade').click()")
        for tab in tabs:
            tab.wait_for_function(PAINTED, timeout=PATIENCE)
        print(f"{len(tabs)} tabs at once: all have a verdict", flush=True)
        for tab in tabs[1:]:
            tab.close()
        memory = []
        for _ in range(wanted.grades):
            graded(page)
            memory.append(resident(server.pid))
        if memory:
            tenth = max(1, len(memory) // 10)
            first, last = statistics.median(memory[tenth : 2 * tenth]), statistics.median(memory[-tenth:])
            print(f"memory of the server over {len(memory)} grades: {first:.0f} MB, then {last:.0f} MB")
        browser.close()


if __name__ == "__main__":
    main()
