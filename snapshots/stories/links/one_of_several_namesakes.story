# Of several methods of a name a bare one is that with its head; one whose head is new is none of
# them.

disk src/Box.java
| class Box {
|     int size;
|
|     Box(int size) {
|         this.size = size;
|     }
|
|     Box(int width, int height) {
|         this.size = width * height;
|     }
| }
user
| @tslp accept src/Box.java
model
| Noted.

user
| Let `Box.Box` in src/Box.java keep sizes positive.
model
| ```java
| Box(int width, int height) {
|     this.size = Math.abs(width * height);
| }
| ```

user
| Let `Box.Box` in src/Box.java take a long, too.
model
| ```java
| Box(long size) {
|     this.size = size;
| }
| ```
