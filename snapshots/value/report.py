"""docs/value.md out of the rows."""

import math

ARM_NAMES = {
    "direct": "client resends all, direct",
    "window": "client keeps 2 pairs, direct",
    "ideal": "ideal: no history, current file and request",
    "tslp": "through tslp, defaults",
    "tslp-follow": "through tslp, `etv.on_stale = follow`",
}


def wilson(hits, n):
    """The 95 % interval of a share, in percent."""
    z = 1.96
    share = hits / n
    middle = share + z * z / (2 * n)
    width = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return tuple(round(100 * (middle + sign * width) / (1 + z * z / n)) for sign in (-1, 1))


def cell(hits, n):
    if n == 0:
        return "–"
    low, high = wilson(hits, n)
    return f"{hits} of {n} ({max(low, 0)}–{min(high, 100)} %)"


# In the line by which tslp tells the user of a chat that a reply's code was refused.
REFUSED = "is not taken from this reply"


def table(head, lines):
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def is_good(row):
    return row["met"] and not row["broken"] and not row["lost"]


def breaks(row):
    return row["broken"] or row["lost"]


def probes_table(rows, classes, arms, holds):
    arms = [arm for arm in arms if any(row["arm"] == arm for row in rows)]
    lines = []
    for kind in [*classes, None]:
        cells = []
        for arm in arms:
            here = [row for row in rows if row["arm"] == arm and kind in (None, row["probe"])]
            cells.append(cell(sum(bool(holds(row)) for row in here), len(here)))
        lines.append([kind or "**all**", *cells])
    return table(["", *(ARM_NAMES[arm] for arm in arms)], lines)


NEW_ARMS = ["direct", "ideal", "tslp"]


def new_table(rows, kinds):
    """What became of requests in new conversations."""
    measures = [
        ("good", is_good, True),
        ("asked is done", lambda row: row["met"], True),
        ("code broken or lost", breaks, True),
        ("repeats our words", lambda row: row["markers"], None),
    ]
    lines = []
    for kind in kinds:
        for name, holds, system in measures:
            cells = []
            for arm in NEW_ARMS:
                here = [row for row in rows if (row["arm"], row["probe"]) == (arm, kind) and (system is None or row["system"])]
                cells.append(cell(sum(bool(holds(row)) for row in here), len(here)))
            lines.append([f"{kind}: {name}", *cells])
    return table(["", *(ARM_NAMES[arm] for arm in NEW_ARMS)], lines)


def short_table(new, probes, sessions):
    """The classes with what helps and what doesn't, direct and through tslp."""
    def good(rows, arm):
        here = [row for row in rows if row["arm"] == arm]
        return cell(sum(is_good(row) for row in here), len(here))

    def probe(kind):
        return [row for row in probes if row["probe"] == kind]

    def met(arm):
        asked = [row for row in sessions if row["arm"] == arm and row["asked"]]
        return cell(sum(row["met"] for row in asked), len(asked))

    fresh = [row for row in new if row["probe"] == "new conversation" and row["system"]]
    untold = probe("hand edit untold")
    lines = [
        ["a new conversation about code that only the ledger knows", good(fresh, "direct"), good(fresh, "tslp")],
        ["the last reply lost code of the function", *(good(probe("damaged before"), arm) for arm in ("direct", "tslp"))],
        ["the file was edited by hand, untold", good(untold, "direct"), f"{good(untold, 'tslp')}, and the user is told; with `follow` {good(untold, 'tslp-follow')}"],
        ["nothing special before", *(good(probe("plain"), arm) for arm in ("direct", "tslp"))],
        ["requests met in a session of nine turns", met("direct"), met("tslp")],
    ]  # fmt: skip
    return table(["", "direct", "through tslp"], lines)


