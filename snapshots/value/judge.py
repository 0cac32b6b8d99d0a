"""What becomes of a file when a user applies a reply's code to it, judged by unit tests."""

import os
import pathlib
import re
import subprocess
import tempfile
import textwrap

FENCE = re.compile(r"^[ \t]*(```+|~~~+)([^\n]*)\n(.*?)^[ \t]*\1[ \t]*$", re.M | re.S)
NOT_CODE = {"bash", "sh", "shell", "console", "text", "txt", "json", "diff", "output"}
STARTS = {
    "python": re.compile(r"^(?:async )?(?:def|class) (\w+)"),
    "c": re.compile(r"^(?:struct (\w+)\s*\{?\s*$|(?!typedef|#|\s|struct \w+;)[A-Za-z_][\w\s\*]*?\b(\w+)\s*\([^;]*$)"),
    "typescript": re.compile(r"^(?:export )?(?:default )?(?:async )?(?:function|interface|class|type|const) (\w+)"),
}
STARTS["javascript"] = STARTS["typescript"]
COMMENT = {"python": ("@", "#"), "c": ("//", "/*", " *"), "typescript": ("//", "/*", " *", "@")}
COMMENT["javascript"] = COMMENT["typescript"]


def definitions(text, language):
    """Top-level definitions by name, each as a range of lines with the comment above it."""
    lines = text.split("\n")
    found = {}
    at = 0
    while at < len(lines):
        start = STARTS[language].match(lines[at])
        if not start:
            at += 1
            continue
        name = next(group for group in start.groups() if group)
        first = at
        while first > 0 and lines[first - 1].startswith(COMMENT[language]):
            first -= 1
        end = at + 1
        if language == "python":
            while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t)"):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
        elif not re.search(r"[;}]\s*$", lines[at]):
            while end < len(lines) and not lines[end].startswith("}"):
                end += 1
            end = min(end + 1, len(lines))
        found[name] = (first, end)
        at = end
    return found


def blocks(reply):
    """The texts of the reply's code blocks."""
    found = [(info.strip().lower(), textwrap.dedent(body)) for _, info, body in FENCE.findall(reply)]
    return [body for info, body in found if (info.split() or [""])[0] not in NOT_CODE]


def apply(code, reply, language):
    """The file after its user has put each definition of the reply into its place, new ones at the end."""
    for body in blocks(reply):
        theirs = body.split("\n")
        for name, (first, end) in definitions(body, language).items():
            new = theirs[first:end]
            lines = code.split("\n")
            if (known := definitions(code, language).get(name)) is not None:
                lines[known[0] : known[1]] = new
                code = "\n".join(lines)
            else:
                code = code.rstrip("\n") + "\n\n" + "\n".join(new) + "\n"
    return code


class Judge:
    """Runs tests of one language."""

    def __init__(self, project, esbuild):
        self.project = project
        self.esbuild = esbuild
        self.known = {}

    def passes(self, code, test):
        key = (code, test)
        if key not in self.known:
            with tempfile.TemporaryDirectory() as folder:
                self.known[key] = self._run(pathlib.Path(folder), code, test)
        return self.known[key]

    def _run(self, folder, code, test):
        prelude, language = self.project.PRELUDE, self.project.LANGUAGE
        if language == "python":
            (folder / "t.py").write_text(code + prelude + test)
            steps = [["python3", "-B", "t.py"]]
        elif language == "c":
            (folder / "t.c").write_text(f"{code}{prelude}int main(void) {{ {test} return 0; }}\n")
            steps = [["cc", "-w", "-fsanitize=undefined", "-fno-sanitize-recover", "-o", "t", "t.c"], ["./t"]]
        else:
            (folder / "t.ts").write_text(f"{code}{prelude}{{ {test} }}\n")
            steps = [[self.esbuild, "t.ts", "--outfile=t.mjs", "--log-level=silent"], ["node", "t.mjs"]]
        for step in steps:
            try:
                done = subprocess.run(step, cwd=folder, capture_output=True, timeout=20, env=os.environ)
            except subprocess.TimeoutExpired:
                return False
            if done.returncode != 0:
                return False
        return True

    def broken(self, before, after, extra=()):
        """The tests that passed before and don't pass any more: names of functions, or numbers of extra tests."""
        tests = dict(self.project.TESTS) | {f"extra {n}": test for n, test in enumerate(extra)}
        return [name for name, test in tests.items() if self.passes(before, test) and not self.passes(after, test)]
