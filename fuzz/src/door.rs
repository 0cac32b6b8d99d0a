//! The door: whatever comes through it is answered by one envelope, and only a line that is one does anything.

use std::sync::Mutex;

use serde_json::{Value, json};
use tslp_io::acts::{Act, ActResult};
use tslp_io::door::message::{self, DoorRequest};
use tslp_io::door::server::{DoorKeeper, answer_to};

/// A proxy that notes what it is asked for.
#[derive(Default)]
struct Notes(Mutex<Vec<DoorRequest>>);

impl Notes {
    fn note(&self, request: DoorRequest) {
        self.0.lock().expect("one thread").push(request);
    }
}

impl DoorKeeper for Notes {
    fn status(&self) -> Value {
        json!({ "address": "127.0.0.1:1" })
    }

    fn act(&self, act: Act) -> Result<Vec<ActResult>, String> {
        self.note(DoorRequest::Act(act));
        Ok(Vec::new())
    }

    fn adopt(&self, targets: &[String], _: &dyn Fn() -> bool) -> Result<Value, String> {
        self.note(DoorRequest::Adopt(targets.to_vec()));
        Err("nothing is there".into())
    }

    fn no_longer_held(&self) -> bool {
        false
    }
}

/// A line as it came, and the same bytes as fields of an envelope that is otherwise sound.
pub(crate) fn door_line(data: &[u8]) {
    answered(data);
    let text = String::from_utf8_lossy(data);
    for act in message::ACTS {
        let fields = act.fields.iter().map(|field| {
            let value = serde_json::from_str(&text).unwrap_or_else(|_| json!([text]));
            ((*field).to_owned(), value)
        });
        let payload = Value::Object(fields.collect());
        answered(message::request_line(act.name(), "1", "see", payload).as_bytes());
    }
}

fn answered(line: &[u8]) {
    let keeper = Notes::default();
    let read = message::read_line(line);
    let answer = match &read {
        Ok(asked) => answer_to(&keeper, asked, &|| true),
        Err(malformed) => message::refusal_line(malformed),
    };
    assert!(!answer.contains('\n'), "an answer is one line");
    let answer: Value = serde_json::from_str(&answer).expect("an answer is JSON");
    let done = keeper.0.into_inner().expect("one thread");
    match read {
        Ok(asked) => {
            assert_eq!(answer["id"], *asked.id);
            let acts = matches!(asked.request, DoorRequest::Act(_) | DoorRequest::Adopt(_));
            let expected = acts.then_some(asked.request);
            assert_eq!(done, Vec::from_iter(expected));
        }
        Err(_) => {
            assert_eq!(answer["escalate"]["escalate"], true);
            assert!(done.is_empty(), "nothing is done for a malformed line");
        }
    }
}
