//! The lines that go through the door: an envelope around what is asked for, and around the answer.

use std::num::NonZeroU64;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use tslp_core::event::Verb;
use tslp_core::ids::SessionId;

use crate::VERSION;
use crate::acts::{Act, DirectiveAct};

/// The envelope's version.
const ENVELOPE_VERSION: u64 = 1;

/// Longest `id` and `goal`, in bytes.
const FIELD_BYTES_MAX: usize = 1024;

/// Most targets of one line.
const TARGETS_MAX: usize = 1024;

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DoorRequest {
    /// Where the proxy listens, and what for.
    Status,
    /// That the proxy stays for as long as the connection does.
    Hold,
    /// An act.
    Act(Act),
    /// That these files and folders are adopted.
    Adopt(Vec<String>),
}

/// A kind of line.
pub struct DoorAct {
    asks: Asks,
    /// The names of the fields that its `payload` may have.
    pub fields: &'static [&'static str],
    /// What it does.
    pub meaning: &'static str,
}

/// What a kind of line asks for.
#[derive(Clone, Copy)]
enum Asks {
    Status,
    Hold,
    Adopt,
    Directive(Verb),
    Import,
    Approve,
}

impl DoorAct {
    /// Its `type`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.asks {
            Asks::Status => "status",
            Asks::Hold => "hold",
            Asks::Adopt => "adopt",
            Asks::Directive(verb) => verb.as_str(),
            Asks::Import => "reply.import",
            Asks::Approve => "policy.approve",
        }
    }

    fn read(&self, payload: Payload) -> Result<DoorRequest, String> {
        let Payload {
            targets,
            session,
            source,
            text,
        } = payload;
        if targets.len() > TARGETS_MAX {
            return Err(format!("`payload.targets` are at most {TARGETS_MAX}"));
        }
        let needed = |text: Option<String>, name: &str| {
            text.ok_or_else(|| format!("`payload.{name}` must be a string"))
        };
        Ok(DoorRequest::Act(match self.asks {
            Asks::Status => return Ok(DoorRequest::Status),
            Asks::Hold => return Ok(DoorRequest::Hold),
            Asks::Adopt if targets.is_empty() => {
                return Err("`payload.targets` must name a file or folder".into());
            }
            Asks::Adopt => return Ok(DoorRequest::Adopt(targets)),
            Asks::Import => Act::ImportReply {
                source: needed(source, "source")?,
                text: needed(text, "text")?,
            },
            Asks::Approve => Act::ApprovePolicy {
                text: needed(text, "text")?,
            },
            Asks::Directive(verb) => Act::Directive(DirectiveAct {
                verb,
                targets,
                session: session.map(|session| SessionId(session.get())),
            }),
        }))
    }
}

macro_rules! acts {
    ($($asks:expr, [$($field:literal),*], $meaning:literal;)*) => {{
        use Asks::{Adopt, Approve, Directive, Hold, Import, Status};
        &[$(DoorAct { asks: $asks, fields: &[$($field),*], meaning: $meaning }),*]
    }};
}

