"""A session as it was sent, for replays without the client. The README says what the lines hold."""

import json

import measure

PROJECT = "/workspace/project"
HOME = "/workspace/home"
CLIENTS = "/workspace/clients"
LONG = 1000  # strings of so many characters are kept apart


class Writer:
    """The lines of one recording."""

    def __init__(self, places):
        self.places = places  # pairs of a path on this machine and its stand-in
        self.lines = []
        self.known = {}
        self.texts = []

    def line(self, **fields):
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        for path, stand_in in self.places:
            text = text.replace(path, stand_in)
        self.lines.append(text)

    def packed(self, value):
        """A value in which long strings are numbers of texts; a text may be told by one much like it."""
        if isinstance(value, dict):
            return {key: self.packed(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.packed(one) for one in value]
        if not isinstance(value, str) or len(value) < LONG:
            return value
        for path, stand_in in self.places:
            value = value.replace(path, stand_in)
        if value in self.texts:
            return {"text": self.texts.index(value)}
        best, head, tail = None, 0, 0
        for number, known in enumerate(self.texts):
            front = measure.common(known, value)
            back = min(measure.common(known[::-1], value[::-1]), min(len(known), len(value)) - front)
            if front + back > head + tail:
                best, head, tail = number, front, back
        number = len(self.texts)
        self.texts.append(value)
        if head + tail > len(value) // 2:
            middle = value[head : len(value) - tail]
            self.line(kind="text", id=number, like=best, head=head, tail=tail, text=middle)
        else:
            self.line(kind="text", id=number, text=value)
        return {"text": number}

    def interned(self, kind, value):
        """The number of a value, which is written when it is first seen."""
        key = (kind, json.dumps(value, ensure_ascii=False))
        if key not in self.known:
            number = sum(1 for known in self.known if known[0] == kind)
            self.known[key] = number
            self.line(kind=kind, id=number, **{kind: self.packed(value)})
        return self.known[key]


def changes(before, after):
    """The files that changed, those that went as null."""
    found = {path: text for path, text in after.items() if before.get(path) != text}
    found.update({path: None for path in before if path not in after})
    return found


def write(folder, name, run):
    """`run` is a direct run, with the workspace's files at each of its requests."""
    writer = Writer(
        [
            (str(run.workspace), PROJECT),
            (str(run.workspace.parent / "home"), HOME),
            (str(run.cache), CLIENTS),
            # Folders that clients name after the project's path.
            (str(run.workspace).replace("/", "-"), PROJECT.replace("/", "-")),
        ]
    )
    writer.line(kind="head", format="tslp-agents", version=1, client=run.kind.name, session=run.session.name)
    before = {}
    for entry, after in zip(run.received, run.trees):
        changed = changes(before, after)
        before = after
        if changed:
            writer.line(kind="files", files=writer.packed(changed))
        body = entry["body"]
        fields = {key: value for key, value in body.items() if key != "messages"}
        number = writer.interned("fields", fields)
        messages = [writer.interned("message", message) for message in body["messages"]]
        writer.line(kind="request", fields=number, messages=messages)
        calls = [{"id": call[0], "name": call[1], "arguments": call[2]} for call in entry["calls"]]
        edits = [
            {"entities": action.entities, "healthy": action.kind != "damage"}
            for action in entry["actions"]
            if action.changes
        ]
        writer.line(kind="reply", text=entry["text"], calls=calls, edits=edits)
    changed = changes(before, run.after)
    if changed:
        writer.line(kind="files", files=writer.packed(changed))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_text("\n".join(writer.lines) + "\n", encoding="utf-8")


def read(path):
    """The requests of a recording: (body, reply, files at that moment)."""
    texts, tables = [], {"fields": [], "message": []}
    files, body = {}, None

    def whole(value):
        if isinstance(value, dict):
            if list(value) == ["text"] and isinstance(value["text"], int):
                return texts[value["text"]]
            return {key: whole(one) for key, one in value.items()}
        return [whole(one) for one in value] if isinstance(value, list) else value

    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        kind = row["kind"]
        if kind == "text":
            text = row["text"]
            if "like" in row:
                known = texts[row["like"]]
                text = known[: row["head"]] + text + known[len(known) - row["tail"] :]
            texts.append(text)
        elif kind in tables:
            tables[kind].append(whole(row[kind]))
        elif kind == "files":
            files = {name: text for name, text in (files | whole(row["files"])).items() if text is not None}
        elif kind == "request":
            messages = [tables["message"][number] for number in row["messages"]]
            body = tables["fields"][row["fields"]] | {"messages": messages}
        elif kind == "reply":
            yield body, row, files
