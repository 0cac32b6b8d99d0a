#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>

/* A byte ring of fixed capacity. */
struct ring {
    unsigned char *bytes;
    size_t capacity;
    size_t head;
    size_t length;
};

bool ring_open(struct ring *ring, size_t capacity);
void ring_close(struct ring *ring);
void ring_clear(struct ring *ring);
size_t ring_room(const struct ring *ring);
bool ring_push(struct ring *ring, unsigned char byte);
int ring_pop(struct ring *ring);
int ring_peek(const struct ring *ring, size_t at);
size_t ring_write(struct ring *ring, const void *from, size_t length);
size_t ring_read(struct ring *ring, void *into, size_t length);

#endif
