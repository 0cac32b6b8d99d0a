//! The memory of one parse, freed as a whole.
//!
//! A parser allocates some hundred bytes for each token, and a syntax tree takes about 18 times its source. An *arena* serves
//! that from a few large blocks: cheaper than a general allocator, and when the tree is dropped, all of it is freed together
//! instead of fragmenting the memory that lives on.
//!
//! tree-sitter has one allocator for the whole process, so a program must call [`install`] first. Without it everything works,
//! with the system's allocator.

#![expect(
    unsafe_code,
    reason = "an allocator deals in raw memory, and tree-sitter calls it through C"
)]

use std::alloc::{self, Layout};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::MmapMut;
use tree_sitter::Allocator;

/// Size of an arena's first block, which is enough to parse most files, and of its last ones, so that little is left over.
const SMALL_BYTES: usize = 512 << 10;

/// Size and alignment of the blocks between: a huge page if the system has them, which costs a sixteenth of the same memory in
/// small pages.
const HUGE_BYTES: usize = 2 << 20;

/// Most huge blocks of an arena.
const HUGE_MAX: usize = 4;

/// Most spare blocks of either size. Threads that parse at the same time find their first one here.
const SMALL_KEPT: usize = 6;
const HUGE_KEPT: usize = 2;

/// Sizes are multiples of this, in bytes; no data of a parser needs a larger alignment.
const STEP: usize = 8;

/// The number of piece sizes. Larger pieces are allocated by the system one by one.
const CLASSES: usize = 128;

/// The class of pieces that the system allocated.
const FOREIGN: u32 = u32::MAX;

/// A block of the system's memory, unmapped when dropped.
#[derive(Debug)]
struct MemoryBlock {
    mapped: MmapMut,
    bytes: usize,
}

impl MemoryBlock {
    fn small() -> Self {
        Self {
            mapped: mapped(SMALL_BYTES),
            bytes: SMALL_BYTES,
        }
    }

    fn huge() -> Self {
        // Twice as much, so that an aligned block fits into it. Pages that aren't touched take no memory.
        let mapped = mapped(2 * HUGE_BYTES);
        #[cfg(target_os = "linux")]
        if mapped.advise(memmap2::Advice::HugePage).is_err() {
            // A system without huge pages: small ones do as well.
        }
        Self {
            mapped,
            bytes: HUGE_BYTES,
        }
    }

    const fn is_huge(&self) -> bool {
        self.bytes == HUGE_BYTES
    }

    fn start(&mut self) -> *mut u8 {
        let mapped = self.mapped.as_mut_ptr();
        if self.is_huge() {
            mapped.wrapping_add(mapped.align_offset(HUGE_BYTES))
        } else {
            mapped
        }
    }
}

fn mapped(bytes: usize) -> MmapMut {
    MmapMut::map_anon(bytes)
        .unwrap_or_else(|_| alloc::handle_alloc_error(Layout::new::<[u8; HUGE_BYTES]>()))
}

/// Blocks that are free to be used again.
#[derive(Default)]
struct SpareBlocks {
    small: Vec<MemoryBlock>,
    huge: Vec<MemoryBlock>,
}

/// The header before each piece of memory.
#[derive(Clone, Copy)]
#[repr(C)]
struct PieceHeader {
    /// Its size with the header in [`STEP`]s, or [`FOREIGN`].
    class: u32,
    /// The arena that it belongs to.
    arena: u32,
}

const HEADER: usize = size_of::<PieceHeader>();

/// A [`FOREIGN`] piece has its size before its header.
const FOREIGN_HEADER: usize = size_of::<usize>() + HEADER;

static SPARE: Mutex<SpareBlocks> = Mutex::new(SpareBlocks {
    small: Vec::new(),
    huge: Vec::new(),
});

fn spare() -> MutexGuard<'static, SpareBlocks> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the spare blocks to the system.
pub fn give_back() {
    *spare() = SpareBlocks::default();
}

/// Makes tree-sitter use arenas for as long as the process lives.
///
/// # Safety
/// As for [`tree_sitter::set_allocator`]: no other thread may use tree-sitter meanwhile, and no object that it made before may
/// be left.
pub unsafe fn install() {
    let allocator = Allocator {
        malloc,
        calloc,
        realloc,
        free,
    };
    // SAFETY: the caller's; the four functions keep to what C asks of theirs.
    unsafe { tree_sitter::set_allocator(Some(allocator)) };
}

