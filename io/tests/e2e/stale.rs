//! A file edited behind the proxy's back: withheld, told, and cleared by the user alone (spec §15).

use serde_json::json;

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, fenced, state_block};
use crate::ledger_file;
use crate::upstream::Upstream;

const NOTICE: &str = "[STATE NOTICE]\nsrc/ring.c::ring_put is STALE: its file was changed, and what it holds now is not shown here.\n[END NOTICE]";

const SAID_BEFORE: &str = "[STATE NOTICE]\nThe user sent this message before, word for word. Its code for src/ring.c::ring_put is not what the file on disk holds now, so it was NOT taken again.\nIt has NOT modified the State Map.\n[END NOTICE]";

/// The same function after a person edited it.
fn by_hand() -> String {
    RING.replace("return 0;", "return r->head;")
}

/// A file of which the paste is a part.
fn file_with(code: &str) -> String {
    format!("int ring_size(struct ring *r) {{\n    return r->size;\n}}\n\n{code}")
}

#[test]
fn edited_and_put_back() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", &file_with(RING));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    tslp.say("explain `ring_put`");
    assert_eq!(upstream.next().system(), block);

    places.write("src/ring.c", &file_with(&by_hand()));
    tslp.say("explain `ring_put`");
    assert_eq!(upstream.next().system(), NOTICE);
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["stale"], true);
    assert_eq!(entity["disk"], "unknown");
    let episode = tslp.last_episode();
    assert_eq!(
        episode["withheld"],
        json!([{"entity": RING_PUT, "reason": "stale"}])
    );
    let doctor = tslp.page("/doctor");
    assert_eq!(doctor["stale"], 1, "{doctor}");
    assert_eq!(doctor["ok"], true, "{doctor}");

    places.write("src/ring.c", &file_with(RING));
    tslp.say("explain `ring_put`");
    assert_eq!(upstream.next().system(), block);
    assert_eq!(tslp.state()[RING_PUT]["stale"], false);
    assert_eq!(tslp.page("/doctor")["stale"], 0);
}

/// Pasting what the file holds ends its being stale.
#[test]
fn pasting_clears() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    places.write("src/ring.c", &by_hand());
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["stale"], true);
    tslp.say(&fenced("src/ring.c", &by_hand()));
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["stale"], false);
    assert_eq!(entity["origin"], "user");
}

/// A client asked for another reply to a conversation's first message, and the old code in it took the place of what the
/// editor had written in the meantime: the model was shown that, and nobody was told.
#[test]
fn repeated_first_message() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let words = format!("{}Make `ring_put` safe.", fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say(&words);
    assert_eq!(upstream.next().system(), "");
    let better = tslp.artifact(RING_PUT);

    places.write("src/ring.c", RING_BETTER);
    tslp.say(&words);
    let block = state_block(RING_PUT, &better, RING_BETTER);
    assert_eq!(
        upstream.next().system(),
        format!("{block}\n\n{SAID_BEFORE}")
    );
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(
        (&entity["artifact"], &entity["disk"]),
        (&json!(better), &json!("same"))
    );

    places.write("src/ring.c", &by_hand());
    tslp.say(&words);
    assert_eq!(
        upstream.next().system(),
        format!("{SAID_BEFORE}\n\n{NOTICE}")
    );
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(
        (&entity["artifact"], &entity["disk"]),
        (&json!(better), &json!("unknown"))
    );

    places.write("src/ring.c", RING);
    tslp.say(&words);
    assert_eq!(upstream.next().system(), "");
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(
        (&entity["origin"], &entity["disk"]),
        (&json!("user"), &json!("same"))
    );
    let pasted = tslp.artifact(RING_PUT);

    places.write("src/ring.c", RING_BETTER);
    tslp.say("@tslp accept src/ring.c\nWhat changed?");
    assert_eq!(tslp.artifact(RING_PUT), better);
    tslp.say(&format!("No, go back to this.\n{words}"));
    assert_eq!(tslp.artifact(RING_PUT), pasted);
}

/// A change of a function that disk held as it was true took the file's place, and an include that somebody had added was
/// never acknowledged.
#[test]
fn edit_elsewhere() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.artifact(RING_PUT);
    places.write("src/ring.c", &format!("#include <assert.h>\n{RING}"));
    let improve = |how: &str| {
        upstream.will_say(fenced("src/ring.c", RING_BETTER));
        tslp.say(how);
        tslp.artifact(RING_PUT)
    };
    // What was edited is outside of the definition that changes.
    assert_ne!(improve("improve `ring_put`"), before);
    assert_eq!(tslp.state()[RING_PUT]["stale"], false);
}

