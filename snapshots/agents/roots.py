"""Clients that know the workspace by another path than tslp: is every edit seen, or said to be unseen?"""

import dataclasses
import pathlib
import shutil
import subprocess

import clients
import measure
import relay
import script
import sessions
import tslp
import upstream

CLIENTS = ["claude", "opencode", "codex", "qwen", "cline", "aider"]

# Where tslp sees the project in a mount of its own; nothing is written there, since the mount is in its namespace alone.
MOUNT = "/srv"

VARIANTS = ["same", "mount", "link", "started by a link", "subfolder", "parent", "worktree beside", "worktree below"]


def arguments(parser):
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="may be repeated; default: all")
    parser.add_argument("--session", default="py", help="a folder of sessions/")
    parser.add_argument("--turns", type=int, default=2, help="only so many turns")


class Mounted(tslp.Tslp):
    """tslp in a mount namespace in which the client's folder isn't, as in a container. It needs the rights for that."""

    def __init__(self, binary, project, hidden, data, url, home):
        script_text = 'mount --bind "$1" "$2" && mount -t tmpfs none "$3" && shift 3 && exec "$@"'
        wrapper = home / "mounted.sh"
        inside = f'exec unshare -m sh -c \'{script_text}\' sh "{project}" {MOUNT} "{hidden}" "{binary}" "$@"\n'
        wrapper.write_text("#!/bin/sh\n" + inside)
        wrapper.chmod(0o755)
        super().__init__(str(wrapper), MOUNT, data, url, home)


def below(session, folder):
    """The session with all of its files in a folder."""

    def moved(action):
        return dataclasses.replace(action, path=f"{folder}/{action.path}" if action.path else "")

    turns = [dataclasses.replace(turn, replies=[[moved(one) for one in reply] for reply in turn.replies]) for turn in session.turns]
    tree = {f"{folder}/{path}": text for path, text in script.files(session).items()}
    return dataclasses.replace(session, turns=turns, tree=tree)


def play(options, kind, variant):
    """A client's edits, those that became true, those of unknown files, those that were said to be unseen."""
    session = script.load(options.session, turns=options.turns)
    session.tree = script.files(session)
    inner = "proj/" if variant == "parent" else ""
    if inner:
        session = below(session, "proj")
    if kind.form is not None:
        session = script.without_tools(session)
    folder = pathlib.Path(options.work) / kind.name
    workspace, home = sessions.fresh(folder, session)
    data = pathlib.Path(options.work + "-data")
    shutil.rmtree(data, ignore_errors=True)
    data.mkdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(workspace)]
    served, outer = workspace, ""
    if variant == "link":
        link = folder / "link"
        link.symlink_to(workspace)
        workspace = link
    elif variant == "started by a link":
        served = folder / "link"
        served.symlink_to(workspace)
    elif variant == "subfolder":
        served, outer = folder / "whole", "project/"
        served.mkdir()
        workspace = workspace.rename(served / "project")
    elif variant == "parent":
        served = workspace / "proj"
    elif variant.startswith("worktree"):
        place = folder / "tree" if variant.endswith("beside") else workspace / "tree"
        subprocess.run([*git, "worktree", "add", "-q", str(place)], check=True)
        workspace = place
    server = upstream.Upstream(upstream.Model(session, str(workspace), kind.form))
    client = kind(options.cache, home, workspace, options.context)
    proxy = front = None
    try:
        if variant == "mount":
            proxy = Mounted(options.tslp, workspace, options.work, data, server.url, home)
        else:
            proxy = tslp.Tslp(options.tslp, served, data, server.url, home)
        front = relay.Relay(proxy.url, server)
        client.prepare(front.url)
        for turn in session.turns:
            code, output = client.say(turn.text)
            if options.verbose or code != 0:
                print(f"--- {kind.name} {variant}: exit {code}\n{output[-800:]}")
        events = proxy.events()
    finally:
        client.close()
        for one in (front, proxy, server):
            if one is not None:
                one.close()
    if options.verbose:
        print("".join(proxy.lines[-30:]))
    edits = {action.path for action in session.actions() if action.changes}
    names = {outer + path.removeprefix(inner) for path in edits}
    if variant == "worktree below":
        names = {"tree/" + name for name in names}
    model = [event for word, event in events if word == "artifact_captured" and event["origin"] == "model"]
    captured = {event["capture"]: event.get("path") for event in model}
    promoted = {event["path"] for word, event in events if word == "versions_promoted" and event["path"] in captured.values()}
    unseen = {event["theirs"] for word, event in events if word == "path_resolved" and event["file"] is None}
    strange = {path for path in captured.values() if path is not None} - names
    return [variant, kind.name, len(edits), len(names & set(captured.values())), len(names & promoted), len(strange), len(unseen)]


def main(options):
    rows = [["variant", "client", "files edited", "seen", "true", "under another name", "said to be unseen"]]
    for variant in options.variant or VARIANTS:
        for name in options.client:
            try:
                rows.append(play(options, clients.ALL[name], variant))
            except (RuntimeError, OSError, ValueError) as error:
                rows.append([variant, name, "failed", str(error)[-60:], "", "", ""])
            print(rows[-1], flush=True)
    print(measure.table(rows))
    return 0
