"""An OpenAI-compatible chat server on this machine whose behaviour a test decides request by request."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeChat:
    """Answers ``POST /v1/chat/completions`` with what ``decide(number, body)`` gives.

    ``decide`` gives a status, a document or text, and headers. ``None`` cuts the connection.
    """

    def __init__(self, decide: Callable[[int, dict[str, Any]], Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler) -> None:  # noqa: N805  the server is `self`
                body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
                with lock:
                    self.requests.append(body)
                    self.headers.append(dict(handler.headers))
                    number = len(self.requests)
                decided = decide(number, body)
                if decided is None:
                    handler.connection.close()
                    return
                status, document, headers = decided
                data = (document if isinstance(document, str) else json.dumps(document)).encode()
                handler.send_response(status)
                for name, value in {"content-length": str(len(data)), **headers}.items():
                    handler.send_header(name, value)
                handler.end_headers()
                handler.wfile.write(data)

            def log_message(handler, *_: object) -> None:  # noqa: N805
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "FakeChat":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def completion(content: object, finish: str = "stop", **message: object) -> tuple[int, dict[str, Any], dict[str, str]]:
    """A chat completion as a service sends it."""
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return 200, {"id": "chat-1", "choices": [choice], "usage": {"total_tokens": 12}}, {"x-request-id": "req-7"}
