# A function and the macro that stands for it in the other branch of an `#ifdef`: the function
# alone is changed.

user
| ```c:src/a.c (10-20)
| #ifndef NDEBUG
| static void check_info(int *at){
|     int info = *at;
|     assert( info > 0 );
| }
| #else
| #define check_info(x)
| #endif
| ```
| Let `check_info` allow zero.
model
| ```c:src/a.c
| static void check_info(int *at){
|     int info = *at;
|     assert( info >= 0 );
| }
| ```

user
| Show me `check_info`
