# Each reply takes out one line, which a change may. What would leave less than half of what the
# user pasted is refused.
law 7 | Small losses add up: what the model takes away more is held against the last version of the user's, too | nodes_collapsed, tokens_collapsed

user
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     store(c, high, n);
|     store(d, span, n);
|     notify(a, b, c, d);
|     log_all(total, low, high);
|     count(calls, 1);
|     touch(clock, now);
| }
| ```
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     store(c, high, n);
|     store(d, span, n);
|     notify(a, b, c, d);
|     log_all(total, low, high);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     store(c, high, n);
|     store(d, span, n);
|     notify(a, b, c, d);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     store(c, high, n);
|     store(d, span, n);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     store(c, high, n);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     store(b, low, n);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     store(a, total, n);
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     int span = high - low;
|     touch(clock, now);
| }
| ```

user
| Go on with stats().
model
| ```c:src/stats.c
| void stats(int *x, int n) {
|     int total = sum(x, n);
|     int low = least(x, n);
|     int high = most(x, n);
|     touch(clock, now);
| }
| ```
