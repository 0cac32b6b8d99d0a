# Two windows with the same opening and the same reply don't mix.
law engine 7 | An edited or regenerated turn forks a session; two windows with one opening don't mix

user
| Hello.
model
| Hi.

client B
user
| Hello.
model
| Hi.

client A
user
| I am A.
model
| Hi A.

client B
user
| I am B.
model
| Hi B.

client A
user
| Who am I?
client B
user
| Who am I?
