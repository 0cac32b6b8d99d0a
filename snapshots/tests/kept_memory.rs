//! What is kept of prompts that were read, by counting what is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use tslp_core::message::Attempt;
use tslp_wire::chat::dialect::Dialect;
use tslp_wire::chat::request::{KnownMessages, RequestEnvelope, read_request};

/// Bytes that are allocated now.
static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: all is the system's allocator's; only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Twice what a generation of remembered messages may weigh, and a fifth for what its weights leave out.
const KEPT_BYTES_MAX: usize = 2 * (6 << 20) * 6 / 5;

#[test]
fn fifty_thousand_prompts_leave_no_more_than_ten_thousand() {
    let mut known = KnownMessages::default();
    let before = ALLOCATED.load(Ordering::Relaxed);
    let (mut most_early, mut most_late) = (0, 0);
    for number in 0..50_000_u32 {
        let body = format!(
            r#"{{"model":"m","messages":[{{"role":"user","content":"question {number}: {}"}}]}}"#,
            "why? ".repeat(usize::try_from(number % 400).unwrap())
        );
        let envelope = RequestEnvelope {
            dialect: Dialect::ChatCompletions,
            session_name: None,
            attempt: Attempt::First,
        };
        read_request(body.as_bytes(), envelope, &mut known)
            .unwrap()
            .unwrap();
        drop(body);
        let kept = ALLOCATED.load(Ordering::Relaxed) - before;
        let most = if number < 20_000 {
            &mut most_early
        } else {
            &mut most_late
        };
        *most = kept.max(*most);
    }
    assert!(most_early > KEPT_BYTES_MAX / 3, "it fills: {most_early}");
    assert!(
        most_late <= most_early + (64 << 10),
        "it is flat: {most_early}, {most_late}"
    );
    assert!(most_late <= KEPT_BYTES_MAX, "it is bounded: {most_late}");
}
