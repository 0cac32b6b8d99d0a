//! The demo model's replies: a pure function of the composed prompt.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// Words by which a person asks for a change.
const CHANGE_VERBS: [&str; 13] = [
    "update", "change", "improve", "add", "fix", "refactor", "rewrite", "make", "edit", "modify",
    "optimise", "optimize", "simplify",
];

const BLOCK_START: &str = "[CURRENT STATE: AUTHORITATIVE]";
const BLOCK_END: &str = "[END CURRENT STATE]";

/// By which a shadow audit's question is known.
const AUDIT_TASK: &str = "You audit code changes.";

/// One entity that the prompt showed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownEntity<'a> {
    entity: &'a str,
    hash: &'a str,
    code: &'a str,
}

impl<'a> ShownEntity<'a> {
    fn path(&self) -> &'a str {
        self.entity
            .split_once("::")
            .map_or(self.entity, |(path, _)| path)
    }

    /// The last part of the symbol's name, which is how people mention it.
    fn name(&self) -> &'a str {
        let symbol = self
            .entity
            .split_once("::")
            .map_or("", |(_, symbol)| symbol);
        symbol
            .rsplit_once(['.', ':'])
            .map_or(symbol, |(_, last)| last)
    }

    fn extension(&self) -> &'a str {
        self.path()
            .rsplit_once('.')
            .map_or("", |(_, extension)| extension)
    }
}

#[must_use]
pub(super) fn answer_request(request: &Value) -> String {
    let texts = message_texts(request);
    let prompt = texts
        .iter()
        .rev()
        .find(|(role, _)| role == "user")
        .map_or("", |(_, text)| text.as_str());
    if texts.iter().any(|(_, text)| text.starts_with(AUDIT_TASK)) {
        return audit_answer(prompt);
    }
    let shown: Vec<ShownEntity<'_>> = texts.iter().flat_map(|(_, text)| shown_in(text)).collect();
    let asked = question_text(prompt);
    let words = asked.to_lowercase();
    let has = |word: &str| {
        words
            .split(|c: char| !c.is_alphanumeric())
            .any(|found| found == word)
    };
    let Some(target) = wanted_entity(&shown, asked) else {
        return nothing_shown(prompt);
    };
    if has("lazy") {
        return elided_code(target);
    }
    if CHANGE_VERBS.iter().any(|verb| has(verb)) {
        return changed_code(target);
    }
    explanation(&shown)
}

/// Each entity whose code is given is complete, as the demo's own changes are; where a part is left out, it isn't.
fn audit_answer(prompt: &str) -> String {
    let parts = prompt.split("\nEntity: ").skip(1);
    let verdicts: Vec<Value> = parts
        .filter_map(|part| part.split_once("\nCode:\n"))
        .map(|(entity, code)| {
            let status = if code.contains("... rest unchanged") {
                "partial"
            } else {
                "completed"
            };
            json!({"entity": entity, "status": status})
        })
        .collect();
    Value::from(verdicts).to_string()
}

fn message_texts(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().into_iter().flatten();
    messages
        .filter_map(|message| {
            let role = message["role"].as_str()?.to_owned();
            let text = match &message["content"] {
                Value::String(text) => text.clone(),
                Value::Array(parts) => parts
                    .iter()
                    .filter_map(|part| part["text"].as_str())
                    .collect::<Vec<_>>()
                    .join("\n"),
                _ => String::new(),
            };
            Some((role, text))
        })
        .collect()
}

/// The prompt without the blocks that may have been put before it.
fn question_text(prompt: &str) -> &str {
    prompt
        .rsplit_once(BLOCK_END)
        .map_or(prompt, |(_, question)| question)
}

fn shown_in(text: &str) -> Vec<ShownEntity<'_>> {
    let mut shown = Vec::new();
    for part in text.split(BLOCK_START).skip(1) {
        let block = part.split_once(BLOCK_END).map_or(part, |(block, _)| block);
        let (header, code) = block.split_once("\n\n").unwrap_or((block, ""));
        let field = |name: &str| {
            header
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .map_or("", str::trim)
        };
        let fence = code.lines().next().filter(|it| it.starts_with("```"));
        let code = fence.and_then(|fence| {
            let mark = fence.trim_end_matches(|c| c != '`');
            let code = code.strip_prefix(fence)?.trim_start_matches('\n');
            code.trim_end().strip_suffix(mark)
        });
        let entity = field("Entity:");
        if !entity.is_empty() {
            shown.push(ShownEntity {
                entity,
                hash: field("Artifact:"),
                code: code.unwrap_or_default().trim_end_matches('\n'),
            });
        }
    }
    shown
}

