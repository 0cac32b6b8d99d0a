#!/usr/bin/env python3
"""Compares the definitions that TSLP finds in a tree with those of Universal Ctags, or of a parser of the language: docs/languages.md says how to run it.

    compare.py LANGUAGE TREE… [--list N]

Both ways are counted: recall is the share of the tags that docs/languages.md claims for which TSLP has a definition of
that name around that line, precision the share of TSLP's definitions for which ctags has a tag of that name there.

Both are given twice: as counted, and without the disagreements whose cause the source text shows (explained.py).
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

import explained

EXTENSIONS = {
    "Python": (".py",),
    "JavaScript": (".js", ".jsx", ".mjs", ".cjs"),
    "TypeScript": (".ts", ".tsx"),
    "Rust": (".rs",),
    "Go": (".go",),
    "Java": (".java",),
    "C": (".c", ".h"),
    "C++": (".cc", ".cpp", ".hpp", ".h"),
}

# Kinds that docs/languages.md claims. What stands in a function, or is a member without a body, is sorted out below.
CLAIMED = {
    "Python": {"class", "function", "member", "variable"},
    "JavaScript": {"class", "function", "method", "variable", "alias", "enum", "interface"},
    "TypeScript": {"class", "function", "method", "variable", "alias", "enum", "interface"},
    "Rust": {"macro", "method", "function", "enum", "interface", "struct", "typedef", "variable", "implementation"},
    "Go": {"const", "func", "type", "struct", "interface", "var", "talias"},
    "Java": {"class", "enum", "interface", "method", "annotation"},
    "C": {"function", "macro", "struct", "union", "enum", "typedef", "variable"},
    "C++": {"class", "function", "macro", "struct", "union", "enum", "typedef", "variable"},
}

# Scopes in which a variable is a member or a local.
WITHOUT_VARIABLES = {
    "function", "method", "member", "class", "struct", "union", "interface", "enum", "func", "getter", "setter",
    "implementation", "generator",
}
VARIABLES = {"variable", "constant", "const", "var"}

# Definitions that ctags knows nothing of: they can't be checked.
UNKNOWN_TO_CTAGS = {"Rust": re.compile(r"\s*(pub(\([^)]*\))?\s+)?const\s+\w+\s*:")}

# Tags that never are definitions: nothing is made of them, and one of ours that has only these is no match.
DECLARING = {"prototype", "externvar"}


def files(trees, extensions):
    for tree in trees:
        if os.path.isfile(tree):
            yield tree
        for folder, _, names in sorted(os.walk(tree)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(extensions) and not name.endswith((".min.js", ".d.ts")) and os.path.isfile(path):
                    yield path


def tags(language, paths):
    if language in ("JavaScript", "TypeScript"):
        # Of these the parser of ctags knows too little: TypeScript's own says what is there.
        command = ["node", os.path.join(os.path.dirname(os.path.abspath(__file__)), "typescript.js")]
    elif language == "Java":
        command = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "java.py")]
    else:
        command = ctags(language)
    out = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, errors="replace", check=False)
    for line in out.stdout.split("\n"):
        try:
            tag = json.loads(line)
        except json.JSONDecodeError:
            # What ctags quotes of a file isn't always JSON.
            continue
        if tag.get("_type") == "tag" and not tag["name"].startswith(("__anon", "AnonymousFunction", "anonymousFunction")):
            yield tag


def ctags(language):
    return [
        "ctags", "--output-format=json", "--fields=+neKsSt", f"--language-force={language}",
        f"--kinds-{language}=*", "-L", "-", "-f", "-", "--sort=no",
    ]


Ours = collections.namedtuple("Ours", "start head head_end end damaged body proof symbol")


def definitions(program, paths):
    out = subprocess.run([program], input="\n".join(paths), capture_output=True, text=True, errors="replace", check=True)
    found = {path: [] for path in paths}
    errors = {}
    for line in out.stdout.splitlines():
        path, *fields = line.split("\t")
        if len(fields) == 1:
            errors[path] = fields[0]
        else:
            start, head, head_end, end, damaged, body, proof, symbol = fields
            found[path].append(Ours(int(start), int(head), int(head_end), int(end), damaged == "true", body, proof, symbol))
    return found, errors


def last_name(symbol):
    """The names that a tag for a symbol may bear."""
    names = {symbol}
    plain = symbol
    for _ in range(6):
        plain = re.sub(r"<[^<>]*>", "", plain)
    if symbol.startswith("<") and " as " in symbol:
        names.add(re.split(r"[<\s]", symbol[1:].split(" as ")[0].split("::")[-1])[0])
    tail = re.split(r"::|\.|#(?=\w)", plain.split("(")[0] if symbol.endswith(")") else plain)[-1]
    tail = tail.strip("\"'[]").removeprefix("set ").removeprefix("~").strip()
    names.add(tail)
    whole = re.search(r"(#[\w$]+|\[[^\]]*\])$", symbol)
    if whole:
        names.add(whole.group(1))
    # A name in quotes may hold separators: `"a.b": () => 1`.
    names.update(symbol[at.end():] for at in re.finditer(r"[.#]", symbol))
    names.add("~" + tail)
    names.add(re.sub(r"\s+", "", symbol.split("::")[-1]))
    if symbol.endswith((".setter", ".deleter")):
        names.add(symbol.split(".")[-2])
    if re.search(r"\boperator\b", symbol):
        names.add("operator")
        names.add(re.sub(r"\s+", "", "operator" + symbol.split("operator", 1)[1]))
        names.add(spelled("operator" + symbol.split("operator", 1)[1]))
    if symbol.endswith(")"):
        names.add(symbol.split("(")[0])
    return names


def spelled(operator):
    """An operator's name in one spelling."""
    return re.sub(r"\s+(?=\W|$)", "", operator)


