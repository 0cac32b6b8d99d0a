"""`tslp mcp` with the official SDKs, in both eras of the protocol. Needs the Python package `mcp`; with `--node` a folder of node modules
that holds `@modelcontextprotocol/sdk`, which is tried as well."""

import asyncio
import json
import os
import pathlib
import subprocess
import tempfile

CLIENTS = []
TOOLS = ["append_delta", "read_state", "recall"]
PROMPTS = ["clear", "status", "stop", "undo"]
CODE = "int f(void) {\n    return 1;\n}\n"

NODE = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "sdk", version: "1" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const call = async (name, given) => (await client.callTool({ name, arguments: given })).content[0].text;
const said = {
  tools: (await client.listTools()).tools.map((it) => it.name).sort(),
  prompts: (await client.listPrompts()).prompts.map((it) => it.name).sort(),
  state: await call("read_state", {}),
  fact: await call("append_delta", { kind: "fact", key: "f.ts", statement: "It is one.", path: "a.c", quotation: "return 1;" }),
  decision: await call("append_delta", { kind: "decision", key: "d.ts", statement: "So it is." }),
  recalled: await call("recall", { about: "f.ts" }),
  stop: (await client.getPrompt({ name: "stop" })).messages[0].content.text,
};
console.log(JSON.stringify(said));
await client.close();
"""


def check(era, said):
    assert said["tools"] == TOOLS and said["prompts"] == PROMPTS, said
    assert "Nothing was asked yet" in said["state"], said
    assert "kept, by the code that it quotes" in said["fact"], said
    assert "waits" in said["decision"], said
    assert said["recalled"].startswith("fact #f."), said
    assert said["stop"] == "@tslp stop", said
    print(f"{era}: fine")


async def with_python(command, mode):
    from mcp import StdioServerParameters
    from mcp.client.client import Client
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    async with Client(stdio_client(server), mode=mode) as client:
        async def call(name, given):
            return (await client.call_tool(name, given)).content[0].text
        key = mode[:6].lower().rstrip("-")
        said = {
            "tools": sorted(it.name for it in (await client.list_tools()).tools),
            "prompts": sorted(it.name for it in (await client.list_prompts()).prompts),
            "state": await call("read_state", {}),
            "fact": await call("append_delta", {"kind": "fact", "key": f"f.{key}", "statement": "It is one.", "path": "a.c", "quotation": "return 1;"}),
            "decision": await call("append_delta", {"kind": "decision", "key": f"d.{key}", "statement": "So it is."}),
            "recalled": await call("recall", {"about": f"f.{key}"}),
            "stop": (await client.get_prompt("stop")).messages[0].content.text,
        }
        version = client.protocol_version if hasattr(client, "protocol_version") else mode
        check(f"Python, {mode}, {version}", said)


def arguments(parser):
    parser.add_argument("--node", action="append", default=[], help="a folder of node modules")


def main(options):
    with tempfile.TemporaryDirectory() as root:
        workspace = pathlib.Path(root, "work")
        workspace.mkdir()
        (workspace / "a.c").write_text(CODE)
        flags = ["--workspace", str(workspace), "--data-dir", str(pathlib.Path(root, "data"))]
        subprocess.run([options.tslp, "accept", "a.c", *flags], check=True, cwd=workspace)
        command = [options.tslp, "mcp", *flags]
        for mode in ["legacy", "auto", "2026-07-28"]:
            asyncio.run(with_python(command, mode))
        for folder in options.node:
            script = pathlib.Path(root, "sdk.mjs")
            script.write_text(NODE)
            os.symlink(os.path.abspath(folder), pathlib.Path(root, "node_modules"))
            said = subprocess.run(["node", str(script), *command], check=True, capture_output=True, text=True)
            check("TypeScript", json.loads(said.stdout))
