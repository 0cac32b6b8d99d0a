//! Calls of the client's own tools that a model wrote as text: where one may begin, and what is called, by what the client offers.
//!
//! They are calls where a reply is nothing but calls, or where they stand in a model family's own tokens
//! ([`written_calls`](super::written_calls)), outside of thoughts and fences. What else is said is never read.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::written_calls::{
    WrittenCall, begins_element, calls_at_start, skip_closers, skip_tokens, tokens,
};

/// References that are followed for one value of a schema: one may lead to itself.
const REFERENCES_MAX: usize = 8;

/// What a call in JSON begins with, without whitespace, up to the tool's name.
const JSON_STARTS: [&str; 4] = [
    "{\"name\":\"",
    "{\"function\":{\"name\":\"",
    "{\"type\":\"function\",\"name\":\"",
    "{\"type\":\"function\",\"function\":{\"name\":\"",
];

/// Languages of a fence around a call; in Gemma's own stands Python.
const FENCE_LANGUAGES: [&str; 5] = ["", "json", "xml", "tool_call", PYTHON_CALLS];
const PYTHON_CALLS: &str = "tool_code";

/// Signs of a fence, at least.
const FENCE_SIGNS_MIN: usize = 3;

/// Characters of JSON that are read for a tool's name.
const JSON_START_MAX: usize = 256;

/// The tools that a client offers in a request. They are read once they are asked for: most replies hold no such text.
#[derive(Debug)]
pub struct OfferedTools {
    json: Box<str>,
    read: OnceLock<Value>,
}

/// A call: the tool's name and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundCall {
    /// The name of a tool that is offered.
    pub name: String,
    /// An object that fits the tool's schema.
    pub arguments: Value,
}

/// What a text is that may be calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum FoundText {
    /// Calls and nothing else.
    Calls(Vec<FoundCall>),
    /// It was meant to be calls, and isn't what the client offers, or can't be read: why, for the model.
    Flawed(String),
    /// Something else, such as an explanation of a call.
    #[default]
    Prose,
}

/// The text of a reply, on the way to where it becomes a call.
#[derive(Debug)]
pub struct LostCallWatch {
    tools: Arc<OfferedTools>,
    held: String,
    place: Place,
    at_line_start: bool,
    /// Whether nothing was said yet but whitespace and thoughts.
    at_reply_start: bool,
}

/// Where in a reply the text has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Text,
    /// In a fence of so many signs.
    Fence(usize),
    /// In thoughts that this closes.
    Thoughts(&'static str),
    /// A call has begun.
    Call,
}

/// How a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Call,
    Thoughts(&'static str),
    /// There is too little of it to tell.
    Undecided,
    Other,
}

/// What the model is told if it is asked once more, `why` its answer was no call.
#[must_use]
pub fn complaint(written: &str, why: &str) -> String {
    format!(
        "You answered with a call of a tool that was not run, because {why}:\n{written}\nCall the tool once more, with arguments that fit its schema."
    )
}

impl OfferedTools {
    /// From the request's own field.
    #[must_use]
    pub fn new(json: &str) -> Self {
        Self {
            json: json.into(),
            read: OnceLock::new(),
        }
    }

    /// The name and the schema of each tool that takes JSON, in each dialect's form.
    fn schemas(&self) -> impl Iterator<Item = (&str, &Value)> {
        let read = || serde_json::from_str(&self.json).unwrap_or_default();
        let tools = self.read.get_or_init(read).as_array();
        tools.into_iter().flatten().filter_map(|tool| {
            let function = tool.get("function").unwrap_or(tool);
            let schema = function.get("parameters").or(function.get("input_schema"));
            let takes_json = schema.is_some() || tool["type"] == "function";
            let name = function["name"].as_str().filter(|_| takes_json)?;
            Some((name, schema.unwrap_or(&Value::Null)))
        })
    }