/// All that can be asked for.
pub const ACTS: &[DoorAct] = acts! {
    Status, [], "says where the proxy listens, with what token, and for which model server";
    Hold, [], "keeps a proxy that `tslp run` has started for as long as the connection is open";
    Directive(Verb::Accept), ["targets"], "makes true what disk holds of each target";
    Directive(Verb::Confirm), ["targets"], "makes true the model's version of each target";
    Directive(Verb::Reject), ["targets"], "drops the model's versions of each target";
    Directive(Verb::Off), ["targets"], "keeps the files of each pattern from every model";
    Directive(Verb::On), ["targets"], "lets models see the files of each pattern again";
    Directive(Verb::Lock), ["targets", "session"], "shows models these files whole and nothing else, in one session or in all";
    Directive(Verb::Unlock), ["targets", "session"], "takes locks away; without targets all of them";
    Directive(Verb::Note), ["targets"], "keeps a statement for the project, such as `fact #key: It is so.`";
    Directive(Verb::Forget), ["targets"], "keeps the statement of a `#key` no longer";
    Adopt, ["targets"], "makes true all code of these files and folders";
    Directive(Verb::Allow), ["targets", "session"], "grants a session's tools a capability, such as `BUILD_EXEC for 15m`";
    Directive(Verb::Revoke), ["targets", "session"], "takes a grant back";
    Directive(Verb::Goal), ["targets"], "says what the work is for: a text, `next: TEXT`, `question: TEXT`, `budget: BUDGET` or `done`";
    Directive(Verb::Clear), ["targets", "session"], "leaves a conversation's older messages out from its next prompt on; with the target `force`, though decisions lack evidence";
    Directive(Verb::Signal), ["targets"], "records what a client's hook tells of its conversation, as `tslp hook` does: `compacting`, `compacted`, `cleared`, `ended`, `began PROCESS` or `harvest NAME`";
    Directive(Verb::Stop), [], "ends all replies and tools, and refuses requests until `resume`";
    Directive(Verb::Resume), ["targets"], "lets agents and tools go on; with the target `--breach`, after a breach of the sandbox, too";
    Import, ["source", "text"], "judges another model's answer as a model's";
    Approve, ["text"], "puts a policy profile in force";
};

/// The `type` and the `payload` of an act's line.
#[must_use]
pub fn act_payload(act: &Act) -> (&'static str, Value) {
    match act {
        Act::Directive(directive) => {
            let mut payload = json!({});
            if !directive.targets.is_empty() {
                payload["targets"] = json!(directive.targets);
            }
            if let Some(session) = directive.session {
                payload["session"] = session.0.into();
            }
            (directive.verb.as_str(), payload)
        }
        Act::ImportReply { source, text } => {
            ("reply.import", json!({ "source": source, "text": text }))
        }
        Act::ApprovePolicy { text } => ("policy.approve", json!({ "text": text })),
    }
}

/// The `payload` of a line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    /// One directive for each.
    targets: Vec<String>,
    session: Option<NonZeroU64>,
    source: Option<String>,
    text: Option<String>,
}

/// A line that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The line's `type`.
    pub kind: String,
    /// The line's `id`, which the answer repeats.
    pub id: String,
    /// The line's `goal`, which the answer repeats.
    pub goal: String,
    /// What it asks for.
    pub request: DoorRequest,
}

/// Why a line can't be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line's `id`, if it has one.
    pub id: String,
    /// The reason, for people.
    pub why: String,
}

/// Reads a line.
///
/// # Errors
/// If it isn't an envelope of this version, or asks for something that can't be done.
pub fn read_line(line: &[u8]) -> Result<Asked, Malformed> {
    let json: Result<Value, _> = serde_json::from_slice(line);
    let json = json.map_err(|error| Malformed {
        id: String::new(),
        why: format!("the line isn't JSON: {error}"),
    })?;
    let text = |field: &str| {
        let text = json.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty() && text.len() <= FIELD_BYTES_MAX)
    };
    let id = text("id").unwrap_or_default().to_owned();
    read_envelope(&json, text).map_err(|why| Malformed { id, why })
}

