"""A conversation that begins with a request for functions whose code only the ledger gives, in projects of two files."""

import pathlib
import subprocess
import tempfile

import judge

SYSTEM = "You are a helpful coding assistant."


def fenced(project, code):
    return f"```{project.LANGUAGE}\n{code.rstrip()}\n```"


def pasted(project, names):
    return "\n\n".join(f"Here is `{name}`:\n\n{fenced(project, project.FILES[name])}" for name in names)


class NewConversation:
    """One request. `kind`: the class, `has_system`: whether the client has a system prompt."""

    def __init__(self, project, number, kind, has_system):
        self.project, self.kind, self.has_system = project, kind, has_system
        self.about, self.names, self.ask, self.test = project.REQUESTS[number]
        self.function = self.names[0]

    def system(self):
        return [{"role": "system", "content": SYSTEM}] if self.has_system else []

    def home(self, name):
        """The file that defines a function."""
        files = self.project.FILES.items()
        return next((path for path, code in files if name in judge.definitions(code, self.project.LANGUAGE)), None)

    def messages(self, arm):
        """What a client without tslp sends."""
        shown = pasted(self.project, dict.fromkeys(self.home(name) for name in self.names)) if arm == "ideal" else ""
        return [*self.system(), {"role": "user", "content": f"{shown}\n\n{self.ask}".strip()}]

    def earlier(self):
        """The conversation by which tslp knows the files, and its reply."""
        said = pasted(self.project, self.project.FILES) + "\n\nWhat are these files for?"
        return [*self.system(), {"role": "user", "content": said}], "They belong to a small program."

    def applied(self, reply):
        """The files after their user has put each definition of the reply into its place, new ones beside the first function."""
        files = dict(self.project.FILES)
        for body in judge.blocks(reply):
            theirs = body.split("\n")
            for name, (first, end) in judge.definitions(body, self.project.LANGUAGE).items():
                path = self.home(name) or self.home(self.function)
                code = "\n".join(theirs[first:end])
                files[path] = judge.apply(files[path], fenced(self.project, code), self.project.LANGUAGE)
        return files

    def passes(self, files, test):
        project = self.project
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for path, code in files.items():
                (folder / path).write_text(code)
            name, command = {"python": ("t.py", ["python3", "-B"]), "javascript": ("t.js", ["node"])}[project.LANGUAGE]
            (folder / "package.json").write_text('{"type": "module"}')
            (folder / name).write_text(f"{project.PRELUDE}\n{test}\n")
            try:
                done = subprocess.run([*command, name], cwd=folder, capture_output=True, timeout=20)
            except subprocess.TimeoutExpired:
                return False
            return done.returncode == 0

    def judged(self, reply):
        """Whether the reply does what was asked, and the tests that it breaks."""
        files = self.applied(reply)
        broken = [name for name, test in self.project.TESTS.items() if not self.passes(files, test)]
        # A test of what the request changes.
        broken = [name for name in broken if name not in self.names or not self.passes(files, self.test)]
        return {"met": self.passes(files, self.test), "broken": broken, "lost": 0}

    def misplaced(self, entities):
        """Those of the true entities that no file has, and that weren't asked for."""
        known = {
            f"{path}::{name}"
            for path, code in self.project.FILES.items()
            for name in judge.definitions(code, self.project.LANGUAGE)
        }
        symbols = (entity for entity in entities if "::" in entity)
        return [it for it in symbols if it not in known and it.split("::")[1] not in self.ask]
