"""Whole sessions, directly and through the proxy: what was read anew, and what became of the model's edits."""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import time

import clients
import ledger
import measure
import record
import relay
import script
import tslp
import upstream

CLIENTS = list(clients.ALL)
CONTEXT = 131072


def arguments(parser):
    parser.add_argument("--session", action="append", help="a folder of sessions/; default: c and py")
    parser.add_argument("--short", action="store_true", help="only the first two turns")
    parser.add_argument("--turns", type=int, help="only so many turns")
    parser.add_argument("--damage", action="store_true", help="play the damaging edits, too")
    parser.add_argument("--outside", action="store_true", help="change files between turns, as an editor would")
    parser.add_argument("--adopt", action="store_true", help="run `tslp adopt .` first")
    parser.add_argument("--no-direct", action="store_true", help="skip the run without the proxy")
    parser.add_argument("--record", metavar="DIR", help="write what the clients sent, for replays without them")


def fresh(folder, session):
    """The workspace as it is at the start, in a git repository whose dates are fixed."""
    shutil.rmtree(folder, ignore_errors=True)
    workspace, home = folder / "project", folder / "home"
    for path, text in script.files(session).items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text(text, encoding="utf-8")
    (home / "tmp").mkdir(parents=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
    (workspace / ".gitignore").write_text("/lex\n/test_ring\n/test_token\n__pycache__/\n")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "GIT_AUTHOR_DATE": "2024-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2024-01-01T00:00:00Z",
    }
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run(["git", *command], cwd=workspace, env=environment, check=True)
    return workspace, home


def tree(workspace):
    """The workspace's text files."""
    found = {}
    for path in sorted(workspace.rglob("*")):
        name = path.relative_to(workspace)
        if name.parts[0] == ".git" or not path.is_file():
            continue
        try:
            found[name.as_posix()] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
    return found


class Run:
    """One session of one client, directly or through the proxy."""

    def __init__(self, options, kind, session, through, model=upstream.Model, flags=(), adopt=False):
        self.options, self.kind, self.session, self.through = options, kind, session, through
        self.model, self.flags, self.adopt = model, flags, adopt
        self.outputs = []
        self.trees = []
        self.codes = []
        self.problems = []

    def play(self):
        options = self.options
        folder = pathlib.Path(options.work) / self.kind.name
        workspace, home = fresh(folder, self.session)
        self.workspace = workspace
        look = lambda _: self.trees.append(tree(workspace))
        model = self.model(self.session, str(workspace), self.kind.form)
        server = upstream.Upstream(model, None if self.through else look)
        front = proxy = None
        self.cache = pathlib.Path(options.cache).expanduser()
        client = self.kind(self.cache, home, workspace, options.context)
        try:
            url = server.url
            if self.through:
                flags = [*options.flag, *self.flags]
                proxy = tslp.Tslp(options.tslp, workspace, folder / "data", url, home, self.adopt, flags)
                front = relay.Relay(proxy.url, server)
                url = front.url
            client.prepare(url)
            for number, turn in enumerate(self.session.turns):
                for action in turn.outside:
                    self.outside(action, proxy)
                if turn.fresh:
                    client.begin()
                code, output = client.say(turn.text)
                self.codes.append(code)
                self.outputs.append(output)
                if options.verbose:
                    print(f"--- turn {number + 1}: exit {code}\n{output[-1500:]}", file=sys.stderr)
                if code == "deadline":
                    break
            if proxy is not None:
                time.sleep(0.3)
                self.state = proxy.get("/state")
                self.recent = proxy.get("/recent?limit=1000")
                self.ledger = ledger.Ledger(proxy.events())
        finally:
            client.close()
            if front is not None:
                front.close()
            if proxy is not None:
                proxy.close()
                self.proxy_log = "".join(proxy.lines)
            server.close()
        self.received = server.log
        self.sent = front.log if front is not None else server.log
        self.after = tree(workspace)
        return self

    def outside(self, action, proxy):
        """What somebody else does to the files."""
        path = self.workspace / action.path
        now = {action.path: path.read_text(encoding="utf-8")} if path.exists() else {}
        if action.kind == "undo" and proxy is not None:
            patch, said = proxy.run("undo", must=False)
            done = subprocess.run(["patch", "-p1"], cwd=self.workspace, input=patch.encode(), capture_output=True)
            if path.read_text(encoding="utf-8") != action.new:
                self.problems.append(f"undo didn't bring {action.path} back: {done.stdout!r} {said}")
            return
        script.apply(now, action)
        if action.path in now:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now[action.path], encoding="utf-8")
        else:
            path.unlink()


def on_disk(run):
    """How many of the script's files the client left as they should be, but for the last line's end."""
    expected = script.check(run.session)
    wrong = [path for path in expected if run.after.get(path, "").rstrip("\n") != expected[path].rstrip("\n")]
    return len(expected) - len(wrong), len(expected), wrong