    /// Whether a text begins with one of these, each with a tool's name in its place: `None` as long as that is open.
    fn named_at_start(&self, text: &str, starts: &[&str], end: fn(char) -> bool) -> Option<bool> {
        let mut is_open = false;
        for (name, _) in self.schemas() {
            for start in starts {
                let whole = format!("{start}{name}");
                match text.strip_prefix(&whole) {
                    Some(rest) if rest.starts_with(end) => return Some(true),
                    Some(rest) => is_open |= rest.is_empty(),
                    None => is_open |= whole.starts_with(text),
                }
            }
        }
        if is_open { None } else { Some(false) }
    }
}

impl LostCallWatch {
    /// Before the reply's first text.
    #[must_use]
    pub const fn new(tools: Arc<OfferedTools>) -> Self {
        Self {
            tools,
            held: String::new(),
            place: Place::Text,
            at_line_start: true,
            at_reply_start: true,
        }
    }

    /// Takes more text; returns what is certain to be no call.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut passed = 0;
        while let Some(taken) = self.step(passed) {
            passed += taken;
        }
        self.held.drain(..passed).collect()
    }

    /// How much more is no call, from here on; `None` where all was looked at that can be.
    fn step(&mut self, from: usize) -> Option<usize> {
        let rest = self.held.get(from..).filter(|rest| !rest.is_empty())?;
        if let Place::Thoughts(close) = self.place {
            if let Some(at) = rest.find(close) {
                self.place = Place::Text;
                return Some(at + close.len());
            }
            let cut = (1..close.len())
                .rev()
                .find(|end| rest.ends_with(&close[..*end]));
            let taken = rest.len() - cut.unwrap_or(0);
            return (taken > 0).then_some(taken);
        }
        let line_end = memchr::memchr(b'\n', rest.as_bytes()).map(|end| end + 1);
        if self.place != Place::Call && !self.at_line_start {
            self.at_line_start = line_end.is_some();
            return Some(line_end.unwrap_or(rest.len()));
        }
        let line = rest.trim_start();
        let blank = rest.len() - line.len();
        match self.place {
            Place::Fence(signs) => {
                let said = rest[..line_end.unwrap_or(rest.len())].trim();
                let is_end = signs_of(said) == said.len();
                if line_end.is_none() && is_end {
                    return None;
                }
                if is_end && said.len() >= signs {
                    self.place = Place::Text;
                }
                self.at_line_start = line_end.is_some();
                Some(line_end.unwrap_or(rest.len()))
            }
            Place::Text if !line.is_empty() => {
                // Indented so far it is a code block of a text.
                let is_code = !self.at_reply_start && rest[..blank].ends_with("    ");
                match self.beginning_of(line) {
                    Beginning::Call if !is_code => self.place = Place::Call,
                    Beginning::Thoughts(close) => self.place = Place::Thoughts(close),
                    Beginning::Undecided => return (blank > 0).then_some(blank),
                    Beginning::Call | Beginning::Other => {
                        self.at_reply_start = false;
                        self.at_line_start = false;
                        if signs_of(line) >= FENCE_SIGNS_MIN {
                            self.place = Place::Fence(signs_of(line));
                        }
                    }
                }
                Some(blank)
            }
            _ => (self.place == Place::Text).then_some(blank),
        }
    }

    /// What is kept back.
    #[must_use]
    pub fn held(&self) -> &str {
        &self.held
    }

    /// What is kept back at the reply's end is.
    #[must_use]
    pub fn found(&self) -> FoundText {
        if self.place != Place::Call {
            return FoundText::Prose;
        }
        let mut calls = Vec::new();
        let mut rest = self.held.trim();
        while !rest.is_empty() {
            let (found, after) = match calls_at_start(rest) {
                Ok(read) => read,
                Err(flaw) => return FoundText::Flawed(flaw),
            };
            calls.extend(found);
            rest = skip_closers(after);
            let begins = self.beginning_of(rest);
            if !rest.is_empty() && matches!(begins, Beginning::Other | Beginning::Thoughts(_)) {
                return FoundText::Prose;
            }
        }
        let fitted = calls.into_iter().map(|call| call.fitted(&self.tools));
        match fitted.collect::<Result<Vec<_>, _>>() {
            Ok(calls) if calls.is_empty() => FoundText::Prose,
            Ok(calls) => FoundText::Calls(calls),
            Err(flaw) => FoundText::Flawed(flaw),
        }
    }

    /// How a line begins. Only where nothing else was said a fence, JSON or Python may be a call.
    fn beginning_of(&self, line: &str) -> Beginning {
        for thoughts in tokens("thoughts") {
            let (open, close) = thoughts.split_once(' ').unwrap_or((thoughts, ""));
            if line.starts_with(open) {
                return Beginning::Thoughts(close);
            }
        }
        let thoughts = tokens("thoughts").filter_map(|it| it.split(' ').next());
        let is_open = thoughts.chain(["```"]).any(|token| token.starts_with(line));
        match self.marked(line) {
            Beginning::Other if is_open => Beginning::Undecided,
            Beginning::Other if self.at_reply_start => match line.strip_prefix("```") {
                Some(fence) => self.fence_beginning(fence),
                None => self.bare_beginning(line, false),
            },
            marked => marked,
        }
    }

    /// How a text begins, by the tokens that open calls. What follows one shows whether it does, or is spoken of.
    fn marked(&self, text: &str) -> Beginning {
        let (inside, opened) = skip_tokens("open", text);
        let begun = match begins_element(inside) {
            Some(true) => return Beginning::Call,
            begun => begun,
        };
        let is_open = begun.is_none() || tokens("open").any(|token| token.starts_with(inside));
        if opened == 0 {
            return if is_open {
                Beginning::Undecided
            } else {
                Beginning::Other
            };
        }
        let bare = skip_tokens("before", inside).0;
        let is_cut = tokens("before").any(|token| token.starts_with(inside));
        let ends_name = |c: char| !c.is_alphanumeric() && c != '_';
        match (
            inside.chars().next(),
            self.tools.named_at_start(bare, &[""], ends_name),
        ) {
            (Some('{' | '['), _) | (_, Some(true)) => Beginning::Call,
            (None, _) | (_, None) => Beginning::Undecided,
            _ if is_open || is_cut => Beginning::Undecided,
            _ => Beginning::Other,
        }
    }

    /// How the text after a fence's signs begins.
    fn fence_beginning(&self, fence: &str) -> Beginning {
        let (language, inside) = match fence.split_once('\n') {
            Some((first, inside)) => (first.trim(), Some(inside.trim_start())),
            None => (fence.trim_end(), None),
        };
        let mut known = FENCE_LANGUAGES.iter();
        match inside {
            None if known.any(|it| it.starts_with(language)) => Beginning::Undecided,
            Some("") if known.any(|it| *it == language) => Beginning::Undecided,
            Some(inside) if known.any(|it| *it == language) => match self.marked(inside) {
                Beginning::Other => self.bare_beginning(inside, language == PYTHON_CALLS),
                marked => marked,
            },
            _ => Beginning::Other,
        }
    }

    /// How JSON begins, or Python: only a tool that is offered makes it a call.
    fn bare_beginning(&self, text: &str, is_python: bool) -> Beginning {
        let signs = text.chars().filter(|c| !c.is_whitespace());
        let signs: String = signs.take(JSON_START_MAX).collect();
        let signs = signs.strip_prefix('[').unwrap_or(&signs);
        let begun = match is_python {
            true => self.tools.named_at_start(signs, &[""], |c| c == '('),
            false => self.tools.named_at_start(signs, &JSON_STARTS, |c| c == '"'),
        };
        match begun {
            Some(true) => Beginning::Call,
            Some(false) => Beginning::Other,
            None => Beginning::Undecided,
        }
    }
}

