//! The lines that go through the door: an envelope around what is asked for, and around the answer.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use tslp_core::event::Verb;
use tslp_core::ids::SessionId;

use crate::VERSION;
use crate::acts::Act;

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
    /// Its `type`.
    pub name: &'static str,
    /// What it does.
    pub meaning: &'static str,
    /// Names of the fields that its `payload` may have.
    pub fields: &'static [&'static str],
    read: fn(&Payload<'_>) -> Result<DoorRequest, String>,
}

/// All that can be asked for.
pub const ACTS: &[DoorAct] = &[
    DoorAct {
        name: "status",
        meaning: "says where the proxy listens, with what token, and for which model server",
        fields: &[],
        read: |_| Ok(DoorRequest::Status),
    },
    DoorAct {
        name: "hold",
        meaning: "keeps a proxy that `tslp run` has started for as long as the connection is open",
        fields: &[],
        read: |_| Ok(DoorRequest::Hold),
    },
    DoorAct {
        name: "accept",
        meaning: "makes true what disk holds of each target",
        fields: &["targets"],
        read: |payload| payload.on_code(Verb::Accept),
    },
    DoorAct {
        name: "confirm",
        meaning: "makes true the model's version of each target",
        fields: &["targets"],
        read: |payload| payload.on_code(Verb::Confirm),
    },
    DoorAct {
        name: "reject",
        meaning: "drops the model's versions of each target",
        fields: &["targets"],
        read: |payload| payload.on_code(Verb::Reject),
    },
    DoorAct {
        name: "off",
        meaning: "keeps the files of each pattern from every model",
        fields: &["targets"],
        read: |payload| payload.on_scope(Verb::Off),
    },
    DoorAct {
        name: "on",
        meaning: "lets models see the files of each pattern again",
        fields: &["targets"],
        read: |payload| payload.on_scope(Verb::On),
    },
    DoorAct {
        name: "lock",
        meaning: "shows models these files whole and nothing else, in one session or in all",
        fields: &["targets", "session"],
        read: |payload| payload.on_scope(Verb::Lock),
    },
    DoorAct {
        name: "unlock",
        meaning: "takes locks away; without targets all of them",
        fields: &["targets", "session"],
        read: |payload| payload.on_scope(Verb::Unlock),
    },
    DoorAct {
        name: "note",
        meaning: "keeps a statement for the project, such as `fact #key: It is so.`",
        fields: &["targets"],
        read: |payload| payload.on_code(Verb::Note),
    },
    DoorAct {
        name: "forget",
        meaning: "keeps the statement of a `#key` no longer",
        fields: &["targets"],
        read: |payload| payload.on_code(Verb::Forget),
    },
    DoorAct {
        name: "adopt",
        meaning: "makes true all code of these files and folders",
        fields: &["targets"],
        read: |payload| payload.targets().map(DoorRequest::Adopt),
    },
    DoorAct {
        name: "allow",
        meaning: "grants a session's tools a capability, such as `BUILD_EXEC for 15m`",
        fields: &["grant", "session"],
        read: |payload| payload.on_grant(Verb::Allow),
    },
    DoorAct {
        name: "revoke",
        meaning: "takes a grant back",
        fields: &["grant", "session"],
        read: |payload| payload.on_grant(Verb::Revoke),
    },
    DoorAct {
        name: "goal",
        meaning: "says what the work is for: a text, `next: TEXT`, `question: TEXT` or `done`",
        fields: &["text"],
        read: |payload| {
            let said = payload.text("text")?.to_owned();
            Ok(DoorRequest::Act(Act::OnGoal(said)))
        },
    },
    DoorAct {
        name: "clear",
        meaning: "leaves a conversation's older messages out from its next prompt on; with `force`, though decisions lack evidence",
        fields: &["session", "force"],
        read: |payload| {
            let is_forced = payload.flag("force")?;
            Ok(DoorRequest::Act(Act::Clear(payload.session()?, is_forced)))
        },
    },
    DoorAct {
        name: "signal",
        meaning: "records what a client's hook tells of its conversation, as `tslp hook` does: `compacting`, `compacted`, `cleared`, `ended`, `began PROCESS` or `harvest NAME`",
        fields: &["text"],
        read: |payload| {
            let told = payload.text("text")?.to_owned();
            Ok(DoorRequest::Act(Act::Signal(told)))
        },
    },
    DoorAct {
        name: "stop",
        meaning: "ends all replies and tools, and refuses requests until `resume`",
        fields: &[],
        read: |payload| payload.on_tools(Verb::Stop),
    },
    DoorAct {
        name: "resume",
        meaning: "lets agents and tools go on; with `breach`, after a breach of the sandbox, too",
        fields: &["breach"],
        read: |payload| payload.on_tools(Verb::Resume),
    },
    DoorAct {
        name: "reply.import",
        meaning: "judges another model's answer as a model's",
        fields: &["source", "text"],
        read: |payload| {
            let (source, text) = (
                payload.text("source")?.to_owned(),
                payload.text("text")?.to_owned(),
            );
            Ok(DoorRequest::Act(Act::ImportReply { source, text }))
        },
    },
    DoorAct {
        name: "policy.approve",
        meaning: "puts a policy profile in force",
        fields: &["text"],
        read: |payload| {
            let text = payload.text("text")?.to_owned();
            Ok(DoorRequest::Act(Act::ApprovePolicy { text }))
        },
    },
];

