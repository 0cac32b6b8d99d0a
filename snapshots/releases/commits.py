#!/usr/bin/env python3
"""Lays out commits of local git repositories for `cargo test -p tslp-snapshots --test confusion releases`.

usage: commits.py FOLDER REPOSITORY...

Of each repository some 60 commits of few lines, evenly over its history, are written to FOLDER/NAME-COMMIT: the changed files in 00-before
and 01-after, and the commit's first line in message.txt, which the test asks in. Nothing of it is part of the repository.
"""

import subprocess
import sys
from pathlib import Path

COMMITS = 60
LINES_MAX = 300
FILES_MAX = 8
ENDINGS = {".py", ".rs", ".go", ".js", ".mjs", ".ts", ".java", ".c", ".h", ".cc", ".cpp", ".hh", ".hpp"}


def git(repository, *arguments):
    return subprocess.run(["git", "-C", repository, *arguments], check=True, capture_output=True).stdout


def changed_files(repository, commit):
    """The code files that a commit modified, or nothing if it is a large one."""
    lines = git(repository, "show", "--numstat", "--format=", "--diff-filter=M", commit).decode(errors="replace").splitlines()
    rows = [line.split("\t") for line in lines if line.count("\t") == 2]
    total = sum(int(count) for row in rows for count in row[:2] if count.isdigit())
    paths = [row[2] for row in rows if Path(row[2]).suffix in ENDINGS and "=>" not in row[2]]
    return paths if len(rows) <= FILES_MAX and total <= LINES_MAX else []


def lay_out(repository, folder):
    name = Path(repository.rstrip("/").removesuffix("/repo")).name
    commits = git(repository, "log", "--no-merges", "--format=%H", "HEAD").decode().split()
    # Twice as many as are wanted: half of them change no code.
    step = max(1, len(commits) // (2 * COMMITS))
    taken = 0
    for commit in commits[::step]:
        paths = changed_files(repository, commit)
        if not paths or taken == COMMITS:
            continue
        taken += 1
        target = folder / f"{name}-{commit[:8]}"
        for path in paths:
            for part, revision in (("00-before", f"{commit}^"), ("01-after", commit)):
                file = target / part / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(git(repository, "show", f"{revision}:{path}"))
        (target / "message.txt").write_bytes(git(repository, "show", "-s", "--format=%s", commit))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for repository in sys.argv[2:]:
        lay_out(repository, Path(sys.argv[1]))


main()