/// law 15.8 | What contradicts the record stops the proxy until the user says what holds
#[test]
fn edited_file_blocks() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.artifact(RING_PUT);
    places.write("src/ring.c", &by_hand());
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    assert_eq!(tslp.artifact(RING_PUT), before);
    assert_eq!(
        tslp.last_episode()["artifact_states"],
        json!([{"entity": RING_PUT, "reason": "stale", "state": "PROPOSED"}])
    );
}

#[test]
fn edit_before_reply() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let before = tslp.artifact(RING_PUT);
    let (go_on, barrier) = crate::upstream::barrier();
    let mut steps = vec![barrier];
    let events = crate::upstream::events(&fenced("src/ring.c", RING_BETTER));
    steps.extend(events.into_iter().map(crate::upstream::Step::Chunk));
    upstream.will(crate::upstream::Answer::Steps(steps));
    let client = tslp.asking(&crate::harness::prompt("improve `ring_put`"));
    upstream.next();
    upstream.next();
    places.write("src/ring.c", &by_hand());
    go_on.send(()).unwrap();
    tslp.ended(client.response().episode());
    assert_eq!(tslp.artifact(RING_PUT), before);
    assert_eq!(tslp.last_episode()["artifact_states"][0]["reason"], "stale");
}

/// An accepted change that is not saved yet is current.
#[test]
fn accepted_but_unsaved() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    upstream.next();
    upstream.next();
    tslp.say("explain `ring_put`");
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING_BETTER);
    let unsaved = format!(
        "[STATE NOTICE]\n{RING_PUT} as shown was accepted in another conversation, and its file doesn't hold it yet: save that \
         change first, or the two will overwrite each other.\n[END NOTICE]"
    );
    assert_eq!(upstream.next().system(), format!("{block}\n\n{unsaved}"));
    assert_eq!(tslp.state()[RING_PUT]["disk"], "not_saved");
    let doctor = tslp.page("/doctor");
    assert_eq!(
        (&doctor["stale"], &doctor["unsaved"]),
        (&0.into(), &2.into()),
        "the file and its function"
    );
    places.write("src/ring.c", RING_BETTER);
    tslp.say("explain `ring_put`");
    assert_eq!(upstream.next().system(), block);
}

/// A deleted file is told as such; an unreadable one is withheld and counted.
#[test]
fn deleted_or_unreadable() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let file = places.workspace.join("src/ring.c");
    std::fs::remove_file(&file).unwrap();
    tslp.say("explain `ring_put`");
    let system = upstream.next().system();
    assert!(!system.contains("[CURRENT STATE"), "{system}");
    assert!(system.contains("file was deleted"), "{system}");
    assert_eq!(tslp.state()[RING_PUT]["disk"], "missing");
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    tslp.say("explain `ring_put`");
    let system = upstream.next().system();
    assert!(system.contains("its path leads through a link"), "{system}");
    let doctor = tslp.page("/doctor");
    let failures = doctor["read_failures"].as_object().unwrap();
    assert_eq!(
        failures
            .values()
            .filter_map(|count| count.as_u64())
            .sum::<u64>(),
        1
    );
    assert_eq!(doctor["stale"], 0, "{doctor}");
}

#[test]
fn users_word_stands() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    places.write("src/ring.c", &by_hand());
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["stale"], true);
    tslp.say(&format!(
        "No, this is it:\n\n{}",
        fenced("src/ring.c", RING)
    ));
    for _ in 0..3 {
        upstream.next();
    }
    assert_eq!(tslp.state()[RING_PUT]["stale"], false);
    tslp.say("explain `ring_put`");
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    assert_eq!(upstream.next().system(), block);
    // The next edit on disk is noticed again.
    places.write("src/ring.c", &by_hand().replace("value", "number"));
    tslp.say("explain `ring_put`");
    assert_eq!(upstream.next().system(), NOTICE);
}

/// Edits elsewhere, other indentation and other line endings are no divergence.
#[test]
fn no_divergence() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", &file_with(RING));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let same = [
        file_with(RING).replace("return r->size", "return r->count"),
        file_with(RING).replace('\n', "\r\n"),
        format!("\u{feff}{}", file_with(RING)),
    ];
    for text in same {
        places.write("src/ring.c", &text);
        tslp.say("explain `ring_put`");
        let system = upstream.next().system();
        assert!(system.starts_with("[CURRENT STATE"), "{text:?}: {system}");
    }
}

