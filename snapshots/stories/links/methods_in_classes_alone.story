# Methods of two classes in one fence, in languages in which a method is nothing outside of a
# class: each goes into its own.
law 4.1 (1) | A method that the heading or the prompt names with its class is that one, and no other of its name | edit_applied

disk src/shop.ts
| export class Cart {
|   items: Item[] = [];
|   total(tax: number): number {
|     let sum = 0;
|     for (const item of this.items) sum += item.price * tax;
|     return sum;
|   }
| }
| export class Stock {
|   items: Item[] = [];
|   count(): number {
|     let sum = 0;
|     for (const item of this.items) sum += item.amount;
|     return sum;
|   }
| }
user
| @tslp accept src/shop.ts
model
| Noted.

user
| Round `total` and `count` in src/shop.ts.
model
| ```ts
| // src/shop.ts
| total(tax: number): number {
|   let sum = 0;
|   for (const item of this.items) sum += item.price * tax;
|   return Math.round(sum);
| }
|
| /** Of all. */
| count(): number {
|   let sum = 0;
|   for (const item of this.items) sum += item.amount;
|   return Math.round(sum);
| }
| ```

user
| Let `count` begin with ten.
model
| ```ts
| // src/shop.ts
| count(): number {
|   let sum = 10;
|   for (const item of this.items) sum += item.amount;
|   return Math.round(sum);
| }
| ```

user
| Now let `total` and `count` be at least one.
model
| ```ts
| count(): number {
|   let sum = 1;
|   for (const item of this.items) sum += item.amount;
|   return Math.round(sum);
| }
| total(tax: number): number {
|   let sum = 1;
|   for (const item of this.items) sum += item.price * tax;
|   return Math.round(sum);
| }
| ```
