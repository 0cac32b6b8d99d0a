"""The official SDKs as the oracle of the reply path: what they read through tslp is what they read without it.

The cases are `scripted-model cases` (snapshots/scripted/src/oddities.rs). Each is read directly, through tslp by default, and with calls
held: there no reader rebuilds a call that isn't on record as judged and let go. Needs the Python packages `openai`, `anthropic` and `ollama`;
with `--node` a folder of node modules that holds `@ai-sdk/openai-compatible`, `@anthropic-ai/sdk` and `openai`, these as well.
"""

import collections
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import scripted
import tslp

CLIENTS = []
TOOLS = ["bash", "read", "write", "note", "plan", "status"]
SCHEMA = {"type": "object", "properties": {}}
# What marks the calls of a case that no agent should make.
HARMFUL = ["rm -rf ~", "push --force", ".git/hooks"]
SENTENCE = "The Guardian kept back"
# What isn't right yet: modes, kinds of oddities, why. io/tests/e2e/oracle.rs leaves the same out.
KNOWN = pathlib.Path(__file__).with_name("oracle_known.txt")
# Tools whose calls say what they do; the Guardian has nothing to judge of the others.
JUDGED = {"bash", "read", "write"}
# Where the server breaks off; how much arrives before a reset is anybody's guess.
BREAKS, UNSTEADY = {"http_close", "http_reset"}, {"http_reset"}


