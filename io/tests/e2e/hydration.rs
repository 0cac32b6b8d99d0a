//! Pasted code becomes true, and the model is shown exactly that, in the law's template and order.

use serde_json::json;

use crate::harness::{Places, RING, RING_PUT, Talk, Tslp, fenced, prompt, state_block, user};
use crate::upstream::Upstream;

/// law 8.2 | The template, to the letter
#[test]
fn paste_shown_verbatim() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let paste = format!("This is it:\n\n{}", fenced("src/ring.c", RING));
    tslp.say(&paste);
    // Nothing of ours goes along with code that the prompt itself holds.
    let first = upstream.next();
    assert_eq!(first.json(), prompt(&paste));
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["origin"], "user");
    assert_eq!(entity["stale"], false);
    assert_eq!(entity["disk"], "missing");
    assert!(entity["last_updated"].as_str().unwrap().ends_with('Z'));

    let request = json!({
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "what does `ring_put` return?"},
        ],
    });
    tslp.chat(&request);
    let words = format!(
        "{}\n\nwhat does `ring_put` return?",
        state_block(RING_PUT, &tslp.artifact(RING_PUT), RING)
    );
    let expected = format!(
        "{{\"model\":\"m\",\"messages\":[{{\"role\":\"system\",\"content\":\"Be brief.\"}},{{\"role\":\"user\",\"content\":{}}}]}}",
        json!(words)
    );
    assert_eq!(upstream.next().text(), expected);
    let hydrated = &tslp.last_episode()["hydrated"];
    assert_eq!(
        *hydrated,
        json!([{"entity": RING_PUT, "reason": "mentioned"}])
    );
}

/// The artifact is the hash of the canonical text.
#[test]
fn artifact_hash() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let as_pasted = RING.replace("\n", "  \r\n");
    tslp.say(&fenced("src/ring.c", &as_pasted));
    let artifact = tslp.artifact(RING_PUT);
    tslp.say(&fenced("src/ring.c", RING));
    assert_eq!(tslp.artifact(RING_PUT), artifact);
    assert_eq!(
        artifact,
        blake3::hash(RING.trim_end().as_bytes()).to_string()
    );
}

/// law 8.4 | System, code, recent context, prompt
#[test]
fn order_of_sections() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let mut talk = Talk::new(&tslp).with_system("Be brief.");
    upstream.will_say("Hello to you.");
    talk.ask("Hello.");
    upstream.next();
    talk.ask("Now look at `ring_put`.");
    let seen = upstream.next();
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    assert_eq!(
        seen.system(),
        format!(
            "Be brief.\n\n[RECENT CONTEXT: READ-ONLY]\nUser:\nHello.\n\nAssistant:\nHello to you.\n[END RECENT CONTEXT]\n\n{block}"
        )
    );
    let said = seen.conversation();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].ends_with("\n\nNow look at `ring_put`."), "{said:?}");
}

/// A model without a system role gets the same in front of the prompt.
#[test]
fn without_system_role() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--placement", "user"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    tslp.say("explain `ring_put`");
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    let expected = format!("user: {block}\n\nexplain `ring_put`");
    assert_eq!(upstream.next().conversation(), [expected]);
}

#[test]
fn stable_order() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--history", "window"]);
    for name in ["alpha_one", "beta_two"] {
        let code = format!("int {name}(void) {{\n    return 1;\n}}\n");
        tslp.say(&fenced(&format!("src/{name}.c"), &code));
        upstream.next();
    }
    let mut talk = Talk::new(&tslp);
    talk.ask("what does `beta_two` do?");
    upstream.next();
    talk.ask("and how do `alpha_one` and `beta_two` differ?");
    let system = upstream.next().system();
    let place = |name: &str| system.find(&format!("Entity: src/{name}.c")).unwrap();
    assert!(place("beta_two") < place("alpha_one"), "{system}");
}

/// law 8.1 | Their full content is injected
#[test]
fn named_not_cut() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--budget-tokens", "60"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    tslp.say("explain `ring_put`");
    assert_eq!(
        upstream.next().system(),
        "[STATE NOTICE]\nsrc/ring.c::ring_put is known, but too long for this prompt, so its code is not shown. Ask the user which part of it is meant.\n[END NOTICE]"
    );
    assert_eq!(tslp.last_episode()["withheld"][0]["reason"], "over_budget");
}

/// law 14.3 | `/debug/last-prompt` exists only with `--debug`
/// law 14.3 | `/debug/last-prompt`: exactly what the model saw, with debug alone
#[test]
fn debug_page() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--debug"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let response = tslp.chat(&json!({"model": "m", "messages": [user("explain `ring_put`")]}));
    let page = tslp.page("/debug/last-prompt");
    assert_eq!(page["request"], upstream.next().json());
    assert_eq!(page["episode"], response.episode());
    tslp.stop();
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(tslp.get("/debug/last-prompt").status(), 404);
}
