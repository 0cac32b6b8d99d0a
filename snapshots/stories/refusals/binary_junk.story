# Junk in a fence with a path: UNRESOLVED.

user
| ```c:src/a.c
| ��}}}{{{ ((( 
| ```