/// The `type` and the `payload` of an act's line.
#[must_use]
pub fn act_payload(act: &Act) -> (&'static str, Value) {
    match act {
        Act::OnCode(verb, targets) => (verb.as_str(), json!({ "targets": targets })),
        Act::OnScope(verb, targets, session) => {
            let mut payload = json!({});
            if !targets.is_empty() {
                payload["targets"] = json!(targets);
            }
            if let Some(session) = session {
                payload["session"] = json!(session.0);
            }
            (verb.as_str(), payload)
        }
        Act::OnGrant(verb, grant, session) => {
            let session = session.map(|session| session.0);
            (verb.as_str(), json!({ "grant": grant, "session": session }))
        }
        Act::Clear(session, is_forced) => {
            let session = session.map(|session| session.0);
            let payload = json!({ "session": session, "force": is_forced });
            (Verb::Clear.as_str(), payload)
        }
        Act::Signal(told) => (Verb::Signal.as_str(), json!({ "text": told })),
        Act::OnGoal(said) => (Verb::Goal.as_str(), json!({ "text": said })),
        Act::OnTools {
            verb,
            lifts_breach: false,
        } => (verb.as_str(), json!({})),
        Act::OnTools { verb, .. } => (verb.as_str(), json!({ "breach": true })),
        Act::ImportReply { source, text } => {
            ("reply.import", json!({ "source": source, "text": text }))
        }
        Act::ApprovePolicy { text } => ("policy.approve", json!({ "text": text })),
    }
}

/// The `payload` of a line.
struct Payload<'p>(&'p Map<String, Value>);

