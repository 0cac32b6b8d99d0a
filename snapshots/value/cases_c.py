"""ring.c: its code, a unit test a function, and what is asked of it."""

NAME = "ring.c"
LANGUAGE = "c"

CODE = '''#include <stddef.h>

#define RING_CAPACITY 4

struct ring {
    int items[RING_CAPACITY];
    size_t head;
    size_t count;
};

void ring_init(struct ring *ring)
{
    ring->head = 0;
    ring->count = 0;
}

/* Adds a value; -1 if there is no room. */
int ring_push(struct ring *ring, int value)
{
    if (ring == NULL) {
        return -1;
    }
    if (ring->count == RING_CAPACITY) {
        return -1;
    }
    ring->items[(ring->head + ring->count) % RING_CAPACITY] = value;
    ring->count++;
    return 0;
}

/* Takes the oldest value; -1 if there is none. */
int ring_pop(struct ring *ring, int *value)
{
    if (ring == NULL || value == NULL) {
        return -1;
    }
    if (ring->count == 0) {
        return -1;
    }
    *value = ring->items[ring->head];
    ring->head = (ring->head + 1) % RING_CAPACITY;
    ring->count--;
    return 0;
}

/* The sum of all values. */
long ring_sum(const struct ring *ring)
{
    long sum = 0;
    for (size_t i = 0; i < ring->count; i++) {
        sum += ring->items[(ring->head + i) % RING_CAPACITY];
    }
    return sum;
}

int ring_is_empty(const struct ring *ring)
{
    return ring->count == 0;
}

/* Copies up to size values, the oldest first; how many. */
int ring_copy(const struct ring *ring, int *out, size_t size)
{
    if (ring == NULL || out == NULL) {
        return -1;
    }
    size_t n = ring->count < size ? ring->count : size;
    for (size_t i = 0; i < n; i++) {
        out[i] = ring->items[(ring->head + i) % RING_CAPACITY];
    }
    return (int)n;
}
'''

PRELUDE = """
#include <stdio.h>
#define CHECK(it) do { if (!(it)) { fprintf(stderr, "%s\\n", #it); return 1; } } while (0)
"""

TESTS = {
    "ring_push": "struct ring r; ring_init(&r); CHECK(ring_push(&r, 7) >= 0); CHECK(r.count == 1 && r.items[0] == 7); "
    "CHECK(ring_push(NULL, 1) < 0); ring_push(&r, 8); ring_push(&r, 9); CHECK(r.count == 3);",
    "ring_pop": "struct ring r; int v = 0; ring_init(&r); CHECK(ring_pop(&r, &v) < 0); r.items[0] = 5; r.items[1] = 6; r.count = 2; "
    "CHECK(ring_pop(&r, &v) >= 0 && v == 5 && r.count == 1); CHECK(ring_pop(NULL, &v) < 0);",
    "ring_sum": "struct ring r; ring_init(&r); r.items[0] = 5; r.items[1] = 6; r.count = 2; CHECK(ring_sum(&r) == 11);",
    "ring_is_empty": "struct ring r; ring_init(&r); CHECK(ring_is_empty(&r)); r.count = 1; CHECK(!ring_is_empty(&r));",
    "ring_copy": "struct ring r; int out[4] = {0}; ring_init(&r); r.head = 3; r.count = 2; r.items[3] = 5; r.items[0] = 6; "
    "CHECK(ring_copy(&r, out, 4) == 2 && out[0] == 5 && out[1] == 6); CHECK(ring_copy(&r, out, 1) == 1); "
    "CHECK(ring_copy(NULL, out, 4) < 0); CHECK(ring_copy(&r, NULL, 4) < 0);",
}

FILLERS = [
    (
        "What does `ring_is_empty` return for a ring that was just initialised?",
        "It returns 1, because `count` is 0 after `ring_init`.",
        None,
    ),
    (
        "Make `ring_sum` return 0 if `ring` is NULL.",
        "Here is the updated `ring_sum` function:\n\n```c\n{}\n```\n\nIt now returns 0 if there is no ring.",
        """/* The sum of all values. */
long ring_sum(const struct ring *ring)
{
    long sum = 0;
    if (ring == NULL) {
        return 0;
    }
    for (size_t i = 0; i < ring->count; i++) {
        sum += ring->items[(ring->head + i) % RING_CAPACITY];
    }
    return sum;
}""",
    ),
]

