"""The dialects of model servers: each request as one of chat completions, each reply in the words of its own.

The script, the figures and the recordings know chat completions alone."""

import json

MODEL = "scripted"


def pieces(text, size=24):
    """A text in pieces, as models stream."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def text_of(content):
    """A message's text, whether it is a string or parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def function(name, arguments):
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


class Event:
    """One event of a stream of server-sent events."""

    @staticmethod
    def data(value):
        return f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"

    @staticmethod
    def named(value):
        return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"


class ChatCompletions:
    """OpenAI's `/v1/chat/completions`."""

    path = "/v1/chat/completions"
    content_type = "text/event-stream"

    @staticmethod
    def streams(body):
        return bool(body.get("stream"))

    @staticmethod
    def as_chat(body):
        return body

    @classmethod
    def whole(cls, entry, usage, more):
        message = {"role": "assistant", "content": entry["text"] or None}
        if entry["calls"]:
            message["tool_calls"] = [{"id": call, **function(name, text)} for call, name, text in entry["calls"]]
        finish = "tool_calls" if entry["calls"] else "stop"
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return cls.head("chat.completion", [choice]) | {"usage": usage} | more

    @classmethod
    def stream(cls, entry, usage, more):
        yield cls.delta({"role": "assistant", "content": ""})
        for piece in pieces(entry["text"]):
            yield cls.delta({"content": piece})
        for index, (call, name, text) in enumerate(entry["calls"]):
            yield cls.delta({"tool_calls": [{"index": index, "id": call, **function(name, "")}]})
            for piece in pieces(text, 48):
                yield cls.delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        with_usage = (entry["body"].get("stream_options") or {}).get("include_usage")
        yield cls.delta({}, "tool_calls" if entry["calls"] else "stop", {} if with_usage else more)
        if with_usage:
            yield Event.data(cls.head("chat.completion.chunk", []) | {"usage": usage} | more)
        yield Event.data("[DONE]")

    @staticmethod
    def head(kind, choices):
        return {"id": "chatcmpl-1", "object": kind, "created": 1, "model": MODEL, "choices": choices}

    @classmethod
    def delta(cls, delta, finish=None, more={}):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return Event.data(cls.head("chat.completion.chunk", [choice]) | more)


