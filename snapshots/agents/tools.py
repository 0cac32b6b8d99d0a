"""Abstract actions in the words of the client: its own tools, found by name and schema, or aider's text formats."""

import difflib
import json
import posixpath

import script

NAMES = {
    "read": ["read", "read_file", "view", "view_file", "read_files", "cat"],
    "edit": [
        "edit",
        "replace_in_file",
        "replace",
        "single_find_and_replace",
        "str_replace_editor",
        "str_replace",
        "edit_file",
        "editor",
        "multi_edit",
        "multiedit",
    ],
    "write": ["write", "write_file", "write_to_file", "create_new_file", "create_file", "editor"],
    "run": [
        "bash",
        "run_shell_command",
        "execute_command",
        "run_terminal_command",
        "shell",
        "run_command",
        "run_commands",
        "exec_command",
        "shell_command",
    ],
    "end": ["attempt_completion", "submit_and_exit"],
}
PATH = ["filePath", "file_path", "filepath", "absolute_path", "target_file", "path"]
OLD = ["oldString", "old_string", "oldText", "old_text", "old_str", "search"]
NEW = ["newString", "new_string", "newText", "new_text", "new_str", "replace"]
CONTENT = ["content", "contents", "file_text", "text"]


def functions(tools):
    """The tools by name, as function objects."""
    found = {}
    for tool in tools or []:
        function = tool.get("function", tool)
        found[function.get("name", "")] = function
    return found


def _tool(known, kind):
    lower = {name.lower(): function for name, function in known.items()}
    return next((lower[name] for name in NAMES[kind] if name in lower), None)


def _key(properties, names):
    return next((name for name in names if name in properties), None)


def _filled(function, arguments):
    """The arguments, and something plausible for every other required one."""
    parameters = function.get("parameters", {})
    properties = parameters.get("properties", {})
    for name in parameters.get("required", []):
        if name in arguments:
            continue
        kind = properties.get(name, {}).get("type")
        options = properties.get(name, {}).get("enum")
        plain = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
        arguments[name] = options[0] if options else plain.get(kind, "the next step")
    return function["name"], arguments


def _path(function, key, path, workspace):
    about = json.dumps(function["parameters"]["properties"][key]) + function.get("description", "")
    return posixpath.join(workspace, path) if "absolute" in about.lower() else path


def call(tools, action, workspace):
    """The name and arguments of the client's tool for this action, or None if it has none."""
    known = functions(tools)
    kind = {"damage": "edit", "gut": "write"}.get(action.kind, action.kind)
    function = _tool(known, kind) if kind in NAMES else None
    if function is None and kind == "read":
        return call(tools, script.Action("run", text=f"cat {action.path}"), workspace)
    if function is None and kind in ("edit", "write") and "apply_patch" not in known:
        text = f"apply_patch <<'EOF'\n{patch(action)}\nEOF"
        return call(tools, script.Action("run", text=text), workspace)
    if function is None and kind in ("edit", "write"):
        function = known["apply_patch"]
        key = _key(function["parameters"]["properties"], ["patchText", "input", "patch"])
        return _filled(function, {key: patch(action)})
    if function is None:
        return None
    properties = function.get("parameters", {}).get("properties", {})
    if kind == "run":
        if "commands" in properties:
            return _filled(function, {"commands": [action.text]})
        if properties.get("command", {}).get("type") == "array":
            return _filled(function, {"command": ["sh", "-c", action.text]})
        return _filled(function, {_key(properties, ["command", "cmd"]): action.text})
    key = _key(properties, PATH)
    if key is None and "files" in properties:
        inner = properties["files"].get("items", {}).get("properties", {})
        name = _key(inner, PATH) or "path"
        about = json.dumps(properties["files"]) + function.get("description", "")
        path = posixpath.join(workspace, action.path) if "absolute" in about.lower() else action.path
        return _filled(function, {"files": [{name: path}]})
    if key is None:
        return None
    arguments = {key: _path(function, key, action.path, workspace)}
    if kind == "write":
        content = _key(properties, CONTENT) or _key(properties, NEW) or "content"
        arguments[content] = action.new
        if "command" in properties:
            arguments["command"] = "create"
    elif kind == "edit":
        old, new = _key(properties, OLD), _key(properties, NEW)
        if "diff" in properties:
            arguments["diff"] = search_replace(action)
        elif "edits" in properties:
            inner = properties["edits"]["items"]["properties"]
            arguments["edits"] = [{_key(inner, OLD): action.old, _key(inner, NEW): action.new}]
        else:
            arguments[old], arguments[new] = action.old, action.new
        if "command" in properties:
            arguments["command"] = "str_replace"
    return _filled(function, arguments)


def end(tools, text):
    """The tool that ends a turn, where the client asks for one."""
    function = _tool(functions(tools), "end")
    if function is None:
        return None
    return _filled(function, {"result": text})


def search_replace(action):
    """The form of Cline's `diff` argument."""
    return f"------- SEARCH\n{action.old}\n=======\n{action.new}\n+++++++ REPLACE\n"


def patch(action):
    """The text of `apply_patch`."""
    if action.kind in ("write", "gut"):
        lines = "".join(f"+{line}\n" for line in action.new.splitlines())
        return f"*** Begin Patch\n*** Add File: {action.path}\n{lines}*** End Patch"
    rows = difflib.ndiff(action.old.splitlines(), action.new.splitlines())
    lines = "".join(row[0] + row[2:] + "\n" for row in rows if not row.startswith("?"))
    return f"*** Begin Patch\n*** Update File: {action.path}\n@@\n{lines}*** End Patch"


def aider_block(action, form):
    """One change in aider's edit format `whole`, `diff` or `udiff`."""
    if form == "whole" or action.kind == "gut":
        return f"{action.path}\n```\n{action.whole or action.new}```\n"
    old = "" if action.kind == "write" else action.old + "\n"
    new = action.new if action.kind == "write" else action.new + "\n"
    if form == "diff":
        return f"{action.path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"
    before = "/dev/null" if action.kind == "write" else action.path
    rows = difflib.ndiff(old.splitlines(), new.splitlines())
    rows = [row[0] + row[2:] for row in rows if not row.startswith("?")]
    lines = "\n".join(rows)
    return f"```diff\n--- {before}\n+++ {action.path}\n@@ ... @@\n{lines}\n```\n"
