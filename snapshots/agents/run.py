#!/usr/bin/env python3
"""Plays real coding clients with a scripted model, and tslp between them."""

import argparse
import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "harness"))

import clients
import scripted

# Modules of this folder: each has `CLIENTS`, which it plays by default, its own `arguments`, and a `main`.
PLAYS = [
    "sessions",
    "days",
    "failures",
    "setups",
    "held",
    "recovery",
    "scope",
    "roots",
    "mcp_sdks",
    "oracle",
]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    plays = parser.add_subparsers(dest="play", metavar="PLAY", required=True)
    for name in PLAYS:
        play = importlib.import_module(name)
        one = plays.add_parser(name, help=play.__doc__.splitlines()[0], description=play.__doc__)
        one.add_argument("--cache", default="~/.cache/tslp-agents", help="where install.sh put the clients")
        one.add_argument("--tslp", help="another binary of the proxy")
        one.add_argument("--work", default="/tmp/tslp-agents-work", help="scratch folder; its path shows in prompts")
        one.add_argument("--client", action="append", choices=list(clients.ALL), help=f"may be repeated; default: {', '.join(play.CLIENTS)}")
        one.add_argument("--context", type=int, default=131072, help="the model's context in tokens, for the clients")
        one.add_argument("--flag", action="append", default=[], help="one more flag for `tslp serve`")
        one.add_argument("--logs", metavar="DIR", help="write every request, direct, sent and received, as JSON Lines")
        one.add_argument("--verbose", action="store_true", help="print each step, edit and the clients' output")
        play.arguments(one)
    return parser.parse_args()


def main():
    options = arguments()
    options.cache = pathlib.Path(options.cache).expanduser()
    options.work = str(pathlib.Path(options.work).expanduser().resolve())
    options.tslp = scripted.program("tslp", options.tslp)
    play = importlib.import_module(options.play)
    chosen = options.client or play.CLIENTS
    options.client = [name for name in chosen if (options.cache / clients.ALL[name].binary).exists()]
    for name in chosen:
        if name not in options.client:
            print(f"skip {name}: not installed")
    return play.main(options)


if __name__ == "__main__":
    sys.exit(main())
