#!/usr/bin/env python3
"""How clients and SDKs take a refusal: how often each asks the same again after 400 and after 422, in its dialect's error form.

    refusals.py --cache ~/.cache/tslp-agents --python VENV/bin/python --node NODE_MODULES

`--python` has `openai`, `anthropic` and `ollama`, `--node` the packages of the same names. Each client asks one thing of a server that
refuses everything. Printed: the most requests that were alike, and whether the client shows what was said.
"""

import argparse
import collections
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading

import clients
import run as sessions
from script import Session, Turn

SAID = "LOCK_MISS: src/ring.c is locked, and it is not on disk"

PYTHON = {
    "openai": "import openai; openai.OpenAI(base_url=HERE + '/v1', api_key='k').chat.completions.create(model='m', messages=M)",
    "openai responses": "import openai; openai.OpenAI(base_url=HERE + '/v1', api_key='k').responses.create(model='m', input='hi')",
    "anthropic": "import anthropic; anthropic.Anthropic(base_url=HERE, api_key='k').messages.create(model='m', max_tokens=9, messages=M)",
    "ollama": "import ollama; ollama.Client(host=HERE).chat(model='m', messages=M)",
}
NODE = {
    "openai": "const {default: S} = await import('openai');"
    "await new S({baseURL: HERE + '/v1', apiKey: 'k'}).chat.completions.create({model: 'm', messages: M})",
    "anthropic": "const {default: S} = await import('@anthropic-ai/sdk');"
    "await new S({baseURL: HERE, apiKey: 'k'}).messages.create({model: 'm', max_tokens: 9, messages: M})",
    "ollama": "const {Ollama: S} = await import('ollama'); await new S({host: HERE}).chat({model: 'm', messages: M})",
}


class Refusing(http.server.BaseHTTPRequestHandler):
    """Refuses each prompt with the server's status."""

    def do_GET(self):
        self.answer(200, {"data": [], "models": [], "object": "list"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        if path.endswith("count_tokens") or path == "/api/show":
            return self.answer(200, {"input_tokens": 9})
        try:
            asked = json.loads(body)
        except ValueError:
            asked = {}
        said = asked.get("messages") or asked.get("input") or asked.get("prompt") or ""
        self.server.seen[json.dumps(said)] += 1
        error = {"message": SAID, "type": "invalid_request_error", "code": "LOCK_MISS"}
        if path.startswith("/api/"):
            error = SAID
        shape = {"error": error}
        if path.endswith("/messages"):
            shape = {"type": "error", "error": error}
        self.answer(self.server.status, shape)

    def answer(self, status, shape):
        body = json.dumps(shape).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def asked(name, status, ask):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.status, server.seen = status, collections.Counter()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shown = ask(f"http://127.0.0.1:{server.server_address[1]}")
    server.shutdown()
    most = max(server.seen.values(), default=0)
    print(f"{name:24} {status}: {most} alike, {'shown' if 'LOCK_MISS' in shown else 'not shown'}", flush=True)


def by_client(options, kind):
    def ask(url):
        with tempfile.TemporaryDirectory() as folder:
            session = Session("refused", None, [Turn("Look at it.", [], [])], tree={"src/a.c": "int a;\n"})
            workspace, home = sessions.fresh(pathlib.Path(folder) / kind.name, session)
            client = kind(options.cache.expanduser(), home, workspace, 32768)
            client.prepare(url)
            try:
                return client.say("Look at it.")[1]
            finally:
                client.close()

    return ask


def by_program(command, text, cwd=None):
    def ask(url):
        done = subprocess.run([*command, text.replace("HERE", repr(url))], capture_output=True, text=True, cwd=cwd, timeout=240)
        return done.stdout + done.stderr

    return ask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("~/.cache/tslp-agents"))
    parser.add_argument("--python")
    parser.add_argument("--node", type=pathlib.Path)
    parser.add_argument("--client", action="append")
    options = parser.parse_args()
    names = options.client or ["opencode", "qwen", "cline", "continue", "claude", "codex", "aider", "aider-ollama"]
    messages = "[{'role': 'user', 'content': 'hi'}]"
    for status in (400, 422):
        for name, text in PYTHON.items() if options.python else ():
            asked(f"{name} (Python)", status, by_program([options.python, "-c"], f"M = {messages}; {text}"))
        for name, text in NODE.items() if options.node else ():
            command = ["node", "--input-type=module", "-e"]
            asked(f"{name} (npm)", status, by_program(command, f"const M = {messages}; {text}", options.node.parent))
        for name in names:
            asked(name, status, by_client(options, clients.ALL[name]))


if __name__ == "__main__":
    main()
