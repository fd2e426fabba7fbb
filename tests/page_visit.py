"""A visit to the page in a browser, for its tests."""

from pathlib import Path
from typing import Any

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
"""Sizes of the window, in px."""


class Visit:
    """An open page that collects what must not happen: console messages, errors, requests, dialogs."""

    def __init__(self, browser: Any, folder: Path, address: str = "", **options: Any) -> None:
        self.folder = folder
        self.complaints: list[str] = []
        self.context = browser.new_context(**{"viewport": WIDE, **options})
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", self._request)
        self.go(address)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.folder.as_uri() + "/index.html", "data:", "blob:")):
            self.complaints.append(f"request: {request.url}")

    def go(self, address: str) -> None:
        self.page.goto("about:blank")
        self.page.goto(f"{self.folder.as_uri()}/index.html{address}")

    def names(self, group: str = "full_set") -> list[str]:
        return self.page.locator(f'tbody[data-group^="{group}"] tr[data-key] .open').all_text_contents()

    def axe(self) -> list[str]:
        """Serious and critical findings of axe-core."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{item['id']}: {item['nodes'][0]['html']}" for item in found if item["impact"] in ("serious", "critical")
        ]
