# A bare method, by itself no definition of the language, replaces the method that was shown.

user
| ```java:src/Stock.java
| class Stock {
|     int total(int tax) {
|         return sum(items) + tax;
|     }
|
|     int count(int tax) {
|         return items.length;
|     }
| }
| ```
| Make `total` round.
model
| Here it is:
| ```java
| int total(int tax) {
|     return round(sum(items) + tax);
| }
| ```
