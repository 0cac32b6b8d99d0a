"""What the Java parser of the package `javalang` finds in the files that the standard input names, as tags like those of
ctags, whose own loses its way at annotations in types. Types, and methods and constructors with a body."""

import json
import sys

import javalang

TYPES = {
    javalang.tree.ClassDeclaration: "class",
    javalang.tree.InterfaceDeclaration: "interface",
    javalang.tree.EnumDeclaration: "enum",
    javalang.tree.AnnotationDeclaration: "annotation",
}


def tag(path, name, kind, node):
    if node.position:
        print(json.dumps({"_type": "tag", "name": name, "path": path, "line": node.position.line, "kind": kind}))


def members(path, declarations):
    for node in declarations:
        if type(node) in TYPES:
            visit(path, node)
        elif isinstance(node, (javalang.tree.MethodDeclaration, javalang.tree.ConstructorDeclaration)):
            if node.body is not None:
                tag(path, node.name, "method", node)


def visit(path, node):
    tag(path, node.name, TYPES[type(node)], node)
    body = node.body
    if isinstance(node, javalang.tree.EnumDeclaration):
        for constant in body.constants or []:
            members(path, constant.body or [])
        members(path, body.declarations or [])
    else:
        members(path, body or [])


for path in sys.stdin.read().split("\n"):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            unit = javalang.parse.parse(file.read())
    except (javalang.parser.JavaSyntaxError, javalang.tokenizer.LexerError, OSError, AttributeError):
        print(f"not read: {path}", file=sys.stderr)
        continue
    for node in unit.types:
        visit(path, node)
