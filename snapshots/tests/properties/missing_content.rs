//! Bytes of the Vault that can't be read.

use tslp_snapshots::script;
use tslp_snapshots::stage::Stage;

#[test]
fn code_that_can_not_be_read_is_withheld() {
    let script = script::parse(
        "
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
    assert!(
        format!("{}", stage.episode_entries()).contains("withheld src/a.c::a content_missing"),
        "{}",
        stage.episode_entries()
    );
}
