# A block does nothing where it did something.
law 7, engine 5 | No remark, in whatever words, no statement that only ends or fails, and no call that passes nothing on takes the place of code | code_kept, stub_in_place

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
| int run(struct Job *job, int limit) {
|     int count = strlen(job->name);
|     if (count > limit) {
|     } else {
|         job->state = count;
|     }
|     prepare(job, limit);
|     finish(job, count);
|     return count;
| }
| ```
