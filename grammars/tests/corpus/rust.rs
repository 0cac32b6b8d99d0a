//! A ring buffer. fn not_me() {}
#![allow(dead_code)]

use std::fmt;
mod other;

/// Largest ring.
pub const CAPACITY_MAX: usize = 1 << 20;
static NAMES: &[&str] = &["}", r#"fn fake() { "# , "\""];

#[derive(Clone, Debug)]
pub struct Ring<'a, T: Into<Vec<u8>>> {
    items: Vec<T>,
    name: &'a str,
}

pub struct Unit;
pub(crate) struct Pair(u32, [u8; 2]);

pub enum Brace { Open = b'{' as isize, Close = '}' as isize }

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

impl<'a, T: Into<Vec<u8>>> Ring<'a, T> {
    pub const EMPTY: usize = 0;

    /// Makes a ring.
    #[must_use]
    pub const fn new(name: &'a str) -> Self {
        fn inner() {}
        Self { items: Vec::new(), name }
    }

    pub async unsafe fn push<U>(&mut self, item: U) -> Result<()>
    where
        U: Into<T>,
    {
        /* nested /* comment { */ } */
        self.items.push(item.into());
        Ok(())
    }
}

impl<'a, T: Into<Vec<u8>>> fmt::Display for Ring<'a, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.name)
    }
}

impl From<[u8; 2]> for Pair { fn from(bytes: [u8; 2]) -> Self { todo!() } }
unsafe impl Send for Unit {}

pub trait Shape {
    const SIDES: u32;
    fn area(&self) -> f64;
    fn name(&self) -> String { String::from("shape") }
}

macro_rules! square {
    ($x:expr) => { $x * $x };
}

#[cfg(unix)]
fn platform() -> char { '\'' }
#[cfg(windows)]
fn platform() -> char { '"' }

extern "C" {
    fn strlen(text: *const u8) -> usize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(square!(2), 4);
    }
}
