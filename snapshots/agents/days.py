"""Days on which files move, on any sources: an undo, edits by hand, a formatter, a renamed file."""

import ast
import collections
import dataclasses
import pathlib
import re
import time

import clients
import measure
import script
import sessions
from script import Action, Session, Turn

CLIENTS = ["opencode", "claude", "aider-whole"]
FILES_MAX = 40
FILE_BYTES = (700, 30_000)
FILES_IN_CHECKOUT = 130

# Where a function begins, by suffix: at a line's start, with its name.
HEADS = {
    ".c": re.compile(r"^(?!static const|typedef|struct|#|\}|/|\*|\s)[\w \*]+?[\*\s](\w+) ?\([^;]*$"),
    ".py": re.compile(r"^def (\w+)\("),
    ".ts": re.compile(r"^export (?:async )?function (\w+)[<(].*"),
}


@dataclasses.dataclass
class Function:
    name: str
    first: int
    end: int  # the line after its last


def functions(path, text):
    """The top-level functions of a file whose name is defined once, by their lines."""
    head = HEADS[pathlib.PurePosixPath(path).suffix]
    lines = text.splitlines()
    found = []
    for at, line in enumerate(lines):
        match = head.match(line)
        if match is None:
            continue
        if path.endswith(".py"):
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t)"):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
        else:
            end = next((other + 1 for other in range(at + 1, len(lines)) if lines[other].startswith("}")), None)
            if end is None or any(not one.strip() for one in lines[at : at + 1]):
                continue
        found.append(Function(match.group(1), at, end))
    names = collections.Counter(one.name for one in found)
    return [one for one in found if names[one.name] == 1 and one.end - one.first >= 4]


# What makes a file one that doesn't parse, by suffix.
BROKEN = {".c": "\nint x = = 2;\n", ".ts": "\nint x = = 2;\n", ".py": "\nx = = 2\n"}


def parses(text):
    """Whether it is Python, but for what a day has broken."""
    try:
        ast.parse(text.removesuffix(BROKEN[".py"]))
    except SyntaxError:
        return False
    return True


def changes(path, text):
    """Changes of whole lines that occur once in the file: (name, old, new), a few a function."""
    lines = text.splitlines()
    found = []
    for one in functions(path, text):
        inner = lines[one.first + 1 : one.end]
        base = next((re.match(r"\s*", line).group() for line in inner if line.strip()), "  ")
        mine, in_text = 0, False
        for at, line in enumerate(inner):
            in_text ^= line.count('"""') % 2 == 1
            whole = at > 0 and text.count(line) == 1 and mine < 4
            if in_text or not whole or re.search(r"[\"'#@\\`]|/\*|\*/|//", line):
                continue
            number = re.search(r"(?<=[ (+\-=<>\[])\d+", line)
            if number:
                new = line[: number.start()] + str(int(number.group()) + 1) + line[number.end() :]
            elif path.endswith(".py"):
                if not re.match(rf"{base}([\w., ]+ = .*[\w)\]]|return .*[\w)\]])$", line) or line.count("(") != line.count(")"):
                    continue
                # A name that linters know.
                new = f"{base}id({mine + 1})\n{line}"
            else:
                if not re.match(r" *[\w.>\-]+(\(.*\)| = .*);$", line) or not inner[at - 1].rstrip().endswith((";", "{", "}")):
                    continue
                new = f"{line}\n{re.match(' *', line).group()}trace({mine + 1});"
            if path.endswith(".py") and not parses(text.replace(line, new)):
                continue
            found.append((one.name, line, new))
            mine += 1
    return found


def project(folder):
    """Sources with several changes, by path."""
    tree = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix not in HEADS or not path.is_file() or not FILE_BYTES[0] <= path.stat().st_size <= FILE_BYTES[1]:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        if len(changes(name, text)) >= 2:
            tree[name] = text
    most = sorted(tree, key=lambda name: -len(changes(name, tree[name])))[:FILES_MAX]
    return {name: tree[name] for name in sorted(most)}


