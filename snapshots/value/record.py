"""Recordings of conversations with the model's own replies, for the replay in `snapshots/tests/value`."""

import json

import judge


def recording(project, rows, probe_of, first_words):
    """One language's: each text once, and turns as numbers of texts: the user's words, the reply, the file when they are said."""
    texts, language = [], project.LANGUAGE

    def number(text):
        if text not in texts:
            texts.append(text)
        return texts.index(text)

    def version(code, function):
        known = judge.definitions(code, language)
        if function not in known:
            return None
        first, end = known[function]
        lines = [line for line in code.split("\n")[first:end] if not line.startswith(judge.COMMENT[language])]
        return "\n".join(lines)

    conversations = []
    for row in rows:
        if row.get("file") != project.NAME or row["arm"] not in ("direct", "window"):
            continue
        probe = probe_of(project, row["function"], row["probe"])
        turns, code = [], project.CODE
        for said, reply, saved in probe.turns:
            turns.append([number(said), number(reply), number(code)])
            code = judge.apply(code, reply, language) if saved else code
        last = [number(probe.ask), number(row["reply"]), number(probe.disk())]
        conversations.append({
            "name": f"{row['probe']}, {row['arm']}",
            "turns": [*turns, last],
            "function": row["function"],
            "current": number(version(probe.current(), row["function"])),
            "broken": bool(row["broken"] or row["lost"]),
            "met": row["met"],
        })  # fmt: skip
    session = [row for row in rows if row.get("session") == project.NAME and row["arm"] == "direct"]
    turns, code, broken = [], project.CODE, []
    for row in sorted(session, key=lambda row: row["turn"]):
        said = first_words(project, row["turn"])
        turns.append([number(said), number(row["reply"]), number(code)])
        broken.append(bool(row["broken"]))
        code = judge.apply(code, row["reply"], language)
    return {
        "path": project.NAME,
        "texts": texts,
        "session": turns,
        "session_broken": broken,
        "probes": conversations,
    }


def write(folder, projects, rows, probe_of, first_words):
    folder.mkdir(parents=True, exist_ok=True)
    for project in projects:
        told = recording(project, rows, probe_of, first_words)
        # A text or a conversation a line.
        lines = []
        for name, value in told.items():
            if isinstance(value, list) and value and not isinstance(value[0], (int, bool)):
                items = ",\n".join(json.dumps(one, ensure_ascii=False) for one in value)
                lines.append(f'"{name}": [\n{items}\n]')
            else:
                lines.append(f'"{name}": {json.dumps(value)}')
        (folder / f"{project.NAME}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
