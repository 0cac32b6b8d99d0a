//! Calls as models write them in a text: the forms of their families' chat templates, read leniently.

use serde_json::{Map, Value};
use tslp_core::word_list;

/// The tokens of each family, as data.
const TOKENS: &str = include_str!("call_tokens.txt");

/// Before `DeepSeek`'s own names of elements; without it they are those of others.
const ELEMENT_PREFIX: &str = "｜DSML｜";

/// The elements that hold a call with its name.
const CALL_ELEMENTS: [&str; 2] = ["function", "invoke"];

/// Levels of lists and maps in arguments that are no JSON.
const LITERAL_LEVELS_MAX: usize = 32;

/// What quotes a text in arguments that are no JSON.
const QUOTES: [&str; 4] = ["\"", "'", "<escape>", "<|\"|>"];

/// A call as it was written.
pub(super) struct WrittenCall {
    pub(super) name: String,
    pub(super) arguments: Map<String, Value>,
    /// Whether the arguments are texts, whatever they mean.
    pub(super) are_texts: bool,
}

/// Calls, and the text after them.
type ReadCalls<'t> = Result<(Vec<WrittenCall>, &'t str), String>;

/// The tokens of a kind.
pub(super) fn tokens(kind: &str) -> impl Iterator<Item = &'static str> {
    let entries = word_list::entries(TOKENS).filter_map(|line| line.split_once(": "));
    let of_kind = entries.filter(move |(of, _)| *of == kind);
    of_kind.map(|(_, token)| token)
}

/// The text after whatever of these tokens it begins with, and how many there were.
pub(super) fn skip_tokens<'t>(kind: &str, mut text: &'t str) -> (&'t str, usize) {
    let mut skipped = 0;
    while let Some(after) = tokens(kind).find_map(|token| text.strip_prefix(token)) {
        text = after.trim_start();
        skipped += 1;
    }
    (text, skipped)
}

/// The text after what closes calls.
pub(super) fn skip_closers(text: &str) -> &str {
    let mut text = text.trim_start();
    loop {
        let after = skip_tokens("close", text).0;
        // With a language after it, it opens the next fence.
        let fence = after.strip_prefix("```");
        let fence = fence.filter(|it| !it.starts_with(char::is_alphanumeric));
        match fence {
            Some(below) => text = below.trim_start(),
            None => return after,
        }
    }
}

/// All calls of a text and what follows the first that isn't read as one.
///
/// # Errors
/// Why a call can't be read, for the model.
pub(super) fn calls_at_start(text: &str) -> ReadCalls<'_> {
    let text = match text.strip_prefix("```") {
        Some(fence) => fence.split_once('\n').map_or("", |(_, inside)| inside),
        None => text,
    };
    let text = skip_tokens("open", text.trim_start()).0;
    if let Some((name, body)) = CALL_ELEMENTS.iter().find_map(|it| element(text, it)) {
        return match body.trim_start().starts_with('{') {
            true => with_literal(name, body),
            false => with_parameters(name, body),
        };
    }
    let listed = text.strip_prefix('[').map(str::trim_start);
    let is_python = |text: &&str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if let Some(calls) = listed.filter(is_python) {
        return python_calls(calls);
    }
    if !text.starts_with(['{', '[']) {
        return with_name(text);
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let json = match values.next() {
        Some(read) => read.map_err(|error| format!("it is no JSON: {error}"))?,
        None => return Err("it breaks off".into()),
    };
    let calls = match &json {
        Value::Array(calls) => calls.iter().map(call_of).collect::<Result<_, _>>()?,
        call => vec![call_of(call)?],
    };
    Ok((calls, &text[values.byte_offset()..]))
}

