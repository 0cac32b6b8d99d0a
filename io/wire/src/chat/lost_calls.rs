//! Calls of the client's own tools that a model wrote as text: where one may begin, and what is called, by what the client offers.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

/// References that are followed for one value of a schema: one may lead to itself.
const REFERENCES_MAX: usize = 8;

/// What begins a call of its own accord, at a line's beginning: the marks of Hermes and Qwen, Llama, Mistral and DeepSeek.
const MARKS: [&str; 7] = [
    "<tool_call>",
    "<tools>",
    "<function_call>",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    FUNCTION,
    DEEPSEEK_CALLS,
];

const FUNCTION: &str = "<function=";
const DEEPSEEK_CALLS: &str = "<｜tool▁calls▁begin｜>";
const DEEPSEEK_CALL: &str = "<｜tool▁call▁begin｜>";
const DEEPSEEK_SEPARATOR: &str = "<｜tool▁sep｜>";

/// What a call in JSON begins with, without whitespace, up to the tool's name.
const JSON_STARTS: [&str; 4] = [
    "{\"name\":\"",
    "{\"function\":{\"name\":\"",
    "{\"type\":\"function\",\"name\":\"",
    "{\"type\":\"function\",\"function\":{\"name\":\"",
];

/// Languages of a fence around a call.
const FENCE_LANGUAGES: [&str; 4] = ["", "json", "xml", "tool_call"];

/// What may stand between calls and after the last one.
const CLOSERS: [&str; 11] = [
    "</tool_call>",
    "</tools>",
    "</function_call>",
    "</function>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<｜tool▁call▁end｜>",
    "<｜tool▁calls▁end｜>",
    ";",
    ",",
];

/// After it the reply itself begins.
const THOUGHTS_END: &str = "</think>";

/// Longest name of a tool, in bytes.
const NAME_BYTES_MAX: usize = 128;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundText {
    /// Calls and nothing else.
    Calls(Vec<FoundCall>),
    /// It was meant to be calls, and isn't what the client offers, or can't be read: why, for the model.
    Flawed(String),
    /// Something else, such as an explanation of a call.
    Prose,
}

/// The text of a reply, on the way to where it becomes a call.
#[derive(Debug)]
pub struct LostCallWatch {
    tools: Arc<OfferedTools>,
    held: String,
    has_begun: bool,
    at_line_start: bool,
    /// Whether nothing was said yet but whitespace and thoughts.
    at_reply_start: bool,
}

/// How a text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Call,
    /// There is too little of it to tell.
    Undecided,
    Other,
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
}

impl LostCallWatch {
    /// Before the reply's first text.
    #[must_use]
    pub const fn new(tools: Arc<OfferedTools>) -> Self {
        Self {
            tools,
            held: String::new(),
            has_begun: false,
            at_line_start: true,
            at_reply_start: true,
        }
    }

    /// Takes more text; returns what is certain to be no call.
    pub fn push(&mut self, text: &str) -> String {
        self.held.push_str(text);
        let mut passed = 0;
        while !self.has_begun && passed < self.held.len() {
            let rest = &self.held[passed..];
            if !self.at_line_start {
                let line_end = memchr::memchr(b'\n', rest.as_bytes());
                self.at_line_start = line_end.is_some();
                passed += line_end.map_or(rest.len(), |end| end + 1);
                continue;
            }
            let line = rest.trim_start();
            passed += rest.len() - line.len();
            match self.beginning_of(line) {
                _ if line.is_empty() => {}
                Beginning::Call => self.has_begun = true,
                Beginning::Undecided => break,
                Beginning::Other => {
                    self.at_line_start = false;
                    self.at_reply_start = line.starts_with(THOUGHTS_END);
                }
            }
        }
        self.held.drain(..passed).collect()
    }

    /// What is kept back.
    #[must_use]
    pub fn held(&self) -> &str {
        &self.held
    }

