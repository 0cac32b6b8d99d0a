"""What the scripted model says, and the server that says it; every request is logged as it came."""

import json
import re
import threading

import dialects
import measure
import script
import scripted
import tools as client_tools
from dialects import text_of

SIDE = "Work on the project"
DONE = "Done."
# Aider drops a reply that edits a file outside of the chat, adds the file, and asks again by this.
ADDED = "I added these files to the chat:"
# What the proxy puts in front of a user's words.
INJECTED = re.compile(r"\[(?:STATE NOTICE|CURRENT STATE: AUTHORITATIVE)\]\n.*?\n\[END (?:NOTICE|CURRENT STATE)\]\n\n", re.S)


def own_words(text):
    """A user message's text without what the proxy put in front of it."""
    while match := INJECTED.match(text):
        text = text[match.end():]
    return text


# What clients say to an edit of a file that wasn't read, or that changed since.
UNREAD = re.compile(r"must (use the Read tool|read)|not been read|been modified since|changed since|read it (first|again)", re.I)


class Model:
    """What the model says: the script's next reply for a conversation, found from its messages alone."""

    def __init__(self, session, workspace, form=None):
        self.session = session
        self.workspace = workspace
        self.form = form  # aider's edit format

    def fits(self, turn, text):
        """Whether a user message is this turn's. Side requests quote it, clients put it between their own words."""
        return own_words(text).startswith(turn) if self.form is not None else turn in text

    def place(self, messages):
        """The current turn, how many of its replies were given already, and a file to read before the next."""
        for at in range(len(messages) - 1, -1, -1):
            message = messages[at]
            if message.get("role") != "user":
                continue
            text = text_of(message.get("content"))
            # A later step's text holds its turn's first text.
            fits = [turn for turn, one in enumerate(self.session.turns) if self.fits(one.text, text)]
            if fits:
                later = messages[at + 1 :]
                turn = max(fits, key=lambda turn: len(self.session.turns[turn].text))
                return turn, *self.progress(self.session.turns[turn].replies, later)
        return None, 0, None

    def progress(self, replies, later):
        """How many replies are done, and the file to read first, after an edit that the client refused for that."""
        done, tried, read = 0, set(), None
        for at, message in enumerate(later):
            if message.get("role") != "assistant":
                continue
            results = ""
            for other in later[at + 1 :]:
                if other.get("role") == "assistant":
                    break
                results += text_of(other.get("content"))
            if read is not None:
                read = None
                continue
            action = replies[done][0] if done < len(replies) else None
            if action is not None and action.changes and done not in tried and UNREAD.search(results):
                tried.add(done)
                read = action.path
                continue
            done += 1
        return done, read

    def reply(self, body):
        """Text, tool calls and the actions played."""
        messages = body.get("messages", [])
        turn, given, read = self.place(messages)
        if turn is None or (self.form is None and not body.get("tools")):
            return SIDE, [], []
        replies = self.session.turns[turn].replies
        if self.form is not None and own_words(text_of(messages[-1].get("content"))).startswith(ADDED):
            given = 0
        if given >= len(replies):
            return DONE, [], []
        actions = [script.Action("read", read)] if read is not None else replies[given]
        if self.form is not None:
            return self.aider(actions), [], actions
        calls, texts = [], []
        for action in actions:
            if action.kind == "say":
                call = client_tools.end(body["tools"], action.text)
                if call is None:
                    texts.append(action.text)
            else:
                call = client_tools.call(body["tools"], action, self.workspace)
                if call is None:
                    texts.append(f"There is no tool to {action.kind}.")
            if call is not None:
                number = f"call_{turn}_{len(messages)}_{len(calls)}"
                calls.append((number, call[0], json.dumps(call[1], ensure_ascii=False)))
        return "\n".join(texts), calls, actions

    def aider(self, actions):
        """All of it in one text."""
        parts = []
        for action in actions:
            if action.changes:
                parts.append(client_tools.aider_block(action, self.form))
            elif action.kind == "say":
                parts.append(action.text + "\n")
        return "\n".join(parts) or DONE


class Upstream:
    """The server; `log` holds every chat request in the order of arrival."""

    def __init__(self, model, on_request=None, delay=0):
        self.model = model
        self.on_request = on_request
        self.delay = delay  # milliseconds before each event of a reply
        self.log = []
        self.changed = threading.Condition()
        self.server = scripted.Server(self.answer)
        self.url = self.server.url

    def close(self):
        self.server.close()

    def answer(self, request):
        path = request.path
        if request.method == "GET":
            models = [{"id": "scripted", "object": "model", "created": 1, "owned_by": "local"}]
            is_list = path.rstrip("/").endswith("/models")
            return {"json": {"object": "list", "data": models}} if is_list else scripted.NO_ROUTE
        if path in dialects.AS_CHAT:
            return {"reply": self.take(request)}
        if path.endswith("/count_tokens"):
            return {"json": {"input_tokens": len(request.raw) // 4}}
        if path == "/api/show":
            details = {"family": "scripted", "format": "gguf"}
            info = {"general.architecture": "scripted", "scripted.context_length": 131072}
            return {"json": {"details": details, "model_info": info, "capabilities": ["completion", "tools"]}}
        return scripted.NO_ROUTE

    def take(self, request):
        """The reply to a chat request, which is logged."""
        sent = request.json()
        body = dialects.AS_CHAT[request.path](sent)
        text, calls, actions = self.model.reply(body)
        custom = dialects.custom_tools(sent)
        reply = {"text": text, "custom": custom, "delay": self.delay}
        reply["calls"] = [
            {"id": call, "name": name, "arguments": json.loads(arguments) if name in custom else arguments}
            for call, name, arguments in calls
        ]
        if dialects.wants_usage(request.path, sent):
            reply["usage"] = self.usage(body, text, calls)
        entry = {
            "sent": sent,
            "body": body,
            "raw": request.raw,
            "path": request.target,
            "text": text,
            "calls": calls,
            "actions": actions,
        }
        with self.changed:
            # Claude Code takes two replies of one id for parts of the same.
            reply["number"] = len(self.log)
            if self.on_request is not None:
                self.on_request(entry)
            self.log.append(entry)
            self.changed.notify_all()
        return reply

    @staticmethod
    def usage(body, text, calls):
        """Tokens read and written, by a rule of thumb."""
        return [len(measure.render(body)) // 4, (len(text) + sum(len(call[2]) for call in calls)) // 4 + 1]