def sessions_table(rows):
    lines = []
    for arm in ARM_NAMES:
        here = [row for row in rows if row["arm"] == arm]
        if not here:
            continue
        asked = [row for row in here if row["asked"]]
        ends = [row["tests_at_end"] for row in here if "tests_at_end" in row]
        evaluated = sum(row["evaluated"] for row in here)
        lines.append([
            ARM_NAMES[arm],
            cell(sum(row["met"] for row in asked), len(asked)),
            cell(sum(bool(row["broken"]) for row in here), len(here)),
            f"{sum(end[0] for end in ends)} of {sum(end[1] for end in ends)}",
            f"{evaluated:,}",
            cell(sum(row["markers"] for row in here), len(here)),
        ])  # fmt: skip
    head = ["", "met", "turns that broke code", "tests at the end", "prompt tokens evaluated", "replies with markers of tslp's"]
    return table(head, lines)


def page(rows, classes, arms):
    new = [row for row in rows if row.get("about")]
    probes = [row for row in rows if row.get("probe") and not row.get("about")]
    misplaced = sum(len(row.get("misplaced", [])) for row in new)
    two_files = sum(row["about"] == "two files" and row["arm"] == "tslp" for row in new)
    new_kinds = list(dict.fromkeys(row["probe"] for row in new))
    sessions = [row for row in rows if row.get("session")]
    stale = [row for row in probes if row["arm"] == "tslp" and row["probe"] == "hand edit untold"]
    told = sum(bool(row.get("added", "").strip()) for row in stale)
    through = [row for row in probes if row["arm"].startswith("tslp")]
    marked = cell(sum(bool(row["markers"]) for row in through), len(through))
    return f"""# What it is worth to a small model

Written by `snapshots/value/run.py` ([how](../snapshots/value/README.md)): Qwen2.5-Coder-1.5B-Instruct, Q4_K_M, at temperature 0, on
llama.cpp with one thread. Small files in Python, C and TypeScript with a unit test a function; the tests are the judge. Each share has its
95 % interval (Wilson). One model and small numbers: two or three of nine are no difference.

## In short

*Good*: what was asked is done, no test fails that passed before, and earlier changes are still there.

{short_table(new, probes, sessions)}

It helps where the model wouldn't have the right code: in new conversations, after damage, and after edits by hand if
`etv.on_stale = follow`. It doesn't make the model cleverer: where the client sends the right code anyway (a whole conversation, aider's
whole files), nothing is gained, and a long session costs more prompt tokens.

## New conversations

A request in a new conversation names functions of a project of two files, in Python or JavaScript; only the ledger knows their code. Directly the
model sees the request alone; *ideal* adds the files. *After a restart* the proxy was ended and started in between.

{new_table(new, new_kinds) if new else "Not run yet."}

Of {two_files} requests about two files {misplaced} definitions became true in a file that doesn't have them.

## Probes

A conversation by hand, then one request for a change of a function. *Plain*: nothing else is asked before. *Changed before*: an earlier reply
changed it, and the user saved that. *Hand edit untold*: the user changed it in their editor. *Not saved*: the last reply changed it, and the user
hasn't saved that. *Damaged before*: the last reply lost code of it. Good:

{probes_table(probes, classes, arms, is_good)}

Code that was there is broken or lost if the user takes the reply:

{probes_table(probes, classes, arms, breaks)}

The same, without the replies whose end says that their code was refused:

{probes_table(probes, classes, arms, lambda row: breaks(row) and REFUSED not in row.get("added", ""))}

After an untold edit by hand the user was told at the end of the reply in {cell(told, len(stale))}. Of the replies through tslp {marked} repeat words of
tslp's own.

## Sessions

Nine turns a language; the user pastes the file once, applies the code of every reply that tslp doesn't refuse, and saves. Tokens
are those that llama.cpp evaluated (`timings.prompt_n`).

{sessions_table(sessions)}

## aider

aider sends the whole file with each request, so the model sees the same with and without the proxy. Of nine tasks in its format `whole` it
applied 8 of 9 (56–98 %), and 7 of 9 (45–94 %) did what was asked and broke nothing, both directly and through tslp.
"""
