"""The material against itself: every given piece of code does what its tests say, every damaged one fails."""

import judge


def fenced(code):
    return f"```\n{code}\n```"


def check(project, esbuild):
    it = judge.Judge(project, esbuild)
    language = project.LANGUAGE
    wrong = []

    def expect(what, holds):
        if not holds:
            wrong.append(f"{project.NAME}: {what}")

    for name, test in project.TESTS.items():
        expect(f"base {name}", it.passes(project.CODE, test))
    for _, _, code in project.FILLERS:
        if code:
            expect("filler", not it.broken(project.CODE, judge.apply(project.CODE, fenced(code), language)))
    for name, change in project.CHANGES.items():
        for kind in ("first", "users"):
            after = judge.apply(project.CODE, fenced(change[f"{kind}_code"]), language)
            expect(f"{kind} {name} breaks {it.broken(project.CODE, after)}", not it.broken(project.CODE, after))
            expect(f"{kind}_test {name}", it.passes(after, change[f"{kind}_test"]))
            expect(f"{kind}_test {name} on the old code", not it.passes(project.CODE, change[f"{kind}_test"]))
            expect(f"ask_test {name} on {kind}", not it.passes(after, change["ask_test"]))
        damaged = judge.apply(project.CODE, fenced(change["damaged_code"]), language)
        expect(f"damaged {name}", it.broken(project.CODE, damaged))
    return wrong
