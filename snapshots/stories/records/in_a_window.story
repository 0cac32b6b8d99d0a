# Where older turns are replaced by a window, what is kept stands behind them, before the code.

full what the model saw
policy history window

disk src/a.c
| int add(int a, int b) {
|     return a + b;
| }
user
| @tslp accept src/a.c
model
| Noted.

user
| @tslp note fact #add.plain: It doesn't check for overflow. `return a + b;` [src/a.c:2]
| What does `add` do?
model
| It adds.

user
| And `add` for large numbers?
