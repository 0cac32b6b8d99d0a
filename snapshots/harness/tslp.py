"""The proxy under test: started, asked, ended."""

import json
import re
import subprocess
import threading
import time
import urllib.request


class Tslp:
    """One `tslp serve`, with nothing of its caller's settings."""

    def __init__(self, binary, workspace, data_dir, upstream, home, adopt=False, flags=()):
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        self.binary, self.workspace = binary, workspace
        self.common = ["--workspace", str(workspace), "--data-dir", str(data_dir)]
        if adopt:
            self.run("adopt", ".")
        command = [binary, "serve", *self.common, "--upstream", upstream, "--listen", "127.0.0.1:0", *flags]
        self.process = subprocess.Popen(
            command, cwd=workspace, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.lines = []
        self.url = None
        self.started = threading.Event()
        threading.Thread(target=self._drain, daemon=True).start()
        if not self.started.wait(20) or self.url is None:
            self.close()
            raise RuntimeError("the proxy didn't start:\n" + "".join(self.lines))

    def _drain(self):
        for line in self.process.stdout:
            line = line.decode("utf-8", "replace")
            self.lines.append(line)
            found = re.search(r"listening on (http://\S+)", line)
            if found and self.url is None:
                self.url = found.group(1)
                self.started.set()
        self.started.set()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as response:
            return json.load(response)

    def post(self, path, body):
        """The answer's text."""
        asked = urllib.request.Request(self.url + path, body.encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked, timeout=1800) as response:
            return response.read().decode()

    def run(self, *words, must=True):
        """What a command of tslp prints, and what it says on standard error."""
        command = [self.binary, *words, *self.common]
        done = subprocess.run(
            command, env=self.environment, cwd=self.workspace, check=must, capture_output=True, encoding="utf-8", errors="replace"
        )
        return done.stdout, done.stderr

    def events(self):
        """The whole ledger: (kind, event with its episode) in order."""
        rows = [json.loads(line) for line in self.run("log", "--json", "--limit", "0")[0].splitlines()]
        return [(row["kind"].partition(".")[0], row["event"] | {"episode": row["episode"]}) for row in rows]

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        time.sleep(0.05)
