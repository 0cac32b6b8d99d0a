//! Calls of the client's own tools that a model wrote as text: where one may begin, and what is called, by what the client offers.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};
use tslp_core::word_list;

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

/// After it the reply itself begins.
const THOUGHTS_END: &str = "</think>";

/// Words by what they say of calls, as data.
const WORDS: &str = include_str!("call_words.txt");

/// Characters of a user's words, and of a line before a call, that are read.
const WORDS_MAX: usize = 4096;

/// Characters of a sentence that says what the model does next.
const ANNOUNCEMENT_MAX: usize = 300;

/// Longest name of a tool, in bytes.
const NAME_BYTES_MAX: usize = 128;

/// The tools that a client offers in a request. They are read once they are asked for: most replies hold no such text.
#[derive(Debug)]
pub struct OfferedTools {
    json: Box<str>,
    /// The beginning of what the user said last.
    asked: Box<str>,
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
    /// The beginning of the last line that was said, and the number of lines but for thoughts.
    line: String,
    lines: usize,
    /// Whether a fence or thoughts are open, in which JSON is no call.
    in_other: bool,
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
    /// From the request's own field; `asked` is what the user said last.
    #[must_use]
    pub fn new(json: &str, asked: &str) -> Self {
        Self {
            json: json.into(),
            asked: asked.chars().take(WORDS_MAX).collect(),
            read: OnceLock::new(),
        }
    }

    /// Whether the user asks about the tools, or for an example: a call in the answer is one to look at.
    fn are_asked_about(&self) -> bool {
        // Of a name that is a plain word nobody could tell whether the tool is meant.
        let names = || self.schemas().filter(|(name, _)| name.contains(['_', '-']));
        let lines = self.asked.split(['?', '!', '\n']);
        let mut sentences = lines.flat_map(|line| line.split(". "));
        sentences.any(|sentence| {
            let said = Words::of(sentence);
            let is_about = |from| {
                let has_name = |name: &str| said.find(name) > Some(from);
                said.says("call") || names().any(|(name, _)| has_name(&name.to_lowercase()))
            };
            said.says("example") || said.first("ask").is_some_and(is_about)
        })
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
            line: String::new(),
            lines: 0,
            in_other: false,
        }
    }

    /// Before the first text of another reply to the same request.
    #[must_use]
    pub fn anew(&self) -> Self {
        Self::new(Arc::clone(&self.tools))
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
                let end = line_end.map_or(rest.len(), |end| end + 1);
                let room = WORDS_MAX.saturating_sub(self.line.len());
                self.line.extend(rest[..end].chars().take(room));
                if self.at_line_start {
                    self.end_line();
                }
                passed += end;
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
                    self.line.clear();
                    self.at_reply_start = line.starts_with(THOUGHTS_END);
                    self.lines = if self.at_reply_start {
                        0
                    } else {
                        self.lines + 1
                    };
                }
            }
        }
        self.held.drain(..passed).collect()
    }

    fn end_line(&mut self) {
        let line = &self.line;
        self.in_other = match line.starts_with("```") {
            true => !self.in_other,
            false if line.contains(THOUGHTS_END) => false,
            false => self.in_other || line.starts_with("<think>"),
        };
    }

    /// What is kept back.
    #[must_use]
    pub fn held(&self) -> &str {
        &self.held
    }

    /// What is kept back at the reply's end is.
    #[must_use]
    pub fn found(&self) -> FoundText {
        let found = match self.has_begun {
            true => self.read(),
            false if self.is_announcement() => {
                FoundText::Flawed("it only says what it does".into())
            }
            false => return FoundText::Prose,
        };
        // After words nothing but what fits shows that JSON is a call, and isn't one to look at.
        let is_marked = !self.has_begun || marked(self.held.trim()) == Beginning::Call;
        let is_shown = || match found {
            _ if is_marked || self.at_reply_start => false,
            FoundText::Calls(_) => Words::of(&self.line).says("hypothetical"),
            _ => true,
        };
        match is_shown() || self.tools.are_asked_about() {
            true => FoundText::Prose,
            false => found,
        }
    }

    /// Whether all that was said is one sentence of what the model does next, and it ended its turn without doing it.
    fn is_announcement(&self) -> bool {
        let is_one = self.lines == 1 && self.held.trim().is_empty();
        if !is_one || self.line.len() > ANNOUNCEMENT_MAX || self.line.contains('?') {
            return false;
        }
        let said = Words::of(&self.line);
        let Some(at) = said.first("announce") else {
            return false;
        };
        let (before, after) = said.0.split_at(at);
        let mut before = before.split_whitespace();
        let leads = before
            .next()
            .is_none_or(|first| Words::of(first).says("lead"));
        leads && !Words::of(after).says("idle")
    }

    /// What the model is told if it is asked once more, `why` its answer was no call.
    #[must_use]
    pub fn complaint(&self, why: &str) -> String {
        let written = self.written();
        match self.has_begun {
            true => format!(
                "You answered with a call of a tool that was not run, because {why}:\n{written}\nCall the tool once more, with arguments that fit its schema."
            ),
            false => format!(
                "You ended your turn with these words and called no tool:\n{written}\nWrite nothing but the call now, as JSON with \"name\" and \"arguments\"."
            ),
        }
    }

    /// The words that were meant to be a call, or announce one.
    #[must_use]
    pub fn written(&self) -> &str {
        if self.has_begun {
            &self.held
        } else {
            &self.line
        }
    }

    fn read(&self) -> FoundText {
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
            Beginning::Other if !self.in_other => self.beginning_anywhere(line),
            Beginning::Other if THOUGHTS_END.starts_with(line) => Beginning::Undecided,
            marked => marked,
        }
    }

    /// How a text begins outside of a fence: a fence or JSON may be a call, too.
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
        let signs: String = signs.take(2 * NAME_BYTES_MAX).collect();
        let signs = signs.strip_prefix('[').unwrap_or(&signs);
        if !signs.is_empty() && !signs.starts_with('{') {
            return Beginning::Other;
        }
        let names = self.tools.schemas().map(|(name, _)| name);
        let starts = names.flat_map(|name| JSON_STARTS.map(|start| format!("{start}{name}\"")));
        let mut found = Beginning::Other;
        for start in starts {
            if signs.starts_with(&start) {
                return Beginning::Call;
            }
            if start.starts_with(signs) {
                found = Beginning::Undecided;
            }
        }
        found
    }
}

