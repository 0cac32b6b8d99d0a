//! Where memory comes from, and when it goes back to the system: syntax trees take about 18 times their source, and an
//! allocator keeps what was freed unless it is asked.

#![expect(unsafe_code, reason = "glibc offers this through C alone")]

use tslp_grammars::arena;

/// Gives parsers memory of their own, and has large pieces mapped one by one, so that they go back as soon as they are freed.
///
/// # Safety
/// For the first line of a program: see [`arena::install`].
pub unsafe fn prepare() {
    map_large_pieces();
    // SAFETY: the caller's.
    unsafe { arena::install() };
}

/// A parse's blocks and larger pieces. glibc would move its limit up to 32 MiB as such are freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn map_large_pieces() {
    let bytes = libc::c_int::try_from(arena::BLOCK_BYTES).unwrap_or(libc::c_int::MAX);
    // SAFETY: mallopt takes no pointer; it refuses what it doesn't know, which changes nothing.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, bytes);
    }
}

/// Other allocators have limits of their own.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn map_large_pieces() {}

/// Returns what is held free. Takes up to a few milliseconds; for idle moments.
pub fn give_back() {
    arena::give_back();
    trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: malloc_trim takes no pointer and may be called from any thread at any time.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
