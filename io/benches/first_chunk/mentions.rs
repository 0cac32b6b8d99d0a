//! The mention scan on State Maps of different sizes: its cost must follow the prompt, not the State Map.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use tslp_core::event::DiskFinding;
use tslp_core::ids::SessionId;
use tslp_core::ids::UnixMillis;
use tslp_core::message::{Attempt, Message, Role, Tools};
use tslp_core::policy::Policy;
use tslp_core::request::Request;
use tslp_decide::prompt::mention;
use tslp_decide::scope::place::Standpoint;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::StateView;
use tslp_projections::store::EmptyStore;
use tslp_replay::engine::Engine;
use tslp_replay::pending::DiskAnswers;

use crate::Effort;
use crate::corpus;
use crate::report::{Report, Times};

const FILES: [usize; 3] = [1, 10, 100];
const ROUNDS: usize = 401;

/// Scans the same prompts on every State Map, in turns.
pub(crate) fn measure(report: &mut Report, effort: Effort) -> Result<(), Box<dyn Error>> {
    let sizes = match effort {
        Effort::Quick => &FILES[..2],
        Effort::Full => &FILES[..],
    };
    let engines: Vec<_> = sizes.iter().map(|files| pasted(*files)).collect();
    report.line("")?;
    report.line("mention scan, microseconds, medians of interleaved rounds")?;
    let mut ratio = 0.0_f64;
    for bytes in [4096, 32_768] {
        let names: Vec<String> = (0..8).map(|at| corpus::function(0, at * 111)).collect();
        let text = format!(
            "Look at `{}` and {}::{}. {}",
            names[..6].join("`, `"),
            corpus::path(0),
            names[7],
            corpus::prose(3, bytes)
        );
        let mut times = vec![Times::default(); engines.len()];
        for _ in 0..ROUNDS {
            for (engine, times) in engines.iter().zip(&mut times) {
                let view = StateView {
                    state: engine.state(),
                    store: &EmptyStore,
                    is_of_draft: false,
                };
                let at = Standpoint {
                    root: "",
                    session: SessionId(0),
                };
                let begun = Instant::now();
                let found = black_box(mention::scan(black_box(&text), at, &view, &[]));
                times.push(begun.elapsed());
                if found.symbols.len() != 7 {
                    return Err(format!("{} symbols found, not 7", found.symbols.len()).into());
                }
            }
        }
        let base = times[0].micros(0.5);
        for (engine, times) in engines.iter().zip(&times) {
            let entities = engine.state().state_map().len();
            let median = times.micros(0.5);
            ratio = ratio.max(median / base);
            report.line(format_args!(
                "{:>3} KB prompt {entities:>8} entities {median:9.1} {:6.2} x",
                bytes / 1024,
                median / base
            ))?;
        }
    }
    report.verdict(
        "mention scan, largest State Map over smallest",
        ratio,
        1.2,
        "x",
    );
    Ok(())
}

fn pasted(files: usize) -> Engine<TreeSitterGrammars, EmptyStore> {
    let policy = Policy::default();
    let mut engine = Engine::new(
        tslp_projections::state::State::default(),
        TreeSitterGrammars,
        policy,
        EmptyStore,
    );
    for file in 0..files {
        let request = Request {
            model: String::new(),
            messages: vec![Message::new(Role::User, &corpus::paste(file)).into()],
            session_name: None,
            continues: None,
            attempt: Attempt::First,
            tools: Tools::None,
        };
        let at = UnixMillis(1_700_000_000_000);
        let pending = engine.receive(at, request, &mut |_| Vec::new());
        let findings = pending
            .checks
            .iter()
            .map(|check| (check.path.clone(), DiskFinding::Missing))
            .collect();
        let answers = DiskAnswers {
            findings,
            ..DiskAnswers::default()
        };
        let composed = engine.compose(pending, answers);
        if let Some(last) = composed.batch.last() {
            engine.forget_contents(last);
        }
    }
    engine
}
