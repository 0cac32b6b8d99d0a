//! A bounded set of simulated runs: the law holds in each, and each seed gives the same run again.

use tslp_snapshots::simulation::{Report, run};

fn check(seed: u64, steps: u64) -> Report {
    let report = run(seed, steps, &mut |_| {});
    if let Some(failure) = &report.failure {
        panic!(
            "seed {seed} fails at step {}: {}\nreplay: cargo run --release -p tslp-snapshots -- --seed {seed} --steps {steps} --trace",
            failure.step, failure.what
        );
    }
    report
}

/// Forty-eight seeds, because rare coincidences need them: of the faults that docs/testing.md
/// plants most show within ten seeds, but a first message that counts in full when it is said again
/// shows at seed 19. What shows later (one at seed 68) is left to `.ci/long simulate`.
#[test]
fn law_in_every_run() {
    let mut total = Report::default();
    for seed in 0..48 {
        total.add(&check(seed, 2500));
    }
    // A simulation in which nothing happens shows nothing.
    for what in [
        "answers",
        "answers broken off",
        "audits answered",
        "failed commits",
        "first messages again",
        "graceful ends",
        "interrupted replies",
        "kills",
        "power losses in a commit",
        "promotion_refused",
        "replies that became true",
        "replies that had to become true",
        "waits for a transition",
    ] {
        assert!(total.counters.contains_key(what), "no {what}");
    }
}

#[test]
fn same_seed_same_run() {
    for seed in 100..103 {
        let lines = |steps| {
            let mut lines = Vec::new();
            let report = run(seed, steps, &mut |line| lines.push(line.to_owned()));
            (report, lines)
        };
        let (first, told) = lines(2000);
        let (again, told_again) = lines(2000);
        for (line, other) in told.iter().zip(&told_again) {
            assert_eq!(line, other, "seed {seed}");
        }
        assert_eq!(first, again, "seed {seed}");
    }
}
