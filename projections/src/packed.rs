//! A sorted map in few bytes: a big project has hundreds of thousands of entities, and most are never asked for.

use alloc::vec::Vec;
use core::ops::Range;

/// Bytes of a page; a longer one is divided, so that a change moves few bytes.
const PAGE_BYTES: usize = 2048;

/// From bytes to bytes, in the order of the keys. An item takes two bytes beyond what it holds, if that is short.
#[derive(Default)]
pub(crate) struct PackedMap {
    /// None is empty.
    pages: Vec<Vec<u8>>,
}

impl PackedMap {
    pub(crate) const fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The items from this key on.
    pub(crate) fn from(&self, key: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
        let pages = self.pages[self.page_of(key)..].iter();
        let items = pages.flat_map(|page| {
            let mut left = page.as_slice();
            core::iter::from_fn(move || (!left.is_empty()).then(|| take_item(&mut left)))
        });
        items.skip_while(move |(other, _)| *other < key)
    }

    /// Returns whether the key had no value.
    pub(crate) fn put(&mut self, key: &[u8], value: &[u8]) -> bool {
        let mut item = Vec::new();
        put_item(&mut item, key, value);
        item.shrink_to_fit();
        let at = self.page_of(key);
        let Some(page) = self.pages.get_mut(at) else {
            self.pages.reserve_exact(1);
            self.pages.push(item);
            return true;
        };
        let place = place_in(page, key);
        let is_new = place.is_empty();
        page.reserve_exact(item.len());
        page.splice(place, item);
        if page.len() > PAGE_BYTES {
            self.divide(at);
        }
        is_new
    }

    /// From items in the order of their keys, of which none is there twice.
    pub(crate) fn of_sorted<K: AsRef<[u8]>>(keys: impl Iterator<Item = K>) -> Self {
        let mut packed = Self::default();
        for key in keys {
            if packed
                .pages
                .last()
                .is_none_or(|page| page.len() + key.as_ref().len() + 4 > PAGE_BYTES)
            {
                packed.pages.push(Vec::with_capacity(PAGE_BYTES));
            }
            if let Some(page) = packed.pages.last_mut() {
                put_item(page, key.as_ref(), &[]);
            }
        }
        packed
    }

    pub(crate) fn remove(&mut self, key: &[u8]) {
        let at = self.page_of(key);
        let Some(page) = self.pages.get_mut(at) else {
            return;
        };
        let place = place_in(page, key);
        page.drain(place);
        page.shrink_to_fit();
        if page.is_empty() {
            self.pages.remove(at);
        }
    }

    /// Puts another first byte into each value, in the order of the keys. Returns whether any was another one.
    pub(crate) fn mark_values(&mut self, mut mark: impl FnMut(&[u8], &[u8]) -> u8) -> bool {
        let mut has_changed = false;
        for page in &mut self.pages {
            let mut at = 0;
            while at < page.len() {
                let mut left = &page[at..];
                let (key, value) = take_item(&mut left);
                let (marked, value_bytes) = (mark(key, value), value.len());
                at = page.len() - left.len();
                let byte = &mut page[at - value_bytes];
                has_changed |= *byte != marked;
                *byte = marked;
            }
        }
        has_changed
    }

    /// All items, one after the other, as [`items_in`] reads them.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        self.pages.iter().map(Vec::as_slice)
    }

    /// From the bytes of items that [`items_in`] has read to their end.
    pub(crate) fn of_items(bytes: &[u8]) -> Self {
        let mut packed = Self::default();
        let (mut page, mut left) = (bytes, bytes);
        while !left.is_empty() {
            take_item(&mut left);
            let taken = page.len() - left.len();
            if taken >= PAGE_BYTES / 2 || left.is_empty() {
                packed.pages.push(page[..taken].to_vec());
                page = left;
            }
        }
        packed.pages.shrink_to_fit();
        packed
    }

    /// The page that holds the key if any does.
    fn page_of(&self, key: &[u8]) -> usize {
        let after = self
            .pages
            .partition_point(|page| take_bytes(&mut page.as_slice()) <= key);
        after.saturating_sub(1)
    }

    fn divide(&mut self, at: usize) {
        let page = &mut self.pages[at];
        let mut left = page.as_slice();
        while page.len() - left.len() < page.len() / 2 {
            take_item(&mut left);
        }
        let half = page.len() - left.len();
        // A page may be a single item.
        if half < page.len() {
            let after = page.split_off(half);
            page.shrink_to_fit();
            self.pages.reserve_exact(1);
            self.pages.insert(at + 1, after);
        }
    }
}