/// The name that an element gives, as in `<tag=NAME>` or `<tag name="NAME">`, and the text after its tag.
fn element<'t>(text: &'t str, tag: &str) -> Option<(&'t str, &'t str)> {
    let rest = text.strip_prefix('<')?;
    let rest = rest.strip_prefix(ELEMENT_PREFIX).unwrap_or(rest);
    let rest = rest.strip_prefix(tag)?;
    let (head, body) = rest.split_once('>')?;
    match head.strip_prefix('=') {
        Some(name) => Some((name.trim_matches(['"', ' ']), body)),
        None => {
            let name = head.trim_start().strip_prefix("name=\"")?;
            Some((name.split_once('"')?.0, body))
        }
    }
}

/// How a text that may be an element of a call begins: whether it is one, `None` as long as that is open.
pub(super) fn begins_element(text: &str) -> Option<bool> {
    let heads = CALL_ELEMENTS.iter().flat_map(|tag| {
        let own = [format!("<{tag}="), format!("<{tag} name=\"")];
        own.into_iter()
            .chain([format!("<{ELEMENT_PREFIX}{tag} name=\"")])
    });
    let mut is_open = false;
    for head in heads {
        if let Some(name) = text.strip_prefix(&head) {
            let end = name.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.'));
            match end {
                None => is_open = true,
                Some(end) if end > 0 && name[end..].starts_with(['>', '"']) => return Some(true),
                Some(_) => {}
            }
        }
        is_open |= head.starts_with(text);
    }
    if is_open { None } else { Some(false) }
}

/// A call whose arguments come after its name.
fn with_name(text: &str) -> ReadCalls<'_> {
    let text = skip_tokens("before", text).0;
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = text.find(|c| !is_name(c)).ok_or("it breaks off")?;
    let (name, mut rest) = text.split_at(end);
    // Kimi numbers its calls, and Mistral gives them ids.
    if let Some(number) = rest.strip_prefix(':') {
        rest = number.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    if let Some(id) = rest.strip_prefix("[CALL_ID]") {
        rest = &id[id.find('[').unwrap_or(id.len())..];
    }
    let rest = skip_tokens("between", rest.trim_start()).0;
    if rest.starts_with("<arg_key>") {
        return with_parameters(name, rest);
    }
    if rest.starts_with('(') {
        return python_calls(text);
    }
    with_literal(name, rest)
}

/// A call whose arguments are JSON, or what a family writes for it.
fn with_literal<'t>(name: &str, text: &'t str) -> ReadCalls<'t> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (arguments, rest) = match values.next() {
        Some(Ok(value)) => (value, &text[values.byte_offset()..]),
        Some(Err(error)) => literal(text, LITERAL_LEVELS_MAX)
            .ok_or_else(|| format!("its arguments are no JSON: {error}"))?,
        None => return Err("it breaks off".into()),
    };
    let Value::Object(arguments) = arguments else {
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
    let value_until = |text: &'t str, tag: &str| {
        let ends = [format!("</{tag}>"), format!("</{ELEMENT_PREFIX}{tag}>")];
        let ends = ends.iter().filter_map(|end| text.split_once(end.as_str()));
        let (value, after) = ends
            .min_by_key(|(value, _)| value.len())
            .ok_or_else(|| format!("`</{tag}>` is missing"))?;
        Ok::<_, String>((value, after.trim_start()))
    };
    loop {
        let (key, value) = if let Some((key, value)) = element(rest, "parameter") {
            let (value, after) = value_until(value, "parameter")?;
            rest = after;
            (key, value)
        } else if let Some(key) = rest.strip_prefix("<arg_key>") {
            let (key, after) = value_until(key, "arg_key")?;
            let value = after
                .strip_prefix("<arg_value>")
                .ok_or("`<arg_value>` is missing")?;
            let (value, after) = value_until(value, "arg_value")?;
            rest = after;
            (key, value)
        } else {
            break;
        };
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.into());
    }
    let rest = match CALL_ELEMENTS
        .iter()
        .find_map(|tag| value_until(rest, tag).ok())
    {
        Some((gap, after)) if gap.trim().is_empty() => after,
        _ if rest.starts_with("</") => rest,
        _ => return Err("its end is missing".into()),
    };
    let call = WrittenCall {
        name: name.trim().to_owned(),
        arguments,
        are_texts: true,
    };
    Ok((vec![call], rest))
}

