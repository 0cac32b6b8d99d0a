"""tslp between the driver and the model, with replies of the driver's where it has some."""

import json
import pathlib
import shutil
import tempfile

import scripted
import tslp


class Proxy:
    """One `tslp serve` over a workspace with these files, each by its name."""

    def __init__(self, binary, model, files, flags=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tslp-value-"))
        self.workspace = self.folder / "work"
        self.workspace.mkdir()
        for name, code in files.items():
            self.save(name, code)
        self.model = model
        self.fresh = False  # whether the model is asked what it was asked before
        self.given = None  # the reply to say instead of the model's
        self.asked = []  # of each request since the last `ask`: messages, reply, tokens of the prompt, tokens evaluated
        self.server = scripted.Server(self.answer)
        self.binary, self.flags = binary, flags
        self.start()

    def answer(self, request):
        if request.method == "GET":
            # The window of a llama.cpp server, as the real one tells it.
            known = {"/props": {"default_generation_settings": {"n_ctx": 12288}}, "/v1/models": {"data": [{"id": "qwen"}]}}
            return {"json": known[request.path]} if request.path in known else scripted.NO_ROUTE
        messages = request.json()["messages"]
        given, self.given = self.given, None
        text, prompt, evaluated = (given, 0, 0) if given is not None else self.model.ask(messages, self.fresh)
        self.asked.append((messages, text, prompt, evaluated))
        return {"reply": {"text": text, "model": "qwen", "usage": [prompt, len(text) // 4]}}

    def start(self):
        self.tslp = tslp.Tslp(self.binary, self.workspace, self.folder / "data", self.server.url, self.folder, flags=self.flags)

    def stop(self):
        self.tslp.close()

    def ask(self, messages, given=None):
        """What the client gets, and all that the model server was asked meanwhile."""
        self.given = given
        self.asked = []
        answer = self.tslp.post("/v1/chat/completions", json.dumps({"model": "qwen", "messages": messages}))
        return json.loads(answer)["choices"][0]["message"]["content"], list(self.asked)

    def save(self, name, code):
        (self.workspace / name).write_text(code)

    def page(self, path):
        return self.tslp.get(path)

    def close(self):
        self.stop()
        self.server.close()
        shutil.rmtree(self.folder)
