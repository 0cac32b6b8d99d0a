"""A model that fails once: whether the session goes on by itself, directly and through the proxy.

One user message asks for one edit: the model reads the file, edits it, and says that it is done. Its failure is a call that arrives as text, as
JSON after a sentence, or with arguments that don't fit the tool's schema (as text or as a real call), or an edit whose old text isn't in the
file. Such a model corrects itself if it is told what was wrong. Edits that are off by spaces, by an earlier edit of the model's own, or by the
file's line ends are made to fit; that model doesn't try again. An edit that loses code, or has a placeholder for it, is asked for once more
before the client has it: the model does better then, or, in `twice`, writes the placeholder again. Printed: whether the edit was on disk, whole,
without another word of the user's, and the requests.
"""

import dataclasses
import json
import re
import sys

import clients
import dialects
import sessions
import tools as client_tools
import upstream
from script import Action, Session, Turn

CLIENTS = ["aider", "opencode", "claude", "codex", "cline", "qwen", "pi"]
FILE = "src/ring.c"
OLD = "    return r->count == 0;\n"
NEW = "    return r->count <= 0;\n"
TEXT = (
    "#include \"ring.h\"\n\nint ring_full(const struct ring *r)\n{\n    return r->count == RING_SIZE;\n}\n\n"
    "int ring_empty(const struct ring *r)\n{\n" + OLD + "}\n"
)
WRONG = "int ring_empty(const struct ring *r) {\n    return (r->count == 0);\n}\n"
ASK = "Let ring_empty in src/ring.c hold for negative counts, too."
FULL = "    return r->count == RING_SIZE;\n"
SPACED = "int ring_empty (const struct ring *r)\n{\n  return r->count==0;\n}\n"
FITTED = ["spaces", "stale", "lines"]
CHECK = "    if (!r) return 1;\n"
LOSSY = {"loss": "", "placeholder": "    // ... existing code ...\n", "twice": "    // ... existing code ...\n"}
KINDS = ["lost", "words", "arguments", "schema", "edit", *FITTED, *LOSSY]
REFUSED = re.compile(r"was not accepted: ")
CORRECTED = re.compile(r"was not run, because")
TOLD = re.compile(r"The last edit of \S+ was not applied")


def session(kind, in_text):
    edit = Action("edit", FILE, ("ring_empty",), OLD.rstrip("\n"), NEW.rstrip("\n"))
    wrong = Action("edit", FILE, ("ring_empty",), WRONG.rstrip("\n"), NEW.rstrip("\n"))
    replies = [[edit], [Action("say", text="Done.")]]
    tree = {FILE: TEXT, "src/ring.h": "struct ring { int count; };\n"}
    if kind == "edit":
        replies.insert(0, [wrong])
    elif kind == "schema":
        replies.insert(0, [dataclasses.replace(edit)])
    elif kind in FITTED:
        around = TEXT[TEXT.index("int ring_empty") :]
        old = {"spaces": SPACED, "stale": TEXT[TEXT.index(FULL) :], "lines": around}[kind].rstrip("\n")
        new = old.replace("count == 0", "count <= 0").replace("count==0", "count<=0")
        replies[0] = [Action("edit", FILE, ("ring_empty",), old, new)]
    if kind == "stale":
        replies.insert(0, [Action("edit", FILE, ("ring_full",), FULL.rstrip("\n"), FULL.rstrip("\n").replace("==", ">="))])
    elif kind == "lines":
        tree[FILE] = TEXT.replace("\n", "\r\n")
    if kind in LOSSY:
        tree[FILE] = TEXT.replace(OLD, CHECK + OLD)
        old = (CHECK + OLD).rstrip("\n")
        replies[0] = [Action("edit", FILE, ("ring_empty",), old, (LOSSY[kind] + NEW).rstrip("\n"))]
    if not in_text:
        replies.insert(0, [Action("read", FILE)])
    return Session(kind, None, [Turn(ASK, replies, [])], tree=tree)


class Failing(upstream.Model):
    """Writes its first edit as text."""

    def reply(self, body):
        if self.form is not None:
            # What aider says of a failure replaces the message that the turn is known by.
            has_failed = "failed to match" in dialects.text_of(body["messages"][-1]["content"])
            actions = self.session.turns[0].replies[1 if has_failed else 0]
            return self.aider(actions), [], actions
        if self.session.name in LOSSY and REFUSED.search(dialects.text_of(body["messages"][-1].get("content"))):
            return self.once_more(body)
        text, calls, actions = super().reply(body)
        is_edit = bool(calls) and any(action.changes for action in actions)
        if is_edit and self.session.name == "schema" and actions is self.session.turns[0].replies[1]:
            named = [(one, name, json.loads(arguments)) for one, name, arguments in calls]
            calls = [(one, name, json.dumps({f"the_{key}": value for key, value in it.items()})) for one, name, it in named]
        if not is_edit or self.session.name in ("schema", "edit", *FITTED, *LOSSY):
            return text, calls, actions
        asked_again = CORRECTED.search(json.dumps(body))
        written = []
        for _, name, arguments in calls:
            arguments = json.loads(arguments)
            if self.session.name == "arguments" and not asked_again:
                arguments = {f"the_{key}": value for key, value in arguments.items()}
            call = json.dumps({"name": name, "arguments": arguments})
            written.append(f"```json\n{call}\n```" if self.session.name == "words" else f"<tool_call>\n{call}\n</tool_call>")
        return "I change it now.\n\n" + "\n".join(written), [], actions


    def once_more(self, body):
        """The reply that it gave before, better unless it fails twice."""
        messages = body["messages"]
        said = max(at for at, message in enumerate(messages) if message.get("role") == "assistant")
        text, calls, actions = super().reply(body | {"messages": messages[:said]})
        if self.session.name == "twice":
            return text, calls, actions
        edit = dataclasses.replace(actions[0], old=OLD.rstrip("\n"), new=NEW.rstrip("\n"))
        [(number, _, _)] = calls
        name, arguments = client_tools.call(body["tools"], edit, self.workspace)
        return text, [(number, name, json.dumps(arguments))], [edit]


def play(options, kind, failure, through):
    done = sessions.Run(options, kind, session(failure, kind.form is not None), through, Failing, []).play()
    text = done.after.get(FILE, "")
    if failure in LOSSY:
        return CHECK in text and (failure == "twice" or NEW in text), False, len(done.received)
    landed = re.search(r"return r->count ?<= ?0;", text) and text.count("ring_empty") == 1 and WRONG not in text
    if failure == "stale":
        landed = landed and FULL.replace("==", ">=") in text
    told = any(TOLD.search(entry["raw"]) for entry in done.received)
    if options.verbose:
        for entry in done.received:
            for message in entry["body"]["messages"][-3:]:
                print(json.dumps(message)[:1500], file=sys.stderr)
    return landed, told, len(done.received)


def arguments(parser):
    parser.add_argument("--failure", action="append", choices=KINDS, help="default: all")


def main(options):
    for name in options.client:
        kind = clients.ALL[name]
        for failure in options.failure or KINDS:
            if kind.form is not None and failure not in ("edit", "spaces", "lines"):
                continue
            for through in (False, True):
                landed, told, requests = play(options, kind, failure, through)
                way = "through tslp" if through else "direct"
                good, bad = ("file whole", "code lost") if failure in LOSSY else ("edit landed", "edit lost")
                words = [good if landed else bad, f"{requests} requests"]
                if told:
                    words.append("the true lines were told")
                print(f"{name:10} {failure:10} {way:13} {', '.join(words)}", flush=True)
