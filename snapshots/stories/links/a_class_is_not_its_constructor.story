# A class in a fence that has a constructor of its name replaces the class.

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
