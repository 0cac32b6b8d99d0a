"""Set-ups that don't work: whether the client's user reads what is wrong and what to do.

Each client asks one question, through tslp, in a set-up of the first hour: no server, another server's port, a refused key, a full disk and so
on. Printed: whether the sentence was in the client's own output, in `tslp run`'s last line, or nowhere; how long that took; and how often the
client asked. With `--answers`, the client asks a server that gives each status with an error of its dialect, and tslp isn't there: that is where
the statuses of `io/wire/src/http/errors.txt` come from.
"""

import http.client
import http.server
import json
import pathlib
import re
import socket
import subprocess
import threading
import time
import urllib.parse

import clients
import relay
import sessions
import tslp
from script import Session, Turn

CLIENTS = ["claude", "codex", "opencode", "aider", "qwen", "cline", "continue", "pi"]
ASK = "What does ring_empty return?"
TREE = {"src/ring.c": "int ring_empty(void)\n{\n    return 1;\n}\n"}
SENTENCE = "the kettle is cold: fill it at the tap"
STATUSES = [400, 401, 403, 404, 408, 409, 413, 415, 421, 422, 424, 425, 429, 500, 502, 503, 504, 529]
LATEST = 90  # seconds for one question

# Arguments by which a client asks one question under `tslp run`, where they aren't those of its usual command.
RUN = {
    "claude": ["claude", "--dangerously-skip-permissions", "-p"],
    "codex": ["codex", "exec", "--dangerously-bypass-approvals-and-sandbox"],
    "opencode": ["opencode", "run"],
    "aider": ["aider", "--yes-always", "--no-pretty", "--message"],
    "qwen": ["qwen", "--yolo", "-p"],
    "cline": ["cline"],
    "continue": ["cn", "-p"],
    "pi": ["pi", "-p"],
}


def flat(text):
    """A client's words without its frames, colours and line ends."""
    return re.sub(r"[\s│┃|\\]+", " ", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text))


class Server:
    """Answers every chat request with `answer(path)`: a status, a media type and a body; None is a reply."""

    def __init__(self, answer):
        self.asked = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def give(self, status, kind, body):
                body = body if isinstance(body, str) else json.dumps(body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body.encode())

            def do_GET(self):
                models = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
                found = self.path.endswith("/models")
                self.give(200 if found else 404, "application/json", models if found else {"error": "not found"})

            do_HEAD = do_GET

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.partition("?")[0]
                if path.endswith(("/count_tokens", "/show")):
                    return self.give(200, "application/json", {"input_tokens": 9})
                outer.asked += 1
                given = answer(path, outer.asked)
                return self.give(*given) if given else self.give(200, "text/event-stream", reply(path))

        self.server = relay.Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def reply(path):
    """A short answer as a stream."""
    said = "It returns one."
    if path.endswith("/messages"):
        message = {"id": "m1", "type": "message", "role": "assistant", "model": "scripted", "content": [], "stop_reason": None}
        message["usage"] = {"input_tokens": 1, "output_tokens": 1}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": said}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
            {"type": "message_stop"},
        ]
    elif path.endswith("/responses"):
        item = {"type": "message", "id": "i1", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": said, "annotations": []}]
        usage = {"input_tokens": 1, "output_tokens": 4, "total_tokens": 5}
        done = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        events = [
            {"type": "response.created", "response": done | {"status": "in_progress", "output": []}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ]
    else:
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
        choices = [{"index": 0, "delta": {"role": "assistant", "content": said}, "finish_reason": None}]
        last = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
        events = [chunk | {"choices": choices}, chunk | {"choices": last}]
        return "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events)


def error(path, message, kind="invalid_request_error"):
    """An error as a dialect has it."""
    inner = {"type": kind, "message": message}
    return {"type": "error", "error": inner} if path.endswith("/messages") else {"error": inner | {"code": None}}


def always(status, body, kind="application/json"):
    return lambda path, asked: (status, kind, body)


def loading(path, asked):
    return (503, "application/json", error(path, "Loading model", "unavailable_error")) if asked <= 3 else None


def nobody():
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


WINDOW = "the request (9000 tokens) exceeds the available context size (4096 tokens)"
MEMORY = "model requires more system memory (9.1 GiB) than is available (4.0 GiB)"
PAGE = "<!doctype html><title>Error</title><h1>Cannot POST</h1>"

# What the server answers, words of the sentence, flags of the proxy.
ANSWERS = {
    "no server": (None, r"can't be reached .* start it, or name another with `--upstream`", []),
    "another server": (always(501, PAGE, "text/html"), r"doesn ?'t speak that", []),
    "web page": (always(200, PAGE, "text/html"), r"that is no model server", []),
    "key refused": (always(401, {"error": {"message": "invalid api key"}}), r"TSLP_UPSTREAM_API_KEY", []),
    "forbidden": (always(403, "Forbidden", "text/plain"), r"TSLP_UPSTREAM_API_KEY", []),
    "no dialect": (always(404, "404 page not found", "text/plain"), r"it doesn ?'t speak that", []),
    "no model": (always(404, {"error": {"message": "model 'scripted' not found"}}), r"not found|name a model that it lists", []),
    "no memory": (always(500, {"error": MEMORY}), r"requires more system memory", []),
    "loading": (loading, r"It returns one", []),
    "window": (lambda path, asked: (400, "application/json", error(path, WINDOW)), r"exceeds the available context size", []),
    "too large": (lambda path, asked: None, r"http.request_body_bytes_max", ["--http-request-body-bytes-max", "1024"]),
    "token": (lambda path, asked: None, r"a token is needed", ["--token", "a-token-that-nobody-was-told"]),
}


class Play:
    """One client in a folder of its own."""

    def __init__(self, options, name, setup):
        self.options, self.kind = options, clients.ALL[name]
        self.folder = pathlib.Path(options.work) / name / setup.replace(" ", "-")
        self.data = self.folder / "data"
        self.workspace, self.home = sessions.fresh(self.folder, Session("setups", None, [Turn(ASK, [], [])], tree=TREE))
        self.client = self.kind(options.cache, self.home, self.workspace, options.context)

    def ask(self, url):
        try:
            self.client.prepare(url)
            began = time.monotonic()
            code, output = self.client.say(ASK)
            return code, flat(output), time.monotonic() - began
        finally:
            self.client.close()

    def through(self, upstream, flags, act=None):
        """The client configured for `tslp serve`."""
        proxy = tslp.Tslp(self.options.tslp, self.workspace, self.data, upstream, self.home, flags=[*self.options.flag, *flags])
        try:
            return self.ask(act(proxy) if act else proxy.url)
        finally:
            proxy.close()

    def run(self, upstream, *words):
        """`tslp run CLIENT`: its code, its last line, and the time."""
        bins = [str((self.options.cache / kind.binary).parent) for kind in clients.ALL.values()]
        environment = self.client_environment() | {"PATH": ":".join([*bins, "/usr/bin", "/bin"])}
        command = [self.options.tslp, "run", "--data-dir", str(self.data), "--upstream", upstream, *words]
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=self.workspace, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=LATEST, text=True
        )
        return done.returncode, flat("\n".join(done.stderr.splitlines()[-1:])), time.monotonic() - began

    def client_environment(self):
        self.client.url = "http://127.0.0.1:1"
        kept = ("PATH", "HOME", "TMPDIR", "LANG", "TERM", "CI", "NO_COLOR", "SHELL")
        return {name: value for name, value in self.client.environment().items() if name in kept}


def full(play, when):
    """A data directory on a file system without room."""
    play.data.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(play.data)], capture_output=True)
    if mounted.returncode:
        return None
    try:
        return when(play.data / "ballast")
    finally:
        subprocess.run(["umount", "-l", str(play.data)], check=True)