CHANGES = {
    "ring_push": {
        "first": "Make `ring_push` overwrite the oldest value when the ring is full, instead of returning -1.",
        "first_code": """/* Adds a value; the oldest goes if there is no room. */
int ring_push(struct ring *ring, int value)
{
    if (ring == NULL) {
        return -1;
    }
    if (ring->count == RING_CAPACITY) {
        ring->head = (ring->head + 1) % RING_CAPACITY;
        ring->count--;
    }
    ring->items[(ring->head + ring->count) % RING_CAPACITY] = value;
    ring->count++;
    return 0;
}""",
        "first_test": "struct ring r; ring_init(&r); for (int i = 1; i <= 5; i++) ring_push(&r, i); "
        "CHECK(r.count == 4 && r.items[r.head] == 2);",
        "ask": "Make `ring_push` return -2 for a negative value, without adding it.",
        "ask_test": "struct ring r; ring_init(&r); CHECK(ring_push(&r, -3) == -2 && r.count == 0);",
        "users_code": """/* Adds a value; -1 if there is no room, else how many there are. */
int ring_push(struct ring *ring, int value)
{
    if (ring == NULL) {
        return -1;
    }
    if (ring->count == RING_CAPACITY) {
        return -1;
    }
    ring->items[(ring->head + ring->count) % RING_CAPACITY] = value;
    ring->count++;
    return (int)ring->count;
}""",
        "users_test": "struct ring r; ring_init(&r); CHECK(ring_push(&r, 3) == 1 && ring_push(&r, 4) == 2);",
        "damaged_code": """int ring_push(struct ring *ring, int value)
{
    ring->items[(ring->head + ring->count) % RING_CAPACITY] = value;
    ring->count++;
    return 0;
}""",
    },
    "ring_pop": {
        "first": "Let `value` be NULL in `ring_pop`: then the oldest value is only removed.",
        "first_code": """/* Takes the oldest value; -1 if there is none. */
int ring_pop(struct ring *ring, int *value)
{
    if (ring == NULL) {
        return -1;
    }
    if (ring->count == 0) {
        return -1;
    }
    if (value != NULL) {
        *value = ring->items[ring->head];
    }
    ring->head = (ring->head + 1) % RING_CAPACITY;
    ring->count--;
    return 0;
}""",
        "first_test": "struct ring r; ring_init(&r); r.items[0] = 5; r.count = 1; CHECK(ring_pop(&r, NULL) == 0 && r.count == 0);",
        "ask": "Make `ring_pop` set the slot that it frees to 0.",
        "ask_test": "struct ring r; int v = 0; ring_init(&r); r.items[0] = 5; r.items[1] = 6; r.count = 2; "
        "CHECK(ring_pop(&r, &v) >= 0 && v == 5 && r.items[0] == 0 && r.items[1] == 6);",
        "users_code": """/* Takes the oldest value; -1 if there is none, else how many are left. */
int ring_pop(struct ring *ring, int *value)
{
    if (ring == NULL || value == NULL) {
        return -1;
    }
    if (ring->count == 0) {
        return -1;
    }
    *value = ring->items[ring->head];
    ring->head = (ring->head + 1) % RING_CAPACITY;
    ring->count--;
    return (int)ring->count;
}""",
        "users_test": "struct ring r; int v = 0; ring_init(&r); r.items[0] = 5; r.items[1] = 6; r.count = 2; CHECK(ring_pop(&r, &v) == 1);",
        "damaged_code": """int ring_pop(struct ring *ring, int *value)
{
    if (value != NULL) {
        *value = ring->items[ring->head];
    }
    ring->count--;
    return 0;
}""",
    },
    "ring_copy": {
        "first": "Make `ring_copy` fill the rest of `out` with 0.",
        "first_code": """/* Copies up to size values, the oldest first, and fills the rest with 0; how many. */
int ring_copy(const struct ring *ring, int *out, size_t size)
{
    if (ring == NULL || out == NULL) {
        return -1;
    }
    size_t n = ring->count < size ? ring->count : size;
    for (size_t i = 0; i < n; i++) {
        out[i] = ring->items[(ring->head + i) % RING_CAPACITY];
    }
    for (size_t i = n; i < size; i++) {
        out[i] = 0;
    }
    return (int)n;
}""",
        "first_test": "struct ring r; int out[3] = {9, 9, 9}; ring_init(&r); r.items[0] = 5; r.count = 1; "
        "CHECK(ring_copy(&r, out, 3) == 1 && out[0] == 5 && out[1] == 0 && out[2] == 0);",
        "ask": "Make `ring_copy` return -2 if `size` is 0.",
        "ask_test": "struct ring r; int out[1] = {0}; ring_init(&r); r.count = 1; CHECK(ring_copy(&r, out, 0) == -2);",
        "users_code": """/* Copies up to size values, the oldest first, negative ones as 0; how many. */
int ring_copy(const struct ring *ring, int *out, size_t size)
{
    if (ring == NULL || out == NULL) {
        return -1;
    }
    size_t n = ring->count < size ? ring->count : size;
    for (size_t i = 0; i < n; i++) {
        int value = ring->items[(ring->head + i) % RING_CAPACITY];
        out[i] = value < 0 ? 0 : value;
    }
    return (int)n;
}""",
        "users_test": "struct ring r; int out[2] = {0}; ring_init(&r); r.items[0] = -5; r.items[1] = 6; r.count = 2; "
        "CHECK(ring_copy(&r, out, 2) == 2 && out[0] == 0 && out[1] == 6);",
        "damaged_code": """int ring_copy(const struct ring *ring, int *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        out[i] = i < ring->count ? ring->items[i] : 0;
    }
    return (int)size;
}""",
    },
}

SESSION = [
    ("ring_push", CHANGES["ring_push"]["first"], CHANGES["ring_push"]["first_test"]),
    ("ring_is_empty", "What does `ring_is_empty` return after a push and a pop?", None),
    ("ring_copy", CHANGES["ring_copy"]["first"], CHANGES["ring_copy"]["first_test"]),
    ("ring_pop", CHANGES["ring_pop"]["ask"], CHANGES["ring_pop"]["ask_test"]),
    ("ring_push", "Now make `ring_push` return -2 for a negative value, without adding it.", CHANGES["ring_push"]["ask_test"]),
    ("ring_sum", "Make `ring_sum` return 0 if `ring` is NULL.", "CHECK(ring_sum(NULL) == 0);"),
    ("ring_copy", CHANGES["ring_copy"]["ask"], CHANGES["ring_copy"]["ask_test"]),
    ("ring_pop", CHANGES["ring_pop"]["first"], CHANGES["ring_pop"]["first_test"]),
    ("ring_is_empty", "Write a function `int ring_max(const struct ring *ring)` that returns the largest value, or 0 if the ring is empty.",
     "struct ring r; ring_init(&r); CHECK(ring_max(&r) == 0); r.head = 3; r.count = 2; r.items[3] = 5; r.items[0] = 6; CHECK(ring_max(&r) == 6);"),
]
