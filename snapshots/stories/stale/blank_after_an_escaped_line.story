# A blank behind a macro's backslash cuts the macro off, and is no difference of the file as a
# whole: the file isn't shown where its macro is withheld.
law 15.6 | A file isn't shown while a definition of it is withheld | stale

policy profile strict

disk a.h
| int a;
| #define M(x) \
|   f(x)
user
| ```c:a.h
| int a;
| #define M(x) \
|   f(x)
| ```
model
| Fine.

disk a.h
| int a;
| #define M(x) \ 
|   f(x)
user
| Look at a.h
model
| Fine.

user
| Look at a.h alone