/// The words of a text, small, with a space before and after each.
struct Words(String);

impl Words {
    fn of(text: &str) -> Self {
        let text = text.replace('’', "'").to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '\''));
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    /// Where some words begin.
    fn find(&self, words: &str) -> Option<usize> {
        self.0.find(&format!(" {words} "))
    }

    /// Where the first phrase of a kind begins.
    fn first(&self, kind: &str) -> Option<usize> {
        Self::phrases(kind).filter_map(|it| self.find(it)).min()
    }

    fn says(&self, kind: &str) -> bool {
        self.first(kind).is_some()
    }

    fn phrases(kind: &str) -> impl Iterator<Item = &'static str> {
        let phrases = word_list::entries(WORDS).filter_map(|line| line.split_once(": "));
        let of_kind = phrases.filter(move |(of, _)| *of == kind);
        of_kind.map(|(_, phrase)| phrase)
    }
}

/// What follows something that closes a call.
fn after_closer(text: &str) -> Option<&str> {
    // With a language after it, it opens the next fence.
    let fence = text.strip_prefix("```");
    let fence = fence.filter(|after| !after.starts_with(char::is_alphanumeric));
    fence.or_else(|| Words::phrases("closer").find_map(|it| text.strip_prefix(it)))
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

    fn tools(asked: &str) -> Arc<OfferedTools> {
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
        Arc::new(OfferedTools::new(&Value::from(all).to_string(), asked))
    }

    /// What passes, what is kept back to the end, and what that is, in pieces of so many characters.
    fn watched(text: &str, size: usize) -> (String, String, FoundText) {
        answered("Look at a.c.", text, size)
    }

    /// The same, where the user said something.
    fn answered(asked: &str, text: &str, size: usize) -> (String, String, FoundText) {
        let mut watch = LostCallWatch::new(tools(asked));
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
        // The other dialects' forms of a tool, and a schema with references that lead to themselves.
        let nested = json!({"path": "a", "nested": {"path": "b", "loop": 1}, "either": [1, 2]});
        for name in ["Read", "read_flat"] {
            let text = json!({"name": name, "arguments": nested}).to_string();
            check(&text, "", &[call(name, nested.clone())]);
        }
    }

    #[test]
    fn a_schema_with_recursion_is_followed_and_comes_to_an_end() {
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
    fn one_sentence_of_what_the_model_does_next_is_a_call_that_is_missing() {
        let announces = |text: &str| {
            let (passed, _, found) = watched(text, 3);
            assert_eq!(passed, text, "nothing waits");
            found != FoundText::Prose
        };
        for text in [
            "I will read the Makefile.",
            "I am about to call the `read` function with the path \"README.md\".",
            "To list the files of `src`, I'll call `read_flat` with the path `src`.",
            "Sure! Let me look at src/ring.c.\n",
            "<think>\nhm\n</think>\n\nI’m going to fix the typo in `docs/net.md`.",
        ] {
            assert!(announces(text), "{text}");
        }
        for text in [
            "The tests pass, so I will leave it as it is.",
            "I will remember that.",
            "I'll be here if you need me.",
            "Let me know what else to do.",
            "I will read a.c.\nIt has two functions.",
            "Shall I go on? I'll read the other file then.",
            "I will explain the schema to you.",
            "Done.",
            "",
        ] {
            assert!(!announces(text), "{text}");
        }
        let (_, _, found) = answered("How do tool calls work?", "I will call `read_flat`.", 9);
        assert_eq!(found, FoundText::Prose);
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
        let mut watch = LostCallWatch::new(tools(""));
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
        let mut watch = LostCallWatch::new(tools(""));
        assert_eq!(watch.push("{\"name\": \"r"), "");
        assert_eq!(watch.push("ob"), "{\"name\": \"rob");
        // In a fence that is no call's, JSON is code.
        let mut watch = LostCallWatch::new(tools(""));
        assert_eq!(
            watch.push("Like this:\n```json\n[1,\n"),
            "Like this:\n```json\n[1,\n"
        );
        assert_eq!(watch.push("{"), "{");
    }

    #[test]
    fn json_after_words_is_a_call_if_it_fits_and_nobody_is_shown_an_example() {
        let named = r#"{"name": "read", "arguments": {"path": "a.c"}}"#;
        let fenced = format!("```json\n{named}\n```");
        let a = || call("read", json!({"path": "a.c"}));
        for before in [
            "I'll read the file:\n",
            "Sure, I can help you with that. Let me look at a.c first.\n\n",
            "The bug is here:\n```c\n{\n    return 0;\n}\n```\nI change it.\n\n",
        ] {
            let expected = FoundText::Calls(vec![a()]);
            check(&format!("{before}{fenced}"), before, &expected);
            check(&format!("{before}{named}\n"), before, &expected);
        }
        let broken = named.replace("path", "file");
        for text in [
            format!("Here is an example of a call:\n{fenced}"),
            format!("You can use the following:\n\n{fenced}"),
            format!("I'll read it:\n{fenced}\nThat shows what is in it."),
            format!("I'll read it:\n```json\n{broken}\n```"),
            format!("I'll read both:\n{fenced}\n```json\n{broken}\n```"),
            format!("I'll read it:\n{}", named.replace("read", "open")),
        ] {
            for size in [1, 3, 1000] {
                let (passed, held, found) = watched(&text, size);
                assert_eq!((passed + &held, found), (text.clone(), FoundText::Prose));
            }
        }
    }

    #[test]
    fn who_asks_about_the_tools_gets_words() {
        let call = r#"{"name": "read_flat", "arguments": {"path": "a.c"}}"#;
        let found = |asked: &str| answered(asked, call, 1000).2 != FoundText::Prose;
        for asked in [
            "How would one call read_flat for ring.c? Explain it, but do not call it.",
            "What is the difference between read_flat and cat?",
            "Hi! Could you explain `read_flat` to me?",
            "Show me an example of a tool call.",
            "Which of your tools could lose data?",
            "How do I read a file in Python? Give an example.",
        ] {
            assert!(!found(asked), "{asked}");
        }
        for asked in [
            "Explain what src/ring.c does.",
            "Use read_flat on a.c. What does it say?",
            "Call read_flat and tell me how the parser works.",
            "How does the tool in src/tools.rs work?",
            "Write an example program to ex.c.",
            "",
        ] {
            assert!(found(asked), "{asked}");
        }
    }
}
