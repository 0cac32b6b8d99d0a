"""The proxy under test: started, asked for what became of the code, ended."""

import json
import re
import subprocess
import threading
import time
import urllib.request

PROMOTED = "AUTHORITATIVE"


class Proxy:
    """One `tslp serve`."""

    def __init__(self, binary, workspace, data_dir, upstream, home, adopt=False, flags=()):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        common = ["--workspace", str(workspace), "--data-dir", str(data_dir)]
        if adopt:
            subprocess.run(
                [binary, "adopt", ".", *common], cwd=workspace, env=environment, check=True, capture_output=True
            )
        command = [binary, "serve", *common, "--upstream", upstream, "--listen", "127.0.0.1:0", *flags]
        self.process = subprocess.Popen(
            command, cwd=workspace, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self.lines = []
        self.url = None
        self.started = threading.Event()
        threading.Thread(target=self._drain, daemon=True).start()
        if not self.started.wait(20) or self.url is None:
            self.close()
            raise RuntimeError("the proxy didn't start:\n" + "".join(self.lines))
        self.episodes = {}

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
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            return json.load(response)

    def look(self):
        """Merge the last episodes into `episodes`."""
        for episode in self.get("/recent?limit=1000")["episodes"]:
            self.episodes[episode["episode_id"]] = episode

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        time.sleep(0.05)


def outcome(states, entities):
    """Whether all of these were promoted in one episode, and why not."""
    if not entities:
        return None, "no code"
    why = []
    for entity in entities:
        own = [one for one in states if one["entity"] == entity and one["reason"] != "write_head"]
        if any(one["state"] == PROMOTED for one in own):
            continue
        reasons = [one["reason"] for one in own if one["state"] not in (PROMOTED, "SUPERSEDED")]
        why.append(", ".join(dict.fromkeys(reasons)) or "not seen")
    return not why, "; ".join(dict.fromkeys(why))
