//! The `tslp` binary.

fn main() {}
