# A bare method, by itself no definition of the language, replaces the method that was shown.

user
| ```cpp:src/stock.cpp
| class Stock {
|     int total(int tax) const {
|         return sum(items) + tax;
|     }
|
|     int count(int tax) const {
|         return items.length;
|     }
| };
| ```
| Make `total` round.
model
| Here it is:
| ```cpp
| int total(int tax) const {
|     return round(sum(items) + tax);
| }
| ```