    /// What is kept back at the reply's end is.
    #[must_use]
    pub fn found(&self) -> FoundText {
        if !self.has_begun {
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
            rest = after.trim_start();
            while let Some(after) = after_closer(rest) {
                rest = after.trim_start();
            }
            if !rest.is_empty() && self.beginning_anywhere(rest) == Beginning::Other {
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

    /// How a line begins.
    fn beginning_of(&self, line: &str) -> Beginning {
        match marked(line) {
            Beginning::Other if self.at_reply_start => self.beginning_anywhere(line),
            Beginning::Other if THOUGHTS_END.starts_with(line) => Beginning::Undecided,
            marked => marked,
        }
    }

    /// How a text begins where nothing but calls was said before it: a fence or JSON may be one, too.
    fn beginning_anywhere(&self, text: &str) -> Beginning {
        if THOUGHTS_END.starts_with(text) || "```".starts_with(text) {
            return Beginning::Undecided;
        }
        let Some(fence) = text.strip_prefix("```") else {
            return match marked(text) {
                Beginning::Other => self.json_beginning(text),
                marked => marked,
            };
        };
        let is_known = |language: &&str| match fence.split_once('\n') {
            Some((first, _)) => *first.trim() == **language,
            None => language.starts_with(fence.trim_end()),
        };
        match (FENCE_LANGUAGES.iter().any(is_known), fence.split_once('\n')) {
            (false, _) => Beginning::Other,
            (true, None) => Beginning::Undecided,
            (true, Some((_, inside))) => match inside.trim_start() {
                "" => Beginning::Undecided,
                inside => match marked(inside) {
                    Beginning::Other => self.json_beginning(inside),
                    marked => marked,
                },
            },
        }
    }

    /// How JSON begins: only a tool that is offered makes it a call.
    fn json_beginning(&self, text: &str) -> Beginning {
        let signs = text.chars().filter(|c| !c.is_whitespace());
        let signs: String = signs.take(NAME_BYTES_MAX).collect();
        let signs = signs.strip_prefix('[').unwrap_or(&signs);
        let mut found = Beginning::Other;
        for start in JSON_STARTS {
            let Some(name) = signs.strip_prefix(start) else {
                if start.starts_with(signs) {
                    found = Beginning::Undecided;
                }
                continue;
            };
            let mut offered = self.tools.schemas().map(|(offered, _)| offered);
            return match name.split_once('"') {
                Some((name, _)) if offered.any(|it| it == name) => Beginning::Call,
                None if offered.any(|it| it.starts_with(name)) => Beginning::Undecided,
                _ => Beginning::Other,
            };
        }
        found
    }
}

/// What follows something that closes a call.
fn after_closer(text: &str) -> Option<&str> {
    // With a language after it, it opens the next fence.
    let fence = text.strip_prefix("```");
    let fence = fence.filter(|after| !after.starts_with(char::is_alphanumeric));
    fence.or_else(|| CLOSERS.iter().find_map(|it| text.strip_prefix(it)))
}

/// How a text begins, by the marks alone. What follows a mark shows whether it is one, or is spoken of.
fn marked(text: &str) -> Beginning {
    let Some(mark) = MARKS.iter().find(|mark| text.starts_with(**mark)) else {
        return match MARKS.iter().any(|mark| mark.starts_with(text)) {
            true => Beginning::Undecided,
            false => Beginning::Other,
        };
    };
    let inside = text[mark.len()..].trim_start();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match (*mark, inside.chars().next()) {
        (DEEPSEEK_CALLS, _) => Beginning::Call,
        (FUNCTION, _) => match inside.find(|c| !is_name(c)) {
            Some(end) if end > 0 && inside[end..].starts_with('>') => Beginning::Call,
            None if inside.len() < NAME_BYTES_MAX => Beginning::Undecided,
            _ => Beginning::Other,
        },
        (_, None) => Beginning::Undecided,
        (_, Some('{' | '[')) => Beginning::Call,
        ("[TOOL_CALLS]", Some(first)) if is_name(first) => Beginning::Call,
        (_, Some('<')) if inside.starts_with(FUNCTION) => Beginning::Call,
        (_, Some('<')) if FUNCTION.starts_with(inside) => Beginning::Undecided,
        _ => Beginning::Other,
    }
}

/// A call as it was written.
struct WrittenCall {
    name: String,
    arguments: Map<String, Value>,
    /// Whether the arguments are texts, whatever they mean.
    are_texts: bool,
}

type ReadCalls<'t> = Result<(Vec<WrittenCall>, &'t str), String>;

/// The calls that a text begins with, and the rest of it.
///
/// # Errors
/// Why it can't be read, for the model.
fn calls_at_start(text: &str) -> ReadCalls<'_> {
    let text = match text.strip_prefix("```") {
        Some(fence) => fence.split_once('\n').map_or("", |(_, inside)| inside),
        None => text,
    };
    let text = text.trim_start();
    let mut marks = MARKS.iter().filter(|mark| **mark != FUNCTION);
    let inside = marks.find_map(|mark| text.strip_prefix(mark));
    let text = inside.unwrap_or(text).trim_start();
    if let Some(call) = text.strip_prefix(DEEPSEEK_CALL) {
        let (head, body) = call.split_once(DEEPSEEK_SEPARATOR).ok_or("it breaks off")?;
        if head.trim() != "function" {
            return named(head, body);
        }
        let (name, body) = body.split_once('\n').ok_or("it breaks off")?;
        return named(name, body.trim_start().trim_start_matches("```json"));
    }
    if let Some(function) = text.strip_prefix(FUNCTION) {
        let (name, body) = function.split_once('>').ok_or("it breaks off")?;
        return match body.trim_start().starts_with('{') {
            true => named(name, body),
            false => with_parameters(name, body),
        };
    }
    if !text.starts_with(['{', '[']) {
        // Mistral's form, with or without its mark between name and arguments.
        let name = text.split(['{', '[']).next().unwrap_or_default();
        let body = text[name.len()..].trim_start_matches("[ARGS]");
        return named(name, body);
    }
    let (json, rest) = json_at_start(text)?;
    let calls = match &json {
        Value::Array(calls) => calls.iter().map(call_of).collect::<Result<_, _>>()?,
        call => vec![call_of(call)?],
    };
    Ok((calls, rest))
}

/// A call whose arguments are JSON after its name.
fn named<'t>(name: &str, body: &'t str) -> ReadCalls<'t> {
    let (Value::Object(arguments), rest) = json_at_start(body)? else {
        return Err("its arguments are no JSON object".into());
    };
    let call = WrittenCall {
        name: name.trim().to_owned(),
        arguments,
        are_texts: false,
    };
    Ok((vec![call], rest))
}

