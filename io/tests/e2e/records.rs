//! `tslp note`, `forget` and `records`, without a proxy and through its door.

use serde_json::{Value, json};

use crate::harness::{Places, Tslp, prompt};
use crate::upstream::Upstream;

#[test]
fn what_a_terminal_notes_is_shown_to_a_model_until_it_is_forgotten() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let kept = || places.cli_json(&["records"]).1["records"].clone();
    assert_eq!(kept(), json!([]));
    let (code, done) = places.cli_json(&["note", "preference", "#style: Use spaces."]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("record_noted")),
        "{done}"
    );

    let tslp = Tslp::start(&places, &upstream);
    let (code, done) = places.cli_json(&[
        "note",
        "fact #a: The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    ]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (1, &json!("record_not_usable")),
        "{done}"
    );
    let (code, _) = places.cli_json(&["note", "decision #queue: One writer thread."]);
    assert_eq!(code, 0);
    let keys = |kept: &Value| -> Vec<String> {
        let rows = kept.as_array().unwrap().iter();
        rows.map(|row| row["key"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(keys(&kept()), ["queue", "style"]);
    let log = places.in_workspace(&["log", "--json"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(
        log.contains("record_changed") && !log.contains("ghp_"),
        "{log}"
    );

    let seen = |words: &str| {
        upstream.will_say("Yes.");
        tslp.chat(&prompt(words));
        upstream.next().text()
    };
    let shown = seen("Hello.");
    assert!(
        shown.contains("#style: Use spaces.") && !shown.contains("#queue"),
        "{shown}"
    );
    assert!(seen("What about #queue?").contains("#queue: One writer thread."));
    let (code, _) = places.cli_json(&["forget", "#style"]);
    assert_eq!(code, 0);
    assert!(!seen("Hello again.").contains("#style"));
}
