"""What the model server had to read anew."""

import json

from dialects import text_of


def render(body):
    """A request as a ChatML-like template shows it to the model."""
    parts = []
    if body.get("tools"):
        tools = "".join(json.dumps(tool, ensure_ascii=False) + "\n" for tool in body["tools"])
        parts.append(f"<tools>\n{tools}</tools>\n")
    for message in body.get("messages", []):
        calls = "".join(
            json.dumps(call.get("function", call), ensure_ascii=False) + "\n"
            for call in message.get("tool_calls") or []
        )
        parts.append(f"<|im_start|>{message.get('role')}\n{text_of(message.get('content'))}{calls}<|im_end|>\n")
    return "".join(parts)


def common(a, b):
    """The length of the longest common prefix."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def anew(rendered):
    """For each request, the characters that no earlier one began with; and those the one just before didn't."""
    best, strict = [], []
    for at, text in enumerate(rendered):
        best.append(len(text) - max((common(text, earlier) for earlier in rendered[:at]), default=0))
        strict.append(len(text) - (common(text, rendered[at - 1]) if at else 0))
    return best, strict


def compare(pairs):
    """Of the bodies that a client sent, each with what the model server received for it."""
    sent = [render(one) for one, _ in pairs]
    received = [render(other) for _, other in pairs]
    direct, direct_strict = anew(sent)
    through, through_strict = anew(received)
    return {
        "requests": len(pairs),
        "direct": sum(direct),
        "through": sum(through),
        "direct_strict": sum(direct_strict),
        "through_strict": sum(through_strict),
        "same": sum(1 for a, b in zip(sent, received) if a == b),
        "no_more": sum(1 for a, b in zip(direct, through) if b <= a),
        "steps": [
            {"sent": len(a), "received": len(b), "direct": c, "through": d}
            for a, b, c, d in zip(sent, received, direct, through)
        ],
    }


def ratio(through, direct):
    return f"{through / direct:.2f}" if direct else "-"


def table(rows):
    """Rows of text in columns; the first is the head."""
    widths = [max(len(str(row[at])) for row in rows) for at in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [str(cell).ljust(width) if not at else str(cell).rjust(width) for at, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
