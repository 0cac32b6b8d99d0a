#!/usr/bin/env python3
"""aider with the real model on ten tasks in one repository, directly and through tslp; unit tests are the judge."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import cases_c
import cases_python
import cases_typescript
import judge
import model as models

HERE = pathlib.Path(__file__).resolve().parent
PROJECTS = [cases_python, cases_c, cases_typescript]
SECONDS_MAX = 600


def tasks():
    """Project, request, test: each function's second change, then a new function."""
    for project in PROJECTS:
        for change in project.CHANGES.values():
            yield project, change["ask"], change["ask_test"]
    _, request, test = cases_python.SESSION[-1]
    yield cases_python, request, test


def aider(options, repository, url, edit_format, project, request):
    home = repository.parent / "home"
    home.mkdir(exist_ok=True)
    environment = os.environ | {"HOME": str(home), "OPENAI_API_KEY": "none", "OPENAI_API_BASE": url + "/v1"}
    command = [
        str(options.cache / "aider/bin/aider"), "--model", "openai/qwen", "--edit-format", edit_format, "--message", request,
        "--yes-always", "--no-check-update", "--no-show-model-warnings", "--no-auto-commits", "--no-gitignore", "--no-stream",
        "--map-tokens", "0", "--no-pretty", "--analytics-disable", "--no-detect-urls", project.NAME,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=repository, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_MAX
    )
    return done.stdout + done.stderr


def serve(options, repository, upstream):
    command = [
        options.tslp, "serve", "--workspace", str(repository), "--data-dir", str(repository.parent / "data"),
        "--upstream", upstream, "--listen", "127.0.0.1:0",
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        found = re.search(r"listening on (http://\S+)", line)
        if found:
            threading.Thread(target=process.stdout.read, daemon=True).start()
            return process, found.group(1)
    raise RuntimeError("tslp didn't start")


def play(options, model, judges, arm, edit_format):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        repository = pathlib.Path(folder) / "work"
        repository.mkdir()
        for project in PROJECTS:
            (repository / project.NAME).write_text(project.CODE)
        git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@example.org"]
        for step in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
            subprocess.run([*git, *step], check=True)
        process, url = serve(options, repository, model.url) if arm == "tslp" else (None, model.url)
        try:
            for project, request, test in list(tasks())[: options.tasks]:
                file = repository / project.NAME
                before, began = file.read_text(), time.time()
                said = aider(options, repository, url, edit_format, project, request)
                after = file.read_text()
                it = judges[project.NAME]
                broken = it.broken(before, after)
                row = {"arm": arm, "format": edit_format, "request": request, "applied": after != before,
                       "met": it.passes(after, test), "broken": broken, "seconds": round(time.time() - began)}  # fmt: skip
                print(json.dumps(row), flush=True)
                if options.transcripts:
                    options.transcripts.mkdir(parents=True, exist_ok=True)
                    (options.transcripts / f"aider-{arm}-{edit_format}-{len(rows)}.txt").write_text(said)
                rows.append(row)
                if broken:
                    # What fails its tests the user takes back.
                    file.write_text(before)
        finally:
            if process:
                process.terminate()
                process.wait(30)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arms", default="direct,tslp")
    parser.add_argument("--formats", default="whole,diff")
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--tslp", default=str(HERE.parents[1] / "target/release/tslp"), help="the proxy's binary")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("~/.cache/tslp-value").expanduser())
    parser.add_argument("--server", help="the URL of a llama.cpp server that runs already")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "aider.jsonl")
    parser.add_argument("--transcripts", type=pathlib.Path)
    options = parser.parse_args()
    models.fetch(options.cache)
    if not (options.cache / "aider/bin/aider").exists():
        subprocess.run([sys.executable, "-m", "venv", str(options.cache / "aider")], check=True)
        subprocess.run([str(options.cache / "aider/bin/pip"), "install", "-q", "aider-chat"], check=True)
    model = models.Model(options.cache, options.server)
    esbuild = str(options.cache / "js/node_modules/.bin/esbuild")
    judges = {project.NAME: judge.Judge(project, esbuild) for project in PROJECTS}
    played = [(arm, form) for form in options.formats.split(",") for arm in options.arms.split(",")]
    try:
        rows = [row for arm, form in played for row in play(options, model, judges, arm, form)]
    finally:
        model.close()
    kept = map(json.loads, options.results.read_text().splitlines()) if options.results.exists() else []
    rows = [row for row in kept if (row["arm"], row["format"]) not in played] + rows
    options.results.write_text("".join(json.dumps(row) + "\n" for row in rows))


if __name__ == "__main__":
    main()
