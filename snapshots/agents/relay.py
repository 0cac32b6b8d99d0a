"""A recording relay in front of the proxy: what the client sent, in the order in which the proxy got it."""

import http.client
import http.server
import json
import sys
import threading
import urllib.parse

import dialects


class Server(http.server.ThreadingHTTPServer):
    """Clients may go away at any time."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Relay:
    """Passes everything on to `target`; `log` holds every chat request, beside its place in the upstream's log."""

    def __init__(self, target, upstream):
        self.target = urllib.parse.urlsplit(target)
        self.upstream = upstream
        self.log = []
        self.order = threading.Lock()
        outer = self

        class Handler(_Handler):
            relay = outer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    relay = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.close_connection = True
        self.copy(self.send_on(None))

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.close_connection = True
        as_chat = dialects.AS_CHAT.get(self.path.partition("?")[0])
        if as_chat is None:
            self.copy(self.send_on(raw))
            return
        relay = self.relay
        # One request at a time until it has reached the upstream, so that both logs and the episodes agree.
        with relay.order:
            body = as_chat(json.loads(raw))
            entry = {"body": body, "raw": raw.decode("utf-8"), "upstream": None, "status": 0}
            relay.log.append(entry)
            seen = len(relay.upstream.log)
            response = self.send_on(raw)
            entry["status"] = response.status
            if len(relay.upstream.log) > seen:
                entry["upstream"] = relay.upstream.log[seen]
        self.copy(response)

    def send_on(self, raw):
        connection = http.client.HTTPConnection(self.relay.target.hostname, self.relay.target.port, timeout=120)
        skipped = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in skipped}
        connection.request(self.command, self.path, raw, headers)
        return connection.getresponse()

    def copy(self, response):
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while True:
                piece = response.read1(65536)
                if not piece:
                    break
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:
            pass  # the client went away
