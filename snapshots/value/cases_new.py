"""Projects of two files for new conversations, in Python and in JavaScript: their code, a unit test a function, and requests that name
functions whose code the conversation doesn't show."""

import types

PYTHON = types.SimpleNamespace(
    LANGUAGE="python",
    FILES={
        "timeline.py": '''"""Events of a day."""

from table import render


def parse_event(line):
    """An event from `HH:MM title`."""
    time, _, title = line.partition(" ")
    if not title.strip():
        raise ValueError(f"no title in {line!r}")
    hour, minute = time.split(":")
    return {"start": int(hour) * 60 + int(minute), "title": title.strip()}


def parse_events(text):
    """All events of a text, one a line, in the order of their start."""
    events = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        events.append(parse_event(line))
    return sorted(events, key=lambda event: event["start"])


def clock(minutes):
    """Minutes since midnight as `HH:MM`."""
    if not 0 <= minutes < 24 * 60:
        raise ValueError("not a time of day")
    return f"{minutes // 60:02}:{minutes % 60:02}"


def gaps(events, least=30):
    """The pauses between events that are at least so long, in minutes."""
    found = []
    for before, after in zip(events, events[1:]):
        pause = after["start"] - before["start"]
        if pause >= least:
            found.append(pause)
    return found


def show_day(events):
    """The events as a table."""
    if not events:
        return "nothing planned"
    rows = [(clock(event["start"]), event["title"]) for event in events]
    return render(("time", "title"), rows)
''',
        "table.py": '''"""Tables of plain text."""


def widths(head, rows):
    """The width of each column."""
    sizes = [len(name) for name in head]
    for row in rows:
        if len(row) != len(head):
            raise ValueError("a row has another number of cells")
        for at, cell in enumerate(row):
            sizes[at] = max(sizes[at], len(cell))
    return sizes


def table_line(cells, sizes):
    """One line, its cells filled up with blanks."""
    return "  ".join(cell.ljust(size) for cell, size in zip(cells, sizes)).rstrip()


def render(head, rows):
    """The whole table."""
    sizes = widths(head, rows)
    lines = [table_line(head, sizes)]
    for row in rows:
        lines.append(table_line(row, sizes))
    return "\\n".join(lines)


def parse_table(text):
    """The rows of a table, without its head; cells are two blanks apart."""
    lines = text.splitlines()
    if not lines:
        raise ValueError("no head")
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines[1:]]
''',
    },
    PRELUDE="""
from timeline import *
from table import *

def raises(kind, act):
    try:
        act()
    except kind:
        return
    raise AssertionError(kind)
""",
    TESTS={
        "parse_event": 'assert parse_event("09:30 tea") == {"start": 570, "title": "tea"}\nraises(ValueError, lambda: parse_event("09:30 "))',
        "parse_events": 'assert [e["title"] for e in parse_events("# day\\n10:00 b\\n\\n09:00 a\\n")] == ["a", "b"]',
        "clock": 'assert clock(570) == "09:30"\nraises(ValueError, lambda: clock(1440))\nraises(ValueError, lambda: clock(-1))',
        "gaps": 'assert gaps([{"start": 0}, {"start": 20}, {"start": 80}]) == [60]',
        "show_day": 'assert show_day([]) == "nothing planned"\nassert "09:30" in show_day([{"start": 570, "title": "tea"}]) and "tea" in show_day([{"start": 570, "title": "tea"}])',
        "widths": 'assert widths(("a", "bcd"), [("xy", "z")]) == [2, 3]\nraises(ValueError, lambda: widths(("a",), [("x", "y")]))',
        "table_line": 'assert table_line(("a", "b"), [3, 1]) == "a    b"',
        "render": 'lines = render(("a", "b"), [("cc", "d")]).splitlines()\nassert lines[0].split() == ["a", "b"] and lines[-1].split() == ["cc", "d"]',
        "parse_table": 'assert parse_table("a  b\\ncc  d") == [["cc", "d"]]\nraises(ValueError, lambda: parse_table(""))',
    },
    REQUESTS=[
        ("one function", ["parse_event"], "Make `parse_event` raise a ValueError if the hour is over 23.",
         'raises(ValueError, lambda: parse_event("24:00 tea"))'),
        ("one function", ["gaps"], "Make `gaps` return pairs of the pause's start and its length.",
         'assert [tuple(it) for it in gaps([{"start": 0}, {"start": 20}, {"start": 80}])] == [(20, 60)]'),
        ("one function", ["widths"], "Make `widths` count every column at least 3 wide.",
         'assert widths(("a", "bcde"), [("x", "y")]) == [3, 4]'),
        ("one function", ["parse_table"], "Make `parse_table` leave out lines that are blank.",
         'assert parse_table("a  b\\n\\ncc  d\\n   \\n") == [["cc", "d"]]'),
        ("calls another", ["parse_events", "parse_event"], "Make `parse_events` skip lines for which `parse_event` raises a ValueError.",
         'assert [e["title"] for e in parse_events("09:00 a\\nnonsense\\n")] == ["a"]'),
        ("calls another", ["show_day", "clock"], "Make `show_day` end with a line `first event at ` and the time of the first event by `clock`.",
         'assert show_day([{"start": 570, "title": "tea"}]).splitlines()[-1] == "first event at 09:30"'),
        ("calls another", ["render", "table_line"], "Make `render` put a line of dashes below the head, as wide as each column, made with `table_line`.",
         'assert render(("a", "bcd"), [("x", "y")]).splitlines()[1].split() == ["-", "---"]'),
        ("calls another", ["table_line", "widths"], "Make `table_line` raise a ValueError if there are more cells than sizes, as `widths` does for rows.",
         'raises(ValueError, lambda: table_line(("a", "b"), [3]))'),
        ("two files", ["render", "show_day"], "Make `render` take an optional `indent`, 0 by default: so many spaces in front of each line. Make `show_day` take an optional `indent`, too, and pass it on.",
         'assert all(line.startswith("  ") for line in show_day([{"start": 570, "title": "tea"}], indent=2).splitlines())\nassert show_day([]) == "nothing planned"'),
        ("two files", ["clock", "widths"], "Make `clock` raise a TypeError for a float, and make `widths` raise a TypeError for a cell that isn't a string.",
         'raises(TypeError, lambda: clock(3.5))\nraises(TypeError, lambda: widths(("a",), [(1,)]))'),
        ("two files", ["gaps", "table_line"], "Change `gaps` to use 45 as its default for `least`, and change `table_line` to put ` | ` between cells instead of two spaces.",
         'assert gaps([{"start": 0}, {"start": 40}]) == []\nassert table_line(("a", "b"), [1, 1]) == "a | b"'),
        ("two files", ["parse_events", "parse_table"], "Both `parse_events` and `parse_table` should skip lines that begin with `//`.",
         'assert parse_events("// x\\n09:00 a")[0]["title"] == "a"\nassert parse_table("a  b\\n// x\\ncc  d") == [["cc", "d"]]'),
    ],
)

