# An edit of a file of which nothing is known.
law 12 | Nothing of the file is known | base_unknown

user
| Fix lib/other.c
model
| lib/other.c
| ```c
| <<<<<<< SEARCH
| int x = 1;
| =======
| int x = 2;
| >>>>>>> REPLACE
| ```

user
| Again.
