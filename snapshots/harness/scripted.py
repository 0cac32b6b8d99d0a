"""The scripted model server (`snapshots/scripted`) as a child process: it speaks the dialects, what is said is decided here."""

import dataclasses
import json
import os
import pathlib
import subprocess
import threading
import traceback

TARGET = pathlib.Path(__file__).resolve().parents[2] / "target"
NO_ROUTE = {"status": 404, "json": {"error": {"message": "no such route"}}}


def program(name, given=None):
    """A binary of this repository: the given one, or what `cargo build` has made, for release or else for debugging."""
    built = (TARGET / "release" / name, TARGET / "debug" / name)
    found = pathlib.Path(given) if given else next((path for path in built if path.exists()), built[0])
    if not found.exists():
        raise RuntimeError(f"{found} isn't there: cargo build --release -p tslp-io -p tslp-scripted")
    return str(found.resolve())


@dataclasses.dataclass
class Request:
    """What was asked; the path without its query."""

    method: str
    path: str
    target: str
    raw: str

    def json(self):
        return json.loads(self.raw)


class Server:
    """`answer` gets each request on a thread of its own, and gives `{"reply": …}` or `{"status": …, "json": …}`.

    A reply's fields are those of `snapshots/scripted/src/reply.rs`."""

    def __init__(self, answer, binary=None):
        self.answer = answer
        command = [program("scripted-model", binary or os.environ.get("SCRIPTED_MODEL"))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.writing = threading.Lock()
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            threading.Thread(target=self._serve, args=(json.loads(line),), daemon=True).start()

    def _serve(self, asked):
        target = asked["path"]
        request = Request(asked["method"], target.partition("?")[0], target, asked["body"])
        try:
            # A HEAD's answer has no body.
            answer = {"reply": {"body": ""}} if request.method == "HEAD" else self.answer(request)
        except Exception:
            traceback.print_exc()
            answer = {"status": 500, "json": {"error": {"message": "the script failed"}}}
        line = json.dumps({"number": asked["number"]} | answer) + "\n"
        with self.writing:
            try:
                self.process.stdin.write(line)
                self.process.stdin.flush()
            except (OSError, ValueError):
                pass  # it was closed meanwhile

    def close(self):
        with self.writing:
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        self.reader.join(5)
        self.process.stdout.close()