/// The entity that the question names; else the first one shown.
fn wanted_entity<'a>(shown: &'a [ShownEntity<'a>], asked: &str) -> Option<&'a ShownEntity<'a>> {
    let named = |entity: &&ShownEntity<'_>| asked.contains(entity.entity);
    let mentioned = |entity: &&ShownEntity<'_>| {
        !entity.name().is_empty()
            && asked
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == entity.name())
    };
    let filed = |entity: &&ShownEntity<'_>| asked.contains(entity.path());
    shown
        .iter()
        .find(named)
        .or_else(|| shown.iter().find(mentioned))
        .or_else(|| shown.iter().find(filed))
        .or_else(|| shown.first())
}

fn fenced_change(target: &ShownEntity<'_>, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let (language, path) = (target.extension(), target.path());
    format!("{fence}{language}:{path}\n{code}\n{fence}\n")
}

fn changed_code(target: &ShownEntity<'_>) -> String {
    let code = with_statement(target.code, target.extension());
    format!(
        "Here is `{}` with one statement added at its beginning:\n\n{}",
        target.entity,
        fenced_change(target, &code)
    )
}

fn elided_code(target: &ShownEntity<'_>) -> String {
    let comment = comment_mark(target.extension());
    let code = match body_start(target.code, target.extension()) {
        Some(at) if comment == "#" => format!("{}    # ... rest unchanged ...", &target.code[..at]),
        Some(at) => format!("{}    // ... rest unchanged ...\n}}", &target.code[..at]),
        None => format!("{comment} ... rest unchanged ..."),
    };
    format!(
        "Here is the gist of `{}`:\n\n{}",
        target.entity,
        fenced_change(target, &code)
    )
}

fn explanation(shown: &[ShownEntity<'_>]) -> String {
    let mut text = String::from("I was shown the current code of:\n\n");
    for entity in shown {
        let hash: String = entity.hash.chars().take(12).collect();
        let lines = entity.code.lines().count();
        // Writing to a string can't fail.
        let _ = writeln!(text, "- `{}` ({hash}), {lines} lines", entity.entity);
    }
    text.push_str("\nAs the demo model I don't understand code, but what I was shown is the authoritative version.\n");
    text
}

/// No code block of its own: what a model writes with a path may become true.
fn nothing_shown(prompt: &str) -> String {
    if prompt.contains("```") {
        return "I am TSLP's built-in demo model, and the code is in your own message. If its fence, or the line before \
                it, names its file, TSLP now holds it true: ask about it by name in a new conversation, and I will be \
                shown exactly that code.\n"
            .to_owned();
    }
    "I am TSLP's built-in demo model, and I was shown no authoritative code. Paste a function, with its file's path on \
     the line before the code fence; then ask me to explain or improve it by its name.\n"
        .to_owned()
}

fn comment_mark(extension: &str) -> &'static str {
    match extension {
        "py" | "rb" | "sh" | "toml" | "yml" | "yaml" => "#",
        _ => "//",
    }
}

/// What changes nothing: an empty statement, or a bare comment.
fn inserted_statement(extension: &str) -> &'static str {
    match comment_mark(extension) {
        "#" => "# checked by the demo model",
        _ => "; // checked by the demo model",
    }
}

fn with_statement(code: &str, extension: &str) -> String {
    let statement = inserted_statement(extension);
    match body_start(code, extension) {
        None => format!(
            "{} changed by the demo model\n{code}",
            comment_mark(extension)
        ),
        Some(at) => {
            let (head, body) = code.split_at(at);
            let first = body
                .lines()
                .find(|line| !line.trim().is_empty())
                .unwrap_or("");
            let indent = match first.len() - first.trim_start().len() {
                0 => "    ",
                width => &first[..width],
            };
            let gap = if body.is_empty() || body.starts_with('\n') {
                ""
            } else {
                "\n"
            };
            let body = body
                .strip_prefix('\n')
                .filter(|_| head.ends_with('\n'))
                .unwrap_or(body);
            format!("{head}{indent}{statement}{gap}{body}")
        }
    }
}

