//! One change said in each format that models and their clients use.

/// A format of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditForm {
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
pub const FORMS: [EditForm; 5] = [
    EditForm::SearchReplace,
    EditForm::UnifiedDiff,
    EditForm::ApplyPatch,
    EditForm::EditCall,
    EditForm::PatchCall,
];

/// An edit as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenEdit {
    /// In the message's text.
    Text(String),
    /// As a tool call: its name and its arguments.
    Call(&'static str, String),
}

/// The replacement of `old` by `new` in a file; both end with a line break, or are empty.
#[must_use]
pub fn written_edit(form: EditForm, path: &str, old: &str, new: &str) -> WrittenEdit {
    let minus = with_mark('-', old);
    let plus = with_mark('+', new);
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n{minus}{plus}*** End Patch\n");
    match form {
        EditForm::SearchReplace => WrittenEdit::Text(format!(
            "{path}\n```c\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"
        )),
        EditForm::UnifiedDiff => WrittenEdit::Text(format!(
            "```diff\n--- a/{path}\n+++ b/{path}\n@@ -100,5 +100,5 @@\n{minus}{plus}```\n"
        )),
        EditForm::ApplyPatch => WrittenEdit::Text(patch),
        EditForm::EditCall => WrittenEdit::Call(
            "edit",
            format!(
                "{{\"filePath\": {}, \"oldString\": {}, \"newString\": {}}}",
                json_string(path),
                json_string(old),
                json_string(new)
            ),
        ),
        EditForm::PatchCall => WrittenEdit::Call(
            "apply_patch",
            format!("{{\"input\": {}}}", json_string(&patch)),
        ),
    }
}

/// A call that writes the whole file.
#[must_use]
pub fn whole_file_call(path: &str, text: &str) -> WrittenEdit {
    let arguments = format!(
        "{{\"path\": {}, \"content\": {}}}",
        json_string(path),
        json_string(text)
    );
    WrittenEdit::Call("write_file", arguments)
}

/// Each line with a mark in front.
fn with_mark(mark: char, text: &str) -> String {
    text.lines().map(|line| format!("{mark}{line}\n")).collect()
}

/// A JSON string. The vocabulary is ASCII, where Rust escapes as JSON does.
fn json_string(text: &str) -> String {
    format!("{text:?}")
}
