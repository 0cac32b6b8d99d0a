//! Code that names no file, or a method out of its class: linked by what the model was shown (spec §4.1).

use super::check;

/// The user's class, its file, and a request.
const STOCK: &str = "
        user
        | ```python:stock.py
        | import math
        |
        | class Stock:
        |     def __init__(self, items):
        |         self.items = items
        |
        |     def total(self):
        |         total = 0
        |         for item in self.items:
        |             total += item.price * item.qty
        |         return total
        |
        |     def count(self):
        |         return len(self.items)
        |
        | def load(path):
        |     with open(path) as lines:
        |         return [line.strip() for line in lines]
        | ```
        model
        | Fine.
";

#[track_caller]
fn after_stock(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{STOCK}{story}"));
}

#[test]
fn a_function_without_a_path() {
    after_stock(
        "links__a_function_without_a_path",
        "A fence without a path and without a language: its function is that of the one file that the model was shown.",
        "
        user
        | Make load() skip empty lines.
        model
        | Sure!
        |
        | ```
        | def load(path):
        |     with open(path) as lines:
        |         return [line.strip() for line in lines if line.strip()]
        | ```
        ",
    );
}

#[test]
fn a_whole_file_without_a_path() {
    after_stock(
        "links__a_whole_file_without_a_path",
        "A complete file without a path is that file.",
        "
        user
        | Make count() of stock.py ignore empty items.
        model
        | ```python
        | import math
        |
        | class Stock:
        |     def __init__(self, items):
        |         self.items = items
        |
        |     def total(self):
        |         total = 0
        |         for item in self.items:
        |             total += item.price * item.qty
        |         return total
        |
        |     def count(self):
        |         return len([item for item in self.items if item.qty])
        |
        | def load(path):
        |     with open(path) as lines:
        |         return [line.strip() for line in lines]
        | ```
        ",
    );
}

#[test]
fn a_method_without_its_class() {
    after_stock(
        "links__a_method_without_its_class",
        "A bare method in a fence replaces the method that was shown, with a new one after it; the class stays.",
        "
        user
        | Make `Stock.total` skip what has no price.
        model
        | ```python
        | def total(self):
        |     total = 0
        |     for item in self.items:
        |         if item.price is not None:
        |             total += item.price * item.qty
        |     return total
        |
        | def mean(self):
        |     return self.total() / self.count()
        | ```
        ",
    );
}

#[test]
fn a_method_of_a_class_that_was_not_shown() {
    check(
        "links__a_method_of_a_class_that_was_not_shown",
        "Of two classes' methods of a name one was shown alone: a bare method is that one, and what holds it needn't have been seen.",
        "
        disk stock.py
        | class Stock:
        |     def total(self):
        |         total = 0
        |         for item in self.items:
        |             total += item.price * item.qty
        |         return total
        |
        |     def count(self):
        |         return len(self.items)
        |
        | class Order:
        |     def total(self):
        |         total = 0
        |         for item in self.lines:
        |             total += item.price * item.qty
        |         return total
        user
        | @tslp accept stock.py
        model
        | Fine.
        user
        | Make `Stock.total` skip what has no price.
        model
        | ```python
        | def total(self):
        |     total = 0
        |     for item in self.items:
        |         if item.price is not None:
        |             total += item.price * item.qty
        |     return total
        | ```
        ",
    );
}

#[test]
fn a_method_under_its_entity() {
    after_stock(
        "links__a_method_under_its_entity",
        "Our own template's words name the file: a method below them is that of the class.",
        "
        user
        | Make `Stock.count` return 0 without items.
        model
        | Entity: stock.py::Stock.count
        | Artifact: 0123456789ab
        |
        | ```python
        |     def count(self):
        |         return len(self.items or [])
        | ```
        ",
    );
}