/// The offset of a function's body: after the first brace, or after the line that ends a Python header.
fn body_start(code: &str, extension: &str) -> Option<usize> {
    let mut offset = 0;
    for line in code.split_inclusive('\n') {
        let text = line.trim_start();
        let comment = ["//", "/*", "*", "#", "@"]
            .iter()
            .any(|mark| text.starts_with(mark));
        if !comment {
            match extension {
                "py" if line.trim_end().ends_with(':') => return Some(offset + line.len()),
                "py" => {}
                _ if line.trim_end().ends_with('{') => return Some(offset + line.len()),
                _ => {}
            }
        }
        offset += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::audit;
    use tslp_core::entity::{EntityId, Symbol};
    use tslp_core::event::Audited;
    use tslp_core::ids::VersionId;
    use tslp_core::path::RelPath;

    const STATE: &str = "[CURRENT STATE: AUTHORITATIVE]\nEntity: src/ring.c::ring_put\nArtifact: 0123456789abcdef0123\n\
        Source: Confirmed via AST\n\n```c\nint ring_put(int v)\n{\n    return v;\n}\n```\n[END CURRENT STATE]\n";

    fn check(system: &str, prompt: &str, expected: &str) {
        let request = json!({"messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": [{"type": "text", "text": prompt}]},
        ]});
        assert_eq!(answer_request(&request), expected);
    }

    #[test]
    fn change_adds_statement() {
        check(
            STATE,
            "Please improve `ring_put`",
            "Here is `src/ring.c::ring_put` with one statement added at its beginning:\n\n```c:src/ring.c\n\
             int ring_put(int v)\n{\n    ; // checked by the demo model\n    return v;\n}\n```\n",
        );
    }

    #[test]
    fn a_lazy_answer_elides() {
        check(
            STATE,
            "improve ring_put, be lazy",
            "Here is the gist of `src/ring.c::ring_put`:\n\n```c:src/ring.c\nint ring_put(int v)\n{\n    \
             // ... rest unchanged ...\n}\n```\n",
        );
    }

    #[test]
    fn question_answered() {
        check(
            STATE,
            "What does ring_put do?",
            "I was shown the current code of:\n\n- `src/ring.c::ring_put` (0123456789ab), 4 lines\n\nAs the demo model \
             I don't understand code, but what I was shown is the authoritative version.\n",
        );
    }

    #[test]
    fn without_code() {
        let text = answer_request(&json!({"messages": [{"role": "user", "content": "update x"}]}));
        assert!(
            text.contains("Paste a function") && !text.contains("```"),
            "{text}"
        );
        let pasted = answer_request(&json!({"messages": [{"role": "user", "content": "```c
int x;
```"}]}));
        assert!(pasted.contains("in your own message"), "{pasted}");
        assert!(answer_request(&json!(null)).contains("demo model"));
    }

    #[test]
    fn one_line_and_python() {
        assert_eq!(
            with_statement("int f(void) { return 1; }", "c"),
            "// changed by the demo model\nint f(void) { return 1; }"
        );
        assert_eq!(
            with_statement("def f(x):\n  return x", "py"),
            "def f(x):\n  # checked by the demo model\n  return x"
        );
        assert_eq!(
            with_statement("fn f() {\n}", "rs"),
            "fn f() {\n    ; // checked by the demo model\n}"
        );
    }

    /// Audits are answered in the form in which they are read.
    #[test]
    fn audits_answered() {
        let entity = |name: &str, id| Audited {
            version: VersionId(id),
            entity: EntityId::symbol(RelPath::from_normalised("src/a.c"), Symbol::new(name)),
        };
        let about = [entity("f", 1), entity("g", 2)];
        let code = [
            "int f(void) {\n    return 1;\n}\n",
            "int g(void) {\n    // ... rest unchanged ...\n}\n",
        ];
        let question = audit::question("Improve it.", about.iter().zip(code));
        let said = answer_request(&json!({"messages": [
            {"role": "system", "content": question.system},
            {"role": "user", "content": question.user},
        ]}));
        let verdicts = audit::parse_verdicts(&said, &about).unwrap();
        let statuses: Vec<&str> = verdicts
            .iter()
            .map(|verdict| verdict.status.as_str())
            .collect();
        assert_eq!(statuses, ["completed", "partial"], "{said}");
    }
}