fn read_envelope<'j>(
    json: &'j Value,
    text: impl Fn(&str) -> Option<&'j str>,
) -> Result<Asked, String> {
    let needed = |field: &str| {
        text(field).ok_or_else(|| format!("`{field}` must be a string, and not an empty one"))
    };
    if json.get("version").and_then(Value::as_u64) != Some(ENVELOPE_VERSION) {
        return Err(format!("`version` must be {ENVELOPE_VERSION}"));
    }
    let (kind, id, goal) = (needed("type")?, needed("id")?, needed("goal")?);
    needed("producer")?;
    if needed("timestamp")?.parse::<Timestamp>().is_err() {
        return Err("`timestamp` must be an ISO 8601 moment, such as 2026-01-31T12:00:00Z".into());
    }
    let object = |field: &str| {
        let object = json.get(field).and_then(Value::as_object);
        object.ok_or_else(|| format!("`{field}` must be an object"))
    };
    object("provenance")?;
    let payload = object("payload")?;
    if !json.get("escalate").is_none_or(Value::is_null) {
        return Err("a line that escalates is for a person, and nothing is done for it".into());
    }
    let known = ACTS.iter().find(|act| act.name() == kind);
    let act = known.ok_or_else(|| {
        let names: Vec<&str> = ACTS.iter().map(DoorAct::name).collect();
        format!("`type` must be one of {}", names.join(", "))
    })?;
    if let Some(other) = payload
        .keys()
        .find(|key| !act.fields.contains(&key.as_str()))
    {
        return Err(format!("`payload` of {kind} has no field `{other}`"));
    }
    let fields = Payload::deserialize(payload)
        .map_err(|error| format!("`payload` of {kind} can't be read: {error}"))?;
    Ok(Asked {
        kind: kind.to_owned(),
        id: id.to_owned(),
        goal: goal.to_owned(),
        request: act.read(fields)?,
    })
}

/// A line for the door.
#[must_use]
pub fn request_line(kind: &str, id: &str, goal: &str, payload: Value) -> String {
    let provenance = json!({ "pid": std::process::id() });
    envelope(kind, (id, goal), provenance, payload, Value::Null)
}

/// The answer to a line; `problem` says why what was asked for isn't done.
#[must_use]
pub fn answer_line(
    asked: &Asked,
    provenance: Value,
    payload: Value,
    problem: Option<&str>,
) -> String {
    let kind = format!("{}.result", asked.kind);
    let about = (asked.id.as_str(), asked.goal.as_str());
    envelope(&kind, about, provenance, payload, escalation(problem))
}

/// The answer to a line that can't be read, or isn't.
#[must_use]
pub fn refusal_line(malformed: &Malformed) -> String {
    let about = (malformed.id.as_str(), "refuse the line");
    let problem = escalation(Some(&malformed.why));
    envelope("refusal", about, json!({}), json!({}), problem)
}

fn escalation(problem: Option<&str>) -> Value {
    problem.map_or(
        Value::Null,
        |reason| json!({ "escalate": true, "reason": reason }),
    )
}

fn envelope(
    kind: &str,
    (id, goal): (&str, &str),
    provenance: Value,
    payload: Value,
    escalate: Value,
) -> String {
    let now = format!("{:.3}", Timestamp::now());
    let envelope = json!({
        "type": kind,
        "version": ENVELOPE_VERSION,
        "id": id,
        "goal": goal,
        "producer": format!("tslp {VERSION}"),
        "timestamp": now,
        "provenance": provenance,
        "payload": payload,
        "escalate": escalate,
    });
    envelope.to_string()
}

#[cfg(test)]
mod tests {
    use tslp_decide::prompt::clear::FORCE;
    use tslp_decide::scope::tools::LIFTS_BREACH;

    use super::*;

    fn check(change: impl FnOnce(&mut Value), expected: Result<DoorRequest, &str>) {
        let payload = json!({ "targets": ["src/a.c::f"] });
        let mut line: Value =
            serde_json::from_str(&request_line("reject", "7", "drop it", payload)).unwrap();
        change(&mut line);
        let read = read_line(line.to_string().as_bytes());
        match (read, expected) {
            (Ok(asked), Ok(expected)) => assert_eq!(asked.request, expected),
            (Err(malformed), Err(why)) => {
                assert!(malformed.why.contains(why), "{malformed:?}");
                assert!(refusal_line(&malformed).contains("\"escalate\":{\"escalate\":true"));
            }
            (read, expected) => panic!("{read:?}, not {expected:?}"),
        }
    }