/// A call with an element for each argument.
fn with_parameters<'t>(name: &str, body: &'t str) -> ReadCalls<'t> {
    let mut arguments = Map::new();
    let mut rest = body.trim_start();
    while let Some(parameter) = rest.strip_prefix("<parameter=") {
        let parts = parameter.split_once('>').and_then(|(key, value)| {
            let (value, after) = value.split_once("</parameter>")?;
            Some((key, value, after))
        });
        let (key, value, after) = parts.ok_or("`</parameter>` is missing")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.into());
        rest = after.trim_start();
    }
    let rest = rest.strip_prefix("</function>");
    let call = WrittenCall {
        name: name.trim().to_owned(),
        arguments,
        are_texts: true,
    };
    Ok((vec![call], rest.ok_or("`</function>` is missing")?))
}

fn json_at_start(text: &str) -> Result<(Value, &str), String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((value, &text[values.byte_offset()..])),
        Some(Err(error)) => Err(format!("it is no JSON: {error}")),
        None => Err("it breaks off".into()),
    }
}

fn call_of(json: &Value) -> Result<WrittenCall, String> {
    let function = json.get("function").filter(|it| it.is_object());
    let json = function.unwrap_or(json);
    let name = json["name"].as_str().ok_or("it names no tool")?;
    let arguments = json.get("arguments").or_else(|| json.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(encoded)) => serde_json::from_str(encoded).ok(),
        Some(Value::Object(arguments)) => Some(arguments.clone()),
        _ => None,
    };
    Ok(WrittenCall {
        name: name.to_owned(),
        arguments: arguments.ok_or("its `arguments` are no JSON object")?,
        are_texts: false,
    })
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
    fn calls_of_every_form_are_found() {
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
        // The other dialects' forms of a tool, and a schema with references that lead to themselves.
        let nested = json!({"path": "a", "nested": {"path": "b", "loop": 1}, "either": [1, 2]});
        for name in ["Read", "read_flat"] {
            let text = json!({"name": name, "arguments": nested}).to_string();
            check(&text, "", &[call(name, nested.clone())]);
        }
    }

    #[test]
    fn what_was_meant_to_be_a_call_says_what_is_wrong_with_it() {
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
    fn what_is_no_call_is_prose() {
        let named = r#"{"name": "read", "arguments": {"path": "a.c"}}"#;
        for text in [
            "The answer is 4.",
            "",
            "A `<tool_call>` is how a model calls.\n<tool_call> is the mark.\n<function=> too",
            &format!("<tool_call>{named}</tool_call>\nThat is how it is done."),
            &format!("It would be:\n```json\n{named}\n```"),
            &format!("```json\n{named}\n```\nis a call."),
            &format!("```xml\n<tool_call>{named}</tool_call>\n```\nThat is XML."),
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

    #[test]
    fn nothing_waits_that_begins_no_call() {
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
    }
}