def indentation(line):
    return len(line) - len(line.lstrip())


def is_declaration(language, tag, lines):
    """Whether a function or method has no body: nothing but a semicolon follows its parameters."""
    if tag["kind"] not in ("method", "function", "func", "member", "typedef", "implementation", "variable", "constant"):
        return False
    if language == "Go" and tag["kind"] == "func":
        return "{" not in " ".join(lines[tag["line"] - 1 : tag["line"] + 2])
    if language in ("C", "C++", "Python", "JavaScript") or tag["kind"] in VARIABLES:
        return False
    text = "\n".join(lines[tag["line"] - 1 : tag["line"] + 60])
    at = text.find(tag["name"])
    depth = 0
    for index, char in enumerate(text[at:]):
        if char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth < 0:
                return False
        elif depth == 0 and char == "{":
            return False
        elif depth == 0 and char == ";":
            return True
        elif depth == 0 and text[at + index :].startswith("=>"):
            return False
    return False


def claimed(language, tag, lines):
    kind = tag["kind"]
    if kind not in CLAIMED[language]:
        return False
    if language in ("Java", "JavaScript", "TypeScript"):
        return True
    scope = tag.get("scopeKind")
    if scope in ("function", "method", "func", "getter", "setter", "generator") or language == "Python" and scope == "member":
        return False
    if kind in VARIABLES and scope in WITHOUT_VARIABLES:
        return False
    line = lines[tag["line"] - 1]
    if language == "Rust" and kind == "implementation" and not re.search(r"\bfor\b", " ".join(lines[tag["line"] - 1 : tag["line"] + 8]).split("{")[0].split("where")[0]):
        return False
    if tag["name"] == "_":
        return False
    if language == "Rust" and kind == "variable" and not re.search(rf"static\s+(mut\s+)?{re.escape(tag['name'])}\s*:", line):
        # ctags takes the lifetime of `&'static str` for the keyword.
        return False
    if language == "Python" and "overload" in "".join(lines[max(0, tag["line"] - 3) : tag["line"] - 1]):
        return False
    if language == "C" and "extern " in lines[tag["line"] - 1] and kind == "variable":
        return False
    if language in ("C", "C++") and kind == "macro" and is_guard(tag, lines):
        return False
    return not is_declaration(language, tag, lines)


def is_guard(tag, lines):
    """Whether a macro keeps a header from being read twice, which docs/languages.md says is no definition."""
    above = "".join(lines[max(0, tag["line"] - 3) : tag["line"] - 1])
    return re.search(rf"#\s*(ifndef|if\s*!\s*defined)\W+{re.escape(tag['name'])}\b", above) and lines[tag["line"] - 1].split("define")[-1].strip() == tag["name"]


