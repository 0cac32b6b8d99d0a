#!/usr/bin/env python3
"""The harness's own tests."""

import json
import pathlib
import sys
import tempfile
import types
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import ledger
import measure
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


class UpstreamTest(unittest.TestCase):
    """Against the server itself: it must have been built."""

    def setUp(self):
        self.session = script.load("c")
        self.server = upstream.Upstream(upstream.Model(self.session, "/w"))
        self.addCleanup(self.server.close)

    def ask(self, path, body=None):
        request = urllib.request.Request(self.server.url + path, body and json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.read().decode()

    def test_streaming(self):
        messages = [{"role": "user", "content": self.session.turns[0].text}]
        body = {"messages": messages, "tools": TOOLS, "stream": True}
        for options in ({}, {"include_usage": True}):
            events = self.ask("/v1/chat/completions", body | {"stream_options": options}).strip().split("\n\n")
            self.assertEqual(events[-1], "data: [DONE]")
            chunks = [json.loads(event[6:]) for event in events[:-1]]
            told = [chunk["usage"]["prompt_tokens"] > 0 for chunk in chunks if "usage" in chunk]
            self.assertEqual(told, [True] if options else [])
            deltas = [chunk["choices"][0]["delta"] for chunk in chunks if chunk["choices"]]
            calls = [delta["tool_calls"][0] for delta in deltas if "tool_calls" in delta]
            arguments = "".join(call["function"]["arguments"] for call in calls)
            self.assertEqual(json.loads(arguments), {"filePath": "/w/src/ring.c"})

    def test_every_dialect(self):
        said = [{"role": "user", "content": self.session.turns[0].text}]
        named = [tool["function"] for tool in TOOLS]
        asked = {
            "/v1/messages?beta=true": {"messages": said, "tools": [{"name": it["name"], "input_schema": it["parameters"]} for it in named]},
            "/v1/responses": {"input": said, "tools": [{"type": "function"} | it for it in named]},
            "/api/chat": {"messages": said, "tools": TOOLS, "stream": False},
        }
        replies = [json.loads(self.ask(path, body)) for path, body in asked.items()]
        (use,), (item,), (call,) = replies[0]["content"], replies[1]["output"], replies[2]["message"]["tool_calls"]
        self.assertEqual((use["name"], use["input"]), ("read", {"filePath": "/w/src/ring.c"}))
        self.assertEqual((item["type"], json.loads(item["arguments"])), ("function_call", use["input"]))
        self.assertEqual(call["function"], {"name": "read", "arguments": use["input"]})
        self.assertNotEqual(replies[0]["id"].partition("_")[2], replies[1]["id"].partition("_")[2])
        self.assertEqual([entry["body"]["messages"] for entry in self.server.log], [said] * 3)

    def test_custom_tools_get_their_input_as_it_is(self):
        tools = [{"type": "custom", "name": "apply_patch"}, {"type": "function", "name": "shell", "parameters": {}}]
        self.server.model.reply = lambda body: ("", [("1", "apply_patch", '{"input": "*** x"}')], [])
        (item,) = json.loads(self.ask("/v1/responses", {"input": "Go on.", "tools": tools}))["output"]
        self.assertEqual((item["type"], item["input"]), ("custom_tool_call", "*** x"))

    def test_what_clients_ask_beside(self):
        self.assertEqual(json.loads(self.ask("/v1/models"))["data"][0]["id"], "scripted")
        self.assertIn("model_info", json.loads(self.ask("/api/show", {})))
        self.assertIn("input_tokens", json.loads(self.ask("/v1/messages/count_tokens", {})))
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.ask("/v1/nothing", {})
        self.assertEqual(refused.exception.code, 404)
        head = urllib.request.Request(self.server.url + "/", method="HEAD")
        with urllib.request.urlopen(head, timeout=10) as response:
            self.assertEqual((response.status, response.headers["Content-Length"]), (200, "0"))


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
        known = ledger.Ledger(events)
        self.assertEqual(known.outcome(1, ["a.c::f"]), (True, ""))
        self.assertEqual(known.outcome(2, ["a.c::f"]), (False, "not seen"))
        self.assertEqual(known.outcome(1, ["b.c::g"]), (False, "base_unknown"))


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
