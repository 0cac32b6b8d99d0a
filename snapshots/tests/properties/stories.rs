//! Random users, models and disks: the law holds after every step.

use tslp_snapshots::random::{entropy, player};

/// Stories that every run plays.
const STORIES: u64 = 60;

/// A story mixes some of the users' acts in one order, so few stories miss pairs of acts, such as a
/// rename followed by a rejection. Beyond sixty, `.ci/long stories` goes on with 8,000 others.
/// law 5 | Four arrows and no others
/// law 3.3, 5 | One authoritative version of an entity; no reply removes a symbol; a paste always wins
/// law 3.3, engine 7 | What the user said acts once: an agent's next step, with the same message, repeats neither directive, paste nor confirmation
/// law 2 | State advances by structural proof alone
/// law 3.3 | Exactly one authoritative artifact of an entity
#[test]
fn random_stories() {
    for seed in 0..STORIES {
        player::play_story(&entropy::bytes(seed, 700));
    }
}

/// For a longer look: `SEEDS=1000..9000 cargo test -p tslp-snapshots -- --ignored random_stories_at_length`. Tells the
/// seeds at which the law broke.
#[test]
#[ignore = "takes minutes"]
#[allow(clippy::print_stderr)]
fn random_stories_at_length() {
    let seeds = std::env::var("SEEDS").unwrap_or_else(|_| format!("{STORIES}..2000"));
    let (first, end) = seeds.split_once("..").expect("FIRST..END");
    let seeds = first.parse().unwrap()..end.parse::<u64>().unwrap();
    let breaks = |seed: &u64| {
        std::panic::catch_unwind(|| player::play_story(&entropy::bytes(*seed, 700))).is_err()
    };
    let broken: Vec<u64> = seeds.filter(breaks).collect();
    assert!(broken.is_empty(), "the law broke at seeds {broken:?}");
}
