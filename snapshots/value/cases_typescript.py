"""cart.ts: its code, a unit test a function, and what is asked of it."""

NAME = "cart.ts"
LANGUAGE = "typescript"

CODE = '''export interface Line {
  name: string;
  price: number;
  count: number;
}

export interface Cart {
  lines: Line[];
  coupon?: string;
}

export function newCart(): Cart {
  return { lines: [] };
}

/** Adds to a line, or makes one. */
export function addLine(cart: Cart, name: string, price: number, count: number) {
  if (count < 1) {
    throw new RangeError("count must be positive");
  }
  const known = cart.lines.find((line) => line.name === name);
  if (known) {
    known.count += count;
  } else {
    cart.lines.push({ name, price, count });
  }
}

/** Whether there was such a line. */
export function removeLine(cart: Cart, name: string): boolean {
  const at = cart.lines.findIndex((line) => line.name === name);
  if (at < 0) {
    return false;
  }
  cart.lines.splice(at, 1);
  return true;
}

export function subtotal(cart: Cart): number {
  return cart.lines.reduce((sum, line) => sum + line.price * line.count, 0);
}

/** With taxes, rounded to cents. */
export function total(cart: Cart, taxPercent: number): number {
  if (taxPercent < 0) {
    throw new RangeError("tax is negative");
  }
  const net = subtotal(cart);
  return Math.round(net * (100 + taxPercent)) / 100;
}

/** The cart as text, a line each. */
export function formatCart(cart: Cart): string {
  if (cart.lines.length === 0) {
    return "empty";
  }
  const rows = cart.lines.map((line) => `${line.count} x ${line.name}: ${(line.price * line.count).toFixed(2)}`);
  rows.push(`subtotal: ${subtotal(cart).toFixed(2)}`);
  return rows.join("\\n");
}
'''

PRELUDE = """
function check(it: boolean) { if (!it) throw new Error("check"); }
function throws(act: () => void) { try { act(); } catch (error) { check(error instanceof RangeError); return; } throw new Error("nothing thrown"); }
const tea = () => ({ name: "tea", price: 3, count: 2 });
const ale = () => ({ name: "ale", price: 4, count: 1 });
"""

TESTS = {
    "newCart": "check(newCart().lines.length === 0);",
    "addLine": "const c = newCart(); addLine(c, 'tea', 3, 2); addLine(c, 'tea', 3, 1); addLine(c, 'ale', 4, 1); "
    "check(c.lines.length === 2 && c.lines[0].count === 3); throws(() => addLine(c, 'tea', 3, 0));",
    "removeLine": "const c = { lines: [tea()] }; check(!removeLine(c, 'ale')); check(removeLine(c, 'tea') && c.lines.length === 0);",
    "subtotal": "check(subtotal({ lines: [tea(), ale()] }) === 10);",
    "total": "check(total({ lines: [{ name: 'tv', price: 100, count: 1 }] }, 20) === 120); throws(() => total({ lines: [tea()] }, -1));",
    "formatCart": "const t = formatCart({ lines: [ale(), tea()] }); check(t.toLowerCase().includes('2 x tea: 6.00')); "
    "check(t.includes('subtotal: 10.00')); check(formatCart({ lines: [] }) === 'empty');",
}

FILLERS = [
    (
        "What does `removeLine` return if there is no such line?",
        "It returns `false`, and the cart stays as it is.",
        None,
    ),
    (
        "Make `subtotal` skip lines whose price is negative.",
        "Here is the updated `subtotal` function:\n\n```typescript\n{}\n```\n\nLines with a negative price are skipped now.",
        """export function subtotal(cart: Cart): number {
  return cart.lines
    .filter((line) => line.price >= 0)
    .reduce((sum, line) => sum + line.price * line.count, 0);
}""",
    ),
]

