//! The positions of a request body's fields and messages. Agents send their whole conversation with every step, so a body that
//! begins as one did before is only walked through from there on.

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Error as _, IgnoredAny};
use serde_json::value::RawValue;

use super::bad_request::BadRequest;
use super::by_dialect;
use super::dialect::{Dialect, MessagesForm};
use super::json_text::range_in;

/// The hash of a message's JSON text.
pub(super) type MessageHash = [u8; 32];

/// Fields and messages of a body, untouched.
#[derive(Default)]
pub(super) struct WalkedBody<'b> {
    pub(super) form: MessagesForm,
    /// All fields but the messages, in their order.
    pub(super) fields: Vec<(String, &'b str)>,
    /// The number of fields before the messages.
    pub(super) fields_before_messages: usize,
    pub(super) messages: Vec<(MessageHash, &'b str)>,
}

impl<'b> WalkedBody<'b> {
    /// The JSON text of a field.
    pub(super) fn field_text(&self, name: &str) -> Option<&'b str> {
        let mut fields = self.fields.iter();
        fields.find_map(|(other, value)| (other == name).then_some(*value))
    }
}

/// Bodies of which the beginning is remembered: those of the conversations that go on.
const BEGINNINGS_KEPT: usize = 8;

/// Positions and hashes of the last bodies, up to their last message. No text is kept.
#[derive(Default)]
pub(super) struct KnownBeginnings {
    /// Oldest first.
    kept: VecDeque<BodyBeginning>,
}

/// A body up to the end of its last message.
struct BodyBeginning {
    dialect: Dialect,
    hash: blake3::Hash,
    len: usize,
    /// The fields before the messages.
    fields: Vec<(String, Range<usize>)>,
    messages: Vec<(MessageHash, Range<usize>)>,
}

/// A walk that has been begun for a body.
struct BegunWalk<'b> {
    body: WalkedBody<'b>,
    at: usize,
    /// Has hashed the bytes up to `at`.
    hasher: blake3::Hasher,
}

impl KnownBeginnings {
    pub(super) fn walk_body<'b>(
        &mut self,
        dialect: Dialect,
        bytes: &'b [u8],
    ) -> Result<WalkedBody<'b>, BadRequest> {
        let json = std::str::from_utf8(bytes)
            .map_err(|error| BadRequest::Json(serde_json::Error::custom(error)))?;
        let begun = self.begin_from_known(dialect, json);
        let mut hasher = begun.hasher;
        let hashed = begun.at;
        let mut body = BodyWalk::walk_from(dialect, json, begun.body, begun.at)?;
        if body.form == MessagesForm::Array
            && let Some((_, last)) = body.messages.last()
        {
            let end = range_in(bytes, last.as_bytes()).end;
            hasher.update(&bytes[hashed..end]);
            self.remember_beginning(dialect, json, &body, end, hasher.finalize());
        }
        if body.form == MessagesForm::Array
            && let Some(is_of_model) = by_dialect::turn_items(dialect)
        {
            body.messages = group_turns(json, body.messages, is_of_model);
        }
        Ok(body)
    }

    /// The longest beginning that is known of a body. What the bytes begin with says all about the walk up to there.
    fn begin_from_known<'b>(&mut self, dialect: Dialect, json: &'b str) -> BegunWalk<'b> {
        let is_last_message = |(hash, range): &(MessageHash, Range<usize>)| {
            let message = json.as_bytes().get(range.clone());
            message.is_some_and(|message| *hash == message_hash(message))
        };
        // The last message alone differs in most other conversations.
        let fits =
            |beginning: &BodyBeginning| beginning.messages.last().is_some_and(is_last_message);
        let known = self.kept.iter().enumerate();
        let longest = known
            .filter(|(_, beginning)| beginning.dialect == dialect && fits(beginning))
            .max_by_key(|(_, beginning)| beginning.len);
        let mut hasher = blake3::Hasher::new();
        if let Some((index, beginning)) = longest
            && hasher.update(&json.as_bytes()[..beginning.len]).finalize() == beginning.hash
            && let Some(known) = self.kept.remove(index)
        {
            // These very bytes were walked before: the ranges lie in the text, and between characters.
            let fields = known.fields.into_iter();
            let messages = known.messages.into_iter();
            let body = WalkedBody {
                form: MessagesForm::Array,
                fields_before_messages: fields.len(),
                fields: fields.map(|(name, at)| (name, &json[at])).collect(),
                messages: messages.map(|(hash, at)| (hash, &json[at])).collect(),
            };
            return BegunWalk {
                body,
                at: known.len,
                hasher,
            };
        }
        BegunWalk {
            body: WalkedBody::default(),
            at: 0,
            hasher: blake3::Hasher::new(),
        }
    }

    fn remember_beginning(
        &mut self,
        dialect: Dialect,
        json: &str,
        body: &WalkedBody<'_>,
        len: usize,
        hash: blake3::Hash,
    ) {
        let place = |part: &str| range_in(json.as_bytes(), part.as_bytes());
        let fields = &body.fields[..body.fields_before_messages];
        let beginning = BodyBeginning {
            dialect,
            hash,
            len,
            fields: fields
                .iter()
                .map(|(name, value)| (name.clone(), place(value)))
                .collect(),
            messages: body
                .messages
                .iter()
                .map(|(hash, message)| (*hash, place(message)))
                .collect(),
        };
        self.kept
            .retain(|known| (known.dialect, known.hash) != (dialect, hash));
        if self.kept.len() == BEGINNINGS_KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(beginning);
        debug_assert!(self.kept.len() <= BEGINNINGS_KEPT);
    }
}

