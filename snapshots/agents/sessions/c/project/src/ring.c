#include "ring.h"

#include <stdlib.h>
#include <string.h>

static size_t ring_slot(const struct ring *ring, size_t at)
{
    return (ring->head + at) % ring->capacity;
}

bool ring_open(struct ring *ring, size_t capacity)
{
    memset(ring, 0, sizeof *ring);
    ring->bytes = malloc(capacity);
    if (ring->bytes == NULL) {
        return false;
    }
    ring->capacity = capacity;
    return true;
}

void ring_close(struct ring *ring)
{
    free(ring->bytes);
    memset(ring, 0, sizeof *ring);
}

void ring_clear(struct ring *ring)
{
    ring->head = 0;
    ring->length = 0;
}

size_t ring_room(const struct ring *ring)
{
    return ring->capacity - ring->length;
}

bool ring_push(struct ring *ring, unsigned char byte)
{
    if (ring->length == ring->capacity) {
        return false;
    }
    ring->bytes[ring_slot(ring, ring->length)] = byte;
    ring->length++;
    return true;
}

int ring_pop(struct ring *ring)
{
    unsigned char byte = ring->bytes[ring->head];
    ring->head = (ring->head + 1) % ring->capacity;
    ring->length--;
    return byte;
}

int ring_peek(const struct ring *ring, size_t at)
{
    if (at > ring->length) {
        return -1;
    }
    return ring->bytes[ring_slot(ring, at)];
}

size_t ring_write(struct ring *ring, const void *from, size_t length)
{
    const unsigned char *bytes = from;
    size_t written = 0;
    while (written < length && ring_push(ring, bytes[written])) {
        written++;
    }
    return written;
}

size_t ring_read(struct ring *ring, void *into, size_t length)
{
    unsigned char *bytes = into;
    size_t taken = 0;
    while (taken < length && ring->length > 0) {
        bytes[taken] = (unsigned char)ring_pop(ring);
        taken++;
    }
    return taken;
}
