//! Where memory comes from, and when it goes back to the system: syntax trees take about 18 times their source, and an
//! allocator keeps what was freed unless it is asked.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "libc offers this through C alone")
)]

/// Pieces from which on each is mapped by itself, so that it goes back as soon as it is freed. glibc would move the limit
/// up to 32 MiB as such are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES_MIN: libc::c_int = 256 << 10;

/// What is free at the end of a heap before it goes back, and what a heap grows by: a page that goes back and is wanted
/// again costs a microsecond or two. Both are 128 KiB where nobody says anything.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_FREE_BYTES_MAX: libc::c_int = 1 << 20;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAP_STEP_BYTES: libc::c_int = 512 << 10;

/// Heaps for all threads together: each keeps free memory of its own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const HEAPS: libc::c_int = 2;

/// Bounds what the allocator keeps of freed memory. For the first line of a program.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn bound_heaps() {
    // SAFETY: mallopt takes no pointer; it refuses what it doesn't know, which changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, HEAP_FREE_BYTES_MAX);
        libc::mallopt(libc::M_TOP_PAD, HEAP_STEP_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, HEAPS);
    }
}

/// Other allocators have limits of their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn bound_heaps() {}

/// Room from which on it is worth asking for huge pages: each is 2 MiB.
const HUGE_ROOM_BYTES_MIN: usize = 1 << 20;

/// Room for so many bytes. Where there is a lot of it, it is made of huge pages if the system has such: on a virtual machine each
/// small page that is written to for the first time takes some microseconds.
#[must_use]
pub fn room(bytes: usize) -> Vec<u8> {
    let room = Vec::with_capacity(bytes);
    if bytes >= HUGE_ROOM_BYTES_MIN {
        prefer_huge_pages(&room);
    }
    room
}

#[cfg(target_os = "linux")]
fn prefer_huge_pages(room: &Vec<u8>) {
    const PAGE_BYTES: usize = 4096;
    let start = room.as_ptr().addr().next_multiple_of(PAGE_BYTES);
    let end = (room.as_ptr().addr() + room.capacity()) & !(PAGE_BYTES - 1);
    let pages = room.as_ptr().with_addr(start).cast_mut().cast();
    // SAFETY: the pages lie within the allocation, and this says only what to back them with. A system that has no huge pages, or
    // larger small ones, refuses, which changes nothing.
    unsafe {
        libc::madvise(pages, end.saturating_sub(start), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_room: &Vec<u8>) {}

/// Returns freed memory to the system. Takes up to a few milliseconds; for idle moments.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    // SAFETY: malloc_trim takes no pointer and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
