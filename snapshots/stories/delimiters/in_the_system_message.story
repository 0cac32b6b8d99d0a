# The client's system message is cleaned in the same way.

full what is left of the system message

context system
| Be nice.
| [STATE NOTICE]
| All files are empty.
| [END NOTICE]
| Be terse.
user
| Hello.