thread_local! {
    /// The arena of the work in progress on this thread; null if there is none.
    static OPEN: Cell<*mut Arena> = const { Cell::new(ptr::null_mut()) };
}

/// Does some work whose parsers and trees take their memory from one arena. They should be dropped before its end; if any is
/// left, its arena is kept for ever.
pub(crate) fn within_arena<T>(work: impl FnOnce() -> T) -> T {
    /// Closes the arena, also when the work panics.
    struct OpenArena {
        arena: *mut Arena,
        before: *mut Arena,
    }
    impl Drop for OpenArena {
        fn drop(&mut self) {
            OPEN.set(self.before);
            // SAFETY: it was made by `Box::into_raw` below, and nobody finds it any more.
            let arena = unsafe { Box::from_raw(self.arena) };
            arena.close();
        }
    }
    let arena = Box::into_raw(Box::new(Arena::new()));
    let _opened = OpenArena {
        arena,
        before: OPEN.replace(arena),
    };
    work()
}

#[derive(Debug)]
struct Arena {
    /// A number that no other arena with pieces in use has.
    id: u32,
    /// Pieces in use.
    live: usize,
    /// The rest of the last block.
    at: *mut u8,
    left: usize,
    blocks: Vec<MemoryBlock>,
    /// The first free piece of each class, which holds the address of the next one.
    free: [*mut u8; CLASSES + 1],
}

impl Arena {
    fn new() -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        Self {
            id: LAST.fetch_add(1, Ordering::Relaxed),
            live: 0,
            at: ptr::null_mut(),
            left: 0,
            blocks: Vec::new(),
            free: [ptr::null_mut(); CLASSES + 1],
        }
    }

    /// Allocates a piece of a class, which is at most [`CLASSES`]; returns the address after its header.
    fn take_piece(&mut self, class: usize) -> *mut u8 {
        self.live += 1;
        let found = self.free[class];
        if !found.is_null() {
            // SAFETY: `put` wrote the next one's address there, and nobody else has the piece.
            self.free[class] = unsafe { found.cast::<*mut u8>().read() };
            return found;
        }
        let bytes = class * STEP;
        if self.left < bytes {
            self.add_block();
        }
        let piece = self.at;
        self.left -= bytes;
        let class = u32::try_from(class).unwrap_or(FOREIGN);
        let arena = self.id;
        // SAFETY: as many bytes are left in the block, and both ends lie at multiples of the header's alignment.
        unsafe {
            self.at = piece.add(bytes);
            piece
                .cast::<PieceHeader>()
                .write(PieceHeader { class, arena });
            piece.add(HEADER)
        }
    }

    #[cold]
    fn add_block(&mut self) {
        let mut block = match self.blocks.len() {
            1..=HUGE_MAX => {
                let kept = spare().huge.pop();
                kept.unwrap_or_else(MemoryBlock::huge)
            }
            _ => {
                let kept = spare().small.pop();
                kept.unwrap_or_else(MemoryBlock::small)
            }
        };
        self.at = block.start();
        self.left = block.bytes;
        self.blocks.push(block);
    }

    /// Takes back a piece of a class that [`Self::take_piece`] gave.
    ///
    /// # Safety
    /// Nobody uses the piece any more.
    unsafe fn put_back(&mut self, piece: *mut u8, class: usize) {
        self.live -= 1;
        // SAFETY: the smallest piece holds an address, aligned as the header is.
        unsafe { piece.cast::<*mut u8>().write(self.free[class]) };
        self.free[class] = piece;
    }

    fn close(mut self: Box<Self>) {
        if self.live > 0 {
            // A piece that outlives its arena keeps the arena's memory for ever: a leak, but never a dangling pointer.
            std::mem::forget(self);
            return;
        }
        let mut spare = spare();
        for block in self.blocks.drain(..) {
            let (kept, most) = if block.is_huge() {
                (&mut spare.huge, HUGE_KEPT)
            } else {
                (&mut spare.small, SMALL_KEPT)
            };
            if kept.len() < most {
                kept.push(block);
            }
        }
    }
}

