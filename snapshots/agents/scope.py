"""The user's words on what a model sees: off, lock, preview, a budget and another model's answer.

The model reads a file that is off by the client's own tool and by its shell (aider attaches it). Printed: how often its secret reached the
model; what was shown of a locked file, and what the client says when that is gone; whether a preview of the client's own request is what
goes out; what it says when a budget is used up; and whether a pasted answer of another model became true.
"""

import json
import pathlib
import time

import clients
import sessions
import tslp
import upstream
from script import Action, Session, Turn

CLIENTS = ["opencode", "claude", "codex", "aider"]
SECRET = "zebra-4711-quagga"
KEYS = f'#define STAGING_TOKEN "{SECRET}"\n#define STAGING_PORT 8443\n'
RING = "int ring_put(struct ring *r, int value)\n{\n    r->slots[r->head] = value;\n    return 0;\n}\n"
ASK = "What is the token in secrets/keys.h?"
LOCKED = "What does ring_put do?"
FOREIGN = "int ring_new(void) { return 4711; }"


class Play:
    """One client with a project of its own, and a model that reads the secrets first."""

    def __init__(self, options, kind, name, flags=()):
        reads = [[Action("read", "secrets/keys.h")], [Action("run", text="cat secrets/*; grep -rn TOKEN .")], [Action("say", text="Done.")]]
        turns = [Turn(ASK, reads if kind.form is None else reads[2:], [])]
        session = Session("scope", None, turns, tree={"src/ring.c": RING, "secrets/keys.h": KEYS})
        folder = pathlib.Path(options.work) / kind.name / name
        self.workspace, home = sessions.fresh(folder, session)
        self.server = upstream.Upstream(upstream.Model(session, str(self.workspace), kind.form))
        self.tslp = tslp.Tslp(options.tslp, self.workspace, folder / "data", self.server.url, home, flags=[*options.flag, *flags])
        self.client = kind(options.cache, home, self.workspace, options.context)
        self.file = folder / "request.json"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()
        self.tslp.close()
        self.server.close()

    def acts(self, *words):
        return "".join(self.tslp.run(*words, must=False))

    def says(self, text, url=None):
        self.client.prepare(url or self.tslp.url)
        output = self.client.say(text)[1]
        time.sleep(0.3)
        return output

    def bodies(self, start=0):
        return [entry["raw"] for entry in self.server.log[start:]]


def told(output, word):
    return "told" if word in output else "NOT TOLD"


def play(options, kind):
    with Play(options, kind, "direct") as it:
        it.says(ASK, it.server.url)
        direct = sum(body.count(SECRET) for body in it.bodies())
        request = max(it.server.log, key=lambda entry: len(entry["raw"]))
    with Play(options, kind, "off") as it:
        it.acts("off", "secrets/**")
        it.says(ASK)
        sent = it.bodies()
        leaks, words = (sum(body.count(word) for body in sent) for word in (SECRET, "withheld: off by the user"))
        print(f"{kind.name:12} off: the secret was sent {leaks} times in {len(sent)} requests (directly {direct}), withheld {words} times")
    with Play(options, kind, "preview") as it:
        it.acts("off", "secrets/**")
        it.file.write_text(request["raw"])
        shown = it.acts("preview", "--request", str(it.file), "--route", request["path"].partition("?")[0])
        it.tslp.post(request["path"], request["raw"])
        same = "what goes out" if it.bodies()[-1] == shown else "ANOTHER"
        changed = "changed" if shown != request["raw"] else "as it came"
        print(f"{'':12} preview of its own request ({len(shown)} bytes, {changed}): {same}")
    with Play(options, kind, "lock") as it:
        it.acts("lock", "src/ring.c")
        it.says(LOCKED)
        blocks = max(body.count("[CURRENT STATE: AUTHORITATIVE]") for body in it.bodies())
        (it.workspace / "src/ring.c").unlink()
        before = len(it.server.log)
        it.client.begin()
        output = it.says("And what else?")
        after = len(it.server.log) - before
        print(f"{'':12} lock: {blocks} block; its file gone: {told(output, 'LOCK_MISS')}, {after} requests reached the model")
    with Play(options, kind, "budget", ["--budget-prompt", "tokens 200"]) as it:
        output = it.says("word " * 400)
        print(f"{'':12} budget: {told(output, 'BUDGET-EXHAUSTED')}, {len(it.server.log)} requests reached the model")
    with Play(options, kind, "external") as it:
        it.says(f"@tslp external GPT-9\nsrc/new.c\n```c\n{FOREIGN}\n```\n")
        sent = sum("4711" in body for body in it.bodies())
        state = json.loads(it.acts("state", "--json"))["entities"]
        true = [name for name in state if name.startswith("src/new.c")]
        print(f"{'':12} external: the answer went out in {sent} requests, true of it: {true or 'nothing'}", flush=True)


def arguments(parser):
    pass


def main(options):
    for name in options.client:
        play(options, clients.ALL[name])
