# Plain talk, a shell block and an output block: nothing to resolve, no notice.

user
| How do I build it?
model
| Run this:
| ```sh
| make -j2
| ```
| It prints
| ```
| ok
| ```

user
| Thanks.
