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

/// As [`give_back`], once the process holds more than so many bytes of memory: a page that is given back costs again when
/// it is needed again.
pub fn give_back_above(resident_bytes: u64) {
    if resident().is_none_or(|resident| resident > resident_bytes) {
        give_back();
    }
}

/// Bytes of memory that the process holds, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_tells_how_much_the_process_holds() {
        let held = vec![1_u8; 32 << 20];
        let resident = resident().expect("Linux tells");
        assert!(resident >= held.len() as u64, "{resident}");
    }
}
