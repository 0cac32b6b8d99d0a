"""The proxy under test: started, asked for what became of the code, ended."""

import json
import re
import subprocess
import threading
import time
import urllib.request

class Proxy:
    """One `tslp serve`."""

    def __init__(self, binary, workspace, data_dir, upstream, home, adopt=False, flags=()):
        environment = self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
        self.binary = binary
        common = self.common = ["--workspace", str(workspace), "--data-dir", str(data_dir)]
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

    def events(self):
        """The whole ledger: (kind, event with its episode) in order."""
        command = [self.binary, "export", *self.common]
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()[1:]]
        return [(row["kind"].partition(".")[0], row["event"] | {"episode": row["episode"]}) for row in rows]

    def run(self, command):
        """What a command of tslp prints, and what it says on standard error."""
        command = [self.binary, command, *self.common]
        done = subprocess.run(command, env=self.environment, cwd=self.common[1], capture_output=True)
        return done.stdout, done.stderr.decode("utf-8", "replace")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        time.sleep(0.05)


def named(entity):
    """`path::symbol`, or the path."""
    return entity["path"] + ("::" + entity["symbol"] if entity["symbol"] else "")


class Ledger:
    """What became of the code in the model's replies."""

    def __init__(self, events):
        self.versions = {}  # (episode, entity) to the versions that its reply proposed
        self.refused = {}  # episode to (entity, why)
        self.noted = {}  # episode to (entity, reason)
        self.promoted = {}  # version to the grant
        self.prompts = 0
        captures = {}
        for kind, event in events:
            if kind == "prompt_received":
                self.prompts += 1
            elif kind == "artifact_captured" and event["origin"] == "model":
                captures[event["capture"]] = event["episode"]
            elif kind == "artifact_resolved" and event["capture"] in captures:
                for version in event["versions"]:
                    key = (captures[event["capture"]], named(version["entity"]))
                    self.versions.setdefault(key, []).append(version["id"])
            elif kind == "transitioned" and event["transition"] == "promote":
                self.promoted[event["version"]] = event["cause"]
            elif kind == "promotion_refused":
                failed = [one["rule"] for one in event["report"]["verdicts"] if not one["met"]]
                why = event["report"].get("conclusion") or ", ".join(failed)
                self.refused.setdefault(event["episode"], []).append((named(event["entity"]), why))
            elif kind == "notice_issued" and event["entity"] is not None:
                self.noted.setdefault(event["episode"], []).append((named(event["entity"]), event["reason"]))

    def outcome(self, episode, entities):
        """Whether the reply's versions of all of these became true, and if not, why."""
        if not entities:
            return None, "no code"
        why = []
        for entity in entities:
            if any(version in self.promoted for version in self.versions.get((episode, entity), [])):
                continue
            near = (entity, entity.partition("::")[0])
            for known in (self.noted, self.refused):
                found = [reason for name, reason in known.get(episode, []) if name in near]
                if found:
                    why.append(", ".join(dict.fromkeys(found)))
                    break
            else:
                why.append("not seen")
        return not why, "; ".join(dict.fromkeys(why))