/// The items that these bytes should be: in the order of the keys, none twice. `None` in the place of the first that isn't one.
pub(crate) fn items_in(bytes: &[u8]) -> impl Iterator<Item = Option<(&[u8], &[u8])>> {
    let (mut left, mut last): (_, Option<&[u8]>) = (bytes, None);
    core::iter::from_fn(move || {
        if left.is_empty() {
            return None;
        }
        let item = try_bytes(&mut left).zip(try_bytes(&mut left));
        let item = item.filter(|(key, _)| last.is_none_or(|last| last < *key));
        match item {
            Some((key, _)) => last = Some(key),
            None => left = &[],
        }
        Some(item)
    })
}

/// The place of a key's item in a page; empty if it has none.
fn place_in(page: &[u8], key: &[u8]) -> Range<usize> {
    let mut left = page;
    while !left.is_empty() {
        let start = page.len() - left.len();
        let (found, _) = take_item(&mut left);
        if found == key {
            return start..page.len() - left.len();
        }
        if found > key {
            return start..start;
        }
    }
    page.len()..page.len()
}

fn take_item<'p>(bytes: &mut &'p [u8]) -> (&'p [u8], &'p [u8]) {
    (take_bytes(bytes), take_bytes(bytes))
}

/// Adds an item, as [`items_in`] reads it.
pub(crate) fn put_item(items: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    put_bytes(items, key);
    put_bytes(items, value);
}

fn put_bytes(item: &mut Vec<u8>, bytes: &[u8]) {
    put_number(item, bytes.len() as u64);
    item.extend_from_slice(bytes);
}

fn take_bytes<'p>(bytes: &mut &'p [u8]) -> &'p [u8] {
    try_bytes(bytes).expect("they were packed")
}

fn try_bytes<'p>(bytes: &mut &'p [u8]) -> Option<&'p [u8]> {
    let length = usize::try_from(try_number(bytes)?).ok()?;
    let (taken, left) = bytes.split_at_checked(length)?;
    *bytes = left;
    Some(taken)
}

/// Writes a number, seven bits a byte, the lowest first; the highest bit says that more follow.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// Takes a number off the bytes that [`put_number`] wrote.
pub(crate) fn take_number(bytes: &mut &[u8]) -> u64 {
    try_number(bytes).expect("it was packed")
}

/// Takes a number off any bytes; `None` if [`put_number`] didn't write it.
pub(crate) fn try_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0_u32);
    loop {
        let (byte, left) = bytes.split_first()?;
        *bytes = left;
        let seven = u64::from(byte & 0x7f);
        // Bits beyond the highest, and zeros that no number begins with.
        if shift > 63 || seven << shift >> shift != seven || (*byte == 0 && shift > 0) {
            return None;
        }
        number |= seven << shift;
        if *byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    #[test]
    fn key_order() {
        let mut packed = PackedMap::default();
        let mut expected = BTreeMap::new();
        // Each number once, in an order that jumps about; one item fills a page by itself, one key is empty.
        for number in (0..300).map(|step| step * 287 % 300) {
            let key = match number {
                0 => Vec::new(),
                1 => alloc::vec![b'x'; 2 * PAGE_BYTES],
                number => alloc::format!("name_{number}").into_bytes(),
            };
            assert!(packed.put(&key, b"before"));
            let value = alloc::vec![7; number];
            assert!(!packed.put(&key, &value));
            expected.insert(key, value);
        }
        assert!(packed.pages.len() > 10, "{}", packed.pages.len());
        for step in 0..300 {
            let both = expected.iter().map(|(key, value)| (&**key, &**value));
            assert!(packed.from(&[]).eq(both), "{step}");
            let key = expected.keys().nth(step * 7 % expected.len());
            let key = key.expect("some are left").clone();
            let after = expected.range(key.clone()..).map(|(key, _)| &**key);
            assert!(packed.from(&key).map(|(key, _)| key).eq(after));
            packed.remove(&key);
            expected.remove(&key);
        }
        assert!(packed.is_empty());
    }

    #[test]
    fn numbers_come_back() {
        let numbers = [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|it| put_number(&mut bytes, *it));
        let mut left = bytes.as_slice();
        assert_eq!(numbers.map(|_| take_number(&mut left)), numbers);
        assert!(left.is_empty());
    }
}