def fill(path):
    try:
        with path.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
    except OSError:
        pass


def full_at_start(play):
    def start(ballast):
        fill(ballast)
        return play.run("demo", *RUN[play.kind.name], ASK)

    return full(play, start)


def full_later(play):
    def act(proxy):
        fill(play.data / "ballast")
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "word " * 200000}]})
        asked = urllib.parse.urlsplit(proxy.url)
        for _ in range(3):
            connection = http.client.HTTPConnection(asked.hostname, asked.port, timeout=30)
            connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
        return proxy.url

    return full(play, lambda _: play.through("demo", [], act))


def stopped(play):
    def act(proxy):
        proxy.run("stop")
        return proxy.url

    return play.through("demo", [], act)


def wrong_base(play):
    """`/v1` is doubled."""
    return play.through("demo", [], lambda proxy: proxy.url + "/v1")


# The other set-ups, each with words of the sentence.
OTHERS = {
    "no server, run": (lambda play: play.run(nobody(), *RUN[play.kind.name], ASK), r"gave no model: .*start it, or name another"),
    "stopped": (stopped, r"`tslp resume` in a terminal"),
    "wrong base": (wrong_base, r"set the client's base URL to http://127\.0\.0\.1:\d+"),
    "disk full at start": (full_at_start, r"No space left on device"),
    "disk full later": (full_later, r"is full; free space"),
}


def setup(options, name, what):
    """Whether the sentence was seen, the client's exit code, seconds, requests that came to the server, and the words."""
    play = Play(options, name, what)
    server = None
    if what in OTHERS:
        act, words = OTHERS[what]
        done = act(play)
    else:
        answer, words, flags = ANSWERS[what]
        server = Server(answer) if answer else None
        done = play.through(server.url if server else nobody(), flags)
    if server:
        server.close()
    if done is None:
        return None
    code, output, seconds = done
    return bool(re.search(words, output)), code, seconds, server.asked if server else None, output


def answered(options, name, status):
    play = Play(options, name, str(status))
    server = Server(lambda path, _: (status, "application/json", error(path, SENTENCE)))
    code, output, seconds = play.ask(server.url)
    server.close()
    return SENTENCE in output, code, seconds, server.asked, output


def arguments(parser):
    parser.add_argument("--setup", action="append", choices=[*ANSWERS, *OTHERS], help="default: all")
    parser.add_argument("--answers", action="store_true", help="statuses of a server, without tslp")


def main(options):
    clients.DEADLINE = LATEST
    for name in options.client:
        cases = STATUSES if options.answers else options.setup or [*ANSWERS, *OTHERS]
        for case in cases:
            try:
                done = answered(options, name, case) if options.answers else setup(options, name, case)
            except (OSError, RuntimeError, subprocess.TimeoutExpired) as problem:
                done = False, "failed", 0, None, str(problem)
            if done is None:
                print(f"{name:10} {case:20} skipped: no file system can be mounted here", flush=True)
                continue
            seen, code, seconds, asked, output = done
            place = "in `tslp run`'s last line" if str(case).endswith(("run", "at start")) else "in the client's window"
            asks = "" if asked is None else f", {asked} requests"
            print(f"{name:10} {case!s:20} {place if seen else 'NOWHERE':26} exit {code}, {seconds:.0f} s{asks}", flush=True)
            if options.verbose or not seen:
                print(f"           {output[-600:]}", flush=True)