#[test]
fn fifo_or_folder() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let path = places.workspace.join("src/ring.c");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    tslp.say("explain `ring_put`");
    assert!(upstream.next().system().contains("is not a file"));
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    tslp.say("explain `ring_put`");
    assert!(upstream.next().system().contains("is not a file"));
}

/// What the user knew of is acknowledged.
#[test]
fn known_to_the_user() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", &by_hand());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["disk"], "acknowledged", "{entity}");
    assert_eq!(entity["stale"], false, "{entity}");
    for field in ["artifact", "last_updated"] {
        assert!(entity[field].is_string(), "{entity}");
    }
    assert_eq!(tslp.page("/doctor")["stale"], 0);
    places.write("src/ring.c", RING);
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["disk"], "same");
}

/// law 15.7 | `/doctor` counts what can't be read
/// law 15.7 | `/doctor`: how many are STALE, and what can't be read
#[test]
fn read_failures_counted() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for name in ["a.c", "b.c", "c.c"] {
        tslp.say(&fenced(&format!("src/{name}"), RING));
    }
    let at = |name: &str| places.workspace.join("src").join(name);
    std::fs::create_dir(at("a.c")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", at("b.c")).unwrap();
    places.write("src/c.c", &by_hand());
    tslp.say("explain src/a.c, src/b.c and src/c.c");
    let doctor = tslp.page("/doctor");
    assert_eq!(
        doctor["read_failures"],
        json!({"escapes_workspace": 1, "not_a_file": 1})
    );
    assert_eq!(doctor["stale"], 1, "{doctor}");
    let checks = doctor["checks"].as_array().unwrap();
    let reads = checks
        .iter()
        .find(|check| check["check"] == "file reads")
        .unwrap();
    let detail = reads["detail"].as_str().unwrap();
    assert!(
        detail.starts_with("escapes_workspace: 1, not_a_file: 1; at the last look: "),
        "{detail}"
    );
    let named = doctor["unreadable"].as_object().unwrap();
    assert_eq!(named.len(), 2, "{doctor}");
    for (path, reason) in named {
        let reason = reason.as_str().unwrap();
        assert!(detail.contains(&format!("{path} ({reason})")), "{detail}");
    }
}

/// law engine 8 | What can't be accepted is answered with why: not UTF-8 | not_text
#[test]
fn unacceptable_file() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    std::fs::create_dir_all(places.workspace.join("src")).unwrap();
    std::fs::write(places.workspace.join("image.c"), b"int f; // \xe9\0\n").unwrap();
    tslp.say("@tslp accept src\n@tslp accept image.c\nHello.");
    let seen = upstream.next().system();
    for notice in [
        "The user could not accept src: its path is not a file.",
        "The user could not accept image.c: the file is not UTF-8.",
    ] {
        assert!(seen.contains(notice), "{seen}");
    }
    tslp.at_rest();
    assert_eq!(tslp.page("/doctor")["read_failures"], json!({}));
}

/// A file that becomes stale is told once in the log, with what to do.
#[test]
fn logged_once() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    places.write("src/ring.c", &by_hand());
    tslp.say("explain `ring_put`");
    places.write("src/ring.c", &by_hand().replace("value", "other"));
    tslp.say("explain `ring_put` again");
    tslp.at_rest();
    let log = tslp.log();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("STALE")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    for words in ["src/ring.c changed on disk", "`@tslp accept src/ring.c`"] {
        assert!(lines[0].contains(words), "{log}");
    }
}

/// Another password is another text, and none is on record.
#[test]
fn other_password() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let file = |password: &str| {
        format!(
            "const char *key(void) {{ const char *password = \"{password}\"; return password; }}\n"
        )
    };
    places.write("src/key.c", &file("Tr0ub4dor"));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/key.c", &file("Tr0ub4dor")));
    tslp.say("explain `key`");
    tslp.at_rest();
    assert!(!tslp.log().contains("STALE"), "{}", tslp.log());
    places.write("src/key.c", &file("c0rrect-h0rse"));
    tslp.say("explain `key` again");
    tslp.at_rest();
    let log = tslp.log();
    assert!(log.contains("src/key.c changed on disk"), "{log}");
    tslp.stop();
    for (name, bytes) in ledger_file::evidence(&places.data) {
        for password in ["Tr0ub4dor", "c0rrect-h0rse"] {
            assert!(!ledger_file::holds(&bytes, password), "{name}");
        }
    }
}
