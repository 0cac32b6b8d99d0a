#include "ring.h"

#include <assert.h>
#include <stdio.h>

static void test_push_and_pop(void)
{
    struct ring ring;
    assert(ring_open(&ring, 2));
    assert(ring_push(&ring, 'a'));
    assert(ring_push(&ring, 'b'));
    assert(!ring_push(&ring, 'c'));
    assert(ring_pop(&ring) == 'a');
    assert(ring_pop(&ring) == 'b');
    ring_close(&ring);
}

static void test_clear(void)
{
    struct ring ring;
    assert(ring_open(&ring, 4));
    assert(ring_write(&ring, "abc", 3) == 3);
    ring_clear(&ring);
    assert(ring_room(&ring) == 4);
    ring_close(&ring);
}

int main(void)
{
    test_push_and_pop();
    test_clear();
    puts("ok");
    return 0;
}