/// How many of a fence's signs a text begins with.
fn signs_of(text: &str) -> usize {
    let sign = if text.starts_with('~') { '~' } else { '`' };
    text.len() - text.trim_start_matches(sign).len()
}

impl WrittenCall {
    /// The call, if the client offers such a tool and the arguments fit its schema; else what doesn't fit.
    fn fitted(self, tools: &OfferedTools) -> Result<FoundCall, String> {
        let mut offered = tools.schemas();
        let Some((name, schema)) = offered.find(|(name, _)| *name == self.name) else {
            let names: Vec<&str> = tools.schemas().map(|(name, _)| name).collect();
            return Err(format!(
                "there is no tool `{}`; there are {}",
                self.name,
                names.join(", ")
            ));
        };
        let mut arguments = self.arguments;
        if self.are_texts {
            for (key, value) in &mut arguments {
                let own = &schema["properties"][key];
                let read = value
                    .as_str()
                    .and_then(|it| serde_json::from_str(it.trim()).ok());
                if let (Some(read), Some(_)) =
                    (read, misfit((schema, own), value, "", REFERENCES_MAX))
                {
                    *value = read;
                }
            }
        }
        let arguments = Value::Object(arguments);
        match misfit(
            (schema, schema),
            &arguments,
            "its arguments",
            REFERENCES_MAX,
        ) {
            Some(flaw) => Err(format!("in the call of `{name}` {flaw}")),
            None => Ok(FoundCall {
                name: name.to_owned(),
                arguments,
            }),
        }
    }
}

