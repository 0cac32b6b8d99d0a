# An agent writes the whole file with the name that the user asked for: the old name is
# tombstoned. Nobody asked for the next one, so that is refused.
law 9.2, 12 | What the user asks to remove, rename or move, and an edit spells out or a listing leaves out of all that was around it, is tombstoned; anything else that it takes away is refused | omitted_by_update

disk src/m.rs
| fn add(left: u32, right: u32) -> u32 {
|     left + right
| }
touch
tools
user
| @tslp accept src/m.rs
| `add` in src/m.rs should be called `plus`.
call write
| {"path": "src/m.rs", "content": "fn plus(left: u32, right: u32) -> u32 {\n    left + right\n}\n"}
model
| I write it.

disk src/m.rs
| fn plus(left: u32, right: u32) -> u32 {
|     left + right
| }
context tool
| Written.
again
model
| Done.

user
| Document `plus`.
call write
| {"path": "src/m.rs", "content": "/// Adds.\nfn sum(left: u32, right: u32) -> u32 {\n    left + right\n}\n"}
model
| I write it.
