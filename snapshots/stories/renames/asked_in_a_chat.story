# A rename that the user asks for comes back as a listing: the old name goes, and there is nothing
# left to confirm.
law 9.2, 12 | What the user asks to remove, rename or move, and an edit spells out or a listing leaves out of all that was around it, is tombstoned; anything else that it takes away is refused | omitted_by_update

disk src/m.rs
| fn add(left: u32, right: u32) -> u32 {
|     left + right
| }
touch
user
| @tslp accept src/m.rs
| Rename `add` in src/m.rs to `plus`.
model
| ```rust:src/m.rs
| fn plus(left: u32, right: u32) -> u32 {
|     left + right
| }
| ```

disk src/m.rs
| fn plus(left: u32, right: u32) -> u32 {
|     left + right
| }
user
| Is `add` still there?
model
| It is called `plus` now.

user
| @tslp confirm src/m.rs::plus
