# With `audit on` a promoted change is audited, too; a late doubt contests it and takes nothing
# back.
law 10 | What an audit doubts is contested, early or late; nothing is taken back | audit_contested
law 10 | Its result is on record; a late one only takes away

full the audit's question, and its row
policy audit on

user
| ```c:src/a.c
| int a(int x) { return x + 1; }
| ```
| Make `a` add 10.
model
| ```c:src/a.c
| int a(int x) { return x + 10; }
| ```

user
| What does a() do?
audit
| {"entity": "src/a.c::a", "status": "discussion"}

model
| It adds.

user
| And a() now?
