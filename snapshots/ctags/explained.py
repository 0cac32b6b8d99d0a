"""Why ctags and TSLP disagree, where the source text shows it: for each class a rule about the text, none about names.

Only what ctags gets wrong or leaves out is explained. What TSLP damages, or names otherwise than the text does, never is.
"""

import re

DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")

MACRO_FUNCTION = "a macro names the function, of which ctags knows no tag: `TEST_CASE(\"name\") {`"
MACRO_CALL = "a macro's call without a body, which ctags takes for a function or variable: `REGISTER(x)`"
ARGUMENT = "a call among a macro's arguments, which ctags takes for a function: `TEST_CASE(\"name\" * skip()) {`"
ACCESS = "a member after a macro that says who may use it, of which ctags knows no tag: `PRIVATE_UNLESS_TESTED: int f() {`"
BRANCH = "in the second branch of a conditional, or under `#if 0`, which ctags passes over"
CONDITION = "a condition among a template's parameters, at which ctags gives up: `template <class T, ENABLE_IF(x<T>::value)>`"
POINTER = "a type of functions whose parameters a macro holds; ctags takes the type for the name: `typedef T (*name) OF((...))`"
OLD_STYLE = "parameters in the style of 1978, which ctags takes for variables, and their function for none"
IN_BRACKETS = "a name in brackets or a macro's, of which ctags knows no tag: `int NAME(f)(void)`, `int (f)(void)`"
INSTANTIATION = "an explicit instantiation, which defines nothing, and which ctags takes for a variable: `template class A<B>;`"
CHAIN = "a second name of one value, of which ctags knows no tag: `a = b = 1`"
ANONYMOUS = "in the block that is the value of `const _`, where nothing has a name outside"
LOST_WAY = 'after `"\\\\"`, at which ctags gives up on the rest of the file'
MODULE = "a line of C++ modules, which ctags takes for a variable: `import x;`"
UNDERLYING = "a macro after a type's name, which ctags takes for a function's: `enum e TYPE(int) {`"

WORD_AFTER = "a macro after a class's name, which ctags takes for the name: `class stream_t FINAL : base {`"
LOCAL = "a local of a function that a macro declares, of which ctags knows nothing: `DECLARATION` in the line above `{`"
PROTOTYPE = "a prototype whose name stands in brackets, which ctags takes for a variable: `int (f)(int a);`"