    #[test]
    fn line_envelope() {
        let target = vec!["src/a.c::f".to_owned()];
        let rejected = DoorRequest::Act(Act::Directive(DirectiveAct::of(Verb::Reject, target)));
        check(|_| (), Ok(rejected));
        check(
            |line| line["type"] = "delete".into(),
            Err("`type` must be one of"),
        );
        check(
            |line| line["type"] = Value::Null,
            Err("`type` must be a string"),
        );
        check(
            |line| line["version"] = 2.into(),
            Err("`version` must be 1"),
        );
        check(|line| line["id"] = "".into(), Err("`id`"));
        check(|line| line["goal"] = 1.into(), Err("`goal`"));
        check(|line| line["timestamp"] = "now".into(), Err("`timestamp`"));
        check(|line| line["provenance"] = Value::Null, Err("`provenance`"));
        check(|line| line["payload"] = json!([]), Err("`payload`"));
        check(
            |line| line["payload"]["targets"] = json!([1]),
            Err("`payload` of reject can't be read"),
        );
        check(
            |line| line["payload"]["force"] = true.into(),
            Err("no field `force`"),
        );
        check(
            |line| line["escalate"] = json!({ "escalate": true }),
            Err("for a person"),
        );
        assert!(read_line(b"accept src/a.c").is_err_and(|it| it.why.contains("isn't JSON")));
    }

    #[test]
    fn act_round_trip() {
        let on = |verb, targets: &[&str], session| {
            let targets = targets.iter().map(|it| (*it).to_owned()).collect();
            let session = Option::map(session, SessionId);
            Act::Directive(DirectiveAct {
                session,
                ..DirectiveAct::of(verb, targets)
            })
        };
        for act in [
            on(Verb::Accept, &["./src/a.c::f", "b.c"], None),
            on(Verb::Confirm, &["./src/a.c::f", "b.c"], None),
            on(Verb::Off, &["secrets/**"], None),
            on(Verb::Lock, &["src/a.c"], Some(4)),
            on(Verb::Unlock, &[], None),
            Act::ImportReply {
                source: "gpt".into(),
                text: "x".into(),
            },
            on(Verb::Allow, &["SHELL_EXEC"], None),
            on(Verb::Revoke, &["SHELL_EXEC"], Some(4)),
            on(Verb::Goal, &["next: measure"], None),
            on(Verb::Clear, &[], None),
            on(Verb::Signal, &["compacted"], None),
            on(Verb::Clear, &[FORCE], Some(4)),
            on(Verb::Stop, &[], None),
            on(Verb::Resume, &[], None),
            on(Verb::Resume, &[LIFTS_BREACH], None),
            Act::ApprovePolicy {
                text: "id = \"x\"\n".into(),
            },
        ] {
            let (kind, payload) = act_payload(&act);
            let read = read_line(request_line(kind, "1", "try it", payload).as_bytes());
            assert_eq!(read.map(|asked| asked.request), Ok(DoorRequest::Act(act)));
        }
    }

    #[test]
    fn grant_for_one_session() {
        let grant = |payload: Value| {
            let line = request_line("allow", "1", "let it build", payload);
            read_line(line.as_bytes()).map(|asked| asked.request)
        };
        let granted = |session| {
            let grant = vec!["BUILD_EXEC for 5m".to_owned()];
            Ok(DoorRequest::Act(Act::Directive(DirectiveAct {
                session,
                ..DirectiveAct::of(Verb::Allow, grant)
            })))
        };
        let payload = json!({ "targets": ["BUILD_EXEC for 5m"] });
        assert_eq!(grant(payload), granted(None));
        let payload = json!({ "targets": ["BUILD_EXEC for 5m"], "session": 3 });
        assert_eq!(grant(payload), granted(Some(SessionId(3))));
        assert!(grant(json!({ "targets": ["BUILD_EXEC"], "session": 0 })).is_err());
        assert!(grant(json!({ "targets": ["BUILD_EXEC"], "session": "3" })).is_err());
    }

    #[test]
    fn documentation_of_acts() {
        let page = include_str!("../../../docs/using.md");
        for act in ACTS {
            let fields = act.fields.iter().map(|field| format!("`{field}`"));
            let fields: Vec<String> = fields.collect();
            let row = format!(
                "| `{}` | {} | {} |",
                act.name(),
                fields.join(", "),
                act.meaning
            );
            assert!(page.contains(&row), "{row}");
        }
    }
}
