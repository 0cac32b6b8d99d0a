# What doesn't fit the budget is named in a notice, never cut; a smaller candidate behind it still
# fits.
law engine 7 | What doesn't fit is named, never cut | over_budget
law 2 | It materialises reality or refuses to act
law 8.1 | Their full content is injected

policy budget 80

user
| ```c:src/a.c
| int small(int x) { return x; }
| int large(int x) {
|     if (x > 10) return 10;
|     if (x > 20) return 20;
|     if (x > 30) return 30;
|     if (x > 40) return 40;
|     if (x > 50) return 50;
|     return x;
| }
| ```
model
| Fine.

new
user
| Explain large() and small()
