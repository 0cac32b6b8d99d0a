"""A conversation that begins anew, with the hooks that `tslp connect CLIENT --hooks` names: what it is told.

An agent reads a file and runs a check that fails. Then its user clears the conversation, it is compacted, or the client is killed in the
middle of a reply, and the user says "Go on". The scripted model edits at once what the recovery block names, without reading it again; it
can't if there is no block. Printed: how often the block is in the first request of the conversation, and whether the edit was on disk.
"""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import threading
import time

import clients
import dialects
import script
import sessions
import tools as client_tools
import tslp
import upstream

CLIENTS = ["claude", "codex"]
WAYS = ["cleared", "compacted", "killed"]
FILE = "src/ring.c"
OLD = "    return r->count == RING_SIZE;"
NEW = "    return r->count >= RING_SIZE;"
TREE = {
    FILE: "#include \"ring.h\"\n\nint ring_full(const struct ring *r)\n{\n" + OLD + "\n}\n",
    "src/ring.h": "struct ring { int count; };\n",
    "Makefile": "check:\n\t@echo 'ring_full: FAILED' && false\n",
}
ASK = "Let ring_full in src/ring.c hold beyond RING_SIZE, too."
GO_ON = "Go on, please."
COMPACTED = "Another language model started to solve this problem"  # Codex goes on by itself
BLOCK = re.compile(r"[\[(]SESSION RECOVERY: READ-ONLY[\])](.*?)[\[(]END SESSION RECOVERY[\])]", re.S)


class Model:
    """Reads and checks when it is asked; goes on by what the block says."""

    session = None

    def __init__(self, workspace):
        self.workspace = workspace
        self.hangs = threading.Event()  # set: the reply after the check never comes
        self.is_asked = threading.Event()  # that reply was asked for
        self.blocks = []  # of the first request of each conversation that goes on

    def reply(self, body):
        messages = body["messages"]
        text = "\n".join(dialects.text_of(it.get("content")) for it in messages if it.get("role") == "user")
        if not body.get("tools"):
            return upstream.SIDE, [], []
        later = messages[max(at for at, it in enumerate(messages) if it.get("role") == "user") :]
        done = sum(1 for it in messages if it.get("role") == "assistant" and it.get("tool_calls"))
        if GO_ON in text.rpartition(ASK)[2] or COMPACTED in text:
            if any(it.get("role") == "assistant" for it in later):
                return upstream.DONE, [], []
            whole = json.dumps([it.get("content") for it in messages], ensure_ascii=False)
            self.blocks.append(found := BLOCK.findall(whole))
            path = re.search(r"\S+\.c\b", found[0]) if found else None
            if path is None:
                return upstream.DONE, [], []
            line = f"sed -i 's/== RING_SIZE/>= RING_SIZE/' {path.group()}"
            return self.called(body, script.Action("run", text=line), len(messages))
        if ASK not in text:
            return upstream.SIDE, [], []
        steps = [script.Action("read", FILE), script.Action("run", text="make check")]
        if done < len(steps):
            return self.called(body, steps[done], len(messages))
        self.is_asked.set()
        while self.hangs.is_set():
            time.sleep(0.05)
        return "The check fails.", [], []

    def called(self, body, action, number):
        name, arguments = client_tools.call(body["tools"], action, self.workspace)
        return "", [(f"call_{number}", name, json.dumps(arguments))], [action]


