//! What records add to a prompt, and the look-up of a quotation in a large file that has changed.
//! `cargo bench -p tslp-snapshots --bench records`

use std::time::{Duration, Instant};

use tslp_core::directive::Directive;
use tslp_core::event::Verb;
use tslp_core::hash::ArtifactHash;
use tslp_core::policy::Policy;
use tslp_snapshots::dice::Dice;
use tslp_snapshots::script::{Ending, Step};
use tslp_snapshots::stage::Stage;

const RECORDS: usize = 10_000;

/// Prompts of each stage. They alternate, so that a busy machine slows both.
const PROMPTS: u64 = 400;

/// Changes of the large file, each before a prompt of both stages.
const CHANGES: u64 = 15;

/// Different words of which prompts and statements are made.
const WORDS: usize = 50_000;

const FILE: &str = "src/big.c";

#[expect(clippy::print_stdout, reason = "it prints what it measures")]
fn main() {
    // `cargo test --all-targets` runs this file, too; only `cargo bench` measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut stages = [0, RECORDS].map(|records| {
        let mut stage = Stage::new(Policy::default());
        let mut dice = Dice::new(1);
        for at in 0..records {
            note(
                &mut stage,
                format!("decision #d{at}: {}.", words(&mut dice, 12)),
            );
        }
        stage
    });
    let [without, with] = medians(&mut stages, PROMPTS, |_, seed| {
        words(&mut Dice::new(seed), 800)
    });
    println!(
        "a prompt of 800 words: {without:?}, with {RECORDS} records {with:?}: {:.2} times",
        with.as_secs_f64() / without.as_secs_f64()
    );

    let large = |number: usize| {
        let function =
            |at: usize| format!("int f{at}(int a) {{\n    return a + {at} + {number};\n}}\n");
        (0..25_000).map(function).collect::<String>()
    };
    let text = large(0);
    let began = Instant::now();
    std::hint::black_box(ArtifactHash::of(text.as_bytes()));
    println!("the hash of {} bytes: {:?}", text.len(), began.elapsed());
    let mut stages = [0, 1].map(|records| {
        let mut stage = Stage::new(Policy::default());
        put(&mut stage, text.clone());
        stage.step(Step::User(format!("@tslp accept {FILE}")));
        stage.step(Step::Model {
            text: "Noted.".into(),
            ending: Ending::Whole,
        });
        if records > 0 {
            note(
                &mut stage,
                format!("fact #big: It adds. `int f77(int a) {{` [{FILE}]"),
            );
        }
        stage
    });
    let [without, with] = medians(&mut stages, CHANGES, |stage, seed| {
        put(stage, large(usize::try_from(seed).unwrap_or(0) + 1));
        format!("What does f77 in {FILE} add?")
    });
    println!(
        "a prompt that names that file, changed: {without:?}, with a quotation of it {with:?}"
    );
}

fn put(stage: &mut Stage, text: String) {
    stage.step(Step::Disk {
        path: FILE.into(),
        text,
    });
}

fn note(stage: &mut Stage, target: String) {
    stage.step(Step::Command(Directive {
        verb: Verb::Note,
        target,
    }));
}

fn ask(stage: &mut Stage, text: String) {
    stage.step(Step::New);
    stage.step(Step::User(text));
}

/// Words of letters alone: one with a digit would be a name.
fn words(dice: &mut Dice, count: usize) -> String {
    let word = |number: usize| {
        let digits = format!("{number:05}").into_bytes();
        digits
            .into_iter()
            .map(|digit| char::from(digit - b'0' + b'k'))
            .collect()
    };
    let words = (0..count).map(|_| word(dice.below(WORDS)));
    words.collect::<Vec<String>>().join(" ")
}

/// The median time of a prompt, of each stage.
fn medians(
    stages: &mut [Stage; 2],
    prompts: u64,
    text: impl Fn(&mut Stage, u64) -> String,
) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for seed in 0..prompts {
        for (stage, times) in stages.iter_mut().zip(&mut times) {
            let text = text(stage, seed);
            let began = Instant::now();
            ask(stage, text);
            times.push(began.elapsed());
        }
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}