class Messages:
    """Anthropic's `/v1/messages`."""

    path = "/v1/messages"
    content_type = "text/event-stream"
    streams = ChatCompletions.streams

    @staticmethod
    def as_chat(body):
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

    @staticmethod
    def figures(usage):
        return {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}

    @classmethod
    def message(cls, entry, blocks, stop, usage):
        # Claude Code takes two replies of one id for parts of the same.
        return {
            "id": f"msg_{entry['number']}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }

    @staticmethod
    def blocks(entry):
        blocks = [{"type": "text", "text": entry["text"]}] if entry["text"] else []
        for call, name, text in entry["calls"]:
            blocks.append({"type": "tool_use", "id": call, "name": name, "input": json.loads(text)})
        return blocks

    @classmethod
    def whole(cls, entry, usage, more):
        stop = "tool_use" if entry["calls"] else "end_turn"
        return cls.message(entry, cls.blocks(entry), stop, cls.figures(usage))

    @classmethod
    def stream(cls, entry, usage, more):
        figures = cls.figures(usage)
        yield Event.named({"type": "message_start", "message": cls.message(entry, [], None, figures | {"output_tokens": 1})})
        for index, block in enumerate(cls.blocks(entry)):
            if block["type"] == "text":
                begin, kind, deltas = {"type": "text", "text": ""}, "text", pieces(block["text"])
            else:
                begin, kind = block | {"input": {}}, "partial_json"
                deltas = pieces(json.dumps(block["input"], ensure_ascii=False), 48)
            yield Event.named({"type": "content_block_start", "index": index, "content_block": begin})
            of = "text_delta" if kind == "text" else "input_json_delta"
            for piece in deltas:
                delta = {"type": of, kind: piece}
                yield Event.named({"type": "content_block_delta", "index": index, "delta": delta})
            yield Event.named({"type": "content_block_stop", "index": index})
        stop = {"stop_reason": "tool_use" if entry["calls"] else "end_turn", "stop_sequence": None}
        yield Event.named({"type": "message_delta", "delta": stop, "usage": figures})
        yield Event.named({"type": "message_stop"})


class Responses:
    """OpenAI's `/v1/responses`."""

    path = "/v1/responses"
    content_type = "text/event-stream"
    streams = ChatCompletions.streams

    @staticmethod
    def as_chat(body):
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

    @staticmethod
    def items(entry):
        """The reply's items: a custom tool gets its input as it is."""
        custom = {tool["name"] for tool in entry["sent"].get("tools") or [] if tool["type"] == "custom"}
        items = []
        if entry["text"]:
            part = {"type": "output_text", "text": entry["text"], "annotations": []}
            items.append({"id": f"msg_{entry['number']}", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
        for call, name, text in entry["calls"]:
            if name in custom:
                more = {"type": "custom_tool_call", "input": json.loads(text)["input"]}
            else:
                more = {"type": "function_call", "arguments": text}
            items.append({"id": f"fc_{call}", "call_id": call, "name": name, "status": "completed"} | more)
        return items

    @staticmethod
    def response(entry, status, items, usage):
        return {
            "id": f"resp_{entry['number']}",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": MODEL,
            "output": items,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage,
        }

    @staticmethod
    def figures(usage):
        return {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": usage["total_tokens"],
        }

    @classmethod
    def whole(cls, entry, usage, more):
        return cls.response(entry, "completed", cls.items(entry), cls.figures(usage))

    @classmethod
    def stream(cls, entry, usage, more):
        number = 0

        def event(kind, **fields):
            nonlocal number
            number += 1
            return Event.named({"type": kind, "sequence_number": number - 1} | fields)

        items = cls.items(entry)
        yield event("response.created", response=cls.response(entry, "in_progress", [], None))
        for index, item in enumerate(items):
            at = {"output_index": index, "item_id": item["id"]}
            if item["type"] == "message":
                text = item["content"][0]["text"]
                at["content_index"] = 0
                yield event("response.output_item.added", output_index=index, item=item | {"content": [], "status": "in_progress"})
                part = {"type": "output_text", "text": "", "annotations": []}
                yield event("response.content_part.added", part=part, **at)
                for piece in pieces(text):
                    yield event("response.output_text.delta", delta=piece, **at)
                yield event("response.output_text.done", text=text, **at)
                yield event("response.content_part.done", part=item["content"][0], **at)
            else:
                key = "input" if item["type"] == "custom_tool_call" else "arguments"
                kind = "custom_tool_call_input" if key == "input" else "function_call_arguments"
                begin = item | {key: "", "status": "in_progress"}
                yield event("response.output_item.added", output_index=index, item=begin)
                for piece in pieces(item[key], 48):
                    yield event(f"response.{kind}.delta", delta=piece, **at)
                yield event(f"response.{kind}.done", **{key: item[key]}, **at)
            yield event("response.output_item.done", output_index=index, item=item)
        yield event("response.completed", response=cls.response(entry, "completed", items, cls.figures(usage)))


class OllamaChat:
    """Ollama's `/api/chat`."""

    path = "/api/chat"
    content_type = "application/x-ndjson"

    @staticmethod
    def streams(body):
        return body.get("stream", True)

    @staticmethod
    def as_chat(body):
        messages = []
        for message in body["messages"]:
            calls = [
                function(call["function"]["name"], json.dumps(call["function"]["arguments"], ensure_ascii=False))
                for call in message.get("tool_calls") or []
            ]
            plain = {"role": message["role"], "content": message.get("content", "")}
            messages.append(plain | ({"tool_calls": calls} if calls else {}))
        return {"model": body.get("model"), "messages": messages, "tools": body.get("tools") or []}

    @staticmethod
    def line(message, **more):
        head = {"model": MODEL, "created_at": "2024-01-01T00:00:00Z", "message": {"role": "assistant"} | message}
        return head | {"done": False} | more

    @staticmethod
    def calls(entry):
        return [{"function": {"name": name, "arguments": json.loads(text)}} for _, name, text in entry["calls"]]

    @staticmethod
    def figures(usage):
        return {
            "done": True,
            "done_reason": "stop",
            "total_duration": 1,
            "load_duration": 1,
            "prompt_eval_count": usage["prompt_tokens"],
            "prompt_eval_duration": 1,
            "eval_count": usage["completion_tokens"],
            "eval_duration": 1,
        }

    @classmethod
    def whole(cls, entry, usage, more):
        message = {"content": entry["text"]}
        if entry["calls"]:
            message["tool_calls"] = cls.calls(entry)
        return cls.line(message, **cls.figures(usage))

    @classmethod
    def stream(cls, entry, usage, more):
        lines = [cls.line({"content": piece}) for piece in pieces(entry["text"])]
        if entry["calls"]:
            lines.append(cls.line({"content": "", "tool_calls": cls.calls(entry)}))
        lines.append(cls.line({"content": ""}, **cls.figures(usage)))
        for line in lines:
            yield json.dumps(line) + "\n"


ALL = (ChatCompletions, Messages, Responses, OllamaChat)


def of(path):
    """The dialect of a request's path, or None."""
    path = path.partition("?")[0]
    return next((dialect for dialect in ALL if path.endswith(dialect.path.removeprefix("/v1"))), None)