class Trial:
    """One client, one way to begin anew."""

    def __init__(self, options, kind):
        folder = pathlib.Path(options.work) / "recovery" / kind.name
        self.workspace, home = sessions.fresh(folder, script.Session("recovery", None, [], tree=TREE))
        self.model = Model(str(self.workspace))
        self.server = upstream.Upstream(self.model)
        self.tslp = tslp.Tslp(options.tslp, self.workspace, folder / "data", self.server.url, home, flags=options.flag)
        self.client = kind(options.cache, home, self.workspace, options.context)
        self.client.prepare(self.tslp.url)
        self.hooks(options, kind.name, home, folder / "data")

    def hooks(self, options, name, home, data):
        """The settings as `tslp connect CLIENT --hooks` says, with this binary and this ledger."""
        printed = {"claude": "claude-code"}.get(name, name)
        command = [options.tslp, "connect", printed, "--hooks"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        settings = "\n".join(line for line in lines if not line.startswith("#"))
        flags = f"--workspace {self.workspace} --data-dir {data}"
        settings = re.sub(r'"tslp ([\w ]+)"', rf'"{options.tslp} \1 {flags}"', settings)
        (home / f".{name}").mkdir(exist_ok=True)
        place = "settings.json" if name == "claude" else "hooks.json"
        (home / f".{name}" / place).write_text(settings, encoding="utf-8")

    def start(self, text, *more):
        command = [str(part) for part in self.client.command(text)]
        if self.client.name == "codex":
            command[-1:-1] = ["--dangerously-bypass-hook-trust", *more]
        return self.spawn(command, subprocess.DEVNULL)

    def spawn(self, command, stdin):
        return subprocess.Popen(
            command,
            cwd=self.workspace,
            env=self.client.environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def say(self, text, *more):
        process = self.start(text, *more)
        output, _ = process.communicate(timeout=clients.DEADLINE)
        return output.decode("utf-8", "replace")

    def killed(self):
        self.model.hangs.set()
        process = self.start(ASK)
        if not self.model.is_asked.wait(clients.DEADLINE):
            raise RuntimeError("the client never came so far")
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        self.model.hangs.clear()
        return self.say(GO_ON)

    def compacted(self):
        if self.client.name == "codex":
            # In the middle of the turn: its first request has about so many tokens.
            return self.say(ASK, "-c", "model_auto_compact_token_limit=7000")
        return self.lines(ASK, "/compact", GO_ON)

    def lines(self, *said):
        """One process that is told one message after the other."""
        command = [str(self.client.program), "--dangerously-skip-permissions", "-p", "--verbose"]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        process = self.spawn(command, subprocess.PIPE)
        output = []
        for text in said:
            message = {"type": "user", "message": {"role": "user", "content": text}}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                output.append(line.decode("utf-8", "replace"))
                if '"type":"result"' in output[-1]:
                    break
        process.stdin.close()
        process.wait(30)
        return "".join(output)

    def cleared(self):
        """By `/clear` on a terminal."""
        environment = self.client.environment() | {"TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        environment.pop("CI")
        if self.client.name == "claude":
            project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
            known = {
                "hasCompletedOnboarding": True,
                "theme": "dark",
                "bypassPermissionsModeAccepted": True,
                "projects": {str(self.workspace): project},
            }
            path = self.client.home / ".claude.json"
            known = (json.loads(path.read_text()) if path.exists() else {}) | known
            path.write_text(json.dumps(known))
            command = [str(self.client.program), "--dangerously-skip-permissions"]
        else:
            command = [str(self.client.program), "--dangerously-bypass-approvals-and-sandbox"]
            command.append("--dangerously-bypass-hook-trust")
            config = self.client.home / ".codex" / "config.toml"
            trust = f'\n[projects."{self.workspace}"]\ntrust_level = "trusted"\n'
            config.write_text(config.read_text() + trust)
        screen, terminal = pty.openpty()
        process = subprocess.Popen(
            command,
            cwd=self.workspace,
            env=environment,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
        )
        output = []
        reader = threading.Thread(target=self.drain, args=(screen, output), daemon=True)
        reader.start()

        def typed(text, until):
            for piece in (text, "\r"):
                os.write(screen, piece.encode())
                time.sleep(1.5)
            end = time.monotonic() + 60
            while not until() and time.monotonic() < end:
                time.sleep(0.2)
            time.sleep(1.5)

        time.sleep(6)
        typed(ASK, self.model.is_asked.is_set)
        typed("/clear", lambda: True)
        typed(GO_ON, lambda: bool(self.model.blocks))
        time.sleep(3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        return "".join(output)

    @staticmethod
    def drain(screen, output):
        while True:
            try:
                piece = os.read(screen, 65536)
            except OSError:
                return
            output.append(piece.decode("utf-8", "replace"))
            # What a terminal answers when it is asked where its cursor is, and what it is.
            if b"\x1b[6n" in piece:
                os.write(screen, b"\x1b[1;1R")
            if b"\x1b[c" in piece:
                os.write(screen, b"\x1b[?1;2c")

    def close(self):
        self.model.hangs.clear()
        self.client.close()
        self.tslp.close()
        self.server.close()


def arguments(parser):
    parser.set_defaults(context=100_000)
    parser.add_argument("--way", action="append", choices=WAYS, help="default: all")


def main(options):
    for name in options.client:
        for way in options.way or WAYS:
            trial = Trial(options, clients.ALL[name])
            try:
                output = getattr(trial, way)()
                blocks = [len(found) for found in trial.model.blocks[:1]]
                landed = NEW in (trial.workspace / FILE).read_text(encoding="utf-8")
                edit = "edited without reading" if landed else "no edit"
                print(f"{name:7} {way:10} blocks in the first request: {blocks}, {edit}", flush=True)
                if options.verbose:
                    print(*trial.model.blocks[:1], output[-3000:], "".join(trial.tslp.lines)[-1500:], sep="\n", file=sys.stderr)
            except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
                print(f"{name:7} {way:10} failed: {error}", flush=True)
            finally:
                trial.close()
