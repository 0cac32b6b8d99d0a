"""The real coding clients: how each is configured and run without a terminal, one user message at a time."""

import json
import os
import pathlib
import re
import select
import signal
import subprocess
import time

import acp

DEADLINE = 240  # seconds for one user message


class Client:
    """One client in a home of its own."""

    name = ""
    binary = ""
    form = None  # aider's edit format

    def __init__(self, cache, home, workspace, context):
        self.context = context
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

    def begin(self):
        """What is said next begins a new conversation."""
        self.turns = 0

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
    model = "scripted"
    binary = "opencode/node_modules/.bin/opencode"

    def environment(self):
        return super().environment() | {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }

    def prepare(self, url):
        model = {"name": self.model, "limit": {"context": self.context, "output": 4096}, "tool_call": True}
        options = {"baseURL": url + "/v1", "apiKey": "local"}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "local",
            "options": options,
            "models": {self.model: model},
        }
        settings = {
            "$schema": "https://opencode.ai/config.json",
            "provider": {"local": provider},
            "model": f"local/{self.model}",
            "small_model": f"local/{self.model}",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"edit": "allow", "bash": "allow", "webfetch": "deny"},
        }
        self.write(".config/opencode/opencode.json", json.dumps(settings))

    def command(self, text):
        again = ["--continue"] if self.turns else []
        return [self.program, "run", *again, "--auto", "-m", f"local/{self.model}", text]


class OpenCodePatch(OpenCode):
    """For models of such names it offers `apply_patch` in place of `edit` and `write`."""

    name = "opencode-patch"
    model = "gpt-5"


