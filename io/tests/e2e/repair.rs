//! What a model almost did: edits that don't match are answered with the truth.

use serde_json::{Value, json};

use crate::budgets::Agent;
use crate::harness::{Places, Tslp};
use crate::upstream::Upstream;

const FILE: &str = "int add(int a, int b)\n{\n    return a + b;\n}\n\nint sub(int a, int b)\n{\n    return a - b;\n}\n";

/// Prompts of an agent whose edit's old text isn't in the file, in the words of its client.
fn prompts_after_failure(path: &'static str, remark: &str, settings: &[&str]) -> [String; 2] {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/a.c", FILE);
    let tslp = Tslp::with(&places, &upstream.url, settings);
    let mut agent = Agent::new(&tslp, &upstream, path, "Let sub in src/a.c saturate.");
    agent.call("read", &json!({"file_path": "src/a.c"}), FILE);
    let edit = json!({
        "file_path": "src/a.c",
        "old_string": "int sub(int a, int b) {\n    return b - a;\n}",
        "new_string": "int sub(int a, int b) {\n    return 0;\n}",
    });
    agent.call("edit", &edit, remark);
    let read = json!({"file_path": "src/a.c"});
    let prompts = [
        agent.call("read", &read, FILE),
        agent.call("read", &read, FILE),
    ];
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
    prompts
}

fn messages_of(prompt: &str) -> Vec<Value> {
    let prompt: Value = serde_json::from_str(prompt).unwrap();
    prompt["messages"].as_array().unwrap().clone()
}

#[test]
fn an_edit_that_does_not_match_is_answered_with_the_lines_that_it_must_have_meant() {
    let remarks = [
        "Could not find oldString in the file. It must match exactly, including whitespace, indentation, and line endings.",
        "<tool_use_error>String to replace not found in file.\nString: int sub</tool_use_error>",
        "Failed to edit, 0 occurrences found for old_string in src/a.c. No edits made.",
        "No replacement performed: text not found in src/a.c.",
        "Edit at index 0: string not found in file: int sub",
    ];
    for path in ["/v1/chat/completions", "/v1/messages"] {
        for remark in remarks {
            let [after, later] = prompts_after_failure(path, remark, &[]);
            let said = "The last edit of src/a.c was not applied: the text that it replaces is in no version of the file that is known.\\nsrc/a.c:6-9 read:\\nint sub(int a, int b)\\n{\\n    return a - b;\\n}\\n";
            assert_eq!(after.matches(said).count(), 1, "{path} {remark}: {after}");
            assert_eq!(later.matches(said).count(), 1, "{later}");
            assert!(
                messages_of(&later).starts_with(&messages_of(&after)),
                "{later}"
            );
        }
    }
}

#[test]
fn what_says_nothing_of_the_text_and_repair_that_is_off_change_no_byte() {
    let untouched = |remark: &str, settings: &[&str]| {
        let [after, _] = prompts_after_failure("/v1/chat/completions", remark, settings);
        let last = messages_of(&after).pop().unwrap();
        assert_eq!(last["content"], remark, "{after}");
    };
    untouched("Permission denied.", &[]);
    untouched(
        "String to replace not found in file.",
        &["--repair-edits", "off"],
    );
}
