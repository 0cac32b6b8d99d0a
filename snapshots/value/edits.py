#!/usr/bin/env python3
"""A plain agent loop with the real model: edits attempted and landed, requests and tokens, direct and through the proxy with each
`repair.edits`.

    edits.py --server URL --tslp BINARY [--tasks N]

Each task is a function's second change of cases_*.py, in a folder with that one file. The loop knows two tools, runs what it is asked to,
and ends with the first reply without a call, as agents do. Printed: a row a task and way, and the sums. Standard library only; the unit
tests need what run.py needs.
"""

import argparse
import json
import pathlib
import tempfile

import calls
import cases_c
import cases_python
import cases_typescript
import judge
import proxy

SYSTEM = "You are a coding agent. The project has one file, {}. Use the tools: read the file, then edit it as the user asks. Write no code outside of tool calls."
NOT_FOUND = "String to replace not found in file."
REQUESTS_MAX = 7
WAYS = ("direct", "off", "tell", "rewrite")
TOOLS = [tool for tool in calls.TOOLS if tool["function"]["name"] in ("read_file", "edit_file")]


def act(call, file):
    """What the tool answers, and whether an edit was attempted and landed."""
    try:
        arguments = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "read_file":
            return file.read_text(), False, False
        text, old = file.read_text(), arguments["old"]
        if not old or text.count(old) != 1:
            return NOT_FOUND, True, False
        file.write_text(text.replace(old, arguments["new"]))
        return "The file was edited.", True, True
    except (KeyError, TypeError, ValueError) as error:
        return f"Error: {error}", call["function"]["name"] == "edit_file", False


def play(url, project, ask, file):
    messages = [
        {"role": "system", "content": SYSTEM.format(project.NAME)},
        {"role": "user", "content": f"In {project.NAME}: {ask}"},
    ]
    row = {"attempted": 0, "landed": 0, "requests": 0, "tokens": 0}
    for _ in range(REQUESTS_MAX):
        body = {"model": "qwen", "temperature": 0, "max_tokens": 400, "tools": TOOLS, "messages": messages}
        reply = calls.post(url, body)
        row["requests"] += 1
        row["tokens"] += reply["usage"]["total_tokens"]
        message = reply["choices"][0]["message"]
        made = message.get("tool_calls") or []
        if not made:
            break
        messages.append({"role": "assistant", "content": message.get("content") or "", "tool_calls": made})
        for call in made:
            result, attempted, landed = act(call, file)
            row["attempted"] += attempted
            row["landed"] += landed
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True)
    parser.add_argument("--tslp", required=True)
    parser.add_argument("--tasks", type=int, default=9)
    parser.add_argument("--esbuild", help="for the unit tests of TypeScript")
    options = parser.parse_args()
    tasks = [(project, change) for project in (cases_python, cases_c, cases_typescript) for change in project.CHANGES.values()]
    sums = {}
    for project, change in tasks[: options.tasks]:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                work = pathlib.Path(folder) / "work"
                work.mkdir()
                file = work / project.NAME
                file.write_text(project.CODE)
                process, url = (None, options.server) if way == "direct" else proxy.serve(options.tslp, work, options.server, ["--repair-edits", way])
                try:
                    row = play(url, project, change["ask"], file)
                finally:
                    if process:
                        process.terminate()
                        process.wait(30)
                row["changed"] = int(file.read_text() != project.CODE)
                if project is not cases_typescript or options.esbuild:
                    it = judge.Judge(project, options.esbuild)
                    row["met"] = int(bool(it.passes(file.read_text(), change["ask_test"])))
            print(project.NAME, way, row, flush=True)
            total = sums.setdefault(way, {})
            for name, figure in row.items():
                total[name] = total.get(name, 0) + figure
    for way, total in sums.items():
        print(f"{way}: {total}")


if __name__ == "__main__":
    main()