class Day:
    """Writes a session, keeping the files as the script leaves them."""

    def __init__(self, name, tree):
        self.name, self.start, self.tree = name, dict(tree), dict(tree)
        self.turns = []
        self.before = []
        self.fresh = False
        self.made = collections.Counter()
        self.divergences = 0

    def files(self, least=2, of_functions=1):
        """Those with so many changes, in so many functions."""
        found = {path: changes(path, text) for path, text in self.start.items()}
        return [
            path
            for path in self.start
            if len(found[path]) >= least and len({name for name, _, _ in found[path]}) >= of_functions
        ]

    def turn(self, text):
        turn = Turn(f"Turn {len(self.turns) + 1}: {text}", [], self.before)
        turn.fresh, self.fresh, self.before = self.fresh, False, []
        self.turns.append(turn)

    def do(self, *actions):
        for action in actions:
            if action.changes or action.kind == "gut":
                script.apply(self.tree, action)
                action.whole = self.tree[action.path]
        self.turns[-1].replies.append(list(actions))

    def say(self, text="Done."):
        self.do(Action("say", text=text))

    def next_changes(self, path, count=1):
        """The next changes of a file, each of another function."""
        chosen = []
        found = changes(path, self.tree[path])
        for at in range(len(found)):
            one = found[(self.made[path] + at) % len(found)]
            if one[0] not in [other[0] for other in chosen]:
                chosen.append(one)
            if len(chosen) == count:
                break
        self.made[path] += len(chosen) + 1
        return [Action("edit", path, (name,), old, new) for name, old, new in chosen]

    def edit(self, path, read=True):
        """A turn in which a file is read and one of its functions changed."""
        [action] = self.next_changes(path)
        self.turn(f"change `{action.symbols[0]}` in {path}.")
        if read:
            self.do(Action("read", path))
        self.do(action)
        self.say()

    def outside(self, path, text, real=True):
        """Somebody else's text for a file; None removes it."""
        if text is None:
            del self.tree[path]
        else:
            self.tree[path] = text
        self.before.append(Action("put", path, new=text))
        self.divergences += real

    def by_hand(self, path):
        [action] = self.next_changes(path)
        self.outside(path, self.tree[path].replace(action.old, action.new))

    def new_conversation(self):
        self.fresh = True

    def gutted(self, path):
        """The file without its last two functions."""
        lines = self.tree[path].splitlines(keepends=True)
        for one in reversed(functions(path, self.tree[path])[-2:]):
            del lines[one.first : one.end]
        return "".join(lines)

    def session(self):
        session = Session(self.name, None, self.turns)
        session.tree = self.start
        session.divergences = self.divergences
        for number, action in enumerate(session.actions()):
            action.number = number
        return session


def listing(tree):
    """Row 1: a listing of a whole file that holds one of its definitions; then the rest is asked for and put back."""
    day = Day("listing", tree)
    for path in day.files(2, 2)[:4]:
        day.edit(path)
        before = day.tree[path]
        lines = before.splitlines(keepends=True)
        kept, *lost = functions(path, before)[:3]
        lines = lines[: kept.end]
        day.turn(f"improve `{kept.name}` in {path}.")
        day.do(Action("read", path))
        day.do(Action("gut", path, tuple(one.name for one in lost), new="".join(lines)))
        day.say()
        day.divergences += 1
        day.turn(f"what does `{lost[0].name}` of {path} do? Put back what is missing.")
        day.do(Action("write", path, new=before))
        day.say()
        day.edit(path)
    return day


def lossy_write(tree):
    """Row 2: a write that loses functions; the agent mends it."""
    day = Day("lossy-write", tree)
    for path in day.files(2, 2)[:4]:
        day.edit(path)
        before, gutted = day.tree[path], day.gutted(path)
        day.turn(f"tidy {path} up.")
        day.do(Action("read", path))
        day.do(Action("gut", path, (functions(path, before)[-1].name,), new=gutted))
        day.say()
        day.divergences += 1
        day.turn(f"go on with {path}: put back what is missing.")
        day.do(Action("read", path))
        day.do(Action("write", path, new=before))
        day.say()
        day.edit(path)
    return day


