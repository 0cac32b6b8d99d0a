#!/usr/bin/env python3
"""Whether calls that a real small model writes as text become calls, and its prose about tools stays as it is.

    calls.py --server URL --cache DIR [--tslp BINARY]

Thirty prompts ask for an act and twenty for an explanation, with six tools offered, each under two of three system messages: a plain
one, and two that ask for a sentence before each call, as agents' own do. The model answers each once, at temperature 0, and its replies
stay in the cache; they are then played through the proxy, so that only its reading is measured. Python's standard library only.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import scripted
import tslp

SYSTEMS = [
    "You are a coding agent. Use the tools to do what the user asks.",
    "You are a coding agent. Use the tools to do what the user asks. Before you call a tool say in one sentence what you are about to do.",
    "You are a coding agent. Use the tools to do what the user asks. First say in one sentence what you are about to do, then write the call of the tool.",
]

ACTS = [
    "Show me what src/ring.c does.",
    "Run the tests with make test.",
    "Create a file hello.py that prints hello.",
    "List the files of the folder src.",
    "Find out where ring_put is called.",
    "Read the Makefile.",
    "In src/ring.c replace `return 0;` by `return -1;`.",
    "What is in README.md?",
    "Check whether git has uncommitted changes.",
    "Search the folder src for TODO.",
    "Build the project in release mode with cargo.",
    "Write a .gitignore that ignores target.",
    "Open src/main.rs and tell me what its main function does.",
    "Which Python version is installed here?",
    "Rename the variable `cnt` to `count` in src/ring.h.",
    "Show the last three commits.",
    "Add a file LICENSE with the words `All rights reserved.`",
    "Does the file tests/ring_test.c exist?",
    "Count the lines of src/ring.c.",
    "Look for every use of malloc in the project.",
    "Read package.json and tell me the version.",
    "Run the linter: npm run lint.",
    "Delete the folder build.",
    "Fix the typo `recieve` in docs/net.md.",
    "How many files are in src?",
    "Open config/app.toml, please.",
    "Format main.go with gofmt.",
    "Create src/util.h with a function that returns the larger of two ints.",
    "Find the definition of struct ring.",
    "What does the test in tests/test_api.py check?",
]

PROSE = [
    "What does the word mutex mean? Answer in one sentence.",
    "How would one call read_file for src/ring.c? Explain it with an example, but do not call it.",
    "Which tools do you have, and what is each of them for?",
    "Explain what the arguments of edit_file mean.",
    "Thank you, that was all.",
    "Show me an example of a tool call in JSON, only as an illustration.",
    "What is the difference between write_file and edit_file?",
    "Why would you use search and not run_command with grep?",
    "Explain in a few words how a ring buffer works.",
    "What would the JSON of a call of run_command look like? Don't run anything.",
    "Describe, step by step and without doing it, how you would rename a function.",
    "What does `make test` usually do?",
    "Is it dangerous to let a model run shell commands?",
    "Write a haiku about files.",
    "How do I read a file in Python? Give an example.",
    "Explain the JSON schema of write_file to a beginner.",
    "Which of your tools could lose data?",
    "Give an example of a call of search and explain each argument.",
    "How do tool calls work in general?",
    "What is the tag <tool_call> for?",
]


def tool(name, description, required, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = [
    tool("read_file", "Read a file of the project", ["path"], path="string"),
    tool("write_file", "Write a file", ["path", "content"], path="string", content="string"),
    tool("edit_file", "Replace text in a file", ["path", "old", "new"], path="string", old="string", new="string"),
    tool("run_command", "Run a shell command", ["command"], command="string"),
    tool("search", "Search files for a pattern", ["pattern"], pattern="string", path="string"),
    tool("list_files", "List the files of a folder", ["path"], path="string"),
]


def request(text, system):
    messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
    return {"model": "qwen", "temperature": 0, "max_tokens": 220, "tools": TOOLS, "messages": messages}


def post(url, body):
    asked = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=1800) as response:
        return json.load(response)


class Player:
    """The model server that tslp sees: the reply on turn as the model's server sent it, and what else is asked by the model itself."""

    def __init__(self, model):
        self.model = model
        self.reply, self.requests = None, 0
        self.server = scripted.Server(self.answer)

    def answer(self, request):
        if request.method == "GET":
            return scripted.NO_ROUTE
        self.requests += 1
        return {"json": post(self.model, request.json()) if self.requests > 1 and self.model else self.reply}


def through_tslp(options, known, cases):
    player = Player(options.server)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        work = folder / "work"
        work.mkdir()
        proxy = tslp.Tslp(scripted.program("tslp", options.tslp), work, folder / "data", player.server.url, folder)
        try:
            for kind, text, system in cases:
                player.reply, player.requests = known[key(text, system)], 0
                yield kind, text, player.reply, post(proxy.url, request(text, SYSTEMS[system])), player.requests
        finally:
            proxy.close()
            player.server.close()


def key(text, system):
    return f"{system}: {text}"


def said(reply):
    choice = reply["choices"][0]
    calls = [(call["function"]["name"], call["function"]["arguments"]) for call in choice["message"].get("tool_calls") or []]
    return choice["message"].get("content") or "", calls, choice["finish_reason"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", help="the URL of a llama.cpp server; not needed where the cache has every reply")
    parser.add_argument("--cache", type=pathlib.Path, required=True)
    parser.add_argument("--tslp", help="the proxy's binary; without it the replies are only fetched")
    parser.add_argument("--first", type=int, default=100, help="only so many prompts of either kind")
    parser.add_argument("--from", dest="start", type=int, default=0, help="without the first ones of either kind")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    file = options.cache / "calls.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    cases = [(kind, text, system) for kind, texts in (("act", ACTS), ("prose", PROSE)) for at, text in enumerate(texts)
             if options.start <= at < options.first for system in (at % 2, 2)]  # fmt: skip
    # By system message, so that a server with one slot reads each once.
    for _, text, system in sorted(cases, key=lambda case: case[2]):
        if key(text, system) not in known:
            known[key(text, system)] = post(options.server, request(text, SYSTEMS[system]))
            file.write_text(json.dumps(known))
            print(f"asked: {text}", file=sys.stderr, flush=True)
    if not options.tslp:
        return
    counts = {}
    for kind, text, before, after, requests in through_tslp(options, known, cases):
        (words, clean, _), (left, calls, _) = said(before), said(after)
        what = "called by itself" if clean else "call delivered" if calls else "as it came" if words == left else "changed"
        if requests > 1:
            what += " after one more request"
        counts[kind, what] = counts.get((kind, what), 0) + 1
        if options.verbose:
            print(f"--- {kind}: {text}\n{words}\n=> {what} {calls}")
    for (kind, what), count in sorted(counts.items()):
        print(f"{kind:6} {what:40} {count}")


if __name__ == "__main__":
    main()