#[test]
fn a_method_of_a_language_with_braces() {
    for (language, path, head) in [
        ("javascript", "src/stock.js", "total(tax)"),
        ("java", "src/Stock.java", "int total(int tax)"),
        ("cpp", "src/stock.cpp", "int total(int tax) const"),
    ] {
        check(
            &format!("links__a_method_of_{language}"),
            "A bare method, by itself no definition of the language, replaces the method that was shown.",
            &format!(
                "
        user
        | ```{language}:{path}
        | class Stock {{
        |     {head} {{
        |         return sum(items) + tax;
        |     }}
        |
        |     {other} {{
        |         return items.length;
        |     }}
        | }}{end}
        | ```
        | Make `total` round.
        model
        | Here it is:
        | ```{language}
        | {head} {{
        |     return round(sum(items) + tax);
        | }}
        | ```
        ",
                other = head.replace("total(", "count("),
                end = if language == "cpp" { ";" } else { "" },
            ),
        );
    }
}

#[test]
fn one_of_several_methods_of_a_name() {
    check(
        "links__one_of_several_methods_of_a_name",
        "Of several methods of a name a bare one is that with its head; one whose head is new is none of them.",
        "
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
        ",
    );
}

#[test]
fn an_edit_without_a_path() {
    after_stock(
        "links__an_edit_without_a_path",
        "A SEARCH/REPLACE block without a path applies to the one file of the conversation that holds its text.",
        "
        user
        | Make load() of stock.py skip empty lines.
        model
        | <<<<<<< SEARCH
        |         return [line.strip() for line in lines]
        | =======
        |         return [line.strip() for line in lines if line.strip()]
        | >>>>>>> REPLACE
        ",
    );
}

#[test]
fn of_two_files_the_one_in_question() {
    check(
        "links__of_two_files_the_one_in_question",
        "Of two files with such a function it is that of the file which the prompt names; without a name it stays open.",
        "
        user
        | ```c:src/a.c
        | static int helper(int x) { return x + 1; }
        | ```
        | ```c:src/b.c
        | static int helper(int x) { return x + 1; }
        | ```
        model
        | Fine.
        new
        user
        | Make helper in src/b.c add 2.
        model
        | ```c
        | static int helper(int x) { return x + 2; }
        | ```
        ",
    );
}

#[test]
fn code_that_was_not_shown() {
    after_stock(
        "links__code_that_was_not_shown",
        "A conversation that has seen nothing of the file: its code is INFERRED, never true.",
        "
        new
        user
        | Write something that loads lines.
        model
        | ```python
        | def load(path):
        |     with open(path) as lines:
        |         return [line.strip() for line in lines if line]
        | ```
        user
        | Thanks.
        ",
    );
}

