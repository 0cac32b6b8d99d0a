"""The dialects of model servers: each request as one of chat completions. The script, the figures and the recordings know these alone."""

import json


def text_of(content):
    """A message's text, whether it is a string or parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def function(name, arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def of_messages(body):
    """Anthropic's."""
    messages = []
    if body.get("system"):
        messages.append({"role": "system", "content": text_of(body["system"])})
    for message in body["messages"]:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
        for part in parts:
            if part["type"] == "tool_result":
                result = text_of(part.get("content"))
                messages.append({"role": "tool", "tool_call_id": part["tool_use_id"], "content": result})
        said = "".join(part["text"] for part in parts if part["type"] == "text")
        calls = [
            {"id": part["id"], **function(part["name"], json.dumps(part["input"], ensure_ascii=False))}
            for part in parts
            if part["type"] == "tool_use"
        ]
        if said or calls:
            message = {"role": message["role"], "content": said}
            messages.append(message | ({"tool_calls": calls} if calls else {}))
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool["input_schema"],
            },
        }
        for tool in body.get("tools") or []
        if "input_schema" in tool
    ]
    return {"model": body.get("model"), "messages": messages, "tools": tools}


def of_responses(body):
    """OpenAI's responses."""
    messages = []
    if body.get("instructions"):
        messages.append({"role": "system", "content": body["instructions"]})
    items = body["input"]
    for item in items if isinstance(items, list) else [{"role": "user", "content": items}]:
        kind = item.get("type", "message")
        if kind == "message":
            role = {"developer": "system"}.get(item["role"], item["role"])
            messages.append({"role": role, "content": text_of(item["content"])})
        elif kind in ("function_call", "custom_tool_call"):
            # What one reply said and called is one message.
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": ""})
            arguments = item["arguments"] if kind == "function_call" else json.dumps({"input": item["input"]})
            call = {"id": item["call_id"], **function(item["name"], arguments)}
            messages[-1].setdefault("tool_calls", []).append(call)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            result = text_of(item["output"])
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": result})
    tools = []
    for tool in body.get("tools") or []:
        if tool["type"] == "function":
            tools.append({"type": "function", "function": tool})
        elif tool["type"] == "custom":
            parameters = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
            tools.append({"type": "function", "function": tool | {"parameters": parameters}})
    return {"model": body.get("model"), "messages": messages, "tools": tools}


def of_ollama(body):
    """Ollama's chat."""
    messages = []
    for message in body["messages"]:
        calls = [
            function(call["function"]["name"], json.dumps(call["function"]["arguments"], ensure_ascii=False))
            for call in message.get("tool_calls") or []
        ]
        plain = {"role": message["role"], "content": message.get("content", "")}
        messages.append(plain | ({"tool_calls": calls} if calls else {}))
    return {"model": body.get("model"), "messages": messages, "tools": body.get("tools") or []}


AS_CHAT = {
    "/v1/chat/completions": lambda body: body,
    "/v1/messages": of_messages,
    "/v1/responses": of_responses,
    "/api/chat": of_ollama,
}


def custom_tools(sent):
    """The tools of a request whose input is a text, not arguments: Responses' own."""
    return [tool["name"] for tool in sent.get("tools") or [] if tool.get("type") == "custom" and "name" in tool]


def wants_usage(path, sent):
    """Whether a reply tells its tokens: a stream of chat completions does so only where it is asked to."""
    is_silent = path == "/v1/chat/completions" and sent.get("stream")
    return not is_silent or bool((sent.get("stream_options") or {}).get("include_usage"))
