//! Extraction of definitions, seen from outside.

mod shown;

mod c;
