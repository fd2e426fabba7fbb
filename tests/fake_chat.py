"""A service on this machine whose behaviour a test decides request by request."""

import email.policy
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeChat:
    """Answers every ``POST`` with what ``decide(number, body)`` gives.

    ``body`` is the JSON that came, or the fields of a multipart form. ``decide`` gives a status, a document or text,
    and headers. ``None`` cuts the connection.
    """

    def __init__(self, decide: Callable[[int, dict[str, Any]], Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(handler) -> None:  # noqa: N805  the server is `self`
                size = int(handler.headers["content-length"])
                sent = handler.rfile.read(size)
                if len(sent) < size:  # the caller was killed while it was sending
                    handler.close_connection = True
                    return
                kind = handler.headers["content-type"]
                body = json.loads(sent) if kind == "application/json" else form(kind, sent)
                with lock:
                    self.paths.append(handler.path)
                    self.requests.append(body)
                    self.headers.append(dict(handler.headers))
                    number = len(self.requests)
                decided = decide(number, body)
                if decided is None:
                    handler.close_connection = True
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


def form(kind: str, data: bytes) -> dict[str, Any]:
    """Fields of a multipart form: text, or for a file its name and bytes."""
    message = email.message_from_bytes(b"content-type: " + kind.encode() + b"\n\n" + data, policy=email.policy.HTTP)
    fields: dict[str, Any] = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        fields[name] = (part.get_filename(), content) if part.get_filename() else content.decode()
    return fields


def completion(content: object, finish: str = "stop", **message: object) -> tuple[int, dict[str, Any], dict[str, str]]:
    """A chat completion as a service sends it."""
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return 200, {"id": "chat-1", "choices": [choice], "usage": {"total_tokens": 12}}, {"x-request-id": "req-7"}