/// What of a value doesn't fit a schema, as far as that says it by types, choices and members; what else a schema can say is passed
/// over. `references` are those that may still be followed.
fn misfit(
    (root, schema): (&Value, &Value),
    value: &Value,
    place: &str,
    references: usize,
) -> Option<String> {
    let nested = |schema, value, place: &str| misfit((root, schema), value, place, references);
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|at| root.pointer(at));
        let (target, left) = (target?, references.checked_sub(1)?);
        return misfit((root, target), value, place, left);
    }
    let is_of = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("null") => value.is_null(),
        _ => true,
    };
    let kind = &schema["type"];
    if !kind
        .as_array()
        .map_or_else(|| is_of(kind), |kinds| kinds.iter().any(is_of))
    {
        return Some(format!("{place} must be of type {kind}"));
    }
    let choices = schema["enum"].as_array();
    if choices.is_some_and(|choices| !choices.contains(value)) {
        return Some(format!("{place} must be one of {}", schema["enum"]));
    }
    for name in ["anyOf", "oneOf"] {
        let mut flaws = Vec::new();
        let branches = schema[name].as_array().into_iter().flatten();
        flaws.extend(branches.map(|branch| nested(branch, value, place)));
        if !flaws.is_empty() && flaws.iter().all(Option::is_some) {
            return flaws.swap_remove(0);
        }
    }
    let members = match value {
        Value::Object(members) => members,
        Value::Array(items) => {
            let mut items = items.iter();
            return items.find_map(|item| nested(&schema["items"], item, place));
        }
        _ => return None,
    };
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required = required.filter_map(Value::as_str);
    if let Some(missing) = required.find(|key| !members.contains_key(*key)) {
        return Some(format!("`{missing}` is missing"));
    }
    let is_closed = schema["additionalProperties"] == false;
    members
        .iter()
        .find_map(|(key, value)| match schema["properties"].get(key) {
            Some(schema) => nested(schema, value, &format!("`{key}`")),
            None => is_closed.then(|| format!("`{key}` is no argument")),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Arc<OfferedTools> {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer"},
                "mode": {"enum": ["all", "some"]},
                "nested": {"$ref": "#"},
                "loop": {"$ref": "#/properties/loop"},
                "either": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        let read = json!({"type": "function", "function": {"name": "read", "parameters": schema}});
        let others = [
            json!({"name": "Read", "input_schema": schema}),
            json!({"type": "function", "name": "read_flat", "parameters": schema}),
            json!({"type": "custom", "name": "apply_patch"}),
        ];
        let all: Vec<Value> = std::iter::once(read).chain(others).collect();
        Arc::new(OfferedTools::new(&Value::from(all).to_string()))
    }

    /// What passes, what is kept back to the end, and what that is, in pieces of so many characters.
    fn watched(text: &str, size: usize) -> (String, String, FoundText) {
        let mut watch = LostCallWatch::new(tools());
        let chars: Vec<char> = text.chars().collect();
        let pieces = chars
            .chunks(size)
            .map(|piece| piece.iter().collect::<String>());
        let passed = pieces.map(|piece| watch.push(&piece)).collect();
        (passed, watch.held().to_owned(), watch.found())
    }

    fn check(text: &str, before: &str, expected: &FoundText) {
        for size in [1, 3, 1000] {
            let (passed, held, found) = watched(text, size);
            assert_eq!((&*passed, &found), (before, expected), "{text} by {size}");
            assert_eq!(passed + &held, text);
        }
    }

    fn call(name: &str, arguments: Value) -> FoundCall {
        FoundCall {
            name: name.to_owned(),
            arguments,
        }
    }

    #[test]
    fn forms_of_calls() {
        let a = || call("read", json!({"path": "a.c"}));
        let check = |text: &str, before: &str, calls: &[FoundCall]| {
            check(text, before, &FoundText::Calls(calls.to_vec()));
        };
        let named = r#"{"name": "read", "arguments": {"path": "a.c"}}"#;
        check(&format!("<tool_call>\n{named}\n</tool_call>"), "", &[a()]);
        check(&format!("<tools>\n{named}\n</tools>"), "", &[a()]);
        check(
            &format!("I look.\n\n<tool_call>{named}"),
            "I look.\n\n",
            &[a()],
        );
        check(
            &format!("<think>\nhm\n</think>\n\n{named}\n"),
            "<think>\nhm\n</think>\n\n",
            &[a()],
        );
        let two = format!("<tool_call>{named}</tool_call>\n<tool_call>{named}</tool_call>");
        check(&two, "", &[a(), a()]);
        let thoughts = format!("<think>\n{named}\nor so\n</think>\n");
        check(&format!("{thoughts}{named}"), &thoughts, &[a()]);
        check(
            "<function=read>\n<parameter=path>\na.c\n</parameter>\n<parameter=limit>\n12\n</parameter>\n</function>\n</tool_call>",
            "",
            &[call("read", json!({"path": "a.c", "limit": 12}))],
        );
        check("<function=read>{\"path\": \"a.c\"}</function>", "", &[a()]);
        check(
            "<|python_tag|>{\"name\": \"read\", \"parameters\": {\"path\": \"a.c\"}}<|eom_id|>",
            "",
            &[a()],
        );
        check(
            "{\"name\": \"read\", \"parameters\": {\"path\": \"a.c\"}}",
            "",
            &[a()],
        );
        check(&format!("[TOOL_CALLS][{named}]"), "", &[a()]);
        check("[TOOL_CALLS]read[ARGS]{\"path\": \"a.c\"}", "", &[a()]);
        check(
            "[TOOL_CALLS] read{\"path\": \"a.c\"}[TOOL_CALLS]read{\"path\": \"a.c\"}",
            "",
            &[a(), a()],
        );
        check(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\": \"a.c\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            &[a()],
        );
        check(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\": \"a.c\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            &[a()],
        );
        check(&format!("```json\n{named}\n```"), "", &[a()]);
        check(
            &format!("```json\n{named}\n```\n\n```json\n{named}\n```\n"),
            "",
            &[a(), a()],
        );
        check(
            &format!("```xml\n<tool_call>{named}</tool_call>\n```"),
            "",
            &[a()],
        );
        check(
            r#"[{"type": "function", "function": {"name": "read", "arguments": "{\"path\": \"a.c\"}"}}]"#,
            "",
            &[a()],
        );
        for (text, calls) in [
            // GLM
            (
                "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a.c</arg_value>\n</tool_call>",
                1,
            ),
            // Mistral, Kimi
            (
                "[TOOL_CALLS]read[CALL_ID]abc123XYZ[ARGS]{\"path\": \"a.c\"}",
                1,
            ),
            (
                "<|tool_calls_section_begin|><|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{\"path\": \"a.c\"}<|tool_call_end|><|tool_call_begin|>functions.read:1<|tool_call_argument_begin|>{\"path\": \"a.c\"}<|tool_call_end|><|tool_calls_section_end|>",
                2,
            ),
            // MiniMax, Claude, DeepSeek, Seed
            (
                "<minimax:tool_call>\n<invoke name=\"read\">\n<parameter name=\"path\">a.c</parameter>\n</invoke>\n</minimax:tool_call>",
                1,
            ),
            (
                "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a.c</parameter>\n</invoke>\n</function_calls>",
                1,
            ),
            (
                "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"read\">\n<｜DSML｜parameter name=\"path\" string=\"true\">a.c</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
                1,
            ),
            (
                "<seed:tool_call>\n<function=read>\n<parameter=path>a.c</parameter>\n</function>\n</seed:tool_call>",
                1,
            ),
            // LFM2, Gemma
            (
                "<|tool_call_start|>[read(path=\"a.c\"), read(path='a.c')]<|tool_call_end|>",
                2,
            ),
            (
                "<start_function_call>call:read{path:<escape>a.c<escape>}<end_function_call>",
                1,
            ),
            ("<|tool_call>call:read{path:<|\"|>a.c<|\"|>}<tool_call|>", 1),
            ("```tool_code\nread(path=\"a.c\")\n```", 1),
            // Harmony
            (
                "<|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{\"path\": \"a.c\"}<|call|>",
                1,
            ),
            (
                "<|channel|>commentary to=functions.read<|message|>{\"path\": \"a.c\"}",
                1,
            ),
            (
                "<|start|>assistant to=functions.read<|channel|>commentary json<|message|>{\"path\": \"a.c\"}<|call|>",
                1,
            ),
            // Phi, Granite, Nemotron, Command
            (&format!("<|tool_call|>[{named}]<|/tool_call|>"), 1),
            (&format!("<TOOLCALL>[{named}, {named}]</TOOLCALL>"), 2),
            (
                "<|START_ACTION|>[{\"tool_call_id\": \"0\", \"tool_name\": \"read\", \"parameters\": {\"path\": \"a.c\"}}]<|END_ACTION|>",
                1,
            ),
        ] {
            check(text, "", &vec![a(); calls]);
            check(
                &format!("I look.\n{text}"),
                if text.starts_with("```") {
                    continue;
                } else {
                    "I look.\n"
                },
                &vec![a(); calls],
            );
        }
        let nested = json!({"path": "it's", "nested": {"path": "b", "loop": [1.5, true, null]}});
        check(
            "<|tool_call_start|>[read(path='it\\'s', nested={'path': \"b\", 'loop': [1.5, True, None]})]<|tool_call_end|>",
            "",
            &[call("read", nested)],
        );
        let thoughts = "<|channel|>analysis<|message|><tool_call>{}<|end|>";
        let said = "<|start|>assistant<|channel|>commentary to=functions.read <|message|>{\"path\": \"a.c\"}";
        check(&format!("{thoughts}{said}"), thoughts, &[a()]);
        // The other dialects' forms of a tool, and a schema with references that lead to themselves.
        let nested = json!({"path": "a", "nested": {"path": "b", "loop": 1}, "either": [1, 2]});
        for name in ["Read", "read_flat"] {
            let text = json!({"name": name, "arguments": nested}).to_string();
            check(&text, "", &[call(name, nested.clone())]);
        }
    }

    #[test]
    fn recursive_schema() {
        let deep = |levels: usize| {
            let innermost = json!({"path": 1});
            (0..levels).fold(innermost, |inner, _| json!({"path": "a", "nested": inner}))
        };
        let found = |arguments: Value| {
            let text = json!({"name": "read", "arguments": arguments}).to_string();
            watched(&text, 1000).2
        };
        assert!(matches!(found(deep(REFERENCES_MAX)), FoundText::Flawed(_)));
        // Deeper than what is followed nothing is known to be wrong.
        assert!(matches!(
            found(deep(REFERENCES_MAX + 1)),
            FoundText::Calls(_)
        ));
        let looping = json!({"path": "a", "loop": {"loop": 1}});
        assert!(matches!(found(looping), FoundText::Calls(_)));
    }

    /// What was meant to be a call says what is wrong with it.
    #[test]
    fn flawed_calls() {
        let check = |text: &str, flaw: &str| {
            let (_, _, found) = watched(text, 3);
            let FoundText::Flawed(said) = &found else {
                panic!("{text}: {found:?}");
            };
            assert!(said.contains(flaw), "{text}: {said}");
        };
        let with = |arguments: Value| {
            let named = json!({"name": "read", "arguments": arguments});
            format!("<tool_call>{named}</tool_call>")
        };
        check(
            &with(json!({"file": "a.c"})),
            "in the call of `read` `path` is missing",
        );
        check(
            &with(json!({"path": "a", "file": 1})),
            "`file` is no argument",
        );
        check(
            &with(json!({"path": 1})),
            "`path` must be of type \"string\"",
        );
        check(
            &with(json!({"path": "a", "mode": "none"})),
            "`mode` must be one of [\"all\",\"some\"]",
        );
        check(
            &with(json!({"path": "a", "nested": {"path": 1}})),
            "`path` must be of type",
        );
        check(
            &with(json!({"path": "a", "either": ["x"]})),
            "`either` must be of type \"string\"",
        );
        check(&with(json!(7)), "`arguments` are no JSON object");
        check(
            "<tool_call>{\"name\": \"write\", \"arguments\": {}}</tool_call>",
            "there is no tool `write`; there are read, Read, read_flat",
        );
        check(
            "<tool_call>{\"name\": \"read\", \"arguments\": {\"pa",
            "no JSON",
        );
        check("<tool_call>{}", "names no tool");
        check(
            "{\"name\": \"read\", \"arguments\": {\"path\": }",
            "no JSON",
        );
        check(
            "<function=read>\n<parameter=path>\na.c",
            "`</parameter>` is missing",
        );
        // One of two is broken.
        check(
            &format!("{}<tool_call>{{\"name\"", with(json!({"path": "a"}))),
            "no JSON",
        );
    }

    #[test]
    fn prose_is_no_call() {
        let named = r#"{"name": "read", "arguments": {"path": "a.c"}}"#;
        for text in [
            "The answer is 4.",
            "",
            "A `<tool_call>` is how a model calls.\n<tool_call> is the mark.\n<function=> too",
            &format!("<tool_call>{named}</tool_call>\nThat is how it is done."),
            &format!("It would be:\n```json\n{named}\n```"),
            &format!("```json\n{named}\n```\nis a call."),
            &format!("```xml\n<tool_call>{named}</tool_call>\n```\nThat is XML."),
            &format!("I'll read it:\n\n```json\n{named}\n```"),
            &format!("I'll read it:\n\n{named}"),
            &format!("Like this:\n```\n<tool_call>{named}</tool_call>\n```"),
            &format!("<think>\n<tool_call>{named}</tool_call>\n</think>\nNo."),
            "<tool_call>reading is what it opens.",
            "[TOOL_CALLS] are Mistral's",
            "I will read the Makefile.",
            "```json\n{\"nam\": 1}\n```",
            "{\"name\": \"Alice\", \"age\": 7}",
            "```tool\n{\"type\":\"shell\",\"command\":\"ls\"}\n```",
            "{\"name\": \"apply_patch\", \"arguments\": {\"input\": \"x\"}}",
            "<",
            "```",
        ] {
            for size in [1, 3, 1000] {
                let (passed, held, found) = watched(text, size);
                assert_eq!((passed + &held, found), (text.to_owned(), FoundText::Prose));
            }
        }
    }

    /// Text that begins no call is not held back.
    #[test]
    fn nothing_waits() {
        let mut watch = LostCallWatch::new(tools());
        for text in [
            "Hello",
            " there",
            "\n",
            "```rust\n",
            "if a < b",
            "\n    [x]",
            "\n<p>",
        ] {
            assert_eq!(watch.push(text), text);
        }
        // Another name than a tool's shows at once.
        let mut watch = LostCallWatch::new(tools());
        assert_eq!(watch.push("{\"name\": \"r"), "");
        assert_eq!(watch.push("ob"), "{\"name\": \"rob");
        // In a fence that is no call's, JSON is code.
        let mut watch = LostCallWatch::new(tools());
        assert_eq!(
            watch.push("Like this:\n```json\n[1,\n"),
            "Like this:\n```json\n[1,\n"
        );
        assert_eq!(watch.push("{"), "{");
    }
}