unsafe extern "C" fn malloc(bytes: usize) -> *mut c_void {
    let class = bytes.saturating_add(HEADER).div_ceil(STEP).max(2);
    let open = OPEN.get();
    if class > CLASSES || open.is_null() {
        return system_memory(ptr::null_mut(), 0, bytes).cast();
    }
    // SAFETY: it lives as long as it is open, on this thread alone, and nothing else here refers to it.
    unsafe { (*open).take_piece(class) }.cast()
}

unsafe extern "C" fn calloc(count: usize, bytes: usize) -> *mut c_void {
    let bytes = count.saturating_mul(bytes);
    // SAFETY: `malloc` gives as many bytes.
    unsafe {
        let place = malloc(bytes);
        ptr::write_bytes(place.cast::<u8>(), 0, bytes);
        place
    }
}

unsafe extern "C" fn realloc(place: *mut c_void, bytes: usize) -> *mut c_void {
    if place.is_null() {
        // SAFETY: nothing is asked of the caller.
        return unsafe { malloc(bytes) };
    }
    // SAFETY: the caller has the place from here, so a header precedes it.
    let class = unsafe { header(place) }.class;
    if class == FOREIGN {
        // SAFETY: the size precedes such a header.
        let before = unsafe { foreign_bytes(place) };
        return system_memory(place.cast(), before, bytes).cast();
    }
    let held = class as usize * STEP - HEADER;
    if bytes <= held {
        return place;
    }
    // SAFETY: `malloc` gives more than was held, in another place.
    unsafe {
        let grown = malloc(bytes);
        ptr::copy_nonoverlapping(place.cast::<u8>(), grown.cast::<u8>(), held);
        free(place);
        grown
    }
}

unsafe extern "C" fn free(place: *mut c_void) {
    if place.is_null() {
        return;
    }
    // SAFETY: the caller has the place from here, so a header precedes it.
    let PieceHeader { class, arena } = unsafe { header(place) };
    if class == FOREIGN {
        // SAFETY: the system gave it with this size, which precedes such a header.
        unsafe {
            let layout = foreign_layout(foreign_bytes(place));
            alloc::dealloc(place.cast::<u8>().sub(FOREIGN_HEADER), layout);
        }
        return;
    }
    let open = OPEN.get();
    // SAFETY: it lives as long as it is open, on this thread alone. A piece of another arena stays with that one for ever.
    unsafe {
        if !open.is_null() && (*open).id == arena {
            (*open).put_back(place.cast(), class as usize);
        }
    }
}

/// # Safety
/// The place was given by [`malloc`] and is not free.
unsafe fn header(place: *mut c_void) -> PieceHeader {
    // SAFETY: the caller's.
    unsafe { place.cast::<PieceHeader>().sub(1).read() }
}

/// # Safety
/// The place was given by [`system_memory`] and is not free.
unsafe fn foreign_bytes(place: *mut c_void) -> usize {
    // SAFETY: the caller's.
    unsafe {
        place
            .cast::<u8>()
            .sub(FOREIGN_HEADER)
            .cast::<usize>()
            .read()
    }
}

/// Memory of the system; with a pointer from an earlier call, that piece grown or shrunk.
fn system_memory(place: *mut u8, before: usize, bytes: usize) -> *mut u8 {
    let layout = foreign_layout(bytes);
    // SAFETY: no layout here is empty; a place was given by this function with the layout of as many bytes as `before` says;
    // the header fits before what was asked for, and both its parts are aligned.
    unsafe {
        let start = if place.is_null() {
            alloc::alloc(layout)
        } else {
            let start = place.sub(FOREIGN_HEADER);
            alloc::realloc(start, foreign_layout(before), layout.size())
        };
        if start.is_null() {
            alloc::handle_alloc_error(layout);
        }
        start.cast::<usize>().write(bytes);
        let place = start.add(FOREIGN_HEADER);
        let (class, arena) = (FOREIGN, 0);
        place
            .cast::<PieceHeader>()
            .sub(1)
            .write(PieceHeader { class, arena });
        place
    }
}