def judged(run):
    """For every change that the model made: the action, whether it was promoted, why not, and in which episode.

    An edit that the client refused at first is made again; it counts once."""
    found = {}
    for at, entry in enumerate(run.sent):
        if entry["upstream"] is None:
            continue
        for action in entry["upstream"]["actions"]:
            known = found.get(action.number)
            if action.changes and not (known and known[1]):
                found[action.number] = (action, *run.ledger.outcome(at + 1, action.entities), at + 1)
    return list(found.values())


def report_code(run, name):
    """Lines on what became of the model's changes."""
    healthy = [one for one in judged(run) if one[0].kind != "damage" and one[1] is not None]
    damaging = [one for one in judged(run) if one[0].kind == "damage"]
    reasons = collections.Counter(one[2] for one in healthy if not one[1])
    why = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common())
    promoted = sum(1 for one in healthy if one[1])
    yield f"{name}: healthy edits promoted: {promoted} of {len(healthy)}" + (f" ({why})" if why else "")
    if run.options.damage:
        yield f"{name}: damaging promoted: {sum(1 for one in damaging if one[1])} of {len(damaging)}"


def write_logs(folder, name, direct, through):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if direct is not None:
        lines = [entry["raw"] for entry in direct.received]
        (folder / f"{name}.direct.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sent = [entry["raw"] for entry in through.sent]
    received = [entry["upstream"]["raw"] if entry["upstream"] else "null" for entry in through.sent]
    (folder / f"{name}.sent.jsonl").write_text("\n".join(sent) + "\n", encoding="utf-8")
    (folder / f"{name}.received.jsonl").write_text("\n".join(received) + "\n", encoding="utf-8")
    (folder / f"{name}.outputs.txt").write_text("\n----\n".join(through.outputs), encoding="utf-8")
    (folder / f"{name}.proxy.log").write_text(through.proxy_log, encoding="utf-8")
    (folder / f"{name}.recent.json").write_text(json.dumps(through.recent, indent=1), encoding="utf-8")
    (folder / f"{name}.state.json").write_text(json.dumps(through.state, indent=1), encoding="utf-8")


HEAD = [
    "session",
    "requests",
    "direct",
    "through the proxy",
    "ratio",
    "strict ratio",
    "same text",
    "not more",
]


def one(options, kind, name):
    """A client's session: its row for the table, and lines to print."""
    turns = 2 if options.short else options.turns
    session = script.load(name, options.damage, options.outside, turns)
    if kind.form is not None:
        session = script.without_tools(session)
    label = f"{kind.name} {name}"
    direct = None
    if not options.no_direct:
        direct = Run(options, kind, session, False).play()
    through = Run(options, kind, session, True, adopt=options.adopt).play()
    pairs = [(entry["body"], entry["upstream"]["body"]) for entry in through.sent if entry["upstream"]]
    result = measure.compare(pairs)
    lines = []
    if direct is not None and len(direct.received) != len(through.sent):
        lines.append(f"{label}: {len(direct.received)} requests directly, {len(through.sent)} through the proxy")
    refused = [str(entry["status"]) for entry in through.sent if entry["status"] != 200]
    if refused:
        lines.append(f"{label}: the proxy answered {', '.join(refused)}")
    if through.ledger.prompts != len(through.sent):
        lines.append(f"{label}: {through.ledger.prompts} prompts in the ledger for {len(through.sent)} requests")
    bad = [str(code) for code in through.codes if code != 0]
    if bad:
        lines.append(f"{label}: the client's exit codes: {', '.join(bad)}")
    for run, what in ((direct, "directly"), (through, "through the proxy")):
        if run is not None:
            good, all_, wrong = on_disk(run)
            if wrong:
                lines.append(f"{label}: {what} {good} of {all_} files as scripted, not {', '.join(wrong)}")
    lines.extend(report_code(through, label))
    if options.verbose:
        for at, step in enumerate(result["steps"]):
            print(f"{at + 1:3} {step}")
        for action, promoted, why, episode in judged(through):
            print(f"episode {episode}: {action.kind} {' '.join(action.entities)}: {promoted} {why}")
    file = label.replace(" ", "-") + (f"-{options.context}" if options.context != CONTEXT else "")
    if options.logs:
        write_logs(options.logs, file, direct, through)
    if options.record and direct is not None:
        record.write(pathlib.Path(options.record), file, direct)
    row = [
        label,
        result["requests"],
        result["direct"],
        result["through"],
        measure.ratio(result["through"], result["direct"]),
        measure.ratio(result["through_strict"], result["direct_strict"]),
        result["same"],
        result["no_more"],
    ]
    return row, lines


def main(options):
    rows, lines, failed = [HEAD], [], False
    for name in options.client:
        for session in options.session or ["c", "py"]:
            started = time.monotonic()
            try:
                row, more = one(options, clients.ALL[name], session)
            except (RuntimeError, OSError, ValueError) as error:
                print(f"failed {name} {session}: {error}")
                failed = True
                continue
            rows.append(row)
            lines.extend(more)
            print(f"{name} {session}: {time.monotonic() - started:.0f} s", file=sys.stderr)
    if len(rows) > 1:
        print(measure.table(rows))
    for line in lines:
        print(line)
    return 1 if failed else 0
