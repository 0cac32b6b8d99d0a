#!/usr/bin/env python3
"""Replays recorded sessions against a real llama.cpp server, directly and through the proxy, and prints what it read anew."""

import argparse
import http.client
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import measure
import proxy
import record
import upstream

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 3  # the exit code where llama.cpp isn't installed
EVALUATION_SECONDS = 1800


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recording", nargs="*", help="default: recorded/cline-c.jsonl")
    parser.add_argument("--cache", default="~/.cache/tslp-agents", help="where install.sh put llama.cpp")
    parser.add_argument("--tslp", default=str(HERE.parents[1] / "target/release/tslp"), help="the proxy's binary")
    parser.add_argument("--work", default="/tmp/tslp-agents-work", help="scratch folder; its path shows in prompts")
    parser.add_argument("--context", type=int, default=32768, help="llama.cpp's context in tokens")
    parser.add_argument("--threads", type=int, default=2, help="llama.cpp's threads; one where the machine is busy")
    parser.add_argument("--requests", type=int, help="only the first so many requests")
    parser.add_argument("--count", action="store_true", help="evaluate nothing: count llama.cpp's tokens behind the common prefix")
    parser.add_argument("--replies", action="store_true", help="each reply is in the cache, as if it had been generated")
    parser.add_argument("--slot-only", action="store_true", help="no cache beside the slot's own")
    parser.add_argument("--window", action="store_true", help="keep only the attention window of the layers that have one")
    parser.add_argument("--adopt", action="store_true", help="run `tslp adopt .` first")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for `tslp serve`")
    parser.add_argument("--logs", metavar="DIR", help="write every request as it arrived, llama.cpp's log, the proxy's pages")
    parser.add_argument("--verbose", action="store_true", help="each step")
    return parser.parse_args()


class Llama:
    """One llama.cpp server with one slot and nothing in its cache."""

    def __init__(self, options, python, log):
        wanted = {
            "model": str(python.parents[1] / "model.gguf"),
            "template": (HERE / "chat.jinja").read_text(encoding="utf-8"),
            "context": options.context,
            "threads": options.threads,
            "window": options.window,
            "slot_only": options.slot_only,
            "verbosity": 4 if options.logs else 1,
        }
        command = [str(python), "-B", str(HERE / "llama_server.py"), json.dumps(wanted)]
        self.counted = [] if options.count else None
        self.slot_only = options.slot_only
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.url = ""
        while not self.url.startswith("http://"):
            line = self.process.stdout.readline()
            if not line:
                self.close()
                log.seek(0)
                last = log.read().decode("utf-8", "replace")[-1500:]
                raise RuntimeError(f"llama.cpp didn't start:\n{last}")
            self.url = line.decode("utf-8", "replace").strip()
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def ask(self, path, body=None):
        """The answer as JSON, and the status."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=EVALUATION_SECONDS) as response:
                return json.load(response), response.status
        except urllib.error.HTTPError as error:
            return json.loads(error.read()), error.code

    def evaluate(self, body, generation=True):
        """Lets it read a prompt. Tools and messages go to it as they are."""
        asked = {name: body[name] for name in ("messages", "tools") if body.get(name)}
        asked |= {"max_tokens": 1, "temperature": 0, "cache_prompt": True, "add_generation_prompt": generation}
        if self.counted is not None:
            return self.count(asked)
        return self.must("/v1/chat/completions", asked)

    def must(self, path, body):
        answer, status = self.ask(path, body)
        if status != 200:
            raise RuntimeError(f"llama.cpp answered {status}: {json.dumps(answer)[:500]}")
        return answer

    def count(self, asked):
        """What `evaluate` would say if the cache held every earlier prompt, or the slot's."""
        prompt = self.must("/apply-template", asked)["prompt"]
        question = {"content": prompt, "add_special": True, "parse_special": True}
        tokens = self.must("/tokenize", question)["tokens"]
        known = self.counted[-1:] if self.slot_only else self.counted
        # The last token is always read.
        cached = max((min(measure.common(tokens, one), len(tokens) - 1) for one in known), default=0)
        self.counted.append(tokens)
        timings = {"cache_n": cached, "prompt_n": len(tokens) - cached}
        return {"usage": {"prompt_tokens": len(tokens)}, "timings": timings}

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)


