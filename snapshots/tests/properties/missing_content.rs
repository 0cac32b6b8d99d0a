//! Bytes of the Vault that can't be read.

use tslp_core::event::Event;
use tslp_core::reason::Reason;
use tslp_snapshots::script;
use tslp_snapshots::stage::Stage;
use tslp_snapshots::state_text::entries_text;

/// law engine 9 | Bytes that can't be read from the Vault aren't shown | content_missing
#[test]
fn unreadable_code() {
    let script = script::parse(
        "
        policy history window
        user
        | ```c:src/a.c
        | int a(int x) { return x + 1; }
        | ```
        model
        | Fine.
        ",
    );
    let mut stage = Stage::new(script.policy);
    script.steps.into_iter().for_each(|step| stage.step(step));
    stage.lose_contents();
    let prompt = script::parse("user\n| What does a() do?\n");
    prompt.steps.into_iter().for_each(|step| stage.step(step));
    let sent = stage
        .last_sent()
        .expect("a prompt went out")
        .texts()
        .join("\n");
    assert!(!sent.contains("return x + 1"), "{sent}");
    let entries = entries_text(&stage.episode_entries());
    assert!(
        entries.contains("withheld src/a.c::a content_missing"),
        "{entries}"
    );
}

/// The comparison with the base was skipped when the Vault couldn't give the base, so this change passed.
/// law 7 | A change is refused where the Vault can't give the code that it replaces: nothing can be compared | code_kept, base_unreadable
#[test]
fn unreadable_base() {
    let shown = "
        user
        | ```c:src/a.c
        | int limit(int x) {
        |     int y = x;
        |     y += 1;
        |     if (y > 100) {
        |         return 100;
        |     }
        |     return y;
        | }
        | ```
        model
        | Fine.
        user
        | Tidy up limit().
        ";
    let reply = "
        model
        | ```c:src/a.c
        | int limit(int x) {
        |     int sum = x;
        |     sum += 1;
        |     return sum;
        | }
        | ```
        ";
    let conclusion = |loses: bool| {
        let script = script::parse(shown);
        let mut stage = Stage::new(script.policy);
        script.steps.into_iter().for_each(|step| stage.step(step));
        if loses {
            stage.lose_contents();
        }
        let before = stage.ledger().len();
        let script = script::parse(reply);
        script.steps.into_iter().for_each(|step| stage.step(step));
        let mut events = stage.ledger()[before..].iter();
        events.find_map(|recorded| match &recorded.event {
            Event::PromotionRefused(refused) => refused.report.conclusion,
            Event::Transitioned(moved) => moved.report.as_ref()?.conclusion,
            _ => None,
        })
    };
    assert_eq!(conclusion(false), Some(Reason::RemovedUnasked));
    assert_eq!(conclusion(true), Some(Reason::BaseUnreadable));
}
