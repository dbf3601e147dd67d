"""The page as the tests that drive a browser see it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests import browsers, patience


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the tests of a module, as patient as all tests are."""
    expect.set_options(timeout=1000 * patience.SECONDS)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browsers.find(), chromium_sandbox=os.geteuid() != 0)
        yield browser
        browser.close()


def enter(page: Page, address: str) -> None:
    """Open the address that was printed."""
    page.set_default_timeout(1000 * patience.SECONDS)
    page.goto(address)
    page.wait_for_url(re.compile(r":\d+/$"))


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def editor(page: Page) -> Locator:
    """The text of the editor, when it is there."""
    page.locator("[data-ready]").wait_for()
    return page.locator(".cm-content")