/// Items with those that are of one turn of the model's put together.
fn group_turns<'b>(
    json: &'b str,
    items: Vec<(MessageHash, &'b str)>,
    is_of_model: fn(&str) -> bool,
) -> Vec<(MessageHash, &'b str)> {
    let mut turns: Vec<(MessageHash, &'b str)> = Vec::with_capacity(items.len());
    let mut is_in_turn = false;
    for (hash, item) in items {
        let is_of_model = is_of_model(item);
        match turns.last_mut() {
            Some((turn_hash, turn)) if is_in_turn && is_of_model => {
                let start = range_in(json.as_bytes(), turn.as_bytes()).start;
                *turn = &json[start..range_in(json.as_bytes(), item.as_bytes()).end];
                *turn_hash = message_hash(turn.as_bytes());
            }
            _ => turns.push((hash, item)),
        }
        is_in_turn = is_of_model;
    }
    turns
}

pub(super) fn message_hash(message: &[u8]) -> MessageHash {
    *blake3::hash(message).as_bytes()
}

/// The reason for which a walk stopped early.
enum WalkStop {
    /// The text isn't JSON, or no object.
    Syntax,
    /// The JSON is valid, but is no request that tslp accepts.
    Flaw(BadRequest),
}

struct BodyWalk<'b> {
    dialect: Dialect,
    json: &'b str,
    at: usize,
    body: WalkedBody<'b>,
}

impl<'b> BodyWalk<'b> {
    /// Goes on at `at`: the text's beginning, or the end of the last message in `body`.
    fn walk_from(
        dialect: Dialect,
        json: &'b str,
        body: WalkedBody<'b>,
        at: usize,
    ) -> Result<WalkedBody<'b>, BadRequest> {
        let mut walk = Self {
            dialect,
            json,
            at,
            body,
        };
        match walk.rest_of_body() {
            Ok(()) => Ok(walk.body),
            Err(WalkStop::Flaw(flaw)) => Err(flaw),
            Err(WalkStop::Syntax) => Err(BadRequest::Json(syntax_error(json))),
        }
    }

    fn rest_of_body(&mut self) -> Result<(), WalkStop> {
        let mut has_messages = !self.body.messages.is_empty();
        if has_messages {
            self.walk_messages()?;
        } else {
            self.expect_mark(b'{')?;
        }
        if !self.take_mark(b'}') {
            if !has_messages {
                self.walk_field(&mut has_messages)?;
            }
            while self.take_mark(b',') {
                self.walk_field(&mut has_messages)?;
            }
            self.expect_mark(b'}')?;
        }
        self.skip_space();
        if self.at < self.json.len() {
            return Err(WalkStop::Syntax);
        }
        self.check_names()?;
        if has_messages {
            Ok(())
        } else {
            Err(self.no_messages())
        }
    }

    /// Parsers differ in which of two members of one name counts, and the model server must not see another prompt.
    fn check_names(&self) -> Result<(), WalkStop> {
        let mut names = HashSet::with_capacity(self.body.fields.len());
        let mut fields = self.body.fields.iter();
        match fields.find(|(name, _)| !names.insert(name)) {
            Some((twice, _)) => Err(WalkStop::Flaw(BadRequest::Twice(twice.clone()))),
            None => Ok(()),
        }
    }

    const fn no_messages(&self) -> WalkStop {
        WalkStop::Flaw(BadRequest::NoMessages(self.dialect.messages_field()))
    }

    fn walk_field(&mut self, has_messages: &mut bool) -> Result<(), WalkStop> {
        let name: String =
            serde_json::from_str(self.read_value()?).map_err(|_| WalkStop::Syntax)?;
        self.expect_mark(b':')?;
        let is_messages = name == self.dialect.messages_field();
        let body = &mut self.body;
        if is_messages && *has_messages {
            return Err(WalkStop::Flaw(BadRequest::Twice(name)));
        }
        if !is_messages {
            let value = self.read_value()?;
            self.body.fields.push((name, value));
            return Ok(());
        }
        *has_messages = true;
        body.fields_before_messages = body.fields.len();
        if !self.take_mark(b'[') {
            let value = self.read_value()?;
            if !self.dialect.takes_text() || !value.starts_with('"') {
                return Err(self.no_messages());
            }
            let hash = message_hash(value.as_bytes());
            self.body.form = MessagesForm::Text;
            self.body.messages.push((hash, value));
            return Ok(());
        }
        if self.take_mark(b']') {
            return Err(self.no_messages());
        }
        self.walk_message()?;
        self.walk_messages()
    }

    /// Walks what follows a message, up to the end of the list.
    fn walk_messages(&mut self) -> Result<(), WalkStop> {
        while self.take_mark(b',') {
            self.walk_message()?;
        }
        self.expect_mark(b']')
    }

    fn walk_message(&mut self) -> Result<(), WalkStop> {
        let message = self.read_value()?;
        let hash = message_hash(message.as_bytes());
        self.body.messages.push((hash, message));
        Ok(())
    }

    fn read_value(&mut self) -> Result<&'b str, WalkStop> {
        // Only its end is looked for: nothing is unescaped or copied, however large a message is.
        let rest = &self.json[self.at..];
        let mut reader = serde_json::Deserializer::from_str(rest);
        let value = <&RawValue>::deserialize(&mut reader).map_err(|_| WalkStop::Syntax)?;
        self.at += range_in(rest.as_bytes(), value.get().as_bytes()).end;
        Ok(value.get())
    }

    fn expect_mark(&mut self, mark: u8) -> Result<(), WalkStop> {
        if self.take_mark(mark) {
            Ok(())
        } else {
            Err(WalkStop::Syntax)
        }
    }

    fn take_mark(&mut self, mark: u8) -> bool {
        self.skip_space();
        let takes = self.json.as_bytes().get(self.at) == Some(&mark);
        self.at += usize::from(takes);
        takes
    }

    fn skip_space(&mut self) {
        let rest = &self.json.as_bytes()[self.at..];
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(is_space).count();
    }
}