JAVASCRIPT = types.SimpleNamespace(
    LANGUAGE="javascript",
    FILES={
        "ledger.js": '''import { cents, format } from "./money.js";

/** A booking from `date;account;amount`. */
export function parseBooking(line) {
  const parts = line.split(";");
  if (parts.length !== 3) {
    throw new RangeError(`not a booking: ${line}`);
  }
  const [date, account, amount] = parts.map((part) => part.trim());
  return { date, account, cents: cents(amount) };
}

/** All bookings of a text, a line each. */
export function parseBookings(text) {
  const bookings = [];
  for (const line of text.split("\\n")) {
    if (line.trim() === "" || line.startsWith("#")) {
      continue;
    }
    bookings.push(parseBooking(line));
  }
  return bookings;
}

/** What each account has, by its name. */
export function balances(bookings) {
  const sums = new Map();
  for (const booking of bookings) {
    if (!booking.account) {
      throw new RangeError("a booking without an account");
    }
    sums.set(booking.account, (sums.get(booking.account) ?? 0) + booking.cents);
  }
  return sums;
}

/** The accounts that have less than nothing. */
export function overdrawn(bookings) {
  const names = [];
  for (const [name, sum] of balances(bookings)) {
    if (sum < 0) {
      names.push(name);
    }
  }
  return names.sort();
}

/** A line for each account. */
export function report(bookings) {
  const lines = [];
  for (const [name, sum] of balances(bookings)) {
    lines.push(`${name}: ${format(sum)}`);
  }
  return lines.sort().join("\\n");
}
''',
        "money.js": '''/** An amount such as `12.50` in cents. */
export function cents(text) {
  const found = /^(-?)(\\d+)(?:\\.(\\d{2}))?$/.exec(text);
  if (!found) {
    throw new RangeError(`not an amount: ${text}`);
  }
  const [, sign, whole, rest] = found;
  const sum = Number(whole) * 100 + Number(rest ?? 0);
  return sign === "-" ? -sum : sum;
}

/** Cents as an amount with two digits. */
export function format(sum) {
  if (!Number.isInteger(sum)) {
    throw new RangeError("not cents");
  }
  const text = `${Math.floor(Math.abs(sum) / 100)}.${String(Math.abs(sum) % 100).padStart(2, "0")}`;
  return sum < 0 ? `-${text}` : text;
}

/** A sum in parts, as equal as can be. */
export function split(sum, parts) {
  if (parts < 1) {
    throw new RangeError("no parts");
  }
  const each = Math.floor(sum / parts);
  const shares = new Array(parts).fill(each);
  for (let at = 0; at < sum - each * parts; at += 1) {
    shares[at] += 1;
  }
  return shares;
}

/** The sum with a percentage added, rounded to cents. */
export function withTax(sum, percent) {
  if (percent < 0) {
    throw new RangeError("tax is negative");
  }
  return Math.round((sum * (100 + percent)) / 100);
}
''',
    },
    PRELUDE="""
import * as ledger from "./ledger.js";
import * as money from "./money.js";
const { parseBooking, parseBookings, balances, overdrawn, report } = ledger;
const { cents, format, split, withTax } = money;
function check(it) { if (!it) throw new Error("check"); }
function throws(kind, act) { try { act(); } catch (error) { check(error instanceof kind); return; } throw new Error("nothing thrown"); }
""",
    TESTS={
        "parseBooking": 'check(JSON.stringify(parseBooking("d; a ;1.50")) === JSON.stringify({ date: "d", account: "a", cents: 150 })); throws(RangeError, () => parseBooking("d;a"));',
        "parseBookings": 'check(parseBookings("# x\\n\\nd;a;1\\nd;b;2").length === 2);',
        "balances": 'check(balances([{ account: "a", cents: 1 }, { account: "a", cents: 2 }]).get("a") === 3); throws(RangeError, () => balances([{ account: "", cents: 1 }]));',
        "overdrawn": 'check(overdrawn([{ account: "b", cents: -1 }, { account: "a", cents: -2 }, { account: "c", cents: 0 }]).join() === "a,b");',
        "report": 'check(report([{ account: "b", cents: 5 }, { account: "a", cents: 150 }]).includes("a: 1.50"));',
        "cents": 'check(cents("12.50") === 1250 && cents("-3") === -300); throws(RangeError, () => cents("x"));',
        "format": 'check(format(1250) === "12.50" && format(-5) === "-0.05"); throws(RangeError, () => format(1.5));',
        "split": 'check(split(10, 3).join() === "4,3,3"); throws(RangeError, () => split(1, 0));',
        "withTax": 'check(withTax(1000, 19) === 1190); throws(RangeError, () => withTax(1, -1));',
    },
    REQUESTS=[
        ("one function", ["cents"], "Make `cents` accept a leading plus sign, too.",
         'check(cents("+2.00") === 200 && cents("-2.00") === -200);'),
        ("one function", ["balances"], "Make `balances` ignore bookings of 0 cents.",
         'check(!balances([{ account: "a", cents: 0 }]).has("a"));'),
        ("one function", ["split"], "Make `split` throw a RangeError if the sum is negative.",
         'throws(RangeError, () => split(-1, 2));'),
        ("one function", ["parseBooking"], "Make `parseBooking` write the account in lower case.",
         'check(parseBooking("d;Bank;1").account === "bank");'),
        ("calls another", ["parseBookings", "parseBooking"], "Make `parseBookings` skip lines for which `parseBooking` throws.",
         'check(parseBookings("nonsense\\nd;a;1").length === 1);'),
        ("calls another", ["overdrawn", "balances"], "Make `overdrawn` take an optional `limit`, 0 by default: it names the accounts whose sum by `balances` is below it.",
         'check(overdrawn([{ account: "a", cents: 5 }], 10).join() === "a");'),
        ("calls another", ["withTax", "split"], "Write a function `splitWithTax(sum, percent, parts)` that adds the tax with `withTax` and divides the result with `split`.",
         'check((money.splitWithTax ?? ledger.splitWithTax)(1000, 10, 2).join() === "550,550");'),
        ("calls another", ["report", "balances"], "Make `report` end with a line `accounts: ` and the number of accounts in `balances`.",
         'check(report([{ account: "b", cents: 5 }, { account: "a", cents: 150 }]).split("\\n").at(-1) === "accounts: 2");'),
        ("two files", ["format", "report"], "Make `format` take an optional `unit`, put after the amount with a blank. Make `report` take an optional `unit`, too, and pass it on.",
         'check(report([{ account: "a", cents: 150 }], "EUR") === "a: 1.50 EUR"); check(format(5) === "0.05");'),
        ("two files", ["withTax", "balances"], "Make `withTax` throw a RangeError if the percentage is over 100, and make `balances` throw a RangeError if a booking's cents are no integer.",
         'throws(RangeError, () => withTax(1, 101)); throws(RangeError, () => balances([{ account: "a", cents: 1.5 }]));'),
        ("two files", ["cents", "parseBookings"], "Change `cents` to return 0 for an empty text, and change `parseBookings` to skip lines that begin with `//`.",
         'check(cents("") === 0); check(parseBookings("// x\\nd;a;1").length === 1);'),
        ("two files", ["overdrawn", "split"], "Make `overdrawn` return the names in upper case, and make `split` return the larger shares last.",
         'check(overdrawn([{ account: "a", cents: -1 }]).join() === "A"); check(split(10, 3).join() === "3,3,4");'),
    ],
)

PROJECTS = [PYTHON, JAVASCRIPT]
