//! Gives memory back to the system after a parse: syntax trees take about 18 times their source, and the allocator keeps
//! what was freed unless it is asked.

/// Asks the allocator to return what it holds free. Takes up to a few milliseconds; for idle moments.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    // SAFETY: malloc_trim takes no pointer and may be called from any thread at any time.
    #[expect(unsafe_code, reason = "glibc offers this through C alone")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators return memory by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