class Adapter(upstream.Upstream):
    """In front of llama.cpp: lets it read each prompt, and answers with the recorded reply and llama.cpp's figures.

    Requests that come while no reply is due are the proxy's own."""

    def __init__(self, llama, replies):
        self.llama = llama
        self.replies = replies
        self.due = None
        super().__init__(None)

    def take(self, raw, path):
        body = json.loads(raw)
        with self.changed:
            reply, self.due = self.due, None
            entry = {"number": len(self.log), "sent": body, "body": body, "raw": raw.decode("utf-8"), "own": reply is None, "actions": []}
            entry["text"] = reply["text"] if reply else ""
            entry["calls"] = [(one["id"], one["name"], one["arguments"]) for one in reply["calls"]] if reply else []
            answer = self.llama.evaluate(body)
            if self.replies and reply:
                self.llama.evaluate(body | {"messages": body["messages"] + [said(reply)]}, False)
            entry["usage"] = answer["usage"]
            entry["timings"] = answer["timings"]
            self.log.append(entry)
        return entry

    def figures(self, entry):
        return entry["usage"], {"timings": entry["timings"]}

    def get(self, path):
        return self.llama.ask(path)


def said(reply):
    """A reply as the message that it becomes."""
    message = {"role": "assistant", "content": reply["text"] or None}
    if reply["calls"]:
        message["tool_calls"] = [
            {"id": one["id"], "type": "function", "function": {"name": one["name"], "arguments": one["arguments"]}}
            for one in reply["calls"]
        ]
    return message


def moved(value, workspace):
    """A recorded value, with the project where it is now."""
    text = json.dumps(value, ensure_ascii=False)
    text = text.replace(record.PROJECT, workspace)
    return json.loads(text.replace(record.PROJECT.replace("/", "-"), workspace.replace("/", "-")))


def lay(workspace, before, after):
    """Makes the files on disk those of the moment."""
    for path, text in record.changes(before, after).items():
        if text is None:
            (workspace / path).unlink(missing_ok=True)
        else:
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_text(text, encoding="utf-8", newline="")