def plain(value):
    """An SDK's object as JSON."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(warnings=False)
    return json.loads(json.dumps(value, default=str))


class Reading:
    """What a reader makes of one reply."""

    def __init__(self):
        self.text, self.thoughts, self.calls, self.end, self.error, self.episode = "", "", [], None, None, None

    def json(self):
        return {"text": self.text, "thoughts": self.thoughts, "calls": self.calls, "end": self.end, "error": self.error}


class Python:
    """The Python SDKs at one address."""

    def __init__(self, url):
        import anthropic
        import ollama
        import openai

        self.openai = openai.OpenAI(base_url=url + "/v1", api_key="local", max_retries=0, timeout=30)
        self.anthropic = anthropic.Anthropic(base_url=url, api_key="local", max_retries=0, timeout=30)
        self.seen = None
        hooks = {"response": [self._see]}
        self.ollama = ollama.Client(host=url, timeout=30, event_hooks=hooks)
        for client in (self.openai, self.anthropic):
            client._client.event_hooks = hooks

    def _see(self, response):
        self.seen = response.headers.get("x-tslp-episode")

    def read(self, reader, case, prompt):
        said, self.seen = Reading(), None
        try:
            getattr(self, reader)(said, case, prompt)
        except Exception as error:
            said.error = type(error).__name__
        said.episode = self.seen
        return said

    def chat_request(self, case, prompt):
        given = {"model": case["model"], "messages": [{"role": "user", "content": prompt}]}
        if case["offers"]:
            given["tools"] = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]
        return given

    def chat(self, said, case, prompt):
        """The chunks, joined by index, as most clients do."""
        given = self.chat_request(case, prompt)
        if not case["streams"]:
            choice = self.openai.chat.completions.create(**given).choices[0]
            said.text, said.end = plain(choice.message.content) or "", choice.finish_reason
            said.thoughts = getattr(choice.message, "reasoning_content", None) or ""
            said.calls = [[it.function.name, plain(it.function.arguments)] for it in choice.message.tool_calls or []]
            if function := getattr(choice.message, "function_call", None):
                said.calls.append([function.name, plain(function.arguments)])
            return
        calls = {}
        legacy = ["", ""]
        stream = self.openai.chat.completions.create(**given, stream=True, stream_options={"include_usage": True})
        try:
            for chunk in stream:
                if not chunk.choices:
                    continue
                choice = chunk.choices[0]
                said.end = choice.finish_reason or said.end
                if choice.delta is None:
                    continue
                if choice.delta.content:
                    content = plain(choice.delta.content)
                    said.text += content if isinstance(content, str) else json.dumps(content)
                said.thoughts += getattr(choice.delta, "reasoning_content", None) or ""
                for piece in choice.delta.tool_calls or []:
                    call = calls.setdefault(piece.index, ["", ""])
                    if piece.function is None:
                        continue
                    call[0] = call[0] or piece.function.name or ""
                    arguments = plain(piece.function.arguments)
                    call[1] += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
                if function := getattr(choice.delta, "function_call", None):
                    legacy = [legacy[0] or function.name or "", legacy[1] + (function.arguments or "")]
        finally:
            said.calls = list(calls.values()) + ([legacy] if legacy[0] else [])

    def chat_helper(self, said, case, prompt):
        """The SDK's own joining."""
        given = self.chat_request(case, prompt)
        with self.openai.chat.completions.stream(**given, stream_options={"include_usage": True}) as stream:
            try:
                stream.until_done()
            finally:
                try:
                    choice = stream.current_completion_snapshot.choices[0]
                    said.text, said.end = plain(choice.message.content) or "", choice.finish_reason
                    said.calls = [[it.function.name, plain(it.function.arguments)] for it in choice.message.tool_calls or []]
                except Exception:
                    pass  # nothing came that it could hold

    def completions(self, said, case, prompt):
        given = {"model": case["model"], "prompt": prompt}
        if not case["streams"]:
            choice = self.openai.completions.create(**given).choices[0]
            said.text, said.end = plain(choice.text), choice.finish_reason
            return
        for chunk in self.openai.completions.create(**given, stream=True, stream_options={"include_usage": True}):
            for choice in (chunk.choices or [])[:1]:
                said.text += choice.text or ""
                said.end = choice.finish_reason or said.end

    def responses_request(self, case, prompt):
        given = {"model": case["model"], "input": prompt}
        if case["offers"]:
            given["tools"] = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in TOOLS]
        return given

    def take_items(self, said, items):
        for item in items or []:
            if item.type == "message":
                said.text += "".join(part.text for part in item.content or [] if part.type == "output_text")
            elif item.type == "reasoning":
                said.thoughts += "".join(part.text for part in item.content or [])
            elif item.type == "function_call":
                said.calls.append([item.name, plain(item.arguments)])

    def responses(self, said, case, prompt):
        """What the items say that are done, as Codex reads a stream."""
        given = self.responses_request(case, prompt)
        if not case["streams"]:
            response = self.openai.responses.create(**given)
            self.take_items(said, response.output)
            said.end = response.status
            return
        for event in self.openai.responses.create(**given, stream=True):
            if event.type == "response.output_item.done":
                self.take_items(said, [event.item])
            elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                said.end = event.response.status

    def responses_last(self, said, case, prompt):
        """What the last event says."""
        for event in self.openai.responses.create(**self.responses_request(case, prompt), stream=True):
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                self.take_items(said, event.response.output)
                said.end = event.response.status

    def responses_pieces(self, said, case, prompt):
        """What the pieces say."""
        calls = {}
        try:
            for event in self.openai.responses.create(**self.responses_request(case, prompt), stream=True):
                if event.type == "response.output_text.delta":
                    said.text += event.delta
                elif event.type == "response.output_item.added" and event.item.type == "function_call":
                    calls[getattr(event, "output_index", None)] = [event.item.name, plain(event.item.arguments) or ""]
                elif event.type == "response.function_call_arguments.delta":
                    calls[getattr(event, "output_index", None)][1] += event.delta
        finally:
            said.calls = list(calls.values())

    def responses_helper(self, said, case, prompt):
        with self.openai.responses.stream(**self.responses_request(case, prompt)) as stream:
            response = stream.get_final_response()
        self.take_items(said, response.output)
        said.end = response.status

    def messages_request(self, case, prompt):
        given = {"model": case["model"], "max_tokens": 4096, "messages": [{"role": "user", "content": prompt}]}
        if case["offers"]:
            given["tools"] = [{"name": name, "input_schema": SCHEMA} for name in TOOLS]
        return given

    def take_message(self, said, message):
        for block in message.content or []:
            if block.type == "text":
                said.text += block.text
            elif block.type == "thinking":
                said.thoughts += block.thinking
            elif block.type == "tool_use":
                said.calls.append([block.name, plain(getattr(block, "input", None))])
        said.end = message.stop_reason

    def messages(self, said, case, prompt):
        """The SDK's own joining."""
        given = self.messages_request(case, prompt)
        if not case["streams"]:
            self.take_message(said, self.anthropic.messages.create(**given))
            return
        with self.anthropic.messages.stream(**given) as stream:
            try:
                stream.until_done()
            finally:
                if (message := stream._current_snapshot_or_none()) is not None:
                    self.take_message(said, message)

    def messages_pieces(self, said, case, prompt):
        """The events, joined by index, as Claude Code does."""
        blocks = {}
        try:
            for event in self.anthropic.messages.create(**self.messages_request(case, prompt), stream=True):
                if event.type == "content_block_start":
                    block = plain(event.content_block)
                    if block["type"] == "tool_use":
                        block["input"] = json.dumps(block["input"]) if block.get("input") else ""
                    blocks[getattr(event, "index", None)] = block
                elif event.type == "content_block_delta":
                    block = blocks[getattr(event, "index", None)]
                    if event.delta.type == "text_delta":
                        block["text"] += event.delta.text
                    elif event.delta.type == "thinking_delta":
                        block["thinking"] += event.delta.thinking
                    elif event.delta.type == "input_json_delta":
                        block["input"] += event.delta.partial_json
                elif event.type == "message_delta":
                    said.end = event.delta.stop_reason
        finally:
            for block in blocks.values():
                if block["type"] == "text":
                    said.text += block["text"]
                elif block["type"] == "thinking":
                    said.thoughts += block["thinking"]
                elif block["type"] == "tool_use":
                    said.calls.append([block["name"], block["input"]])

    def ollama_chat(self, said, case, prompt):
        given = {"model": case["model"], "messages": [{"role": "user", "content": prompt}], "stream": case["streams"]}
        if case["offers"]:
            given["tools"] = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in TOOLS]
        parts = self.ollama.chat(**given)
        for part in parts if case["streams"] else [parts]:
            said.text += part.message.content or ""
            said.thoughts += part.message.thinking or ""
            said.calls += [[it.function.name, plain(it.function.arguments)] for it in part.message.tool_calls or []]
            said.end = [part.done, part.done_reason]

    def ollama_generate(self, said, case, prompt):
        parts = self.ollama.generate(model=case["model"], prompt=prompt, stream=case["streams"])
        for part in parts if case["streams"] else [parts]:
            said.text += part.response or ""
            said.thoughts += part.thinking or ""
            said.end = [part.done, part.done_reason]


