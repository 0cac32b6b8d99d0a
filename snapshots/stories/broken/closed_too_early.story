# The user's slip closes a class too early: its other methods aren't functions of the file, nor gone;
# mended, all is as it was.
law 9.2 | A broken file takes symbols away and creates none; its next sound state is true

disk src/Pile.java
| class Pile {
|     int drop(int part) {
|         if (part > 0) {
|             part--;
|         }
|         return part;
|     }
|
|     int weight(int part) {
|         return part * 2;
|     }
| }
user
| ```java:src/Pile.java
| class Pile {
|     int drop(int part) {
|         if (part > 0) {
|             part--;
|         }
|         return part;
|     }
|
|     int weight(int part) {
|         return part * 2;
|     }
| }
| ```
model
| Fine.

disk src/Pile.java
| class Pile {
|     int drop(int part) {
|         if (part > 0) {
|             part--;
|         }}
|         return part;
|     }
|
|     int weight(int part) {
|         return part * 2;
|     }
| }
user
| What does weight() do?
model
| It doubles.

disk src/Pile.java
| class Pile {
|     int drop(int part) {
|         if (part > 0) {
|             part--;
|         }
|         return part;
|     }
|
|     int weight(int part) {
|         return part * 2;
|     }
| }
user
| And drop()?
