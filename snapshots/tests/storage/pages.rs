//! Which part of a database or WAL a byte belongs to, by SQLite's file format.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes of a WAL's header and of each frame's.
pub(crate) const WAL_HEADER: usize = 32;
pub(crate) const FRAME_HEADER: usize = 24;

/// Bytes of a page, as the ledger's databases have it.
pub(crate) const PAGE: usize = 4096;

/// Parts by their names, each with where they are: one range for each page or frame.
pub(crate) type Parts = BTreeMap<&'static str, Vec<Range<usize>>>;

/// The parts of a database file.
pub(crate) fn of_database(bytes: &[u8]) -> Parts {
    let mut parts = Parts::new();
    let mut put = |name, range: Range<usize>| {
        if !range.is_empty() {
            parts.entry(name).or_default().push(range);
        }
    };
    let free = free_pages(bytes);
    put("database header", 0..100);
    for page in 0..bytes.len() / PAGE {
        let (start, end) = (page * PAGE, (page + 1) * PAGE);
        let start = if page == 0 { 100 } else { start };
        if free.contains(&page) {
            put("free page, list", start..start + 16);
            put("free page, rest", start + 16..end);
            continue;
        }
        let kind = bytes[start];
        let header = match kind {
            2 | 5 => 12,
            10 | 13 => 8,
            _ => {
                put("overflow page, next", start..start + 4);
                put("overflow page, content", start + 4..end);
                continue;
            }
        };
        let cells = usize::from(u16::from_be_bytes([bytes[start + 3], bytes[start + 4]]));
        let content = match u16::from_be_bytes([bytes[start + 5], bytes[start + 6]]) {
            0 => end,
            offset => page * PAGE + usize::from(offset),
        };
        let pointers = start + header + 2 * cells;
        put("b-tree page header", start..start + header);
        put("cell pointers", start + header..pointers);
        put("unused space", pointers..content);
        let name = match (page, kind) {
            (0, _) => "index of tables",
            (_, 2 | 5) => "cells of inner pages",
            (_, 10) => "cells of indexes and tables with text keys",
            _ => "cells of tables with numbered rows",
        };
        put(name, content..end);
    }
    parts
}

/// The parts of a WAL.
pub(crate) fn of_wal(bytes: &[u8]) -> Parts {
    let mut parts = Parts::new();
    parts.insert("WAL header", std::iter::once(0..WAL_HEADER).collect());
    let frames = (WAL_HEADER..bytes.len()).step_by(FRAME_HEADER + PAGE);
    for frame in frames {
        let data = frame + FRAME_HEADER;
        parts
            .entry("WAL frame header")
            .or_default()
            .push(frame..data);
        parts
            .entry("WAL frame data")
            .or_default()
            .push(data..data + PAGE);
    }
    parts
}

/// Pages of the free list, counted from 0.
fn free_pages(bytes: &[u8]) -> BTreeSet<usize> {
    let number = |at: usize| {
        let bytes: [u8; 4] = bytes[at..at + 4].try_into().unwrap();
        u32::from_be_bytes(bytes) as usize
    };
    let mut free = BTreeSet::new();
    let mut trunk = number(32);
    while trunk != 0 && free.insert(trunk - 1) {
        let start = (trunk - 1) * PAGE;
        free.extend((0..number(start + 4)).map(|leaf| number(start + 8 + 4 * leaf) - 1));
        trunk = number(start);
    }
    free
}
