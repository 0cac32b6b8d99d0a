//! The shadow audit: a question to the model about its own reply, and a strict parser for its answer (spec §10).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use crate::event::{AuditStatus, AuditVerdict, Audited};

/// The two messages of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditQuestion {
    /// The system message.
    pub system: String,
    /// The user message.
    pub user: String,
}

/// The auditor's whole instruction.
const SYSTEM: &str = "You audit code changes. You get a request and the code that was written for it. For each entity \
say whether its code is \"completed\" (all of it is there and does what was asked), \"partial\" (something is missing, \
left out or unfinished) or \"discussion\" (an illustration, not meant to be applied).\n\
Answer with JSON alone, no other text: {\"entity\": \"…\", \"status\": \"completed\"} for one entity, a JSON array of \
such objects for several. Copy each entity exactly.";

/// Asks about code that was written for a request.
#[must_use]
pub fn question<'c>(
    request: &str,
    code: impl IntoIterator<Item = (&'c Audited, &'c str)>,
) -> AuditQuestion {
    let mut user = format!("Request:\n{}\n", request.trim());
    for (audited, code) in code {
        user.push_str(&format!(
            "\nEntity: {}\nCode:\n{}\n",
            audited.entity,
            code.trim_end()
        ));
    }
    AuditQuestion {
        system: SYSTEM.into(),
        user,
    }
}

/// Reads an answer about `asked`. Reasoning in tags, leading prose and one fence around the JSON are tolerated;
/// anything else, an unknown key, an entity that nobody asked about or a word that is no status makes it no answer.
#[must_use]
pub fn parse_verdicts(answer: &str, asked: &[Audited]) -> Option<Vec<AuditVerdict>> {
    let text = without_reasoning(answer)?;
    let value: Value = serde_json::from_str(json_in(text)?).ok()?;
    let objects = match value {
        Value::Array(items) => items,
        object => Vec::from([object]),
    };
    let mut verdicts: Vec<AuditVerdict> = Vec::new();
    for object in &objects {
        let verdict = parse_verdict(object.as_object()?, asked)?;
        if verdicts
            .iter()
            .any(|known| known.version == verdict.version)
        {
            return None;
        }
        verdicts.push(verdict);
    }
    (!verdicts.is_empty()).then_some(verdicts)
}

fn parse_verdict(object: &Map<String, Value>, asked: &[Audited]) -> Option<AuditVerdict> {
    if object.len() != 2 {
        return None;
    }
    let entity = object.get("entity")?.as_str()?;
    let status = match object.get("status")?.as_str()? {
        "completed" => AuditStatus::Completed,
        "partial" => AuditStatus::Partial,
        "discussion" => AuditStatus::Discussion,
        _ => return None,
    };
    let audited = asked
        .iter()
        .find(|audited| format!("{}", audited.entity) == entity)?;
    Some(AuditVerdict {
        version: audited.version,
        entity: audited.entity.clone(),
        status,
    })
}

/// The text after the model's reasoning; `None` if the reasoning has no end.
fn without_reasoning(answer: &str) -> Option<&str> {
    ["think", "thinking", "reasoning"]
        .iter()
        .try_fold(answer, |text, tag| match text.rfind(&format!("</{tag}>")) {
            Some(at) => Some(&text[at + tag.len() + 3..]),
            None if text.contains(&format!("<{tag}>")) => None,
            None => Some(text),
        })
}

/// The JSON: the content of a fence at the end, else everything from the first bracket on.
fn json_in(text: &str) -> Option<&str> {
    let text = text.trim();
    if let Some(body) = text.strip_suffix("```") {
        let open = body.rfind("```")?;
        let (_, json) = body[open + 3..].split_once('\n')?;
        return Some(json.trim());
    }
    let start = text.find(['{', '['])?;
    Some(&text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::{EntityId, Symbol};
    use crate::ids::VersionId;
    use crate::path::RelPath;

    fn asked() -> Vec<Audited> {
        ["f", "g"]
            .iter()
            .zip(1..)
            .map(|(name, id)| Audited {
                version: VersionId(id),
                entity: EntityId::symbol(RelPath::from_normalised("src/a.c"), Symbol::new(name)),
            })
            .collect()
    }

    fn check(answer: &str, expected: Option<&str>) {
        let found = parse_verdicts(answer, &asked()).map(|verdicts| {
            let words: Vec<String> = verdicts
                .iter()
                .map(|verdict| format!("{} {}", verdict.entity, verdict.status.as_str()))
                .collect();
            words.join(", ")
        });
        assert_eq!(found.as_deref(), expected, "{answer}");
    }

    #[test]
    fn answers_in_the_wild() {
        let answer = r#"{"entity": "src/a.c::f", "status": "completed"}"#;
        check(answer, Some("src/a.c::f completed"));
        check(
            &format!("Sure, here it is:\n\n{answer}\n"),
            Some("src/a.c::f completed"),
        );
        check(
            &format!("```json\n{answer}\n```"),
            Some("src/a.c::f completed"),
        );
        check(
            &format!("<think>is {{it}} \"done\"?</think>\n{answer}"),
            Some("src/a.c::f completed"),
        );
        check(
            r#"[{"status":"partial","entity":"src/a.c::g"},{"entity":"src/a.c::f","status":"discussion"}]"#,
            Some("src/a.c::g partial, src/a.c::f discussion"),
        );
    }

    /// law 10 | An audit is one turn, strict JSON, and never in anybody's way
    /// law 10 | The answer is an entity and completed, partial or discussion
    #[test]
    fn no_answer() {
        for answer in [
            "",
            "completed",
            "{}",
            "[]",
            "{\"entity\":\"src/a.c::f\"}",
            "{\"entity\":\"src/a.c::h\",\"status\":\"completed\"}",
            "{\"entity\":\"src/a.c::f\",\"status\":\"done\"}",
            "{\"entity\":\"src/a.c::f\",\"status\":\"completed\",\"note\":1}",
            "{\"entity\":\"src/a.c::f\",\"status\":\"completed\"} I hope this helps",
            "{\"entity\":\"src/a.c::f\",\"status\":\"completed\"",
            "[{\"entity\":\"src/a.c::f\",\"status\":\"completed\"},{\"entity\":\"src/a.c::f\",\"status\":\"partial\"}]",
            "<think>{\"entity\":\"src/a.c::f\",\"status\":\"completed\"}",
        ] {
            check(answer, None);
        }
    }

    /// The question names every entity in the form in which the answer must repeat it.
    #[test]
    fn entities_in_question() {
        let asked = asked();
        let question = question(
            "Make it faster. ",
            asked.iter().map(|audited| (audited, "int f(void);\n")),
        );
        assert!(question.user.starts_with("Request:\nMake it faster.\n"));
        for audited in &asked {
            assert!(question.user.contains(&format!(
                "Entity: {}\nCode:\nint f(void);\n",
                audited.entity
            )));
        }
    }
}
