#!/usr/bin/env python3
"""Whether tslp helps a real small model: probes and sessions, judged by unit tests; see README.md."""

import argparse
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import cases_c
import cases_new
import cases_python
import cases_typescript
import judge
import model as models
import new_conversations
import proxy
import record
import report
import scripted
import selftest

HERE = pathlib.Path(__file__).resolve().parent
PROJECTS = [cases_python, cases_c, cases_typescript]
NEW_CLASSES = ["new conversation", "after a restart"]
CLASSES = ["hand edit untold", "plain", "changed before", "not saved", "damaged before"]
ARMS = ["direct", "window", "ideal", "tslp", "tslp-follow"]
WINDOW_MESSAGES = 4  # a client that keeps two pairs of its history
BRIEF = " Write only the changed function."
MARKERS = re.compile(
    r"CURRENT STATE|STATE NOTICE|END NOTICE|^Artifact:|^Entity:|Confirmed via AST|withheld|RECENT CONTEXT|State Map|\bSTALE\b",
    re.M | re.I,
)


def user(text):
    return {"role": "user", "content": text}


def assistant(text):
    return {"role": "assistant", "content": text}


def fenced(project, code):
    return f"```{project.LANGUAGE}\n{code.rstrip()}\n```"


def shown(project, code):
    return f"Here is `{project.NAME}`:\n\n{fenced(project, code)}\n\n"


def session_words(project, number):
    """What the user says in a session's turn."""
    _, request, test = project.SESSION[number]
    said = request + (BRIEF if test else "")
    return said if number else shown(project, project.CODE) + said


class Probe:
    """A conversation by hand up to one request."""

    def __init__(self, project, function, kind):
        change = project.CHANGES[function]
        (question, answer, _), (request, reply, code) = project.FILLERS
        start = (shown(project, project.CODE) + question, answer, False)
        other = (request + BRIEF, reply.format(code), True)
        first = change["first"] + BRIEF
        said = "Here is the updated `{}` function:\n\n{}\n\nThe function now does what you asked for."
        healthy = (first, said.format(function, fenced(project, change["first_code"])), kind == "changed before")
        damaged = (first, said.format(function, fenced(project, change["damaged_code"])), False)
        # The same beginnings, so that a server with one slot needn't read them anew for each probe.
        self.turns = {
            "plain": [start, other, (question, answer, False)],
            "hand edit untold": [start, other, (question, answer, False)],
            "changed before": [start, healthy, other, (question, answer, False)],
            "not saved": [start, other, healthy],
            "damaged before": [start, other, damaged],
        }[kind]
        self.project, self.function, self.kind = project, function, kind
        self.ask = change["ask"] + BRIEF
        self.ask_test = change["ask_test"]
        self.users_code = change["users_code"] if kind == "hand edit untold" else None
        self.extra = {"changed before": [change["first_test"]], "not saved": [change["first_test"]]}.get(kind, [])
        if self.users_code:
            self.extra = [change["users_test"]]

    def disk(self):
        """The file when the request is made."""
        code = self.project.CODE
        for _, reply, saved in self.turns:
            code = judge.apply(code, reply, self.project.LANGUAGE) if saved else code
        if self.users_code:
            code = judge.apply(code, fenced(self.project, self.users_code), self.project.LANGUAGE)
        return code

    def current(self):
        """The file with what was accepted and isn't saved yet."""
        replies = [reply for _, reply, _ in self.turns] if self.kind == "not saved" else []
        code = self.disk()
        for reply in replies:
            code = judge.apply(code, reply, self.project.LANGUAGE)
        return code

    def history(self):
        messages = []
        for said, reply, _ in self.turns:
            messages += [user(said), assistant(reply)]
        return messages


def sight(sent, probe):
    """How often the model sees the current version of the function, and whether no other stands after it."""
    current, language = probe.current(), probe.project.LANGUAGE
    first, end = judge.definitions(current, language)[probe.function]
    lines = [line for line in current.split("\n")[first:end] if not line.startswith(judge.COMMENT[language])]
    version, text = "\n".join(lines), "\n".join(message["content"] for message in sent)
    last = text.rfind(lines[0].split("(")[0] + "(")
    return {"in_sight": text.count(version), "is_last": last >= 0 and text.startswith(version, last)}


