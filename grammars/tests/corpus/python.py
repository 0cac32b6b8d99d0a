#!/usr/bin/env python3
"""A store of notes: def not_me(): pass"""

from __future__ import annotations

import json
from typing import overload

__all__ = ["Note", "load"]

# Largest note that is kept.
NOTE_BYTES_MAX: int = 64 * 1024
LEFT, RIGHT = 0, 1
counter = 0
counter = 1


class StoreError(Exception):
    """Something is wrong with the store."""


@dataclass(
    frozen=True,
)
class Note:
    # The text, "class Fake:" included.
    text: str = "class Fake:\n    def no(self): ..."

    @property
    def size(self) -> int:
        return len(self.text)

    @size.setter
    def size(self, value: int) -> None:
        raise NotImplementedError

    class Meta:
        def key(self): return '"""'

    @overload
    def cut(self, at: int) -> str: ...
    @overload
    def cut(self, at: slice) -> str: ...
    def cut(self, at):
        def inner():
            return at
        return self.text[inner()]
        # the end of cut


def load(
    path: str = "(",
    *, strict=True,
) -> dict[str, Note]:
    r'''Loads all notes.

def fake(): pass
'''
    with open(path) as file:
        return {key: Note(text) for key, text in json.load(file).items()}


if True:
    async def watch(path): pass
else:
    watch = None

try:
    import orjson
except ImportError:
    class Fallback: pass


def todo():
    # TODO: write this
    pass


main = lambda: print(f"{load('x')!r}")
