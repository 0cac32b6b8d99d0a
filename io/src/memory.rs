//! Settings of the system allocator: syntax trees take about 18 times their source, and an allocator keeps freed memory unless
//! it is asked to return it.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "libc offers this through C alone")
)]

/// Size from which on an allocation is mapped by itself, so that it is returned as soon as it is freed. By default glibc raises
/// it up to 32 MiB as such allocations are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MMAP_THRESHOLD_BYTES: libc::c_int = 256 << 10;

/// Free bytes at the end of a heap from which on they are returned, and the bytes that a heap grows by: a page that is returned and
/// needed again costs a microsecond or two. The default of both is 128 KiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TRIM_THRESHOLD_BYTES: libc::c_int = 1 << 20;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const TOP_PAD_BYTES: libc::c_int = 512 << 10;

/// Arenas for all threads together: each keeps its own free memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS_MAX: libc::c_int = 2;

/// Bounds the freed memory that the allocator keeps. To be called first in `main`.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn bound_heaps() {
    // SAFETY: mallopt takes no pointer; it refuses what it doesn't know, which changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MMAP_THRESHOLD_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, TRIM_THRESHOLD_BYTES);
        libc::mallopt(libc::M_TOP_PAD, TOP_PAD_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX);
    }
}

/// Other allocators have limits of their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn bound_heaps() {}

/// Capacity from which on it pays to ask for huge pages, of 2 MiB each.
const HUGE_PAGES_BYTES_MIN: usize = 1 << 20;

/// An empty buffer of this capacity. A large one is made of huge pages if the system has such: on a virtual machine the first write
/// to each small page takes some microseconds.
#[must_use]
pub fn large_buffer(bytes: usize) -> Vec<u8> {
    let buffer = Vec::with_capacity(bytes);
    if bytes >= HUGE_PAGES_BYTES_MIN {
        prefer_huge_pages(&buffer);
    }
    buffer
}

#[cfg(target_os = "linux")]
fn prefer_huge_pages(buffer: &Vec<u8>) {
    const PAGE_BYTES: usize = 4096;
    let start = buffer.as_ptr().addr().next_multiple_of(PAGE_BYTES);
    let end = (buffer.as_ptr().addr() + buffer.capacity()) & !(PAGE_BYTES - 1);
    let pages = buffer.as_ptr().with_addr(start).cast_mut().cast();
    // SAFETY: the pages lie within the allocation, and this says only what to back them with. A system that has no huge pages, or
    // larger small ones, refuses, which changes nothing.
    unsafe {
        libc::madvise(pages, end.saturating_sub(start), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn prefer_huge_pages(_buffer: &Vec<u8>) {}

/// Returns freed memory to the system. Takes up to a few milliseconds; for idle moments.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn trim_heap() {
    // SAFETY: malloc_trim takes no pointer and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn trim_heap() {}