/// The parser's error for a text that is no JSON object, with its line.
fn syntax_error(json: &str) -> serde_json::Error {
    // Read again from the start: the walk may have begun in the middle, so it doesn't know the line.
    match serde_json::from_str::<std::collections::HashMap<String, IgnoredAny>>(json) {
        Err(error) => error,
        Ok(_) => serde_json::Error::custom("not an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: Dialect = Dialect::ChatCompletions;

    /// What a walk finds, or why it stops.
    fn found(walked: Result<WalkedBody<'_>, BadRequest>) -> Result<String, String> {
        let body = walked.map_err(|error| error.to_string())?;
        let messages: Vec<&str> = body.messages.iter().map(|(_, message)| *message).collect();
        let before = body.fields_before_messages;
        Ok(format!("{messages:?} {before} {:?}", body.fields))
    }

    /// A body that begins as another did reads the same with and without that knowledge, whatever follows the beginning.
    #[test]
    fn known_beginning() {
        let mut known = KnownBeginnings::default();
        let begun = r#" {"model": "m" ,"messages":[ {"role":"user","content":"a]"} , {"b":[{}]}"#;
        known
            .walk_body(CHAT, format!(r#"{begun}], "x": 1}}"#).as_bytes())
            .expect("a body");
        for rest in [
            r#"], "x": 1}"#,
            r#" , {"c":1} ] , "model": 2}"#,
            r#" , {"c":1} ] , "messages": []}"#,
            r#", {"c":1}],"tools":[1,2]} "#,
            r#"],"tools":[1,2]} x"#,
            r#",]}"#,
            r#", {"c":1}"#,
            "]",
            "",
            r#"}"#,
            r#"1]}"#,
        ] {
            let body = format!("{begun}{rest}");
            let anew = found(KnownBeginnings::default().walk_body(CHAT, body.as_bytes()));
            for _ in 0..2 {
                assert_eq!(
                    found(known.walk_body(CHAT, body.as_bytes())),
                    anew,
                    "{body}"
                );
            }
        }
        let other = format!(r#"{}],"x":1}}"#, begun.replace("a]", "b]"));
        let anew = found(KnownBeginnings::default().walk_body(CHAT, other.as_bytes()));
        assert_eq!(found(known.walk_body(CHAT, other.as_bytes())), anew);
    }

    #[test]
    fn beside_each_other() {
        let mut known = KnownBeginnings::default();
        let body = |number: usize, last: &str| {
            format!(r#"{{"messages":[{{"role":"user","content":"{number}"}}{last}]}}"#)
        };
        for number in 0..BEGINNINGS_KEPT + 1 {
            known
                .walk_body(CHAT, body(number, "").as_bytes())
                .expect("a body");
        }
        let mut is_known = |number| known.begin_from_known(CHAT, &body(number, ",{}")).at > 0;
        assert!(is_known(BEGINNINGS_KEPT));
        assert!(is_known(1));
        assert!(!is_known(0));
    }
}