def refused_then_undone(tree):
    """Row 3: the client wrote a refused edit; `tslp undo` takes it back."""
    day = Day("refused-undo", tree)
    for path in day.files(2, 2)[:6]:
        day.edit(path)
        before, gutted = day.tree[path], day.gutted(path)
        day.turn(f"tidy {path} up.")
        day.do(Action("read", path))
        day.do(Action("gut", path, (functions(path, before)[-1].name,), new=gutted))
        day.say()
        day.divergences += 1
        day.tree[path] = before
        day.before.append(Action("undo", path, new=before))
        day.edit(path)
    return day


def undo(tree):
    """Row 4: `git checkout`, a new conversation, and each file is read before its edit."""
    day = Day("undo", tree)
    files = day.files()[:4]
    for path in files:
        day.edit(path)
    for path in files:
        day.outside(path, day.start[path])
    day.new_conversation()
    for path in files:
        day.edit(path)
    return day


def parallel(tree):
    """Row 5: three edits in one reply, each run as soon as its call is complete."""
    day = Day("parallel", tree)
    for number, path in enumerate((day.files(3, 3) * 5)[:5]):
        edits = day.next_changes(path, 1 if number == 4 else 3)
        day.turn(f"change {', '.join(one.symbols[0] for one in edits)} in {path}.")
        day.do(Action("read", path))
        day.do(*edits)
        day.say()
    return day


def parse_error(tree):
    """Row 6: a file with a parse error, an edit by hand, then the agent's."""
    path = max(tree, key=lambda path: len(changes(path, tree[path])))
    broken = dict(tree)
    broken[path] += BROKEN[pathlib.PurePosixPath(path).suffix]
    day = Day("parse-error", broken)
    for turn in range(13):
        if turn in (4, 8):
            day.by_hand(path)
        day.edit(path)
    return day


def moved(tree):
    """Row 7: `git rm`, `git mv`, then questions and edits."""
    day = Day("moved", tree)
    gone, old, copied, *others = day.files()
    suffix = pathlib.PurePosixPath(old).suffix
    new, copy = (str(pathlib.PurePosixPath(path).parent / f"{word}{suffix}") for path, word in ((old, "renamed"), (copied, "copied")))
    for path in (gone, old, copied):
        day.edit(path)
    asked = functions(gone, day.tree[gone])[0].name
    day.outside(gone, None)
    day.turn(f"is `{asked}` of {gone} still used?")
    day.say("It is gone.")
    text = day.tree[old]
    day.outside(old, None)
    day.outside(new, text, real=False)
    day.made[new] = day.made[old]
    day.edit(new)
    day.outside(copy, day.tree[copied], real=False)
    day.edit(copy)
    for turn in range(8):
        day.edit([new, copy, copied, others[0]][turn % 4])
    return day


def by_hand(tree, turns=60):
    """Row 8: sixty turns, and the user edits a file by hand at every fifth."""
    day = Day("by-hand", tree)
    files = day.files(4)[:8]
    for turn in range(turns):
        if turn % 5 == 4:
            day.by_hand(files[turn * 3 % len(files)])
        day.edit(files[turn * 7 % len(files)])
    return day


def formatted(text):
    """Another layout: two blank lines between paragraphs, and spaces at no line's end."""
    lines = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    return re.sub(r"\n\n+", "\n\n\n", lines)


def format_on_save(tree):
    """Row 8: a formatter runs after each edit."""
    day = Day("format-on-save", tree)
    files = day.files(3)[:6]
    for turn in range(13):
        path = files[turn * 5 % len(files)]
        day.edit(path)
        text = formatted(day.tree[path])
        if text != day.tree[path]:
            day.outside(path, text, real=False)
    return day


def format_all(tree):
    """Row 8: a formatter over an unformatted project, after one edit."""
    day = Day("format-all", tree)
    files = day.files()[:13]
    for path in files:
        if path == files[1]:
            for other in files:
                text = formatted(day.tree[other])
                if text != day.tree[other]:
                    day.outside(other, text, real=False)
        day.edit(path)
    return day