/// Calls as Python has them, up to the end or the bracket that closes their list.
fn python_calls(mut text: &str) -> ReadCalls<'_> {
    let mut calls = Vec::new();
    loop {
        let (name, arguments) = text.split_once('(').ok_or("it breaks off")?;
        let read = pairs(arguments, ')', LITERAL_LEVELS_MAX);
        let (arguments, rest) = read.ok_or("its arguments can't be read")?;
        calls.push(WrittenCall {
            name: name.trim().to_owned(),
            arguments,
            are_texts: false,
        });
        let rest = rest.trim_start();
        match rest.strip_prefix(',') {
            Some(next) => text = next.trim_start(),
            None => return Ok((calls, rest.strip_prefix(']').unwrap_or(rest))),
        }
    }
}

/// A value as Python or Gemma writes it.
fn literal(text: &str, levels: usize) -> Option<(Value, &str)> {
    let levels = levels.checked_sub(1)?;
    let text = text.trim_start();
    if let Some(quote) = QUOTES.iter().find(|quote| text.starts_with(**quote)) {
        let (said, rest) = quoted(&text[quote.len()..], quote)?;
        return Some((said.into(), rest));
    }
    if let Some(inside) = text.strip_prefix('{') {
        let (members, rest) = pairs(inside, '}', levels)?;
        return Some((members.into(), rest));
    }
    if let Some(inside) = text.strip_prefix('[') {
        let (mut items, mut rest) = (Vec::new(), inside.trim_start());
        while !rest.starts_with(']') {
            let (item, after) = literal(rest, levels)?;
            items.push(item);
            rest = after.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        return Some((items.into(), &rest[1..]));
    }
    let end = text.find([',', ')', ']', '}']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let value = match word.trim() {
        "True" => true.into(),
        "False" => false.into(),
        "None" => Value::Null,
        word => serde_json::from_str(word).ok()?,
    };
    Some((value, rest))
}

/// Named values up to this sign.
fn pairs(text: &str, end: char, levels: usize) -> Option<(Map<String, Value>, &str)> {
    let (mut members, mut rest) = (Map::new(), text.trim_start());
    loop {
        if let Some(after) = rest.strip_prefix(end) {
            return Some((members, after));
        }
        let at = rest.find([':', '='])?;
        let key = QUOTES.iter().fold(rest[..at].trim(), |key, quote| {
            key.trim_start_matches(quote).trim_end_matches(quote)
        });
        let (value, after) = literal(&rest[at + 1..], levels)?;
        members.insert(key.to_owned(), value);
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
}

/// A text up to its closing quote, and what follows.
fn quoted<'t>(text: &'t str, quote: &str) -> Option<(String, &'t str)> {
    // A token isn't escaped, and escapes nothing.
    if quote.len() > 1 {
        let (said, rest) = text.split_once(quote)?;
        return Some((said.to_owned(), rest));
    }
    let mut said = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => said.push(match chars.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                other => other,
            }),
            c if quote.starts_with(c) => return Some((said, &text[at + 1..])),
            c => said.push(c),
        }
    }
    None
}

fn call_of(json: &Value) -> Result<WrittenCall, String> {
    let function = json.get("function").filter(|it| it.is_object());
    let json = function.unwrap_or(json);
    let name = json["name"].as_str().or(json["tool_name"].as_str());
    let arguments = json.get("arguments").or_else(|| json.get("parameters"));
    let arguments = match arguments {
        Some(Value::String(encoded)) => serde_json::from_str(encoded).ok(),
        Some(Value::Object(arguments)) => Some(arguments.clone()),
        _ => None,
    };
    Ok(WrittenCall {
        name: name.ok_or("it names no tool")?.to_owned(),
        arguments: arguments.ok_or("its `arguments` are no JSON object")?,
        are_texts: false,
    })
}
