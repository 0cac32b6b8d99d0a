#!/usr/bin/env python3
"""The harness's own tests."""

import json
import pathlib
import tempfile
import types
import unittest
import urllib.request

import llama
import measure
import proxy
import record
import script
import tools
import upstream


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    tool("read", filePath={"type": "string", "description": "The absolute path"}),
    tool("edit", filePath={"type": "string"}, oldString={"type": "string"}, newString={"type": "string"}),
    tool("write", filePath={"type": "string"}, content={"type": "string"}),
    tool("bash", command={"type": "string"}, description={"type": "string"}),
]


class ScriptTest(unittest.TestCase):
    def test_every_edit_applies_in_every_variant(self):
        for name in ("c", "py"):
            for damage in (False, True):
                for outside in (False, True):
                    session = script.load(name, damage, outside)
                    self.assertEqual(len(session.turns), 6)
                    kinds = {action.kind for action in session.actions()}
                    self.assertEqual("damage" in kinds, damage)

    def test_steps_without_tools_keep_every_change(self):
        session = script.load("c")
        changes = [action for action in session.actions() if action.changes]
        other = [action for action in script.without_tools(session).actions() if action.changes]
        self.assertEqual(changes, other)


class ModelTest(unittest.TestCase):
    def setUp(self):
        self.session = script.load("c")
        self.model = upstream.Model(self.session, "/w")

    def test_a_whole_turn(self):
        messages = [{"role": "user", "content": [{"type": "text", "text": f"<x>{self.session.turns[0].text}</x>"}]}]
        kinds = []
        for _ in self.session.turns[0].replies:
            text, calls, actions = self.model.reply({"messages": messages, "tools": TOOLS})
            kinds.append([call[1] for call in calls] or text[:10])
            messages.append({"role": "assistant", "content": text})
            messages.extend({"role": "tool", "tool_call_id": call[0], "content": "ok"} for call in calls)
        self.assertEqual(kinds, [["read"], ["edit"], ["edit"], ["read"], ["edit"], ["bash"], "`ring_pop`"])
        self.assertEqual(self.model.reply({"messages": messages, "tools": TOOLS})[0], upstream.DONE)

    def test_an_edit_of_an_unread_file_is_made_again(self):
        messages = [{"role": "user", "content": self.session.turns[0].text}]
        results = ["", "You must use the Read tool to read it before editing it.", "", ""]
        names = []
        for result in results:
            _, calls, _ = self.model.reply({"messages": messages, "tools": TOOLS})
            names.append((calls[0][1], "ring_pop" in calls[0][2] or "ring->length == 0" in calls[0][2]))
            messages.append({"role": "assistant", "content": None})
            messages.append({"role": "tool", "tool_call_id": calls[0][0], "content": result})
        self.assertEqual(names, [("read", False), ("edit", True), ("read", False), ("edit", True)])

    def test_paths_are_absolute_where_the_schema_says_so(self):
        action = self.session.turns[0].replies[0][0]
        self.assertEqual(tools.call(TOOLS, action, "/w"), ("read", {"filePath": "/w/src/ring.c"}))

    def test_side_requests(self):
        messages = [{"role": "user", "content": self.session.turns[0].text}]
        self.assertEqual(self.model.reply({"messages": messages})[0], upstream.SIDE)

    def test_text_formats(self):
        edit = script.Action("edit", "a.c", ("f",), "  x;", "  y;\n  z;")
        self.assertIn("<<<<<<< SEARCH\n  x;\n=======\n  y;\n  z;\n>>>>>>> REPLACE", tools.aider_block(edit, "diff"))
        self.assertIn("--- a.c\n+++ a.c\n@@ ... @@\n-  x;\n+  y;\n+  z;\n", tools.aider_block(edit, "udiff"))
        self.assertIn("*** Update File: a.c\n@@\n-  x;\n+  y;\n+  z;\n", tools.patch(edit))

    def test_streaming(self):
        server = upstream.Upstream(self.model)
        try:
            messages = [{"role": "user", "content": self.session.turns[0].text}]
            body = {"messages": messages, "tools": TOOLS, "stream": True, "stream_options": {"include_usage": True}}
            request = urllib.request.Request(server.url + "/v1/chat/completions", json.dumps(body).encode())
            events = urllib.request.urlopen(request, timeout=10).read().decode().strip().split("\n\n")
            self.assertEqual(events[-1], "data: [DONE]")
            chunks = [json.loads(event[6:]) for event in events[:-1]]
            self.assertGreater(chunks[-1]["usage"]["prompt_tokens"], 0)
            deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
            calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
            arguments = "".join(call["function"]["arguments"] for call in calls)
            self.assertEqual(json.loads(arguments), {"filePath": "/w/src/ring.c"})
        finally:
            server.close()


class FakeLlama:
    """Evaluates as many tokens as there are messages."""

    def evaluate(self, body, generation=True):
        count = len(body["messages"])
        return {"usage": {"prompt_tokens": count}, "timings": {"cache_n": 0, "prompt_n": count}}

    def ask(self, path):
        return {"path": path}, 200


