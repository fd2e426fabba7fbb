"""A visit to the page in a browser, for its tests."""

import json
from pathlib import Path
from typing import Any

from oruk_leaderboard.records.record import Source
from tests.made_records import a_record

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


def own_record(**changes: Any) -> bytes:
    evaluation = {
        "n": 400,
        "set_digest": "a" * 64,
        "intervals": {"accuracy": [0.58, 0.66], "macro_f1": [0.55, 0.64]},
        "per_class": {"anger": {"precision": 0.5, "recall": 0.5, "f1": 0.5, "support": 100}},
        "slices": {"corpus": [{"value": "emo_db", "n": 300, "macro_f1": 0.71, "accuracy": 0.7}], "language": []},
    }
    record = a_record(
        "mine",
        name=str(changes.pop("name", "my system")),
        scored_on="rebuilt_open",
        source=Source(kind="scored_here", attested_by="me"),
        evaluation=evaluation,
        accuracy="62.00",
        macro_f1="0.6000",
    ).to_dict()
    return json.dumps({**record, **changes}).encode()


def choose(visit: Visit, content: bytes, name: str = "record.json") -> str:
    visit.page.locator("#file").set_input_files([{"name": name, "mimeType": "application/json", "buffer": content}])
    visit.page.wait_for_selector("#drop-result:not(:empty)")
    return str(visit.page.locator("#drop-result").inner_text())