CHANGES = {
    "addLine": {
        "first": "Make `addLine` return the new count of the line.",
        "first_code": """/** Adds to a line, or makes one; its count. */
export function addLine(cart: Cart, name: string, price: number, count: number): number {
  if (count < 1) {
    throw new RangeError("count must be positive");
  }
  const known = cart.lines.find((line) => line.name === name);
  if (known) {
    known.count += count;
    return known.count;
  }
  cart.lines.push({ name, price, count });
  return count;
}""",
        "first_test": "const c = newCart(); check((addLine(c, 'tea', 3, 2) as any) === 2 && (addLine(c, 'tea', 3, 1) as any) === 3);",
        "ask": "Make `addLine` throw a RangeError if the price is negative.",
        "ask_test": "throws(() => addLine(newCart(), 'tea', -1, 1));",
        "users_code": """/** Adds to a line, or makes one. */
export function addLine(cart: Cart, name: string, price: number, count: number) {
  if (count < 1) {
    throw new RangeError("count must be positive");
  }
  const known = cart.lines.find((line) => line.name === name);
  if (known) {
    known.count += count;
    known.price = price;
  } else {
    cart.lines.push({ name, price, count });
  }
}""",
        "users_test": "const c = newCart(); addLine(c, 'tea', 3, 2); addLine(c, 'tea', 5, 1); check(c.lines[0].price === 5);",
        "damaged_code": """export function addLine(cart: Cart, name: string, price: number, count: number): number {
  cart.lines.push({ name, price, count });
  return count;
}""",
    },
    "total": {
        "first": "Make `total` take 10 percent off the net amount if the cart's coupon is `TEN`.",
        "first_code": """/** With taxes, rounded to cents. */
export function total(cart: Cart, taxPercent: number): number {
  if (taxPercent < 0) {
    throw new RangeError("tax is negative");
  }
  let net = subtotal(cart);
  if (cart.coupon === "TEN") {
    net *= 0.9;
  }
  return Math.round(net * (100 + taxPercent)) / 100;
}""",
        "first_test": "check(total({ lines: [{ name: 'tv', price: 100, count: 1 }], coupon: 'TEN' }, 0) === 90);",
        "ask": "Make `total` throw a RangeError if `taxPercent` is greater than 100.",
        "ask_test": "throws(() => total({ lines: [tea()] }, 101));",
        "users_code": """/** With taxes and shipping, rounded to cents. */
export function total(cart: Cart, taxPercent: number): number {
  if (taxPercent < 0) {
    throw new RangeError("tax is negative");
  }
  let net = subtotal(cart);
  if (net > 0 && net < 50) {
    net += 5;
  }
  return Math.round(net * (100 + taxPercent)) / 100;
}""",
        "users_test": "check(total({ lines: [tea()] }, 0) === 11);",
        "damaged_code": """export function total(cart: Cart, taxPercent: number): number {
  const net = subtotal(cart);
  return cart.coupon === "TEN" ? net * 0.9 : net;
}""",
    },
    "formatCart": {
        "first": "Make `formatCart` list the lines sorted by name.",
        "first_code": """/** The cart as text, a line each, sorted by name. */
export function formatCart(cart: Cart): string {
  if (cart.lines.length === 0) {
    return "empty";
  }
  const lines = [...cart.lines].sort((a, b) => a.name.localeCompare(b.name));
  const rows = lines.map((line) => `${line.count} x ${line.name}: ${(line.price * line.count).toFixed(2)}`);
  rows.push(`subtotal: ${subtotal(cart).toFixed(2)}`);
  return rows.join("\\n");
}""",
        "first_test": "const t = formatCart({ lines: [tea(), ale()] }); check(t.indexOf('ale') < t.indexOf('tea'));",
        "ask": "Make `formatCart` end with a row `items: N`, where N is the sum of all counts.",
        "ask_test": "check(formatCart({ lines: [tea(), ale()] }).trimEnd().endsWith('items: 3'));",
        "users_code": """/** The cart as text, a line each. */
export function formatCart(cart: Cart): string {
  if (cart.lines.length === 0) {
    return "empty";
  }
  const rows = cart.lines.map((line) => `${line.count} x ${line.name.toUpperCase()}: ${(line.price * line.count).toFixed(2)}`);
  rows.push(`subtotal: ${subtotal(cart).toFixed(2)}`);
  return rows.join("\\n");
}""",
        "users_test": "check(formatCart({ lines: [tea()] }).includes('2 x TEA: 6.00'));",
        "damaged_code": """export function formatCart(cart: Cart): string {
  const lines = [...cart.lines].sort((a, b) => a.name.localeCompare(b.name));
  return lines.map((line) => `${line.count} x ${line.name}`).join("\\n");
}""",
    },
}

SESSION = [
    ("addLine", CHANGES["addLine"]["first"], CHANGES["addLine"]["first_test"]),
    ("removeLine", "What does `removeLine` do if two lines have the same name?", None),
    ("total", CHANGES["total"]["first"], CHANGES["total"]["first_test"]),
    ("formatCart", CHANGES["formatCart"]["first"], CHANGES["formatCart"]["first_test"]),
    ("addLine", "Now make `addLine` throw a RangeError if the price is negative.", CHANGES["addLine"]["ask_test"]),
    ("subtotal", "Make `subtotal` skip lines whose price is negative.",
     "check(subtotal({ lines: [tea(), { name: 'x', price: -1, count: 1 }] }) === 6);"),
    ("total", CHANGES["total"]["ask"], CHANGES["total"]["ask_test"]),
    ("formatCart", CHANGES["formatCart"]["ask"], CHANGES["formatCart"]["ask_test"]),
    ("removeLine", "Write and export a function `clearCart(cart: Cart): void` that removes all lines and the coupon.",
     "const c: Cart = { lines: [tea()], coupon: 'TEN' }; clearCart(c); check(c.lines.length === 0 && !c.coupon);"),
]