class Qwen(Client):
    name = "qwen"
    binary = "qwen/node_modules/.bin/qwen"

    def prepare(self, url):
        settings = {
            "security": {"auth": {"selectedType": "openai", "apiKey": "local", "baseUrl": url + "/v1"}},
            "model": {"name": "scripted", "generationConfig": {"contextWindowSize": self.context}},
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
    model = "scripted"
    agent = None
    binary = "cline/node_modules/.bin/cline"

    def environment(self):
        return super().environment() | {
            "CLINE_API_KEY": "local",
            "CLINE_PROVIDER": "openai-compatible",
            "CLINE_MODEL": "scripted",
            "CLINE_TELEMETRY_DISABLED": "1",
            "CLINE_NO_AUTO_UPDATE": "1",
            "OTEL_SDK_DISABLED": "true",
        }

    def prepare(self, url):
        self.run([str(self.program), "auth", "openai-compatible", "-k", "local", "-m", "scripted", "-b", url + "/v1"])

    def say(self, text):
        """One process for the whole session: resuming needs a terminal."""
        try:
            if self.agent is None:
                command = [str(self.program), "--acp", "--auto-approve", "true"]
                self.agent = acp.Agent(command, self.workspace, self.environment(), self.model)
            answer = self.agent.prompt(text, DEADLINE)
        except TimeoutError:
            return "deadline", ""
        except (RuntimeError, OSError) as error:
            return 1, str(error)
        return 0, json.dumps(answer)

    def begin(self):
        if self.agent is not None:
            self.agent.close()
        self.agent = None

    def close(self):
        """The agent, and the background hub if one was started."""
        self.begin()
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


class ClinePatch(Cline):
    """For models of this name it offers `apply_patch` in place of `editor`."""

    name = "cline-patch"
    model = "gpt-4o"


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
      contextLength: {self.context}
      maxTokens: 4096
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
    model = "openai/scripted"
    process = None

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
            self.model: {
                "max_input_tokens": self.context,
                "max_output_tokens": 4096,
                "input_cost_per_token": 0,
                "output_cost_per_token": 0,
                "litellm_provider": self.model.partition("/")[0],
                "mode": "chat",
            }
        }
        self.write("metadata.json", json.dumps(metadata))

    def say(self, text):
        """One process for the whole session, fed line by line."""
        try:
            if self.process is None:
                self.start()
                self.until_prompt()
            self.process.stdin.write(text.replace("\n", " ").encode() + b"\n")
            self.process.stdin.flush()
            return 0, self.until_prompt()
        except TimeoutError:
            return "deadline", self.seen.decode("utf-8", "replace")
        except (RuntimeError, OSError) as error:
            return 1, f"{error}\n{self.seen.decode('utf-8', 'replace')}"

    def start(self):
        self.process = subprocess.Popen(
            [str(part) for part in self.command()],
            cwd=self.workspace,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def until_prompt(self):
        """Everything up to the next `> ` that waits for a line."""
        self.seen = b""
        end = time.monotonic() + DEADLINE
        descriptor = self.process.stdout.fileno()
        while time.monotonic() < end:
            ready, _, _ = select.select([descriptor], [], [], 0.3)
            if ready:
                piece = os.read(descriptor, 65536)
                if not piece:
                    raise RuntimeError("the client ended")
                self.seen += piece
            elif re.search(rb"(^|\n)\S{0,8}> $", self.seen):
                return self.seen.decode("utf-8", "replace")
        raise TimeoutError

    def begin(self):
        self.close()
        self.process = None

    def close(self):
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except OSError:
                pass
            self.process.wait(5)

    def command(self):
        return [
            self.program,
            "--model",
            self.model,
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
            *self.files(),
        ]

    def files(self):
        """All of the project's source, as its user would have added it."""
        names = [path.relative_to(self.workspace) for path in self.workspace.rglob("*") if path.is_file()]
        return sorted(str(name) for name in names if name.suffix in (".c", ".h", ".py", ".ts"))


class AiderWhole(Aider):
    """aider's default for a model that it doesn't know."""

    name = "aider-whole"
    form = "whole"


class AiderUdiff(Aider):
    name = "aider-udiff"
    form = "udiff"


class AiderOllama(Aider):
    """Ollama's own dialect, by LiteLLM."""

    name = "aider-ollama"
    model = "ollama_chat/scripted"

    def environment(self):
        return super().environment() | {"OLLAMA_API_BASE": self.url}


class ClaudeCode(Client):
    """Anthropic's dialect."""

    name = "claude"
    binary = "claude/node_modules/.bin/claude"

    def prepare(self, url):
        self.url = url

    def environment(self):
        return super().environment() | {
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_AUTH_TOKEN": "local",
            "ANTHROPIC_MODEL": "scripted",
            "ANTHROPIC_SMALL_FAST_MODEL": "scripted",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def command(self, text):
        again = ["--continue"] if self.turns else []
        return [self.program, *again, "--dangerously-skip-permissions", "-p", text]


class Codex(Client):
    """OpenAI's Responses."""

    name = "codex"
    binary = "codex/node_modules/.bin/codex"

    def prepare(self, url):
        config = f"""model = "scripted"
model_provider = "local"
model_context_window = {self.context}
check_for_update_on_startup = false
analytics.enabled = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "LOCAL_KEY"
wire_api = "responses"
"""
        self.write(".codex/config.toml", config)

    def environment(self):
        return super().environment() | {"LOCAL_KEY": "local"}

    def command(self, text):
        again = ["resume", "--last"] if self.turns else []
        return [self.program, "exec", *again, "--dangerously-bypass-approvals-and-sandbox", text]


class Pi(Client):
    """OpenAI's chat completions, by a provider of its models file."""

    name = "pi"
    binary = "pi/node_modules/.bin/pi"

    def prepare(self, url):
        model = {"id": "scripted", "contextWindow": self.context, "maxTokens": 4096}
        provider = {"baseUrl": url + "/v1", "api": "openai-completions", "apiKey": "local", "models": [model]}
        self.write(".pi/agent/models.json", json.dumps({"providers": {"local": provider}}))

    def environment(self):
        return super().environment() | {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    def command(self, text):
        again = ["--continue"] if self.turns else []
        return [self.program, *again, "--provider", "local", "--model", "scripted", "-p", text]


ALL = {
    kind.name: kind
    for kind in (
        OpenCode,
        OpenCodePatch,
        Qwen,
        Cline,
        ClinePatch,
        Continue,
        ClaudeCode,
        Codex,
        Aider,
        AiderWhole,
        AiderUdiff,
        AiderOllama,
        Pi,
    )
}