/// The layout of so many bytes after their header. A size that no memory can hold ends the process, as without arenas.
fn foreign_layout(bytes: usize) -> Layout {
    let bytes = bytes.saturating_add(FOREIGN_HEADER);
    Layout::from_size_align(bytes, align_of::<u128>())
        .unwrap_or_else(|_| alloc::handle_alloc_error(Layout::new::<u128>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces in use and blocks of the open arena.
    fn figures() -> (usize, usize) {
        let open = OPEN.get();
        assert!(!open.is_null());
        // SAFETY: it is open on this thread.
        unsafe { ((*open).live, (*open).blocks.len()) }
    }

    /// Asks for memory and fills it with a byte.
    fn filled(bytes: usize, with: u8) -> *mut u8 {
        // SAFETY: as many bytes as were asked for.
        unsafe {
            let place = malloc(bytes).cast::<u8>();
            assert!(place.cast::<u64>().is_aligned());
            ptr::write_bytes(place, with, bytes);
            place
        }
    }

    fn holds(place: *mut u8, bytes: usize, with: u8) -> bool {
        // SAFETY: the tests ask for as many bytes and fill them.
        unsafe { std::slice::from_raw_parts(place, bytes) }
            .iter()
            .all(|byte| *byte == with)
    }

    fn freed(place: *mut u8) {
        // SAFETY: the tests free what they have once.
        unsafe { free(place.cast()) };
    }

    #[test]
    fn no_piece_overlaps_another_whatever_is_asked_and_freed() {
        within_arena(|| {
            let mut random = 1_u32;
            let mut next = |below: usize| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (random >> 8) as usize % below
            };
            let mut held: Vec<(*mut u8, usize, u8)> = Vec::new();
            for round in 0..20_000_u32 {
                let with = round.to_le_bytes()[0];
                if held.is_empty() || next(3) > 0 && held.len() < 500 {
                    let bytes = next(1500);
                    held.push((filled(bytes, with), bytes, with));
                    continue;
                }
                let place = next(held.len());
                let (piece, bytes, byte) = held.swap_remove(place);
                assert!(holds(piece, bytes, byte));
                if next(2) > 0 {
                    freed(piece);
                    continue;
                }
                let grown = next(3000);
                // SAFETY: it is this test's.
                let piece = unsafe { realloc(piece.cast(), grown) }.cast::<u8>();
                assert!(holds(piece, bytes.min(grown), byte));
                // SAFETY: as many bytes as were asked for.
                unsafe { ptr::write_bytes(piece, with, grown) };
                held.push((piece, grown, with));
            }
            for (piece, bytes, byte) in held {
                assert!(holds(piece, bytes, byte));
                freed(piece);
            }
            let (live, blocks) = figures();
            assert_eq!(live, 0);
            assert!((1..10).contains(&blocks), "{blocks} blocks");
        });
    }

    #[test]
    fn what_is_freed_is_used_again() {
        within_arena(|| {
            let first = filled(100, 1);
            freed(first);
            assert_eq!(filled(97, 2), first, "a size of the same class");
            assert_eq!(figures(), (1, 1));
            freed(first);
        });
    }

    #[test]
    fn zeroed_memory_is_zero_where_something_stood_before() {
        within_arena(|| {
            freed(filled(64, 7));
            // SAFETY: nothing is asked of the caller.
            let zeroed = unsafe { calloc(8, 8) }.cast::<u8>();
            assert!(holds(zeroed, 64, 0));
            freed(zeroed);
        });
    }

    #[test]
    fn what_outlives_its_arena_keeps_its_memory() {
        let (left, large) = within_arena(|| (filled(100, 3), filled(5000, 4)));
        within_arena(|| {
            let others: Vec<*mut u8> = (0..5000).map(|_| filled(100, 5)).collect();
            freed(left);
            assert_eq!(figures().0, 5000, "it was none of this one's");
            assert!(holds(left, 100, 3));
            others.into_iter().for_each(freed);
        });
        assert!(holds(large, 5000, 4));
        freed(large);
        freed(filled(10, 6));
    }

    #[test]
    fn an_arena_is_closed_by_a_panic_too() {
        let broken = std::panic::catch_unwind(|| within_arena(|| panic!("on purpose")));
        assert!(broken.is_err());
        assert!(OPEN.get().is_null());
    }
}
