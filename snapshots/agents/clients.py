"""The real coding clients: how each is configured and run without a terminal, one user message at a time."""

import json
import os
import pathlib
import signal
import subprocess

DEADLINE = 240  # seconds for one user message


class Client:
    """One client in a home of its own."""

    name = ""
    binary = ""
    form = None  # aider's edit format

    def __init__(self, cache, home, workspace):
        self.cache = pathlib.Path(cache)
        self.home = pathlib.Path(home)
        self.workspace = pathlib.Path(workspace)
        self.turns = 0

    @property
    def program(self):
        return self.cache / self.binary

    def environment(self):
        """A small environment: nothing of the caller's settings, no proxies, no telemetry."""
        home = str(self.home)
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": home,
            "XDG_CONFIG_HOME": home + "/.config",
            "XDG_DATA_HOME": home + "/.local/share",
            "XDG_STATE_HOME": home + "/.local/state",
            "XDG_CACHE_HOME": home + "/.cache",
            "TMPDIR": home + "/tmp",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "CI": "1",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            "SHELL": "/bin/sh",
            "GIT_CONFIG_GLOBAL": home + "/.gitconfig",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def prepare(self, url):
        """Write the settings for a server at this base URL."""

    def command(self, text):
        raise NotImplementedError

    def write(self, path, text):
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def say(self, text):
        """One user message, until the client ends. Its output and exit code."""
        output = self.run([str(part) for part in self.command(text)])
        self.turns += 1
        return output

    def run(self, command):
        process = subprocess.Popen(
            command,
            cwd=self.workspace,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=DEADLINE)
            code = process.returncode
        except subprocess.TimeoutExpired:
            code = "deadline"
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return code, output.decode("utf-8", "replace")

    def close(self):
        """End what the client left running."""


class OpenCode(Client):
    name = "opencode"
    binary = "opencode/node_modules/.bin/opencode"

    def environment(self):
        return super().environment() | {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def prepare(self, url):
        model = {"name": "scripted", "limit": {"context": 200000, "output": 8192}, "tool_call": True}
        options = {"baseURL": url + "/v1", "apiKey": "local"}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "local",
            "options": options,
            "models": {"scripted": model},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "provider": {"local": provider},
            "model": "local/scripted",
            "small_model": "local/scripted",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
        }
        self.write(".config/opencode/opencode.json", json.dumps(settings))

    def command(self, text):
        again = ["--continue"] if self.turns else []
        return [self.program, "run", *again, "--auto", "-m", "local/scripted", text]


class Qwen(Client):
    name = "qwen"
    binary = "qwen/node_modules/.bin/qwen"

    def prepare(self, url):
        settings = {
            "security": {"auth": {"selectedType": "openai", "apiKey": "local", "baseUrl": url + "/v1"}},
            "model": {"name": "scripted"},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        self.url = url
        self.write(".qwen/settings.json", json.dumps(settings))

    def environment(self):
        return super().environment() | {"OPENAI_API_KEY": "local", "OPENAI_BASE_URL": self.url + "/v1", "OPENAI_MODEL": "scripted"}

    def command(self, text):
        again = ["--continue"] if self.turns else []
        return [self.program, *again, "--yolo", "--auth-type", "openai", "-m", "scripted", "-p", text]


class Cline(Client):
    name = "cline"
    binary = "cline/node_modules/.bin/cline"

    def environment(self):
        return super().environment() | {
            "CLINE_TELEMETRY_DISABLED": "1",
            "CLINE_NO_AUTO_UPDATE": "1",
            "OTEL_SDK_DISABLED": "true",
        }

    def prepare(self, url):
        self.session = None
        program = str(self.program)
        self.run([program, "auth", "openai-compatible", "-k", "local", "-m", "scripted", "-b", url + "/v1"])

    def command(self, text):
        again = []
        if self.turns:
            again = ["--id", self.newest()]
        return [self.program, *again, "-P", "openai-compatible", "-m", "scripted", "--auto-approve", "true", text]

    def newest(self):
        """The session's number, by the folder that it made."""
        folder = self.home / ".cline" / "data" / "sessions"
        found = [path for path in folder.iterdir() if path.is_dir()]
        return max(found, key=lambda path: path.stat().st_mtime).name if found else "none"

    def close(self):
        """The background hub, if one was started."""
        for path in (self.home / ".cline").rglob("*.json"):
            try:
                found = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            pid = found.get("pid") if isinstance(found, dict) else None
            if isinstance(pid, int) and self.owns(pid):
                try:
                    os.kill(pid, signal.SIGTERM)
                except OSError:
                    pass

    def owns(self, pid):
        """Whether a process was started with this client's home."""
        try:
            environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return False
        return f"HOME={self.home}".encode() in environment.split(b"\0")


class Continue(Client):
    name = "continue"
    binary = "continue/node_modules/.bin/cn"

    def environment(self):
        return super().environment() | {
            "CONTINUE_TELEMETRY_ENABLED": "0",
            "CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE": "1",
            "CONTINUE_GLOBAL_DIR": str(self.home / ".continue"),
        }

    def prepare(self, url):
        config = f"""name: local
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: {url}/v1
    apiKey: local
    roles: [chat, edit, apply]
    capabilities: [tool_use]
    defaultCompletionOptions:
      contextLength: 200000
      maxTokens: 8192
"""
        self.write(".continue/config.yaml", config)

    def command(self, text):
        again = ["--resume"] if self.turns else []
        config = self.home / ".continue" / "config.yaml"
        return [self.program, "-p", "--auto", "--config", config, *again, text]


class Aider(Client):
    name = "aider"
    binary = "aider/bin/aider"
    form = "diff"

    def environment(self):
        return super().environment() | {
            "OPENAI_API_KEY": "local",
            "OPENAI_API_BASE": self.url + "/v1",
            "AIDER_ANALYTICS": "false",
            "AIDER_CHECK_UPDATE": "false",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }

    def prepare(self, url):
        self.url = url
        metadata = {
            "openai/scripted": {
                "max_input_tokens": 131072,
                "max_output_tokens": 8192,
                "input_cost_per_token": 0,
                "output_cost_per_token": 0,
                "litellm_provider": "openai",
                "mode": "chat",
            }
        }
        self.write("metadata.json", json.dumps(metadata))

    def command(self, text):
        again = ["--restore-chat-history"] if self.turns else []
        return [
            self.program,
            *again,
            "--model",
            "openai/scripted",
            "--edit-format",
            self.form,
            "--model-metadata-file",
            self.home / "metadata.json",
            "--no-show-model-warnings",
            "--no-check-update",
            "--no-show-release-notes",
            "--no-analytics",
            "--no-gitignore",
            "--no-pretty",
            "--no-suggest-shell-commands",
            "--no-detect-urls",
            "--yes-always",
            "--message",
            text,
            *self.files(),
        ]

    def files(self):
        """All of the project's source, as its user would have added it."""
        names = [path.relative_to(self.workspace) for path in self.workspace.rglob("*") if path.is_file()]
        return sorted(str(name) for name in names if name.suffix in (".c", ".h", ".py"))


class AiderUdiff(Aider):
    name = "aider-udiff"
    form = "udiff"


ALL = {kind.name: kind for kind in (OpenCode, Qwen, Cline, Continue, Aider, AiderUdiff)}
