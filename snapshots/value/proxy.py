"""tslp between the driver and the model, with replies of the driver's where it has some."""

import http.server
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.request


class Adapter(http.server.ThreadingHTTPServer):
    """The model server that tslp sees. Keeps what was asked of it."""

    daemon_threads = True

    def __init__(self, model):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
        self.fresh = False  # whether the model is asked what it was asked before
        self.given = None  # the reply to say instead of the model's
        self.asked = []  # of each request since the last `Proxy.ask`: messages, reply, tokens of the prompt, tokens evaluated
        threading.Thread(target=self.serve_forever, daemon=True).start()


class JsonHandler(http.server.BaseHTTPRequestHandler):
    """Answers with JSON, and says nothing of it."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Handler(JsonHandler):
    def do_GET(self):
        # The window of a llama.cpp server, as the real one tells it.
        known = {"/props": {"default_generation_settings": {"n_ctx": 12288}}, "/v1/models": {"data": [{"id": "qwen"}]}}
        found = known.get(self.path)
        self.answer(found or {"error": "unknown"}, 200 if found else 404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given, self.server.given = self.server.given, None
        if given is not None:
            text, prompt, evaluated = given, 0, 0
        else:
            text, prompt, evaluated = self.server.model.ask(body["messages"], self.server.fresh)
        self.server.asked.append((body["messages"], text, prompt, evaluated))
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": prompt, "completion_tokens": len(text) // 4, "total_tokens": prompt + len(text) // 4}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer({"id": "1", "object": "chat.completion", "model": "qwen", "choices": [choice], "usage": usage})


def serve(binary, workspace, upstream, flags=()):
    """A proxy over a workspace, its data beside that, and its address."""
    command = [
        binary, "serve", "--workspace", str(workspace), "--data-dir", str(workspace.parent / "data"),
        "--upstream", upstream, "--listen", "127.0.0.1:0", *flags,
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = []
    for line in process.stdout:
        said.append(line)
        found = re.search(r"listening on (http://\S+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, found.group(1)
    raise RuntimeError("tslp didn't start:\n" + "".join(said))


class Proxy:
    """One `tslp serve` over a workspace with these files, each by its name."""

    def __init__(self, binary, model, files, flags=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tslp-value-"))
        self.workspace = self.folder / "work"
        self.workspace.mkdir()
        for name, code in files.items():
            self.save(name, code)
        self.adapter = Adapter(model)
        self.command = binary, flags
        self.start()

    def start(self):
        binary, flags = self.command
        self.process, self.url = serve(binary, self.workspace, f"http://127.0.0.1:{self.adapter.server_port}", flags)

    def stop(self):
        self.process.terminate()
        self.process.wait(30)

    def ask(self, messages, given=None):
        """What the client gets, and all that the model server was asked meanwhile."""
        self.adapter.given = given
        self.adapter.asked = []
        body = json.dumps({"model": "qwen", "messages": messages}).encode()
        request = urllib.request.Request(self.url + "/v1/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=1800) as response:
            text = json.load(response)["choices"][0]["message"]["content"]
        return text, list(self.adapter.asked)

    def save(self, name, code):
        (self.workspace / name).write_text(code)

    def page(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as response:
            return json.load(response)

    def close(self):
        self.stop()
        self.adapter.shutdown()
        self.adapter.server_close()
        shutil.rmtree(self.folder)