class Driver:
    def __init__(self, options):
        self.options = options
        self.model = models.NoModel() if options.dry else models.Model(options.cache, options.server)
        self.judges = {project.NAME: judge.Judge(project, models.esbuild(options.cache)) for project in PROJECTS}

    def probe(self, arm, probe):
        row = {"arm": arm, "probe": probe.kind, "file": probe.project.NAME, "function": probe.function}
        if arm.startswith("tslp"):
            row |= self.ask_proxy(arm, probe)
        else:
            messages = {
                "direct": lambda: [*probe.history(), user(probe.ask)],
                "window": lambda: [*probe.history()[-WINDOW_MESSAGES:], user(probe.ask)],
                "ideal": lambda: [user(shown(probe.project, probe.current()) + probe.ask)],
            }[arm]()
            row["reply"], row["prompt"], row["evaluated"] = self.model.ask(messages)
            row["sent"] = messages
        row |= sight(row["sent"], probe)
        code = probe.disk()
        it = self.judges[probe.project.NAME]
        after = judge.apply(code, row["reply"], probe.project.LANGUAGE)
        row["met"] = it.passes(after, probe.ask_test)
        row["broken"] = it.broken(code, after)
        row["lost"] = sum(not it.passes(after, test) for test in probe.extra)
        row["markers"] = bool(MARKERS.search(row["reply"]))
        return row

    def start_proxy(self, arm, project):
        flags = [*self.options.flag, *(["--etv-on-stale", "follow"] if arm == "tslp-follow" else [])]
        files = getattr(project, "FILES", None) or {project.NAME: project.CODE}
        return proxy.Proxy(scripted.program("tslp", self.options.tslp), self.model, files, flags)

    def new_conversation(self, arm, probe):
        row = {"arm": arm, "probe": probe.kind, "file": probe.project.LANGUAGE, "function": probe.ask,
               "about": probe.about, "system": probe.has_system}  # fmt: skip
        if arm == "tslp":
            through = self.start_proxy(arm, probe.project)
            try:
                through.ask(*probe.earlier())
                if probe.kind == "after a restart":
                    through.stop()
                    through.start()
                got, asked = through.ask(probe.messages(arm))
                row["sent"], row["reply"], row["prompt"], row["evaluated"] = asked[0]
                row["added"] = got.removeprefix(row["reply"])
                row["misplaced"] = probe.misplaced(through.page("/state?limit=2000")["entities"])
            finally:
                through.close()
        else:
            row["sent"] = probe.messages(arm)
            row["reply"], row["prompt"], row["evaluated"] = self.model.ask(row["sent"])
        return row | probe.judged(row["reply"]) | {"markers": bool(MARKERS.search(row["reply"]))}

    def ask_proxy(self, arm, probe):
        through = self.start_proxy(arm, probe.project)
        try:
            code, messages = probe.project.CODE, []
            for said, reply, saved in probe.turns:
                messages.append(user(said))
                # What the client got is what it sends back, with a line of tslp's if there was one.
                got, _ = through.ask(messages, reply)
                messages.append(assistant(got))
                if saved:
                    code = judge.apply(code, reply, probe.project.LANGUAGE)
                    through.save(probe.project.NAME, code)
            if probe.users_code:
                through.save(probe.project.NAME, probe.disk())
            got, asked = through.ask([*messages, user(probe.ask)])
            sent, reply, prompt, evaluated = asked[0]
            return {
                "reply": reply,
                "added": got.removeprefix(reply),
                "prompt": prompt,
                "evaluated": evaluated,
                "sent": sent,
            }
        finally:
            through.close()

    def session(self, arm, project):
        """Nine turns; the user applies every reply's code and saves it, but what tslp says was refused."""
        through = self.start_proxy(arm, project) if arm.startswith("tslp") else None
        if through:
            through.fresh = True
        self.model.forget()
        code, messages, passed, rows = project.CODE, [], [], []
        it = self.judges[project.NAME]
        for number, (function, _, test) in enumerate(project.SESSION):
            messages.append(user(session_words(project, number)))
            got, side = None, 0
            if through:
                got, asked = through.ask(messages)
                sent, reply, prompt, evaluated = asked[0]
                side = sum(one[3] for one in asked[1:])
            else:
                sent = messages if arm == "direct" else messages[-WINDOW_MESSAGES - 1 :]
                reply, prompt, evaluated = self.model.ask(sent, fresh=True)
            messages.append(assistant(got or reply))
            added = (got or reply).removeprefix(reply)
            # Who is told that a reply lost code doesn't save it.
            after = code if report.REFUSED in added else judge.apply(code, reply, project.LANGUAGE)
            broken = it.broken(code, after, passed)
            if test:
                met = it.passes(after, test)
                if met and test not in passed:
                    passed.append(test)
            rows.append(
                {
                    "arm": arm, "session": project.NAME, "turn": number, "function": function, "reply": reply,
                    "met": bool(test) and met, "asked": bool(test), "broken": broken, "prompt": prompt,
                    "evaluated": evaluated + side, "markers": bool(MARKERS.search(reply)),
                    "added": added, "sent": sent,
                }
            )  # fmt: skip
            code = after
            if through:
                through.save(project.NAME, code)
        wanted = [*project.TESTS.values(), *(test for _, _, test in project.SESSION if test)]
        rows[-1]["tests_at_end"] = [sum(it.passes(code, test) for test in wanted), len(wanted)]
        if through:
            through.close()
        return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", default=",".join(ARMS), help="default: all; rows of the others stay as they are")
    parser.add_argument("--check", action="store_true", help="only whether the cases do what they say; asks no model")
    parser.add_argument("--tslp", help="the proxy's binary")
    parser.add_argument("--flag", action="append", default=[], help="one more flag for `tslp serve`")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("~/.cache/tslp-value").expanduser())
    parser.add_argument("--server", help="the URL of a llama.cpp server that runs already, with one slot and one thread")
    parser.add_argument("--dry", action="store_true", help="ask no model: only what it would be sent, with --transcripts")
    parser.add_argument("--classes", default=",".join(NEW_CLASSES + CLASSES))
    parser.add_argument("--files", default=",".join(project.NAME for project in PROJECTS))
    parser.add_argument("--functions", help="only these, with commas")
    parser.add_argument("--no-probes", action="store_true")
    parser.add_argument("--no-sessions", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.jsonl")
    parser.add_argument("--record", type=pathlib.Path, help="a folder for recordings of the direct replies: `recorded` is CI's")
    parser.add_argument("--transcripts", type=pathlib.Path, help="a folder for what the model was sent and said in each case")
    parser.add_argument("--report", type=pathlib.Path, default=HERE.parents[1] / "docs/value.md")
    return parser.parse_args()


def key(row):
    return tuple(row.get(name) for name in ("arm", "probe", "session", "turn", "file", "function", "system"))


def new_probes(arm, options):
    """Without a system prompt only through tslp: there its own block is all that isn't the user's."""
    if arm not in ("direct", "ideal", "tslp") or options.no_probes:
        return
    for kind in NEW_CLASSES:
        for has_system in (True, False) if kind in options.classes.split(",") else ():
            for project in cases_new.PROJECTS if has_system or arm == "tslp" and kind == NEW_CLASSES[0] else ():
                for number in range(len(project.REQUESTS)):
                    yield new_conversations.NewConversation(project, number, kind, has_system)


def main():
    options = arguments()
    if options.check:
        models.fetch_esbuild(options.cache)
        wrong = [line for project in PROJECTS for line in selftest.check(project, models.esbuild(options.cache))]
        print("\n".join(wrong) or "all as they say")
        return bool(wrong)
    arms = [arm for arm in options.arms.split(",") if arm]
    projects = [project for project in PROJECTS if project.NAME in options.files.split(",")]
    rows = {}
    if options.results.exists():
        rows = {key(row): row for row in map(json.loads, options.results.read_text().splitlines())}

    def keep(row):
        rows[key(row)] = row
        sent = row.pop("sent")
        if options.transcripts:
            options.transcripts.mkdir(parents=True, exist_ok=True)
            name = "-".join(str(part) for part in key(row) if part is not None)
            name = re.sub(r"[^\w.,-]", "_", name)[:120]
            texts = [f"==== {message['role']}\n{message['content']}" for message in sent]
            texts += [f"==== THE MODEL'S REPLY\n{row['reply']}", f"==== ADDED FOR THE USER\n{row.get('added', '')}"]
            texts.append(f"==== met {row['met']}, broken {row['broken']}, lost {row.get('lost', 0)}, markers {row['markers']}")
            (options.transcripts / f"{name}.txt").write_text("\n".join(texts) + "\n")
        lines = [json.dumps(row, ensure_ascii=False) for row in rows.values()]
        options.results.write_text("\n".join(lines) + "\n")
        flags = f"{'met' if row['met'] else '-'}{' BROKEN ' + ','.join(row['broken']) if row['broken'] else ''}"
        lost = " LOST" if row.get("lost") else ""
        if "in_sight" in row:
            lost += f" in sight {row['in_sight']}{' last' if row['is_last'] else ''}"
        print(f"{time.strftime('%H:%M:%S')} {row['arm']:12} {row.get('probe') or row.get('turn')!s:15} {row['function']:14} "
              f"{flags}{lost}{' MARKERS' if row['markers'] else ''} {row['evaluated']}/{row['prompt']}", flush=True)  # fmt: skip

    if arms:
        if not options.dry:
            models.fetch(options.cache)
        driver = Driver(options)
        try:
            for arm in arms:
                for probe in new_probes(arm, options):
                    keep(driver.new_conversation(arm, probe))
                for project in projects if not options.no_probes else []:
                    for kind in CLASSES:
                        # Where the disk agrees with what was accepted, following it changes nothing.
                        wanted = kind in options.classes.split(",") and (arm != "tslp-follow" or kind == "hand edit untold")
                        for function in project.CHANGES if wanted else []:
                            if not options.functions or function in options.functions.split(","):
                                keep(driver.probe(arm, Probe(project, function, kind)))
                if arm in ("direct", "window", "tslp") and not options.no_sessions:
                    for project in projects:
                        for row in driver.session(arm, project):
                            keep(row)
        finally:
            driver.model.close()
    if options.record:
        record.write(options.record, projects, list(rows.values()), Probe, session_words)
    options.report.write_text(report.page(list(rows.values()), CLASSES, ARMS))


if __name__ == "__main__":
    sys.exit(main())
