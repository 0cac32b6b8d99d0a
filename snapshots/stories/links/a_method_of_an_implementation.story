# A name with what no identifier holds is read as it was shown, and as people say it; then a bare
# method is that one.

disk src/ring.rs
| pub struct Ring {
|     slots: Vec<u32>,
| }
| impl fmt::Display for Ring {
|     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
|         for slot in &self.slots {
|             write!(f, "{slot} ")?;
|         }
|         Ok(())
|     }
| }
| impl Error for Ring {
|     fn source(&self) -> Option<&(dyn Error + 'static)> {
|         None
|     }
| }
disk src/cart.js
| class Cart {
|   #total(items) {
|     let sum = 0;
|     for (const item of items) sum += item.price;
|     return sum;
|   }
|   total() { return this.#total(this.items); }
| }
user
| @tslp accept src/ring.rs
| @tslp accept src/cart.js
model
| Fine.

user
| Put commas in `<Ring as fmt::Display>::fmt`.
model
| ```rust
| fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
|     for slot in &self.slots {
|         write!(f, "{slot}, ")?;
|     }
|     Ok(())
| }
| ```

user
| And what does `Ring::source` say?
model
| Nothing.

user
| Let `Cart.#total` skip what has no price.
model
| ```
| #total(items) {
|   let sum = 0;
|   for (const item of items) if (item.price) sum += item.price;
|   return sum;
| }
| ```

new
user
| What does `#total` do?
