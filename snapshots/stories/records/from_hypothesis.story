# A model says the user's hypothesis as a fact, first without a source, then with one: it stays a
# hypothesis until the user accepts the fact.

disk src/ring.c
| int full(void) {
|     return -1;
| }
user
| @tslp accept src/ring.c
| @tslp note hypothesis #ring.full: It refuses when full. ttl 3d
| Does it?
model
| ```record
| fact #ring.full: It refuses when full.
| ```

user
| @tslp reject #ring.full
| What of #ring.full?
model
| ```record
| fact #ring.full: It refuses when full.
| evidence: `return -1;` [src/ring.c:2]
| ```

user
| @tslp accept #ring.full
| And now, what of #ring.full?