class Reasons:
    """The reasons of one language, asked of one file after the other."""

    def __init__(self, language):
        self.language = language
        self.knows = language in ("C", "C++")

    def open(self, lines, tags):
        self.lines = lines
        self.last_tag = max((tag["line"] for tag in tags), default=0)
        self.others = other_branches(lines) if self.knows else set()

    def of_lost(self, tag):
        """Why ctags has a tag where nothing is defined, or nothing by that name."""
        if self.language == "Rust":
            return ANONYMOUS if self.is_anonymous(tag["line"]) else ""
        if not self.knows:
            return ""
        line, name = self.lines[tag["line"] - 1], re.escape(tag["name"])
        if re.search(rf"\btypedef\s[^(]*\b{name}\s*\([^()]*\*\s*\w+\s*\)\s*\w+\s*\(\(", line):
            return POINTER
        if re.match(r"\s*(extern\s+)?template\s+(class|struct)\b", line):
            return INSTANTIATION
        if re.match(rf"\s*(export\s+)?(import|module)\s+{name}\s*;", line):
            return MODULE
        if re.search(rf"\b(enum|struct|class|union)\s[\w\s]*\b{name}\s*\(", line):
            return UNDERLYING
        if re.match(rf"\s*(class|struct)\s+\w+\s+{name}\s*(:|\{{|$)", line):
            return WORD_AFTER
        if tag["kind"] == "variable" and re.search(rf"\(\s*{name}\s*\)\s*\(", line):
            rest = after_brackets(self.text_from(tag["line"]).split(tag["name"], 1)[1].lstrip(") \t\n"))
            return PROTOTYPE if rest is not None and rest.startswith(";") else ""
        call = re.match(r"\s*(?!if\b|for\b|while\b|switch\b)\w+\s*(?=\()", line)
        if call and re.search(rf"\b{name}\s*\(", within_brackets(line[call.end() :])):
            return ARGUMENT
        if tag["kind"] in ("function", "variable") and re.match(rf"\s*{name}\s*\(", line):
            rest = after_brackets(self.text_from(tag["line"]).split(tag["name"], 1)[1])
            return "" if rest is None or rest.startswith(("{", ":")) else MACRO_CALL
        if tag["kind"] == "variable" and self.is_old_parameter(tag["line"], tag["name"]):
            return OLD_STYLE
        if tag["kind"] == "variable" and self.is_local_of_macro(tag["line"]):
            return LOCAL
        return ""

    def of_extra(self, definition):
        """Why ctags has no tag for a definition that the text shows."""
        text = self.text_from(definition.head)
        if self.language == "Python":
            name = re.escape(definition.symbol.split(".")[-1])
            return CHAIN if re.match(rf"\s*(\w+\s*=\s*)+{name}\s*=[^=]", text) else ""
        if self.language == "Rust":
            before = self.lines[self.last_tag - 1 : definition.head - 1]
            is_lost = definition.head > self.last_tag > 0 and any('"\\\\"' in line for line in before)
            return LOST_WAY if is_lost else ""
        if not self.knows:
            return ""
        tight = re.sub(r"\s+", "", text)
        if definition.symbol.endswith(")"):
            call = re.match(r"\s*\w+(?=\s*\()", text)
            rest = after_brackets(text[call.end() :]) if call else None
            is_spelled = tight.startswith(re.sub(r"\s+", "", definition.symbol[definition.symbol.find(call.group().strip()) :])) if call else False
            return MACRO_FUNCTION if rest is not None and rest.startswith("{") and is_spelled else ""
        name = re.escape(definition.symbol.split("::")[-1])
        head = "\n".join(self.lines[definition.head - 1 : definition.head_end])
        if not re.search(rf"(?<!\w){name}(?!\w)", head):
            return ""
        if definition.head in self.others:
            return BRANCH
        above = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(self.lines[max(0, definition.head - 40) : definition.head - 1]), flags=re.S)
        if re.search(r"^\s*[A-Z][A-Z0-9_]+\s*:\s*\Z", above, re.M):
            return ACCESS
        if re.search(rf"\btypedef\s[^;]*\([^()]*\*\s*{name}\s*\)\s*\w+\s*\(\(", text.split(";")[0]):
            return POINTER
        if re.search(rf"\w*\s*\(\s*(\w+::)*{name}\s*\)\s*[(\[]", head):
            return IN_BRACKETS
        if re.match(rf"\s*(class|struct)\s+{name}\s+\w+\s*(:|\{{|$)", text.split("\n")[0]):
            return WORD_AFTER
        if re.match(r"\s*template\s*<", head) and "::value" in template_parameters(head):
            return CONDITION
        if any(self.is_old_parameter(line, None) for line in range(definition.head, definition.head_end + 2)):
            return OLD_STYLE
        return ""

    def is_anonymous(self, line):
        """Whether a line stands in the block that is the value of `const _`."""
        for above in range(line - 1, -1, -1):
            if self.lines[above][:1] not in ("", " ", "\t", "}", ")", "#", "/"):
                return bool(re.match(r"const\s+_\s*:.*=\s*\{", self.lines[above]))
        return False

    def is_local_of_macro(self, line):
        """Whether a line stands indented below a `{` at the margin, above which there is a word in capitals alone."""
        if not self.lines[line - 1][:1].isspace():
            return False
        for above in range(line - 2, 0, -1):
            if self.lines[above][:1] in ("{", "}"):
                return self.lines[above].strip() == "{" and bool(re.match(r"[A-Z][A-Z0-9_]+\s*$", self.lines[above - 1]))
        return False

    def text_from(self, line):
        return "\n".join(self.lines[line - 1 : line + 60])

    def is_old_parameter(self, line, name):
        """Whether a line between parameters in round brackets and a body declares one of these."""
        is_declaration = lambda at: re.match(r"\s*\w[^(){}#]*;\s*(/\*.*\*/)?\s*$", self.lines[at])
        first = last = line - 1
        if last >= len(self.lines) or not is_declaration(first):
            return False
        while first > 0 and is_declaration(first - 1):
            first -= 1
        while last + 1 < len(self.lines) and is_declaration(last + 1):
            last += 1
        head = re.search(r"\(([\w\s,]+)\)\s*$", " ".join(self.lines[max(0, first - 3) : first]))
        has_body = last + 1 < len(self.lines) and self.lines[last + 1].startswith("{")
        return bool(head and has_body and (name is None or re.search(rf"\b{name}\b", head.group(1))))


def other_branches(lines):
    """The lines that stand in a branch that isn't its conditional's first, or under `#if 0`."""
    others, branches = set(), []
    for number, line in enumerate(lines, 1):
        directive = DIRECTIVE.match(line)
        word = directive.group(1) if directive else ""
        if word in ("if", "ifdef", "ifndef"):
            is_dead = word == "if" and directive.group(2).split("/")[0].strip() == "0"
            branches.append("dead" if is_dead else "first")
        elif word in ("elif", "else") and branches:
            branches[-1] = "first" if branches[-1] == "dead" else "other"
        elif word == "endif" and branches:
            branches.pop()
        elif "dead" in branches or "other" in branches:
            others.add(number)
    return others


def within_brackets(text):
    """What stands in the round brackets that a text begins with, as far as the text goes."""
    rest = after_brackets(text)
    return text if rest is None else text[: len(text) - len(rest)]


def after_brackets(text):
    """What follows the round brackets that a text begins with, without blanks and comments."""
    depth, quote, at = 0, "", 0
    while at < len(text):
        char = text[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return re.sub(r"^(\s|//[^\n]*\n|/\*.*?\*/)+", "", text[at + 1 :], flags=re.S)
        at += 1
    return None


def template_parameters(head):
    """What stands between `template <` and its end, of as many templates as there are in a row."""
    end = max((found.end() for found in re.finditer(r">\s*\n?", head)), default=0)
    return head[:end]