def generated(tree):
    """Row 8: a generated file that the agent has read is built again four times."""
    tree = dict(tree)
    suffix = pathlib.PurePosixPath(next(iter(tree))).suffix

    def built(version):
        body = {
            ".c": "int generated_{n}(int x) {{\n  int y = x;\n  y += {v};\n  return y;\n}}\n",
            ".py": "def generated_{n}(x):\n    y = x\n    y += {v}\n    return y\n",
            ".ts": "export function generated_{n}(x: number) {{\n  let y = x;\n  y += {v};\n  return y;\n}}\n",
        }[suffix]
        mark = "# " if suffix == ".py" else "// "
        return mark + "Code generated by makeparser. DO NOT EDIT.\n\n" + "\n".join(body.format(n=n, v=n + version) for n in range(100))

    path = f"parser_tables{suffix}"
    tree[path] = built(0)
    day = Day("generated", tree)
    files = [one for one in day.files() if one != path]
    day.turn(f"what is in {path}?")
    day.do(Action("read", path))
    day.say("Tables.")
    for turn in range(13):
        if turn in (2, 5, 8, 11):
            day.outside(path, built(turn), real=False)
        day.edit(files[turn % min(5, len(files))])
    return day


def checkout(tree):
    """Row 8: a hundred and thirty files that were read change by one checkout."""
    suffix = pathlib.PurePosixPath(next(iter(tree))).suffix
    originals = list(tree.items())
    bodies = {
        ".c": "int a{n}(int x) {{\n  int y = x;\n  y += {v};\n  return y;\n}}\n\nint b{n}(int x) {{\n  int y = x;\n  y -= {v};\n  return y;\n}}\n",
        ".py": "def a{n}(x):\n    y = x\n    y += {v}\n    return y\n\n\ndef b{n}(x):\n    y = x\n    y -= {v}\n    return y\n",
        ".ts": "export function a{n}(x: number) {{\n  let y = x;\n  y += {v};\n  return y;\n}}\n\nexport function b{n}(x: number) {{\n  let y = x;\n  y -= {v};\n  return y;\n}}\n",
    }
    text = lambda n, version: bodies[suffix].format(n=n, v=n + version)
    tree = dict(originals[:3]) | {f"src/f{n:03}{suffix}": text(n, 1) for n in range(FILES_IN_CHECKOUT)}
    day = Day("checkout", tree)
    files = [path for path in tree if path.startswith("src/f")]
    for at in range(0, len(files), 10):
        day.turn("read on.")
        day.do(*(Action("read", path) for path in files[at : at + 10]))
        day.say("Read.")
    for n, path in enumerate(files):
        day.outside(path, text(n, 200), real=False)
    day.divergences = 1
    for turn in range(5):
        day.edit(files[turn * 20])
    return day


DAYS = {
    "listing": listing,
    "lossy-write": lossy_write,
    "refused-undo": refused_then_undone,
    "undo": undo,
    "parallel": parallel,
    "parse-error": parse_error,
    "moved": moved,
    "by-hand": by_hand,
    "format-on-save": format_on_save,
    "format-all": format_all,
    "generated": generated,
    "checkout": checkout,
}


def told(entries):
    """The notices that requests bring, each once: (number of the request, text)."""
    seen, found = collections.Counter(), []
    for at, entry in enumerate(entries):
        if entry["upstream"] is None:
            continue
        text = measure.render(entry["upstream"]["body"])
        now = collections.Counter(re.findall(r"\[STATE NOTICE\]\n(.*?)\n\[END NOTICE\]", text, re.S))
        for notice, count in (now - seen).items():
            found.extend([(at + 1, notice)] * count)
        seen |= now
    return found