impl Payload<'_> {
    fn text(&self, field: &str) -> Result<&str, String> {
        let value = self.0.get(field).and_then(Value::as_str);
        value.ok_or_else(|| format!("`payload.{field}` must be a string"))
    }

    fn targets(&self) -> Result<Vec<String>, String> {
        let targets = self.0.get("targets").and_then(Value::as_array);
        let texts = targets.map(|it| it.iter().map(|it| it.as_str().map(str::to_owned)));
        let texts: Option<Vec<String>> = texts.and_then(Iterator::collect);
        texts
            .filter(|it| !it.is_empty() && it.len() <= TARGETS_MAX)
            .ok_or_else(|| format!("`payload.targets` must be 1 to {TARGETS_MAX} strings"))
    }

    fn on_code(&self, verb: Verb) -> Result<DoorRequest, String> {
        Ok(DoorRequest::Act(Act::OnCode(verb, self.targets()?)))
    }

    fn flag(&self, field: &str) -> Result<bool, String> {
        match self.0.get(field) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(format!("`payload.{field}` must be true or false")),
        }
    }

    fn on_tools(&self, verb: Verb) -> Result<DoorRequest, String> {
        let lifts_breach = self.flag("breach")?;
        Ok(DoorRequest::Act(Act::OnTools { verb, lifts_breach }))
    }

    fn on_scope(&self, verb: Verb) -> Result<DoorRequest, String> {
        let has_none = verb == Verb::Unlock && !self.0.contains_key("targets");
        let targets = if has_none {
            Vec::new()
        } else {
            self.targets()?
        };
        Ok(DoorRequest::Act(Act::OnScope(
            verb,
            targets,
            self.session()?,
        )))
    }

    fn session(&self) -> Result<Option<SessionId>, String> {
        Ok(match self.0.get("session") {
            None | Some(Value::Null) => None,
            Some(number) => {
                let number = number.as_u64().filter(|number| *number > 0);
                let number = number.ok_or("`payload.session` must be a session's number")?;
                Some(SessionId(number))
            }
        })
    }

    fn on_grant(&self, verb: Verb) -> Result<DoorRequest, String> {
        let session = self.session()?;
        let grant = self.text("grant")?.to_owned();
        Ok(DoorRequest::Act(Act::OnGrant(verb, grant, session)))
    }
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
    let known = ACTS.iter().find(|act| act.name == kind);
    let act = known.ok_or_else(|| {
        let names: Vec<&str> = ACTS.iter().map(|act| act.name).collect();
        format!("`type` must be one of {}", names.join(", "))
    })?;
    if let Some(other) = payload.keys().find(|key| !act.fields.contains(&&***key)) {
        return Err(format!("`payload` of {kind} has no field `{other}`"));
    }
    Ok(Asked {
        kind: kind.to_owned(),
        id: id.to_owned(),
        goal: goal.to_owned(),
        request: (act.read)(&Payload(payload))?,
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
    fn a_line_is_an_envelope_of_this_version() {
        let target = vec!["src/a.c::f".to_owned()];
        let rejected = DoorRequest::Act(Act::OnCode(Verb::Reject, target));
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
        check(|line| line["payload"] = json!({}), Err("`payload.targets`"));
        check(
            |line| line["payload"]["targets"] = json!([1]),
            Err("`payload.targets`"),
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
    fn an_act_comes_through_as_it_was_given() {
        let targets = vec!["./src/a.c::f".to_owned(), "b.c".to_owned()];
        let on_tools = |verb, lifts_breach| Act::OnTools { verb, lifts_breach };
        for act in [
            Act::OnCode(Verb::Accept, targets.clone()),
            Act::OnCode(Verb::Confirm, targets),
            Act::OnScope(Verb::Off, vec!["secrets/**".into()], None),
            Act::OnScope(Verb::Lock, vec!["src/a.c".into()], Some(SessionId(4))),
            Act::OnScope(Verb::Unlock, Vec::new(), None),
            Act::ImportReply {
                source: "gpt".into(),
                text: "x".into(),
            },
            Act::OnGrant(Verb::Allow, "SHELL_EXEC".into(), None),
            Act::OnGrant(Verb::Revoke, "SHELL_EXEC".into(), Some(SessionId(4))),
            Act::OnGoal("next: measure".into()),
            Act::Clear(None, false),
            Act::Signal("compacted".into()),
            Act::Clear(Some(SessionId(4)), true),
            on_tools(Verb::Stop, false),
            on_tools(Verb::Resume, false),
            on_tools(Verb::Resume, true),
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
    fn a_grant_is_for_one_session() {
        let grant = |payload: Value| {
            let line = request_line("allow", "1", "let it build", payload);
            read_line(line.as_bytes()).map(|asked| asked.request)
        };
        let granted = |session| {
            let grant = "BUILD_EXEC for 5m".to_owned();
            Ok(DoorRequest::Act(Act::OnGrant(Verb::Allow, grant, session)))
        };
        let payload = json!({ "grant": "BUILD_EXEC for 5m" });
        assert_eq!(grant(payload), granted(None));
        let payload = json!({ "grant": "BUILD_EXEC for 5m", "session": 3 });
        assert_eq!(grant(payload), granted(Some(SessionId(3))));
        assert!(grant(json!({ "grant": "BUILD_EXEC", "session": 0 })).is_err());
        assert!(grant(json!({ "grant": "BUILD_EXEC", "session": "3" })).is_err());
    }

    #[test]
    fn the_documentation_knows_every_act() {
        let page = include_str!("../../../docs/door.md");
        for act in ACTS {
            let fields = act.fields.iter().map(|field| format!("`{field}`"));
            let fields: Vec<String> = fields.collect();
            let row = format!(
                "| `{}` | {} | {} |",
                act.name,
                fields.join(", "),
                act.meaning
            );
            assert!(page.contains(&row), "{row}");
        }
    }
}
