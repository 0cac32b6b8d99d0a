# An unknown directive has one answer.

user
| @tslp please do what I mean