def play(options, kind, day, name):
    """A client's day: its row, and what else to say."""
    session = day.session()
    if kind.form is not None:
        session = dataclasses.replace(session)
        session.tree, session.divergences = day.start, day.divergences
        session.turns = [turn_of_text(turn) for turn in day.turns]
    through = sessions.Run(options, kind, session, True).play()
    pairs = [(entry["body"], entry["upstream"]["body"]) for entry in through.sent if entry["upstream"]]
    result = measure.compare(pairs)
    judged = sessions.judged(through)
    healthy = [one for one in judged if one[0].kind in ("edit", "write") and one[1] is not None]
    wrong = [path for path in day.tree if through.after.get(path, "").rstrip("\n") != day.tree[path].rstrip("\n")]
    # What is put back as it was makes no version: it is true if nothing is STALE in the end.
    stale = [name for name, one in through.state["entities"].items() if one["stale"]]
    missing = [one for one in session.actions() if one.kind == "edit" and one.number not in {it[0].number for it in judged}]
    guts = [one for one in judged if one[0].kind == "gut"]
    changed = [line for line in through.proxy_log.splitlines() if "changed on disk" in line]
    notices = told(through.sent)
    lines = []
    for action, promoted, why, episode in healthy:
        if not promoted:
            lines.append(f"  not true: episode {episode}: {action.kind} {' '.join(action.entities)}: {why}")
    for action, promoted, why, episode in guts:
        if promoted:
            lines.append(f"  DAMAGE PROMOTED: episode {episode}: {' '.join(action.entities)}")
    lines.extend(f"  not played: {one.kind} {' '.join(one.entities)}" for one in missing)
    if stale:
        lines.append(f"  STALE in the end: {', '.join(stale[:5])}")
    if wrong:
        lines.append(f"  files not as scripted: {', '.join(wrong[:5])}")
    bad = [str(code) for code in through.codes if code != 0]
    if bad:
        lines.append(f"  exit codes: {', '.join(bad)}")
    lines.extend(f"  {problem}" for problem in through.problems)
    if options.verbose:
        lines.extend(f"  notice in request {at}: {text}" for at, text in notices)
        lines.extend(f"  terminal: {line}" for line in through.proxy_log.splitlines())
    if options.logs:
        sessions.write_logs(options.logs, f"{kind.name}-{name}-{day.name}", None, through)
    row = [
        f"{kind.name} {name} {day.name}",
        result["requests"],
        f"{sum(1 for one in healthy if one[1])} of {len(healthy) + len(missing)}",
        f"{sum(1 for one in guts if one[1])} of {len(guts)}",
        measure.ratio(result["through"], result["direct"]),
        f"{len(notices)} for {day.divergences}",
        len(changed),
    ]
    return row, lines


def turn_of_text(turn):
    """The same for a client whose model writes text: one reply."""
    actions = [one for reply in turn.replies for one in reply if one.kind not in ("read", "say")]
    said = [one for reply in turn.replies for one in reply if one.kind == "say"]
    other = Turn(turn.text, [actions + said], turn.outside)
    other.fresh = turn.fresh
    return other


HEAD = ["day", "requests", "edits true", "damage true", "read anew", "notices for divergences", "changed on disk"]


def arguments(parser):
    parser.add_argument("--project", action="append", required=True, help="a folder of sources; may be repeated")
    parser.add_argument("--day", action="append", choices=list(DAYS), help="default: all")


def main(options):
    rows = [HEAD]
    for project_folder in options.project:
        folder = pathlib.Path(project_folder)
        tree = project(folder)
        for day_name in options.day or list(DAYS):
            for client in options.client:
                day = DAYS[day_name](tree)
                started = time.monotonic()
                try:
                    row, more = play(options, clients.ALL[client], day, folder.name)
                except (RuntimeError, OSError, ValueError) as error:
                    row, more = [f"{client} {folder.name} {day_name}", *["-"] * (len(HEAD) - 1)], [f"  failed: {error}"]
                rows.append(row)
                print(f"{' | '.join(str(cell) for cell in row)} ({time.monotonic() - started:.0f} s)", flush=True)
                for line in more:
                    print(line, flush=True)
    print(measure.table(rows))