#[test]
fn a_method_of_an_implementation() {
    check(
        "links__a_method_of_an_implementation",
        "A name with what no identifier holds is read as it was shown, and as people say it; then a bare method is that one.",
        "
        disk src/ring.rs
        | pub struct Ring {
        |     slots: Vec<u32>,
        | }
        | impl fmt::Display for Ring {
        |     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        |         for slot in &self.slots {
        |             write!(f, \"{slot} \")?;
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
        |         write!(f, \"{slot}, \")?;
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
        ",
    );
}

#[test]
fn a_method_that_is_written_anew() {
    after_stock(
        "links__a_method_that_is_written_anew",
        "A bare method that shares few words with the only one of its name that was shown is that one.",
        "
        user
        | Rewrite `Stock.total` with the library.
        model
        | ```python
        | def total(self):
        |     return pricing.evaluate(self.items, currency=pricing.EUR, rounding=pricing.HALF_EVEN)
        | ```
        ",
    );
}

#[test]
fn a_method_with_the_head_of_one() {
    check(
        "links__a_method_with_the_head_of_one",
        "Two methods of a name were shown, and one is so short that any code holds its words: the head that comes back tells which is meant.",
        "
        disk stock.py
        | class Stock:
        |     def total(self, skip):
        |         total = 0
        |         for item in self.items:
        |             if item not in skip:
        |                 total += item.price * item.qty
        |         return total
        |
        | class Order:
        |     def total(self):
        |         return self.total
        user
        | @tslp accept stock.py
        model
        | Fine.
        user
        | Look at `Order.total`, and make `Stock.total` skip what has no price.
        model
        | ```python
        | def total(self, skip):
        |     total = 0
        |     for item in self.items:
        |         if item not in skip and item.price is not None:
        |             total += item.price * item.qty
        |     return total
        | ```
        ",
    );
}

#[test]
fn the_only_definition_of_a_file() {
    check(
        "links__the_only_definition_of_a_file",
        "A fence without a path that holds the only definition of a file isn't the file: its imports stay.",
        "
        disk stock.py
        | import math
        |
        | def total(items):
        |     total = 0
        |     for item in items:
        |         total += math.floor(item.price * item.qty)
        |     return total
        user
        | @tslp accept stock.py
        model
        | Fine.
        user
        | Make `total` in stock.py skip what has no price.
        model
        | ```python
        | def total(items):
        |     total = 0
        |     for item in items:
        |         if item.price is not None:
        |             total += math.floor(item.price * item.qty)
        |     return total
        | ```
        ",
    );
}

/// A method and a function of one name.
const WRAPPER: &str = "
        user
        | ```python:wrap.py
        | import re
        |
        | class Wrapper:
        |     def split(self, text):
        |         return text.split()
        |
        |     def fill(self, text):
        |         if text is None:
        |             return ''
        |         parts = self.split(text)
        |         return ' '.join(parts)
        |
        | def fill(text, width=70):
        |     if width < 1:
        |         raise ValueError(width)
        |     return Wrapper().fill(text)[:width]
        | ```
        model
        | Fine.
";

#[test]
fn a_method_with_the_name_of_a_function() {
    check(
        "links__a_method_with_the_name_of_a_function",
        "A bare method isn't taken for the file's function of its name: its head and its words say which it is.",
        &format!(
            "{WRAPPER}
        user
        | Make `Wrapper.fill` trace its parts.
        model
        | ```python:wrap.py
        | def fill(self, text):
        |     if text is None:
        |         return ''
        |     parts = self.split(text)
        |     trace(parts)
        |     return ' '.join(parts)
        | ```
        user
        | And let `fill` count them.
        model
        | ```python:wrap.py
        | def fill(text, width=70, count=None):
        |     if width < 1:
        |         raise ValueError(width)
        |     filled = Wrapper().fill(text)[:width]
        |     count(filled)
        |     return filled
        | ```
        "
        ),
    );
}

#[test]
fn a_whole_file_after_a_part() {
    check(
        "links__a_whole_file_after_a_part",
        "A file of which the model has replaced a part is listed whole: what it leaves as it is needn't be shown again.",
        "
        disk a.py
        | import logging
        |
        | LIMIT = 3
        |
        | def alpha(a):
        |     if a < 0:
        |         return 0
        |     return a * 2
        |
        | def beta(a):
        |     if a < 0:
        |         return 0
        |     return a * 3
        user
        | What does this do?
        | ```python:a.py
        | import logging
        |
        | LIMIT = 3
        |
        | def alpha(a):
        |     if a < 0:
        |         return 0
        |     return a * 2
        |
        | def beta(a):
        |     if a < 0:
        |         return 0
        |     return a * 3
        | ```
        model
        | It multiplies.
        user
        | Add a log to `beta`.
        model
        | ```python:a.py
        | def beta(a):
        |     if a < 0:
        |         return 0
        |     logging.info('beta %s', a)
        |     return a * 3
        | ```
        disk a.py
        | import logging
        |
        | LIMIT = 3
        |
        | def alpha(a):
        |     if a < 0:
        |         return 0
        |     return a * 2
        |
        | def beta(a):
        |     if a < 0:
        |         return 0
        |     logging.info('beta %s', a)
        |     return a * 3
        user
        | One more. Give me the whole file a.py.
        model
        | ```python:a.py
        | import logging
        |
        | LIMIT = 3
        |
        | def alpha(a):
        |     if a < 0:
        |         return 0
        |     return a * 2
        |
        | def beta(a):
        |     if a < 0:
        |         return 0
        |     logging.info('beta %s', a)
        |     logging.info('again')
        |     return a * 3
        | ```
        ",
    );
}

#[test]
fn a_comment_that_the_reply_leaves_out() {
    check(
        "links__a_comment_that_the_reply_leaves_out",
        "A function by itself replaces the function: the comment above it stays, as in the file of a user who puts it there.",
        "
        user
        | ```go:a.go
        | package a
        |
        | import \"log\"
        |
        | // beta returns the second.
        | // It is slow.
        | func beta(a int) int {
        |     if a < 0 {
        |         return 0
        |     }
        |     return a * 2
        | }
        |
        | func gamma(a int) int {
        |     return a
        | }
        | ```
        model
        | Fine.
        user
        | Add a log to `beta`.
        model
        | ```go:a.go
        | func beta(a int) int {
        |     if a < 0 {
        |         return 0
        |     }
        |     log.Print(a)
        |     return a * 2
        | }
        | ```
        disk a.go
        | package a
        |
        | import \"log\"
        |
        | // beta returns the second.
        | // It is slow.
        | func beta(a int) int {
        |     if a < 0 {
        |         return 0
        |     }
        |     log.Print(a)
        |     return a * 2
        | }
        |
        | func gamma(a int) int {
        |     return a
        | }
        user
        | Now log it twice.
        model
        | ```go:a.go
        | func beta(a int) int {
        |     if a < 0 {
        |         return 0
        |     }
        |     log.Print(a)
        |     log.Print(a)
        |     return a * 2
        | }
        | ```
        ",
    );
}

#[test]
fn a_class_is_not_its_constructor() {
    check(
        "links__a_class_is_not_its_constructor",
        "A class in a fence that has a constructor of its name replaces the class.",
        "
        user
        | ```java:Foo.java
        | package shop;
        |
        | class Foo {
        |     int a;
        |     Foo() { a = 1; }
        |     int get() { return old(a); }
        | }
        | ```
        model
        | Fine.
        user
        | Let `Foo` implement Bar and get be fresh.
        model
        | ```java:Foo.java
        | class Foo implements Bar {
        |     int a;
        |     Foo() { a = 1; }
        |     int get() { return fresh(a); }
        | }
        | ```
        ",
    );
}

#[test]
fn a_comment_that_is_to_go() {
    check(
        "links__a_comment_that_is_to_go",
        "The comment above a function is to be deleted: it goes, and the function is as the reply has it.",
        "
        user
        | ```python:a.py
        | import log
        |
        | # It is slow.
        | def beta(a):
        |     return a * 2
        |
        | def gamma(a):
        |     return a
        | ```
        model
        | Fine.
        user
        | Delete the comment above `beta` and let it log.
        model
        | ```python:a.py
        | def beta(a):
        |     log.info(a)
        |     return a * 2
        | ```
        ",
    );
}

/// Two classes that have a method of one name.
const TWO_CLASSES: &str = "
        disk shop.py
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        |
        |     def names(self):
        |         return [item.name for item in self.items]
        |
        | class Basket:
        |     def total(self, tax):
        |         result = 1
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        user
        | @tslp accept shop.py
        model
        | Noted.
";

#[test]
fn a_method_named_with_its_class() {
    check(
        "links__a_method_named_with_its_class",
        "The prompt or the heading names a method with its class: code under it isn't that of another class which was shown, not even where \\
         disk has changed the one that is meant.",
        &format!(
            "{TWO_CLASSES}
        user
        | What does shop.py::Basket.total do?
        model
        | It counts.
        disk shop.py
        | class Cart:
        |     def total(self, tax):
        |         result = 0
        |         for item in self.items:
        |             result += item.price * tax * 2
        |         return result
        |
        |     def names(self):
        |         return [item.name for item in self.items]
        |
        | class Basket:
        |     def total(self, tax):
        |         result = 1
        |         for item in self.items:
        |             result += item.price * tax
        |         return result
        user
        | Round shop.py::Cart.total, please.
        model
        | shop.py::Cart.total
        | ```python
        | def total(self, tax):
        |     result = 0
        |     for item in self.items:
        |         result += item.price * tax
        |     return round(result)
        | ```
        user
        | Round shop.py::Basket.total, please.
        model
        | ```python
        | def total(self, tax):
        |     result = 1
        |     for item in self.items:
        |         result += item.price * tax
        |     return round(result)
        | ```
        "
        ),
    );
}

#[test]
fn a_method_whose_name_the_first_ones_class_has() {
    check(
        "links__a_method_whose_name_the_first_ones_class_has",
        "Two methods in one fence: the second is another class's, though the first one's class has one of its name, with the same text.",
        "
        disk lib/q.py
        | class Queue:
        |     def full(self):
        |         with self.mutex:
        |             return 0 < self.maxsize <= self._qsize()
        |     def _put(self, item):
        |         self.queue.append(item)
        | class HeapQueue(Queue):
        |     def _put(self, item):
        |         heappush(self.queue, item)
        | class LifoQueue(Queue):
        |     def _put(self, item):
        |         self.queue.append(item)
        user
        | @tslp accept lib/q.py
        model
        | Noted.
        user
        | Change `Queue.full` and `LifoQueue._put` in lib/q.py.
        model
        | lib/q.py
        | ```python
        | def full(self):
        |     with self.mutex:
        |         size = self._qsize()
        |         return 0 < self.maxsize <= size
        | def _put(self, item):
        |     self.queue.append((item, 1))
        | ```
        user
        | Improve lib/q.py.
        model
        | lib/q.py
        | ```python
        | def full(self):
        |     with self.mutex:
        |         return 0 < self.maxsize <= self._qsize() + 1
        | def _put(self, item):
        |     heappush(self.queue, (item, 1))
        | ```
        ",
    );
}

#[test]
fn a_path_without_its_first_folders() {
    check(
        "links__a_path_without_its_first_folders",
        "A path that lacks the folders in front of it is the known file that ends in it, if the block defines what that does.",
        "
        disk packages/ai/src/a.c
        | int clamp(int x) {
        |     if (x < 0) return 0;
        |     return x;
        | }
        user
        | @tslp accept packages/ai/src/a.c
        model
        | Noted.
        user
        | Let `clamp` in packages/ai/src/a.c return one.
        model
        | src/a.c
        | ```c
        | int clamp(int x) {
        |     return x;
        | }
        | ```
        model
        | src/a.c
        | ```c
        | int clamp(int x) {
        |     if (x < 0) return 1;
        |     return x;
        | }
        | ```
        user
        | And write another one.
        model
        | src/a.c
        | ```c
        | int twice(int x) { return x + x; }
        | ```
        ",
    );
}

#[test]
fn methods_that_stand_in_classes_alone() {
    check(
        "links__methods_that_stand_in_classes_alone",
        "Methods of two classes in one fence, in languages in which a method is nothing outside of a class: each goes into its own.",
        "
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
        ",
    );
}

#[test]
fn methods_of_two_classes() {
    check(
        "links__methods_of_two_classes",
        "Two methods in one fence go each into its own class.",
        &format!(
            "{TWO_CLASSES}
        user
        | Sort what shop.py::Cart.names gives, and round shop.py::Basket.total.
        model
        | shop.py
        | ```python
        | def total(self, tax):
        |     result = 1
        |     for item in self.items:
        |         result += item.price * tax
        |     return round(result)
        |
        | def names(self):
        |     return sorted(item.name for item in self.items)
        | ```
        "
        ),
    );
}

#[test]
fn a_new_method_in_front() {
    check(
        "links__a_new_method_in_front",
        "What a method leaves to a new one may stand in front of it; the comment stays above its method.",
        "
        user
        | form.py
        | ```python
        | class Form:
        |     def __init__(self):
        |         self.params = {}
        |
        |     # Reads what a browser sent.
        |     def parse(self, raw):
        |         if not raw:
        |             raise ValueError('empty')
        |         params = {}
        |         for pair in raw.split('&'):
        |             key, _, value = pair.partition('=')
        |             params[key] = value.strip()
        |         self.params = params
        |         return params
        | ```
        | Improve `parse`.
        model
        | form.py
        | ```python
        |     def _read_pairs(self, raw):
        |         params = {}
        |         for pair in raw.split('&'):
        |             key, _, value = pair.partition('=')
        |             params[key] = value.strip()
        |         return params
        |
        |     def parse(self, raw):
        |         if not raw:
        |             raise ValueError('empty')
        |         self.params = self._read_pairs(raw)
        |         return self.params
        | ```
        user
        | Show me `parse`.
        ",
    );
}

#[test]
fn a_method_whose_comment_stays_in_the_class() {
    check(
        "links__a_method_whose_comment_stays_in_the_class",
        "A method that begins at the margin, without the comment above it, is as far in as the class has it.",
        "
        user
        | stock.py
        | ```python
        | class Stock:
        |     # Sums up.
        |     def total(self):
        |         result = 0
        |         for item in self.items:
        |             result += item.price
        |         return result
        | ```
        | Let `Stock.total` begin with one.
        model
        | stock.py
        | ```python
        | def total(self):
        |     result = 1
        |     for item in self.items:
        |         result += item.price
        |     return result
        | ```
        user
        | Show me `Stock`.
        ",
    );
}

const TWO_FILES: &str = "
        disk timeline.py
        | # hours.py
        | DAY = 24
        |
        | def clock(minutes):
        |     if minutes < 0:
        |         raise ValueError('no time')
        |     return f'{minutes // 60}:{minutes % 60}'
        disk table.py
        | def widths(rows):
        |     sizes = []
        |     for row in rows:
        |         sizes.append(max(len(cell) for cell in row))
        |     return sizes
        command accept timeline.py
        command accept table.py
        user
        | Let `clock` refuse minutes of the next day, and `widths` count 3 at least.
";

#[track_caller]
fn of_two_files(name: &str, about: &str, story: &str) {
    check(name, about, &format!("{TWO_FILES}{story}"));
}

#[test]
fn two_files_under_comments() {
    of_two_files(
        "links__two_files_under_comments",
        "A comment line that is a path begins that file's code; one that the file above it has as well begins nothing.",
        "
        model
        | ```python
        | # timeline.py
        | # A day has hours.
        |
        | # hours.py
        | DAY = 24
        |
        | def clock(minutes):
        |     if minutes < 0 or minutes >= DAY * 60:
        |         raise ValueError('no time')
        |     return f'{minutes // 60}:{minutes % 60}'
        |
        | # ---- table.py ----
        | def widths(rows):
        |     sizes = []
        |     for row in rows:
        |         sizes.append(max(3, max(len(cell) for cell in row)))
        |     return sizes
        | ```
        ",
    );
}

#[test]
fn two_files_without_a_path() {
    of_two_files(
        "links__two_files_without_a_path",
        "Without a path each definition goes to the known file that has it, and a new one beside them to none.",
        "
        model
        | ```python
        | def clock(minutes):
        |     if minutes < 0 or minutes >= DAY * 60:
        |         raise ValueError('no time')
        |     return f'{minutes // 60}:{minutes % 60}'
        |
        | def widths(rows):
        |     sizes = []
        |     for row in rows:
        |         sizes.append(max(3, max(len(cell) for cell in row)))
        |     return sizes
        |
        | def helper(rows):
        |     return [row for row in rows if row]
        | ```
        ",
    );
}

#[test]
fn beside_another_files_definition() {
    of_two_files(
        "links__beside_another_files_definition",
        "Below one file's path another file's function is that file's, as it is like it and was shown.",
        "
        model
        | timeline.py
        | ```python
        | def clock(minutes):
        |     if minutes < 0 or minutes >= DAY * 60:
        |         raise ValueError('no time')
        |     return f'{minutes // 60}:{minutes % 60}'
        |
        | def widths(rows):
        |     sizes = []
        |     for row in rows:
        |         sizes.append(max(3, max(len(cell) for cell in row)))
        |     return sizes
        | ```
        ",
    );
}