class Node:
    """The npm SDKs."""

    def __init__(self, modules, folder):
        script = pathlib.Path(folder, "oracle.mjs")
        script.write_text(pathlib.Path(__file__).with_suffix(".mjs").read_text())
        os.symlink(os.path.abspath(modules), pathlib.Path(folder, "node_modules"))
        self.process = subprocess.Popen(["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def read(self, sdk, url, case, prompt):
        asked = {"sdk": sdk, "url": url, "prompt": prompt} | {name: case[name] for name in ("model", "streams", "offers")}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        said = Reading()
        said.__dict__.update(json.loads(self.process.stdout.readline()))
        return said

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)


# By path: readers of streams and of whole bodies. Those with a dash are of npm.
READERS = {
    "/v1/chat/completions": (["chat", "chat_helper", "ai-sdk", "openai-node"], ["chat", "ai-sdk"]),
    "/v1/completions": (["completions"], ["completions"]),
    "/v1/messages": (["messages", "messages_pieces", "anthropic-node"], ["messages", "anthropic-node"]),
    "/v1/responses": (["responses", "responses_last", "responses_pieces", "responses_helper"], ["responses"]),
    "/api/chat": (["ollama_chat"], ["ollama_chat"]),
    "/api/generate": (["ollama_generate"], ["ollama_generate"]),
}


# Pairs that say nothing: such a reader makes no sense of such a reply, with tslp or without.
NO_PAIR = {
    ("responses_pieces", "response_no_deltas"),  # calls without arguments
    ("openai-node", "arguments_object"),  # "[object Object]"
    ("openai-node", "message_beside"),  # the message beside the pieces takes their place
    ("anthropic-node", "block_index_absent"),  # input of nothing, since `at(undefined)` is the first block
    ("anthropic-node", "block_index_shifted"),  # input of the block after it
    ("ai-sdk", "name_in_two"),  # two calls, by the halves of a name
}
# Readers join these names in ways of their own, so that a call is known by its arguments.
NAMED_OTHERWISE = {"name_everywhere", "name_in_two"}
# Readers join several calls into one, of which a part is kept back.
JOINED = {"index_absent", "index_null"}


def known():
    rows = [line.split(None, 2) for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return [(mode, set(kinds.split("+"))) for mode, kinds, _ in rows]


def is_harmful(call):
    return any(mark in json.dumps(call, ensure_ascii=False) for mark in HARMFUL)


def same_call(call):
    """A call with its arguments as a value, however they are written; none at all are no members."""
    name, arguments = call
    arguments = arguments or {}
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            pass
    return json.dumps([name, arguments], sort_keys=True)


class Oracle:
    def __init__(self, options, folder):
        self.binary = scripted.program("scripted-model", os.environ.get("SCRIPTED_MODEL"))
        self.replies = {}
        self.server = scripted.Server(self.answer, self.binary)
        self.proxies = {}
        for mode, flags in [("default", ["--guardian-client-tools", "observe"]), ("hold", ["--guardian-client-tools", "strict"])]:
            root = pathlib.Path(folder, mode)
            for name in ("work", "home"):
                (root / name).mkdir(parents=True)
            self.proxies[mode] = tslp.Tslp(options.tslp, root / "work", root / "data", self.server.url, root / "home", flags=["--quiet", *options.flag, *flags])
        self.urls = {"direct": self.server.url} | {mode: proxy.url for mode, proxy in self.proxies.items()}
        self.sdks = {mode: Python(url) for mode, url in self.urls.items()}
        self.node = Node(options.node, folder) if options.node else None
        self.read, self.healed = collections.Counter(), collections.Counter()
        self.plain = {}
        self.known = [] if options.known else known()
        self.variants, self.left_out = 0, 0

    def close(self):
        if self.node:
            self.node.close()
        for proxy in self.proxies.values():
            proxy.close()
        self.server.close()

    def answer(self, request):
        if request.method != "POST":
            return scripted.NO_ROUTE
        reply = self.replies.get(request.json().get("model"))
        return {"reply": reply} if reply else scripted.NO_ROUTE

    def cases(self, span, kinds=None):
        more = [] if kinds is None else [",".join(kinds) or "none"]
        printed = subprocess.run([self.binary, "cases", span, *more], check=True, capture_output=True, encoding="utf-8").stdout
        # Not `splitlines`, which parts at U+2028 as well.
        cases = [json.loads(line) for line in printed.split("\n") if line]
        for case in cases:
            self.variants += 1
            case["model"] = f"case-{case['number']}-{self.variants}"
            self.replies[case["model"]] = case["reply"]
        return cases

    def check(self, cases):
        """What differs, as (case, reader, mode, what)."""
        found, held = [], []
        for case in cases:
            streamed, whole = READERS[case["path"]]
            for reader in streamed if case["streams"] else whole:
                if "-" in reader and not self.node or any((reader, kind) in NO_PAIR for kind in case["kinds"]):
                    continue
                readings = {mode: self.one(reader, mode, case) for mode in self.urls}
                self.read[reader] += len(readings)
                wrong = list(self.compare(case, readings))
                if wrong and case["kinds"]:
                    # What the server meant may be read in spite of the oddity.
                    readings["direct"] = meant = self.one(reader, "direct", self.meant(case))
                    for mode in self.proxies:
                        # Why it ends, an oddity may say otherwise.
                        readings[mode].end = meant.end
                    modes = {it[0] for it in self.compare(case, readings)}
                    self.healed[reader] += any(it[0] not in modes for it in wrong)
                    wrong = [it for it in wrong if it[0] in modes]
                found += [(case, reader, *it) for it in wrong]
                held.append((case, reader, readings["hold"]))
        found += self.unjudged(held)
        self.left_out += sum(self.is_known(it[0], it[2]) for it in found)
        return [it for it in found if not self.is_known(it[0], it[2])]

    def is_known(self, case, mode):
        mode = "hold" if mode == "record" else mode
        return any(mode == of and kinds <= set(case["kinds"]) for of, kinds in self.known)

    def one(self, reader, mode, case):
        prompt = f"Case {case['number']}, {reader}, {self.variants}. Go on."
        if "-" in reader:
            return self.node.read(reader, self.urls[mode], case, prompt)
        return self.sdks[mode].read(reader, case, prompt)

    def meant(self, case):
        if case["number"] not in self.plain:
            self.plain[case["number"]] = self.cases(f"{case['number']}..{case['number'] + 1}", [])[0]
        return self.plain[case["number"]]

    def compare(self, case, readings):
        direct, default, hold = (readings[mode].json() for mode in ("direct", "default", "hold"))
        shown = {"direct": direct, "default": default, "hold": hold}
        unsteady, breaks = (kinds & set(case["kinds"]) for kinds in (UNSTEADY, BREAKS))

        def other_error(said, of_any_type):
            # A break may be told in words, and where calls are held another event may be the first that can't be read.
            both = said["error"] and direct["error"] and (breaks or of_any_type)
            return said["error"] != direct["error"] and not both and not unsteady

        if other_error(default, False):
            yield "default", f"error {direct['error']} became {default['error']}", shown
        elif breaks and direct["error"]:
            # The event in which it breaks off may be whole but for the blank line, which the proxy puts before its own words.
            if not unsteady and not default["text"].startswith(direct["text"]):
                yield "default", "other text", shown
        elif parts := [part for part in direct if part != "error" and direct[part] != default[part] and not unsteady]:
            yield "default", f"other {', '.join(parts)}", shown
        if any(is_harmful(call) for call in hold["calls"]):
            yield "hold", "a harmful call came through", shown
        denies = any(is_harmful(call) for call in direct["calls"]) or SENTENCE in hold["text"]
        if not denies:
            if other_error(hold, True):
                yield "hold", f"error {direct['error']} became {hold['error']}", shown
            elif not direct["error"] and not unsteady:
                one, other = (said | {"calls": list(map(same_call, said["calls"]))} for said in (direct, hold))
                parts = [part for part in one if one[part] != other[part]]
                if not parts:
                    return
                yield "hold", f"other {', '.join(parts)}", shown
        elif not direct["error"] and not unsteady:
            kept = [same_call(call) for call in direct["calls"] if not is_harmful(call)]
            if hold["error"]:
                yield "hold", f"with a call kept back: error None became {hold['error']}", shown
            elif [same_call(call) for call in hold["calls"]] != kept and not JOINED & set(case["kinds"]):
                yield "hold", "with a call kept back: other calls", shown
            elif SENTENCE not in hold["text"]:
                yield "hold", "with a call kept back: no sentence", shown
            elif not within(direct["text"], hold["text"]):
                yield "hold", "with a call kept back: other text", shown

    def unjudged(self, held):
        """Calls that a reader has and that aren't on record as let go."""
        contents, ended, allowed = {}, {}, collections.Counter()
        for kind, event in self.proxies["hold"].events():
            if kind == "content":
                contents[event["hash"]] = event.get("text", "")
            elif kind == "reply_ended":
                ended[f"e{event['episode']}"] = event
            elif kind == "action_judged" and event["decision"] == "ALLOW":
                allowed[f"e{event['episode']}"] += 1
        for case, reader, said in held:
            # A call that broke off isn't whole, and nobody's to judge.
            if not said.calls or said.error:
                continue
            event = ended.get(said.episode)
            known = [same_call([it["name"], contents.get(it["arguments"], "")]) for it in event["tool_calls"]] if event else []
            shown = {"read": said.json(), "recorded": known, "outcome": event and event["outcome"]}
            by_arguments = NAMED_OTHERWISE & set(case["kinds"])
            for name, arguments in map(json.loads, map(same_call, said.calls)):
                recorded = [json.loads(call) for call in known]
                # What is no object is no call that can be made, and where none came there is nothing to judge.
                fits = arguments in [it[1] for it in recorded] if by_arguments else [name, arguments] in recorded
                if isinstance(arguments, dict) and not fits and (arguments or name not in [it[0] for it in recorded]):
                    yield case, reader, "record", "a call isn't on record", shown
                    break
            if allowed[said.episode] < sum(it[0] in JUDGED and it[1] not in ({}, None) for it in map(json.loads, known)):
                yield case, reader, "record", "a call was let go without a verdict", shown

    def smallest(self, found):
        """Of each case the fewest of its kinds with which it still differs."""
        wanted = {}
        for case, reader, mode, what, _ in found:
            wanted.setdefault((case["number"], reader, mode, what), case)
        subsets = {}
        for (number, *_), case in wanted.items():
            for size in range(len(case["kinds"])):
                for kinds in itertools.combinations(case["kinds"], size):
                    subsets.setdefault((number, kinds), None)
        variants = {key: self.cases(f"{key[0]}..{key[0] + 1}", key[1])[0] for key in subsets}
        differing = collections.defaultdict(set)
        for case, reader, mode, what, _ in self.check(variants.values()):
            differing[case["number"], reader, mode, what].add(tuple(case["kinds"]))
        for key, case in wanted.items():
            yield key, min(differing[key], key=len, default=tuple(case["kinds"]))


def within(part, whole):
    """Whether the signs of `part` stand in `whole` in this order."""
    rest = iter(whole)
    return all(sign in rest for sign in part)


def arguments(parser):
    parser.add_argument("--node", help="a folder of node modules")
    parser.add_argument("--cases", type=int, default=5000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first one's number")
    parser.add_argument("--known", action="store_true", help="tell of what isn't right yet as well")
    parser.add_argument("--show", metavar="FILE", help="write what differs as JSON Lines")


def main(options):
    # Odd replies don't fit the SDKs' types: they warn of it, and go on.
    warnings.simplefilter("ignore")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(options, folder)
        try:
            cases = oracle.cases(f"{options.first}..{options.first + options.cases}")
            found = oracle.check(cases)
            read, healed = dict(oracle.read), dict(oracle.healed)
            left_out = oracle.left_out
            groups = collections.defaultdict(list)
            for (number, reader, mode, what), kinds in oracle.smallest(found):
                groups[mode, reader, what, " ".join(kinds)].append(number)
        finally:
            oracle.close()
    if options.show:
        with open(options.show, "w") as out:
            for case, reader, mode, what, shown in found:
                row = {"number": case["number"], "kinds": case["kinds"], "reader": reader, "mode": mode, "what": what} | shown
                out.write(json.dumps(row) + "\n")
    for (mode, reader, what, kinds), numbers in sorted(groups.items()):
        print(f"{mode}: {reader}: {what}: [{kinds}]: {len(numbers)}: {' '.join(map(str, numbers[:8]))}")
    odd = sum(1 for case in cases if case["kinds"])
    print(f"{len(cases)} cases, {odd} with oddities, read {sum(read.values())} times in {time.monotonic() - began:.0f} s: {read}")
    print(f"read through tslp as it was meant, and only so: {healed}")
    print(f"left out as known: {left_out} differences")
    print(f"{len({case['number'] for case, *_ in found})} cases differ")
    return 1 if found else 0