def post(url, body):
    """As a client: the whole answer is read. The status, the answer, and the episode if it has become one."""
    target = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(target.hostname, target.port, timeout=EVALUATION_SECONDS)
    try:
        raw = json.dumps(body, ensure_ascii=False).encode()
        connection.request("POST", "/v1/chat/completions", raw, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        episode = response.headers.get("x-tslp-episode", "").removeprefix("e")
        return response.status, answer.decode("utf-8", "replace"), int(episode) if episode else None
    finally:
        connection.close()


class Run:
    """One recording, played once."""

    def __init__(self, options, python, steps, name, through):
        self.name = f"{name}.{'through' if through else 'direct'}"
        self.problems = []
        self.episodes = []  # of every request
        folder = pathlib.Path(options.work) / "llama"
        shutil.rmtree(folder, ignore_errors=True)
        workspace, home = folder / "project", folder / "home"
        workspace.mkdir(parents=True)
        home.mkdir()
        with tempfile.TemporaryFile() as log:
            llama = Llama(options, python, log)
            adapter = Adapter(llama, options.replies)
            tslp = None
            try:
                files = {}
                for at, (body, reply, after) in enumerate(steps):
                    body, reply, after = (moved(value, str(workspace)) for value in (body, reply, after))
                    lay(workspace, files, after)
                    files = after
                    if through and tslp is None:
                        tslp = proxy.Proxy(
                            options.tslp, workspace, folder / "data", adapter.url, home, options.adopt, options.flag
                        )
                    adapter.due = reply
                    status, answer, episode = post(tslp.url if through else adapter.url, body)
                    if status != 200 or not asked(adapter, at + 1):
                        self.problems.append(f"request {at + 1}: {status} {answer[:300]}")
                    if through:
                        self.episodes.append(episode)
                    if options.verbose and adapter.log:
                        print(f"{self.name} {at + 1}: {json.dumps(adapter.log[-1]['timings'])}", file=sys.stderr)
                if tslp is not None:
                    self.recent, self.doctor = self.pages(tslp)
            finally:
                if tslp is not None:
                    tslp.close()
                adapter.close()
                llama.close()
            self.received = adapter.log
            if options.logs:
                log.seek(0)
                self.keep(pathlib.Path(options.logs), log.read(), tslp)

    def pages(self, tslp):
        """`/recent` by episode and `/doctor`, when the last reply's figures are there."""
        for _ in range(50):
            recent = {one["episode_id"]: one for one in tslp.get("/recent?limit=1000")["episodes"]}
            if all(server_price(recent, episode) for episode in self.episodes if episode in recent):
                break
            time.sleep(0.1)
        return recent, tslp.get("/doctor")

    def tokens(self):
        return sum(entry["timings"]["prompt_n"] for entry in self.received)

    def keep(self, folder, log, tslp):
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(entry["raw"] + "\n" for entry in self.received)
        (folder / f"{self.name}.jsonl").write_text(lines, encoding="utf-8")
        (folder / f"{self.name}.llama.log").write_bytes(log)
        if tslp is not None:
            (folder / f"{self.name}.proxy.log").write_text("".join(tslp.lines), encoding="utf-8")
            pages = json.dumps({"recent": self.recent, "doctor": self.doctor}, indent=1)
            (folder / f"{self.name}.pages.json").write_text(pages, encoding="utf-8")


def asked(adapter, count):
    return sum(1 for entry in adapter.log if not entry["own"]) == count


def server_price(recent, episode):
    return ((recent.get(episode) or {}).get("price") or {}).get("server")


def agrees(run):
    """Lines on figures of the proxy's pages that aren't llama.cpp's."""
    answered = [entry for entry in run.received if not entry["own"]]
    sums = {"episodes": 0, "prompt_tokens": 0, "cached_tokens": 0}
    for entry, episode in zip(answered, run.episodes):
        if episode not in run.recent:
            continue  # a side request
        timings = entry["timings"]
        known = {
            "cached_tokens": timings["cache_n"],
            "evaluated_tokens": timings["prompt_n"],
            "prompt_tokens": entry["usage"]["prompt_tokens"],
        }
        # Without `include_usage` a stream tells the timings only.
        streamed = entry["body"].get("stream")
        if streamed and not (entry["body"].get("stream_options") or {}).get("include_usage"):
            known["prompt_tokens"] = None
        told = server_price(run.recent, episode)
        if told != known:
            yield f"/recent says of episode {episode} {told}, llama.cpp {known}"
        sums["episodes"] += 1
        sums["prompt_tokens"] += timings["cache_n"] + timings["prompt_n"]
        sums["cached_tokens"] += timings["cache_n"]
    told = run.doctor["price"]["server"] or {}
    if {name: told.get(name) for name in sums} != sums:
        yield f"/doctor says {told}, llama.cpp {sums}"


def ratio(through, direct):
    """With three places: the aim is 1.05."""
    return f"{through / direct:.3f}" if direct else "-"


HEAD = ["session", "requests", "direct", "through the proxy", "ratio", "by the proxy's estimate", "in all"]


def one(options, python, path):
    """A recording's row for the table, and lines to print."""
    steps = list(record.read(path))[: options.requests]
    # Two recordings may have the same name in different folders.
    name = path.stem if path.parent.name in ("", "recorded") else f"{path.parent.name}-{path.stem}"
    direct = Run(options, python, steps, name, False)
    through = Run(options, python, steps, name, True)
    lines = [f"{run.name}: {problem}" for run in (direct, through) for problem in run.problems]
    own = [entry for entry in through.received if entry["own"]]
    if own:
        tokens = sum(entry["timings"]["prompt_n"] for entry in own)
        lines.append(f"{name}: {len(own)} requests of the proxy's own, {tokens} tokens, which are counted")
    answered = [entry for entry in through.received if not entry["own"]]
    aside = [entry for entry, episode in zip(answered, through.episodes) if episode not in through.recent]
    if aside:
        tokens = sum(entry["timings"]["prompt_n"] for entry in aside)
        lines.append(f"{name}: {len(aside)} requests, of {tokens} tokens, aren't in /recent and /doctor")
    wrong = list(agrees(through))
    lines.extend(f"{name}: {line}" for line in wrong)
    if not wrong:
        lines.append(f"{name}: /recent and /doctor tell llama.cpp's figures")
    if options.verbose:
        rows = [["step", "prompt", "direct", "through: prompt", "read"]]
        for at, (a, b) in enumerate(zip(direct.received, answered)):
            figures = [a["usage"]["prompt_tokens"], a["timings"]["prompt_n"]]
            rows.append([at + 1, *figures, b["usage"]["prompt_tokens"], b["timings"]["prompt_n"]])
        print(f"{name}\n{measure.table(rows)}\n")
    price = through.doctor["price"]
    row = [
        name + (" (counted)" if options.count else ""),
        len(steps),
        direct.tokens(),
        through.tokens(),
        ratio(through.tokens(), direct.tokens()),
        ratio(price["sent"]["anew"], price["client"]["anew"]),
        direct.received[-1]["usage"]["prompt_tokens"] if direct.received else 0,
    ]
    return row, lines


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the servers end, too
    options.tslp = str(pathlib.Path(options.tslp).resolve())
    python = pathlib.Path(options.cache).expanduser() / "llama/bin/python"
    if not python.exists():
        print("skip llama.cpp: not installed (install.sh CACHE llama)")
        return SKIPPED
    rows, lines, failed = [HEAD], [], False
    for path in options.recording or [HERE / "recorded/cline-c.jsonl"]:
        started = time.monotonic()
        try:
            row, more = one(options, python, pathlib.Path(path))
        except (RuntimeError, OSError, ValueError) as error:
            print(f"failed {path}: {error}")
            failed = True
            continue
        rows.append(row)
        lines.extend(more)
        print(f"{path}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    if len(rows) > 1:
        print(measure.table(rows))
    for line in lines:
        print(line)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
