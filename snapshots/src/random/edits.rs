//! One change said in each format that models and their clients use.

/// A format of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// aider's block.
    SearchReplace,
    /// A unified diff with line numbers that mean nothing.
    UnifiedDiff,
    /// A patch in the text of the reply.
    ApplyPatch,
    /// A call of an `edit` tool.
    EditCall,
    /// A call of an `apply_patch` tool.
    PatchCall,
}

/// All formats.
pub const FORMS: [Form; 5] = [
    Form::SearchReplace,
    Form::UnifiedDiff,
    Form::ApplyPatch,
    Form::EditCall,
    Form::PatchCall,
];

/// An edit as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// In the message's text.
    Text(String),
    /// As a tool call: its name and its arguments.
    Call(&'static str, String),
}

/// The replacement of `old` by `new` in a file; both end with a line break, or are empty.
#[must_use]
pub fn said(form: Form, path: &str, old: &str, new: &str) -> Said {
    let minus = marked('-', old);
    let plus = marked('+', new);
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n{minus}{plus}*** End Patch\n");
    match form {
        Form::SearchReplace => Said::Text(format!(
            "{path}\n```c\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"
        )),
        Form::UnifiedDiff => Said::Text(format!(
            "```diff\n--- a/{path}\n+++ b/{path}\n@@ -100,5 +100,5 @@\n{minus}{plus}```\n"
        )),
        Form::ApplyPatch => Said::Text(patch),
        Form::EditCall => Said::Call(
            "edit",
            format!(
                "{{\"filePath\": {}, \"oldString\": {}, \"newString\": {}}}",
                json(path),
                json(old),
                json(new)
            ),
        ),
        Form::PatchCall => Said::Call("apply_patch", format!("{{\"input\": {}}}", json(&patch))),
    }
}

/// A call that writes the whole file.
#[must_use]
pub fn written(path: &str, text: &str) -> Said {
    let arguments = format!("{{\"path\": {}, \"content\": {}}}", json(path), json(text));
    Said::Call("write_file", arguments)
}

/// Each line with a mark in front.
fn marked(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

/// A JSON string. The vocabulary is ASCII, where Rust escapes as JSON does.
fn json(text: &str) -> String {
    format!("{text:?}")
}
