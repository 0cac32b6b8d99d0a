"""A client spoken to in the Agent Client Protocol: JSON-RPC, one message a line, over its standard input and output."""

import json
import os
import queue
import signal
import subprocess
import threading
import time


class Agent:
    """A running agent and one session in it."""

    def __init__(self, command, workspace, environment, model=None):
        self.process = subprocess.Popen(
            command,
            cwd=workspace,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self._drain, daemon=True).start()
        self.number = 0
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities}, 60)
        answer = self.ask("session/new", {"cwd": str(workspace), "mcpServers": []}, 60)
        self.session = answer["sessionId"]
        if model is not None:
            self.ask("session/set_model", {"sessionId": self.session, "modelId": model}, 60)

    def _drain(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, value):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0"} | value) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, parameters, seconds):
        """The result; the agent's own questions meanwhile are all allowed."""
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, end - time.monotonic()))
            except queue.Empty:
                raise TimeoutError(method) from None
            if line is None:
                raise RuntimeError(f"{method}: the agent ended")
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message.get("method") == "session/request_permission":
                options = message["params"]["options"]
                best = next((one for one in options if one.get("kind", "").startswith("allow")), options[0])
                chosen = {"outcome": "selected", "optionId": best["optionId"]}
                self.send({"id": message["id"], "result": {"outcome": chosen}})
            elif "method" in message and "id" in message:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "not offered"}})
            elif message.get("id") == self.number and "method" not in message:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def prompt(self, text, seconds):
        content = [{"type": "text", "text": text}]
        return self.ask("session/prompt", {"sessionId": self.session, "prompt": content}, seconds)

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait(5)
