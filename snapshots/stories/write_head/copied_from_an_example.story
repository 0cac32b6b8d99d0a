# Code that the client's system message shows as an example is nobody's when the model repeats it;
# what the model writes itself is its own.

context system
| Answer with whole files, for instance:
|
| show_greeting.py
| ```
| def greeting():
|     return 'Hey'
| ```
user
| Write a greeting.
model
| show_greeting.py
| ```
| def greeting():
|     return 'Hey'
| ```

user
| No, one of your own.
model
| greet.py
| ```
| def greet():
|     return 'Good evening'
| ```
