# A field of a struct is gone beside another change.
law 7 | Nothing is gone that nobody asked to take out and that is nowhere else in the reply: a check, a loop, a handler, a branch, the end, a decorator, a fifth of the code, a field, an import that is used | code_kept, removed_unasked

user
| ```c:src/b.c
| #include <stdio.h>
| #include <string.h>
|
| struct Job {
|     int id;
|     int state;
|     const char *name;
| };
|
| int run(struct Job *job, int limit) {
|     int count = strlen(job->name);
|     if (count > limit) {
|         printf("%d is too long", job->id);
|         return -1;
|     } else {
|         job->state = count;
|     }
|     prepare(job, limit);
|     finish(job, count);
|     return count;
| }
| ```
model
| ```c:src/b.c
| struct Job {
|     long id;
|     const char *name;
| };
| ```
