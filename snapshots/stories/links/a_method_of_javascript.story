# A bare method, by itself no definition of the language, replaces the method that was shown.
law 4.1 (1) | A method out of its class that defines just that in the method's place: CONFIRMED | edit_applied

user
| ```javascript:src/stock.js
| class Stock {
|     total(tax) {
|         return sum(items) + tax;
|     }
|
|     count(tax) {
|         return items.length;
|     }
| }
| ```
| Make `total` round.
model
| Here it is:
| ```javascript
| total(tax) {
|     return round(sum(items) + tax);
| }
| ```
