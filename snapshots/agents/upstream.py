"""A scripted model server in every dialect. It streams, and logs every request as it came."""

import http.server
import json
import re
import sys
import threading

import dialects
import measure
import script
import tools as client_tools
from dialects import text_of

SIDE = "Work on the project"
DONE = "Done."
# Aider drops a reply that edits a file outside of the chat, adds the file, and asks again by this.
ADDED = "I added these files to the chat:"
# What the proxy puts in front of a user's words.
INJECTED = re.compile(r"\[(?:STATE NOTICE|CURRENT STATE: AUTHORITATIVE)\]\n.*?\n\[END (?:NOTICE|CURRENT STATE)\]\n\n", re.S)


def own_words(text):
    """A user message's text without what the proxy put in front of it."""
    while match := INJECTED.match(text):
        text = text[match.end():]
    return text


# What clients say to an edit of a file that wasn't read, or that changed since.
UNREAD = re.compile(r"must (use the Read tool|read)|not been read|been modified since|changed since|read it (first|again)", re.I)


class Model:
    """What the model says: the script's next reply for a conversation, found from its messages alone."""

    def __init__(self, session, workspace, form=None):
        self.session = session
        self.workspace = workspace
        self.form = form  # aider's edit format

    def fits(self, turn, text):
        """Whether a user message is this turn's. Side requests quote it, clients put it between their own words."""
        return own_words(text).startswith(turn) if self.form is not None else turn in text

    def place(self, messages):
        """The current turn, how many of its replies were given already, and a file to read before the next."""
        for at in range(len(messages) - 1, -1, -1):
            message = messages[at]
            if message.get("role") != "user":
                continue
            text = text_of(message.get("content"))
            # A later step's text holds its turn's first text.
            fits = [turn for turn, one in enumerate(self.session.turns) if self.fits(one.text, text)]
            if fits:
                later = messages[at + 1 :]
                turn = max(fits, key=lambda turn: len(self.session.turns[turn].text))
                return turn, *self.progress(self.session.turns[turn].replies, later)
        return None, 0, None

    def progress(self, replies, later):
        """How many replies are done, and the file to read first, after an edit that the client refused for that."""
        done, tried, read = 0, set(), None
        for at, message in enumerate(later):
            if message.get("role") != "assistant":
                continue
            results = ""
            for other in later[at + 1 :]:
                if other.get("role") == "assistant":
                    break
                results += text_of(other.get("content"))
            if read is not None:
                read = None
                continue
            action = replies[done][0] if done < len(replies) else None
            if action is not None and action.changes and done not in tried and UNREAD.search(results):
                tried.add(done)
                read = action.path
                continue
            done += 1
        return done, read

    def reply(self, body):
        """Text, tool calls and the actions played."""
        messages = body.get("messages", [])
        turn, given, read = self.place(messages)
        if turn is None or (self.form is None and not body.get("tools")):
            return SIDE, [], []
        replies = self.session.turns[turn].replies
        if self.form is not None and own_words(text_of(messages[-1].get("content"))).startswith(ADDED):
            given = 0
        if given >= len(replies):
            return DONE, [], []
        actions = [script.Action("read", read)] if read is not None else replies[given]
        if self.form is not None:
            return self.aider(actions), [], actions
        calls, texts = [], []
        for action in actions:
            if action.kind == "say":
                call = client_tools.end(body["tools"], action.text)
                if call is None:
                    texts.append(action.text)
            else:
                call = client_tools.call(body["tools"], action, self.workspace)
                if call is None:
                    texts.append(f"There is no tool to {action.kind}.")
            if call is not None:
                number = f"call_{turn}_{len(messages)}_{len(calls)}"
                calls.append((number, call[0], json.dumps(call[1], ensure_ascii=False)))
        return "\n".join(texts), calls, actions

    def aider(self, actions):
        """All of it in one text."""
        parts = []
        for action in actions:
            if action.changes:
                parts.append(client_tools.aider_block(action, self.form))
            elif action.kind == "say":
                parts.append(action.text + "\n")
        return "\n".join(parts) or DONE


class Server(http.server.ThreadingHTTPServer):
    """Clients may go away at any time."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Upstream:
    """The server; `log` holds every chat request in the order of arrival."""

    def __init__(self, model, on_request=None):
        self.model = model
        self.on_request = on_request
        self.log = []
        self.changed = threading.Condition()
        outer = self

        class Handler(_Handler):
            upstream = outer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def take(self, raw, path):
        sent = json.loads(raw)
        body = dialects.of(path).as_chat(sent)
        text, calls, actions = self.model.reply(body)
        entry = {
            "number": len(self.log),
            "sent": sent,
            "body": body,
            "raw": raw.decode("utf-8"),
            "path": path,
            "text": text,
            "calls": calls,
            "actions": actions,
        }
        with self.changed:
            if self.on_request is not None:
                self.on_request(entry)
            self.log.append(entry)
            self.changed.notify_all()
        return entry

    def figures(self, entry):
        """`usage`, and what else stands in the reply's last chunk."""
        prompt = len(measure.render(entry["body"])) // 4
        completion = (len(entry["text"]) + sum(len(call[2]) for call in entry["calls"])) // 4 + 1
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        return usage, {}

    def get(self, path):
        """What a GET is answered with, and the status."""
        models = [{"id": dialects.MODEL, "object": "model", "created": 1, "owned_by": "local"}]
        if path.rstrip("/").endswith("/models"):
            return {"object": "list", "data": models}, 200
        return {"error": {"message": "no such route"}}, 404

    def post(self, path, raw):
        """What any other POST is answered with, and the status."""
        if path.partition("?")[0].endswith("/count_tokens"):
            return {"input_tokens": len(raw) // 4}, 200
        if path == "/api/show":
            details = {"family": "scripted", "format": "gguf"}
            info = {"general.architecture": "scripted", "scripted.context_length": 131072}
            return {"details": details, "model_info": info, "capabilities": ["completion", "tools"]}, 200
        return {"error": {"message": "no such route"}}, 404


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    upstream = None

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(*self.upstream.get(self.path))

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        dialect = dialects.of(self.path)
        if dialect is None:
            self.answer(*self.upstream.post(self.path, raw))
            return
        entry = self.upstream.take(raw, self.path)
        usage, more = self.upstream.figures(entry)
        if dialect.streams(entry["sent"]):
            self.stream(dialect, dialect.stream(entry, usage, more))
        else:
            self.answer(dialect.whole(entry, usage, more))

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def stream(self, dialect, parts):
        self.send_response(200)
        self.send_header("Content-Type", dialect.content_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            payload = part.encode()
            self.wfile.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def answer(self, value, status=200):
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
