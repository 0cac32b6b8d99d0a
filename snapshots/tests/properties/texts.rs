//! All texts that a user reads, as one golden file: to be read like a page.

use std::fmt::Write as _;

use tslp_core::event::{ReadFailure, ReplyOutcome, Verb};
use tslp_core::reason::Reason;
use tslp_io::config::table::KEYS;
use tslp_io::evidence::describe::{outcome_words, reason_words};
use tslp_io::evidence::story::Told;
use tslp_io::exit::Exit;
use tslp_io::{acts, cli, door};

/// Words of the program's insides, which mean nothing to a user.
const INTERNAL: [&str; 6] = [
    "boot",
    "elided",
    "acknowledged",
    "hydrated",
    "in_sight",
    "authoritative",
];

fn table() -> String {
    let mut text = String::from("== tslp --help\n");
    let help = cli::parse_command(["tslp", "--help"].map(Into::into));
    let help = help.expect_err("help is no command");
    text += &help.render().to_string();
    text += "\n== Settings\n";
    for key in KEYS.iter() {
        let _ = writeln!(text, "{} ({}): {}", key.name, key.kind.form(), key.meaning);
        if !key.unset.is_empty() {
            let _ = writeln!(text, "    unset: {}", key.unset);
        }
    }
    text += "\n== Labels of what happened\n";
    for told in Told::ALL {
        let _ = writeln!(text, "{}", told.label());
    }
    text += "\n== Why: each reason\n";
    for reason in Reason::ALL {
        let _ = writeln!(text, "{}: {}", reason.code(), reason_words(*reason));
    }
    text += "\n== Answers to directives and commands, where they say more than the reason's code\n";
    for reason in Reason::ALL {
        let mut told = Vec::new();
        for verb in Verb::ALL {
            let answer = acts::answer_words(*verb, "TARGET", *reason).into_owned();
            match told.iter_mut().find(|(words, _)| *words == answer) {
                Some((_, verbs)) => *verbs += 1,
                None => told.push((answer, 1)),
            }
        }
        // With one answer for all, or the special ones beside it.
        for (answer, _) in told.into_iter().filter(|(words, _)| words != reason.code()) {
            let _ = writeln!(text, "{}: {answer}", reason.code());
        }
    }
    text += "\n== How replies end\n";
    for outcome in [
        ReplyOutcome::Completed,
        ReplyOutcome::ClientGone,
        ReplyOutcome::UpstreamBroken,
        ReplyOutcome::UpstreamRefused(500),
        ReplyOutcome::UpstreamUnreachable,
        ReplyOutcome::Interrupted,
        ReplyOutcome::Withheld,
    ] {
        let _ = writeln!(text, "{}", outcome_words(outcome));
    }
    text += "\n== Why a file can't be read\n";
    for failure in ReadFailure::ALL {
        let _ = writeln!(text, "{}", acts::failure_words(*failure));
    }
    text += "\n== What the door does\n";
    for act in door::message::ACTS {
        let _ = writeln!(text, "{}: {}", act.name(), act.meaning);
    }
    text += "\n== Exit codes\n";
    for exit in Exit::ALL {
        let _ = writeln!(text, "{}: {}", exit.code(), exit.meaning());
    }
    text
}

/// Each change of a text shows here, next to all the others.
#[test]
fn all_texts() {
    let table = table();
    insta::with_settings!({
        omit_expression => true,
        description => "All texts that a user reads.",
        snapshot_path => "../../golden",
        prepend_module_to_snapshot => false,
    }, {
        insta::assert_snapshot!("texts", table);
    });
    // In front of a reason's words is its code, which users filter by.
    let internal = |line: &&str| {
        let words = line.split_once(": ").map_or(*line, |(_, words)| words);
        INTERNAL.iter().any(|it| words.to_lowercase().contains(it))
    };
    let internal: Vec<&str> = table.lines().filter(internal).collect();
    assert!(internal.is_empty(), "{internal:#?}");
}