def compare(language, program, trees):
    paths = list(files(trees, EXTENSIONS[language]))
    ours, errors = definitions(program, paths)
    theirs = collections.defaultdict(list)
    for tag in tags(language, paths):
        theirs[tag["path"]].append(tag)
    if language == "Java":
        # Its parser knows no Java after 8, and says nothing of files that it can't read.
        paths = [path for path in paths if theirs[path]]
    wanted, lost, unknown, extra, total = collections.Counter(), [], [], [], 0
    reasons = explained.Reasons(language)
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        mine = ours[path]
        reasons.open(lines, theirs[path])
        named = collections.defaultdict(list)
        for definition in mine:
            for name in last_name(definition.symbol):
                named[name].append(definition)
        in_file, found_in_file = 0, 0
        for tag in theirs[path]:
            line = tag["line"]
            if tag["name"].startswith("operator"):
                tag["name"] = spelled(tag["name"])
            if line > len(lines) or not claimed(language, tag, lines):
                continue
            name = tag["name"]
            call = re.search(rf"\b{re.escape(name)}\s*\(\s*(\w+)\s*\)", lines[line - 1]) if language in ("C", "C++") and name.isupper() and tag["kind"] != "macro" else None
            if call and call.group(1) in named:
                # ctags takes the macro around a name for the name.
                name = call.group(1)
            is_type = tag["kind"] in ("typedef", "variable", "struct", "class", "union", "enum")
            match = [it for it in named[name] if it.start <= line <= max(it.head_end, it.head) + 1 or (it.body == "None" or is_type) and it.start <= line <= it.end]
            inside = [
                it for it in mine
                if it.head_end <= line <= it.end and it.head < line
                and indentation(lines[line - 1]) > indentation(lines[it.head - 1])
                and not re.match(r"\s*(\w+\s+)*(class|impl|trait|struct|interface|enum|namespace|record|@interface)\b", lines[it.head - 1])
            ]
            if not match and tag["kind"] == "implementation":
                match = [it for it in mine if "<" in it.symbol and it.head <= line <= it.head_end]
            if not match and inside:
                continue
            again = tag["kind"] in VARIABLES and language in ("Python", "JavaScript") and named[tag["name"]]
            if not match and again:
                continue
            wanted[tag["kind"]] += 1
            in_file += 1
            sound = [it for it in match if not it.damaged]
            if sound:
                found_in_file += 1
            else:
                reason = "" if match else reasons.of_lost(tag)
                in_file -= bool(reason)
                lost.append((tag["kind"], path, line, tag["name"], "damaged" if match else "", lines[line - 1].strip()[:110], reason))
        if in_file and not found_in_file:
            unknown.append((path, in_file, errors.get(path)))
        known = collections.defaultdict(list)
        for tag in theirs[path]:
            if tag["kind"] not in DECLARING or re.search(r"=\s*(default|delete)", " ".join(lines[tag["line"] - 1 : tag["line"] + 1])):
                known[re.sub(r"\s+", "", tag["name"])].append(tag["line"])
        for definition in mine:
            total += 1
            if language in UNKNOWN_TO_CTAGS and UNKNOWN_TO_CTAGS[language].match(lines[definition.head - 1]):
                total -= 1
                continue
            if definition.symbol.split("::")[-1].startswith("<") or "::<" in definition.symbol or definition.symbol.startswith("<") and definition.symbol.endswith(">"):
                if any(definition.start <= tag["line"] <= definition.head_end for tag in theirs[path]):
                    continue
            at = [line for name in last_name(definition.symbol) for line in known[name]]
            if not any(definition.start <= line <= definition.end for line in at):
                reason = reasons.of_extra(definition)
                extra.append((path, definition.head, definition.symbol, lines[definition.head - 1].strip()[:110], reason))
    return paths, wanted, lost, unknown, extra, total


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("language", choices=sorted(EXTENSIONS))
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--program", default="target/release/examples/definitions")
    parser.add_argument("--list", type=int, default=0, help="how many disagreements are shown")
    options = parser.parse_args()
    paths, wanted, lost, unknown, extra, total = compare(options.language, options.program, options.trees)
    count = sum(wanted.values())
    missing = collections.Counter(kind for kind, *_ in lost)
    because = [collections.Counter(reason for *_, reason in found if reason) for found in (lost, extra)]
    lost_explained, extra_explained = (sum(reasons.values()) for reasons in because)
    share = lambda part, whole: 100 * part / whole if whole else 100
    print(
        f"{options.language}: {len(paths)} files, recall {share(count - len(lost), count):.2f} % of {count}, "
        f"precision {share(total - len(extra), total):.2f} % of {total}, nothing known of {len(unknown)} files"
    )
    print(
        f"    without what is explained: recall {share(count - len(lost), count - lost_explained):.2f} % of {count - lost_explained}, "
        f"precision {share(total - len(extra), total - extra_explained):.2f} % of {total - extra_explained}"
    )
    for which, reasons in zip(("lost", "extra"), because):
        for reason, times in reasons.most_common():
            print(f"    {times} {which}: {reason}")
    for kind in sorted(wanted):
        print(f"    {kind:14} {share(wanted[kind] - missing[kind], wanted[kind]):6.2f} % of {wanted[kind]}")
    for path, in_file, error in unknown:
        print(f"    unknown: {path} ({in_file} tags, {error})")
    for kind, path, line, name, damaged, text, reason in [it for it in lost if not it[-1]][: options.list]:
        print(f"    lost {damaged} {kind} {name}: {path}:{line}: {text}")
    for path, line, symbol, text, reason in [it for it in extra if not it[-1]][: options.list]:
        print(f"    extra {symbol}: {path}:{line}: {text}")


if __name__ == "__main__":
    sys.exit(main())
