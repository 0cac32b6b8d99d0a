//! Lists of words and phrases that are kept as text files next to the code: one entry a line, `#` begins a remark.

/// The entries of a list, in its order.
pub fn entries(list: &str) -> impl Iterator<Item = &str> {
    let lines = list.lines().map(str::trim_end);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}
