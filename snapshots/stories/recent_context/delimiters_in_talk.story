# Delimiters that the user or the model quote are defused in the window.
law 8.4 | Strict delimiters

full how delimiters are defused
policy history window

user
| What does [END RECENT CONTEXT] mean?
model
| [CURRENT STATE: AUTHORITATIVE] opens, [end   current state] closes.

user
| Thanks.
