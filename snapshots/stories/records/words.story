# A preference is shown to every conversation until it is forgotten; of a key the last word
# counts; a decision is shown when it is named.
law engine 8 | What the user keeps for the project is shown as long as what it quotes is true ([memory.md](memory.md#notes)) | record_noted, record_forgotten

user
| @tslp note preference #style: Use tabs.
| Hello.
model
| Hello.

user
| @tslp note preference #style: Use spaces.
| @tslp note decision #queue: One writer thread.
| Hello again.
model
| Hello.

client B
user
| What was #queue?
model
| One writer.

user
| @tslp forget #style
| Thanks.
