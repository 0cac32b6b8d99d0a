//! The order in which files are decided about: that of the walk, but for large ones.
//!
//! While a large file is parsed there is little memory for others, and the results of later ones have to be kept. So a large file
//! is moved after the small ones that follow it and fit into memory with it; files that don't fit are moved after the large
//! one. The order depends only on the walk, so the same tree gives the same ledger.

use std::collections::VecDeque;

use tslp_core::path::RelPath;

use super::queue::MemoryRoom;

/// Source that may pass a large file, in multiples of its size: enough to keep all cores busy while it is parsed.
const PASSING: usize = 4;

/// Most files that may be held back.
const HELD_MAX: usize = 64;

/// A file and its size in bytes.
pub(super) type SizedFile = (RelPath, usize);

/// Puts files in order.
#[derive(Debug)]
pub(super) struct DecisionOrder {
    room: MemoryRoom,
    /// A large file and the later files that don't fit into memory with it, in the order of the walk.
    held: VecDeque<SizedFile>,
    /// Source that has passed the first of them.
    passed: usize,
}

impl DecisionOrder {
    pub(super) const fn new(room: MemoryRoom) -> Self {
        Self {
            room,
            held: VecDeque::new(),
            passed: 0,
        }
    }

    /// Takes the next file of the walk and names those whose turn has come, if any.
    pub(super) fn put(
        &mut self,
        path: RelPath,
        bytes: usize,
    ) -> impl Iterator<Item = SizedFile> + use<> {
        let holds_back = match self.held.front() {
            None => self.room.is_large(bytes),
            Some((_, large)) => !self.room.fits_beside(bytes, *large),
        };
        let mut turn = Vec::new();
        if holds_back {
            self.held.push_back((path, bytes));
        } else {
            self.passed += bytes;
            turn.push((path, bytes));
        }
        while let Some((_, large)) = self.held.front()
            && (self.passed >= large * PASSING || self.held.len() > HELD_MAX)
        {
            self.passed = 0;
            turn.extend(self.held.pop_front());
            // A large file that waited only for that one becomes the next to be held back.
            while self
                .held
                .front()
                .is_some_and(|(_, bytes)| !self.room.is_large(*bytes))
            {
                turn.extend(self.held.pop_front());
            }
        }
        turn.into_iter()
    }

    /// The rest, when the walk is over.
    pub(super) fn end(&mut self) -> impl Iterator<Item = SizedFile> + use<> {
        std::mem::take(&mut self.held).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1 << 10;

    /// Room for a file of 1 MiB and hardly anything beside it.
    const ROOM: MemoryRoom = MemoryRoom {
        parsing: 21 << 20,
        kept: 3 << 20,
    };

    /// The order of files of these sizes in KiB, by their places in the walk.
    fn ordered(sizes: &[usize]) -> Vec<usize> {
        let mut order = DecisionOrder::new(ROOM);
        let mut ordered = Vec::new();
        for (place, kib) in sizes.iter().enumerate() {
            let path = RelPath::from_normalised(&place.to_string());
            ordered.extend(order.put(path, kib * KIB));
        }
        ordered.extend(order.end());
        let places = ordered.iter().map(|(path, _)| path.as_str().parse());
        places.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn small_files_keep_their_order() {
        assert_eq!(ordered(&[3, 2, 100, 1]), [0, 1, 2, 3]);
        assert_eq!(ordered(&[]), [0; 0]);
    }

    #[test]
    fn a_large_file_lets_four_times_its_size_pass() {
        let sizes = [1, 300, 200, 200, 200, 200, 200, 200, 7];
        assert_eq!(ordered(&sizes), [0, 2, 3, 4, 5, 6, 7, 1, 8]);
    }

    #[test]
    fn what_finds_no_room_beside_a_large_file_comes_after_it() {
        let sizes = [1000, 40, 1000, 80, 50, 30, 3000, 8];
        assert_eq!(ordered(&sizes), [1, 4, 5, 7, 0, 2, 3, 6]);
    }

    #[test]
    fn what_waited_for_a_large_file_alone_follows_it() {
        let mut sizes = vec![1000, 80, 300];
        sizes.extend([75; 54]);
        sizes.push(9);
        let passing = 3..57;
        let expected: Vec<usize> = passing.chain([0, 1, 57, 2]).collect();
        assert_eq!(ordered(&sizes), expected);
    }

    #[test]
    fn few_files_are_held_back() {
        let sizes = [600; HELD_MAX + 3];
        let mut order = DecisionOrder::new(ROOM);
        let path = || RelPath::from_normalised("a.c");
        let passed: Vec<usize> = sizes
            .iter()
            .map(|kib| order.put(path(), kib * KIB).count())
            .collect();
        assert_eq!(passed[..HELD_MAX], [0; HELD_MAX]);
        assert_eq!(passed[HELD_MAX..], [1; 3]);
        assert_eq!(order.end().count(), HELD_MAX);
    }
}
