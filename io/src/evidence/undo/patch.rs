//! Patches as `git apply` and `patch -p1` take them.

use std::io::Write as _;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// Most edits that are looked for between two texts; with more, all between the first and the last one is replaced.
const EDITS_MAX: usize = 2_000;

/// The patch that makes a file of these bytes one of those; `None` is no file.
pub(super) fn file_patch(path: &str, from: Option<&[u8]>, to: Option<&[u8]>) -> Vec<u8> {
    let mut patch = Vec::new();
    let (old_name, new_name) = (quoted("a/", path), quoted("b/", path));
    let mut line = |text: String| writeln!(patch, "{text}").expect("memory takes it");
    line(format!("diff --git {old_name} {new_name}"));
    match (from, to) {
        (None, _) => line("new file mode 100644".into()),
        (_, None) => line("deleted file mode 100644".into()),
        _ => {}
    }
    let old: Vec<&[u8]> = lines_of(from.unwrap_or_default());
    let new: Vec<&[u8]> = lines_of(to.unwrap_or_default());
    let hunks = hunks(&old, &new);
    if !hunks.is_empty() {
        let named = |file: Option<&[u8]>, name: &str| match file {
            Some(_) => name.to_owned(),
            None => "/dev/null".to_owned(),
        };
        line(format!("--- {}", named(from, &old_name)));
        line(format!("+++ {}", named(to, &new_name)));
    }
    for hunk in hunks {
        patch.extend_from_slice(&hunk);
    }
    patch
}

/// A path as git writes it: in quotes if it holds anything unusual.
fn quoted(side: &str, path: &str) -> String {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b'\\');
    if path.bytes().all(is_plain) {
        return format!("{side}{path}");
    }
    let mut text = format!("\"{side}");
    for byte in path.bytes() {
        match byte {
            byte if is_plain(byte) => text.push(char::from(byte)),
            byte => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text + "\""
}

/// Lines with their ends.
fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Which lines are kept, as pairs of their positions, in order.
fn kept_lines(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let same_ahead = old
        .iter()
        .zip(new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old_rest, new_rest) = (&old[same_ahead..], &new[same_ahead..]);
    let behind = old_rest.iter().rev().zip(new_rest.iter().rev());
    let same_behind = behind.take_while(|(old, new)| old == new).count();
    let middle = common(
        &old_rest[..old_rest.len() - same_behind],
        &new_rest[..new_rest.len() - same_behind],
    );
    let ahead = (0..same_ahead).map(|at| (at, at));
    let middle = middle
        .into_iter()
        .map(|(one, two)| (one + same_ahead, two + same_ahead));
    let behind = (0..same_behind)
        .rev()
        .map(|back| (old.len() - 1 - back, new.len() - 1 - back));
    ahead.chain(middle).chain(behind).collect()
}

/// A longest common subsequence by Myers' algorithm; none if it takes too many edits.
fn common(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize)> {
    let most = (old.len() + new.len()).min(EDITS_MAX);
    // The furthest position in `old` on each diagonal `x - y`, shifted so that none is negative.
    let mut furthest = vec![0_usize; 2 * most + 3];
    let mut steps: Vec<Vec<usize>> = Vec::new();
    let middle = most + 1;
    for edits in 0..=most {
        steps.push(furthest.clone());
        for diagonal in (middle - edits..=middle + edits).step_by(2) {
            let down = diagonal == middle - edits
                || diagonal != middle + edits && furthest[diagonal - 1] < furthest[diagonal + 1];
            let mut x = if down {
                furthest[diagonal + 1]
            } else {
                furthest[diagonal - 1] + 1
            };
            // Beyond both texts' ends there is nothing to follow.
            let Some(mut y) = (x + middle).checked_sub(diagonal) else {
                continue;
            };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[diagonal] = x;
            if x >= old.len() && y >= new.len() {
                return traced_back(&steps, middle, (old.len(), new.len()));
            }
        }
    }
    Vec::new()
}

/// The lines kept on the way that led to the end.
fn traced_back(
    steps: &[Vec<usize>],
    middle: usize,
    (mut x, mut y): (usize, usize),
) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    for (edits, furthest) in steps.iter().enumerate().rev() {
        let diagonal = x + middle - y;
        let down = diagonal == middle - edits
            || diagonal != middle + edits && furthest[diagonal - 1] < furthest[diagonal + 1];
        let before = if down { diagonal + 1 } else { diagonal - 1 };
        let (from_x, from_y) = match edits {
            0 => (0, 0),
            _ => (furthest[before], furthest[before] + middle - before),
        };
        while x > from_x && y > from_y {
            (x, y) = (x - 1, y - 1);
            kept.push((x, y));
        }
        (x, y) = (from_x, from_y);
    }
    kept.reverse();
    kept
}

/// The hunks, each with its header.
fn hunks(old: &[&[u8]], new: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut kept = kept_lines(old, new);
    kept.push((old.len(), new.len()));
    // Ranges of both texts that differ.
    let mut changes = Vec::new();
    let (mut x, mut y) = (0, 0);
    for (kept_x, kept_y) in kept {
        if (kept_x, kept_y) != (x, y) {
            changes.push((x..kept_x, y..kept_y));
        }
        (x, y) = (kept_x + 1, kept_y + 1);
    }
    let groups = changes.chunk_by(|one, two| two.0.start - one.0.end <= 2 * CONTEXT);
    groups.map(|group| hunk(old, new, group)).collect()
}

fn hunk(
    old: &[&[u8]],
    new: &[&[u8]],
    changes: &[(std::ops::Range<usize>, std::ops::Range<usize>)],
) -> Vec<u8> {
    let (first, last) = (&changes[0], &changes[changes.len() - 1]);
    let ahead = first.0.start.min(CONTEXT);
    let behind = (old.len() - last.0.end).min(CONTEXT);
    let (old_from, new_from) = (first.0.start - ahead, first.1.start - ahead);
    let (old_count, new_count) = (
        last.0.end + behind - old_from,
        last.1.end + behind - new_from,
    );
    // An empty range is named by the line before it.
    let at = |from: usize, count: usize| if count == 0 { from } else { from + 1 };
    let mut text = format!(
        "@@ -{},{old_count} +{},{new_count} @@\n",
        at(old_from, old_count),
        at(new_from, new_count)
    )
    .into_bytes();
    let mut add = |mark: u8, line: &[u8]| {
        text.push(mark);
        text.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            text.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    };
    let mut x = old_from;
    for (removed, added) in changes {
        old[x..removed.start]
            .iter()
            .for_each(|line| add(b' ', line));
        old[removed.clone()].iter().for_each(|line| add(b'-', line));
        new[added.clone()].iter().for_each(|line| add(b'+', line));
        x = removed.end;
    }
    old[x..last.0.end + behind]
        .iter()
        .for_each(|line| add(b' ', line));
    text
}
