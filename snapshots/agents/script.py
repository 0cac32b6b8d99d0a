"""Sessions: a project's files, and what the user says and the model does. See the README for the format."""

import dataclasses
import pathlib
import typing

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Action:
    """One thing that the model (or the user's editor) does."""

    kind: str  # read, edit, write, run, say, damage, gut (a lossy write), outside, put, undo
    path: str = ""
    symbols: typing.Tuple[str, ...] = ()
    old: str = ""
    new: str = ""
    text: str = ""  # the command, or what is said
    number: int = 0
    whole: str = ""  # the file after it, where the script says so

    @property
    def changes(self):
        return self.kind in ("edit", "write", "damage", "gut")

    @property
    def entities(self):
        return [f"{self.path}::{symbol}" for symbol in self.symbols]


@dataclasses.dataclass
class Turn:
    """One message of the user's, the replies to it, and what an editor changed just before."""

    text: str
    replies: list  # lists of actions
    outside: list
    fresh: bool = False  # begins a new conversation


@dataclasses.dataclass
class Session:
    name: str
    project: pathlib.Path
    turns: list
    tree: dict = None  # the project's files, where there is no folder
    divergences: int = 0

    def actions(self):
        return [action for turn in self.turns for reply in turn.replies for action in reply]


def load(name, damage=False, outside=False, turns=None):
    """The session in `sessions/NAME`, cut to its first turns if asked."""
    folder = HERE / "sessions" / name
    session = Session(name, folder / "project", [])
    for head, body in _sections((folder / "session.txt").read_text(encoding="utf-8")):
        word, _, rest = head.partition(" ")
        if word == "turn":
            session.turns.append(Turn(body.strip(), [], []))
            continue
        together = word == "also"
        if together:
            word, _, rest = rest.partition(" ")
        action = _action(word, rest, body)
        turn = session.turns[-1]
        if word == "outside":
            if outside:
                turn.outside.append(action)
        elif word == "damage" and not damage:
            pass
        elif together:
            turn.replies[-1].append(action)
        else:
            turn.replies.append([action])
    del session.turns[turns or len(session.turns) :]
    for number, action in enumerate(session.actions()):
        action.number = number
    check(session)
    return session


def without_tools(session, together=2):
    """The same for a client whose model writes its edits as text: a few changes a reply, and a message for each."""
    turns = []
    for turn in session.turns:
        actions = [action for reply in turn.replies for action in reply if action.changes]
        said = [action for reply in turn.replies for action in reply if action.kind == "say"]
        groups = [actions[at : at + together] for at in range(0, len(actions), together)] or [[]]
        groups[-1] = groups[-1] + said
        for number, group in enumerate(groups):
            text = turn.text if not number else f"Go on, please, with step {number + 1} of this. {turn.text}"
            turns.append(Turn(text.replace("\n", " "), [group], turn.outside if not number else []))
    return dataclasses.replace(session, turns=turns)


def _sections(text):
    head, lines = None, []
    for line in text.splitlines():
        if line.startswith("== "):
            if head is not None:
                yield head, "\n".join(lines)
            head, lines = line[3:], []
        else:
            lines.append(line)
    if head is not None:
        yield head, "\n".join(lines)


def _action(word, rest, body):
    if word in ("edit", "damage", "outside"):
        path, _, symbols = rest.partition("::")
        old, new = body.split("\n-->\n")
        return Action(word, path, tuple(symbols.split()), old, new.rstrip("\n"))
    if word == "write":
        path, _, symbols = rest.partition("::")
        return Action(word, path, tuple(symbols.split()), new=body.strip("\n") + "\n")
    if word == "read":
        return Action(word, rest)
    if word == "run":
        return Action(word, text=rest)
    if word == "say":
        return Action(word, text=body.strip())
    raise ValueError(f"unknown section: {word}")


def files(session):
    """The project's files at the start."""
    if session.tree is not None:
        return dict(session.tree)
    return {
        path.relative_to(session.project).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(session.project.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def apply(tree, action):
    """Do one change to the files."""
    if action.kind in ("write", "gut", "put", "undo"):
        if action.new is None:
            tree.pop(action.path, None)
        else:
            tree[action.path] = action.new
    elif action.kind in ("edit", "damage", "outside"):
        count = tree[action.path].count(action.old)
        lines = f"\n{tree[action.path]}".count(f"\n{action.old}\n")
        if count != 1 or lines != 1:
            raise ValueError(f"{action.path}: {count} places, {lines} of whole lines, for:\n{action.old}")
        tree[action.path] = tree[action.path].replace(action.old, action.new)


def check(session):
    """Every edit applies exactly once; the files at the end."""
    tree = files(session)
    for turn in session.turns:
        for action in turn.outside:
            apply(tree, action)
        for reply in turn.replies:
            for action in reply:
                apply(tree, action)
    return tree