class LlamaTest(unittest.TestCase):
    def setUp(self):
        self.adapter = llama.Adapter(FakeLlama(), False)
        self.addCleanup(self.adapter.close)
        self.reply = {"text": "Hi.", "calls": [{"id": "1", "name": "read", "arguments": '{"a":1}'}]}

    def ask(self, **fields):
        status, answer, episode = llama.post(self.adapter.url, {"messages": [{}, {}]} | fields)
        self.assertEqual((status, episode), (200, None))
        return answer

    def test_the_recorded_reply_with_the_servers_figures(self):
        self.adapter.due = self.reply
        whole = json.loads(self.ask())
        self.assertEqual((whole["usage"]["prompt_tokens"], whole["timings"]["prompt_n"]), (2, 2))
        self.assertEqual(whole["choices"][0]["message"], {"role": "assistant"} | llama.said(self.reply))
        for options in ({}, {"include_usage": True}):
            self.adapter.due = self.reply
            events = self.ask(stream=True, stream_options=options).strip().split("\n\n")
            last = json.loads(events[-2][6:])
            self.assertEqual(last["timings"]["prompt_n"], 2)
            self.assertEqual("usage" in last, bool(options))
        self.assertEqual([entry["own"] for entry in self.adapter.log], [False] * 3)

    def test_requests_without_a_reply_are_the_proxys_own(self):
        self.ask()
        self.assertEqual([entry["own"] for entry in self.adapter.log], [True])

    def test_pages_that_differ_are_told(self):
        self.adapter.due = self.reply
        self.ask()
        told = {"cached_tokens": 0, "evaluated_tokens": 2, "prompt_tokens": 2}
        sums = {"cached_percent": 0, "cached_tokens": 0, "episodes": 1, "prompt_tokens": 2}
        run = types.SimpleNamespace(
            received=self.adapter.log,
            episodes=[4],
            recent={4: {"price": {"server": told}}},
            doctor={"price": {"server": sums}},
        )
        self.assertEqual(list(llama.agrees(run)), [])
        told["evaluated_tokens"] = 3
        sums["episodes"] = 2
        self.assertEqual(len(list(llama.agrees(run))), 2)

    def test_files_are_laid_as_they_were(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            llama.lay(folder, {}, {"a/b": "1\r\n", "c": "2"})
            llama.lay(folder, {"a/b": "1\r\n", "c": "2"}, {"a/b": "1\r\n"})
            self.assertEqual((folder / "a/b").read_bytes(), b"1\r\n")
            self.assertFalse((folder / "c").exists())


class MeasureTest(unittest.TestCase):
    def test_anew(self):
        self.assertEqual(measure.anew(["abc", "abd", "abcd"]), ([3, 1, 1], [3, 1, 2]))

    def test_compare(self):
        def body(*texts):
            return {"messages": [{"role": "user", "content": text} for text in texts]}

        result = measure.compare([(body("a"), body("a")), (body("a", "b"), body("x", "b"))])
        self.assertEqual((result["same"], result["no_more"], result["requests"]), (1, 1, 2))
        self.assertGreater(result["through"], result["direct"])


class LedgerTest(unittest.TestCase):
    def test_outcome(self):
        entity = {"path": "a.c", "symbol": "f"}
        whole = {"path": "b.c", "symbol": None}
        events = [
            ("prompt_received", {}),
            ("artifact_captured", {"capture": 1, "episode": 1, "origin": "model"}),
            ("artifact_resolved", {"capture": 1, "versions": [{"id": 7, "entity": entity}]}),
            ("transitioned", {"version": 7, "transition": "promote", "cause": "structural_parity"}),
            ("notice_issued", {"episode": 1, "reason": "base_unknown", "entity": whole}),
        ]
        ledger = proxy.Ledger(events)
        self.assertEqual(ledger.outcome(1, ["a.c::f"]), (True, ""))
        self.assertEqual(ledger.outcome(2, ["a.c::f"]), (False, "not seen"))
        self.assertEqual(ledger.outcome(1, ["b.c::g"]), (False, "base_unknown"))


class RecordTest(unittest.TestCase):
    def test_round_trip(self):
        long = "line\n" * 400
        bodies = [
            {"model": "m", "messages": [{"role": "system", "content": "/tmp/x/p " + long}]},
            {"model": "m", "messages": [{"role": "system", "content": "/tmp/x/p " + long + "more"}]},
        ]
        entries = [{"body": body, "text": "t", "calls": [("1", "read", "{}")], "actions": []} for body in bodies]
        run = types.SimpleNamespace(
            workspace=pathlib.Path("/tmp/x/p"),
            cache="/nowhere",
            kind=types.SimpleNamespace(name="client"),
            session=types.SimpleNamespace(name="c"),
            received=entries,
            trees=[{"a": "1"}, {"a": "2", "b": long}],
            after={"b": long},
        )
        with tempfile.TemporaryDirectory() as folder:
            record.write(pathlib.Path(folder), "r", run)
            found = list(record.read(pathlib.Path(folder) / "r.jsonl"))
            size = (pathlib.Path(folder) / "r.jsonl").stat().st_size
        expected = json.loads(json.dumps(bodies).replace("/tmp/x/p", record.PROJECT))
        self.assertEqual([body for body, _, _ in found], expected)
        self.assertEqual([files for _, _, files in found], run.trees)
        self.assertLess(size, 3 * len(long))


if __name__ == "__main__":
    unittest.main()
