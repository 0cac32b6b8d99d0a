//! What is behind a proxy's door.

use std::net::SocketAddr;
use std::sync::Arc;

use crossbeam_channel::{Sender, bounded};
use serde_json::{Value, json};
use tslp_core::ids::Seq;
use tslp_store::ledger::DurableHead;
use tslp_workspace::target::{self, NamedTarget};

use super::server::DoorKeeper;
use crate::acts::{Act, ActResult};
use crate::adopt::{self, AdoptError, AdoptMode};
use crate::channel::ToEngine;
use crate::config::secret::Secret;
use crate::config::settings::Settings;
use crate::config::upstream::UpstreamUrl;
use crate::main_loop::LoopHandle;

/// A proxy, as its door sees it.
pub(crate) struct ProxyKeeper {
    pub(crate) config: Arc<Settings>,
    pub(crate) address: SocketAddr,
    pub(crate) upstream: UpstreamUrl,
    /// Whether that is the demo model.
    pub(crate) is_demo: bool,
    /// The way to the engine and the ledger's head, or the reason for safe mode.
    pub(crate) engine: Result<(Sender<ToEngine>, Arc<DurableHead>), String>,
    pub(crate) handle: LoopHandle,
}

const STOPPING: &str = "the proxy is stopping: give the command again in a moment";

impl ProxyKeeper {
    /// Has the engine do something, and waits for its answer.
    fn ask_engine<T>(
        &self,
        message: impl FnOnce(Sender<(T, Option<Seq>)>) -> ToEngine,
    ) -> Result<(T, Option<Seq>), String> {
        let (to_engine, _) = self.engine.as_ref().map_err(Clone::clone)?;
        let (answer, answered) = bounded(1);
        let sent = to_engine.send(message(answer));
        sent.map_err(|_| STOPPING)?;
        answered.recv().map_err(|_| STOPPING.to_owned())
    }

    fn wait_for(&self, position: Option<Seq>) -> Result<(), String> {
        let (_, durable) = self.engine.as_ref().map_err(Clone::clone)?;
        let Some(position) = position else {
            return Ok(());
        };
        let reached = durable.wait_for(position);
        reached.map(drop).map_err(|stopped| stopped.to_string())
    }
}

impl DoorKeeper for ProxyKeeper {
    fn status(&self) -> Value {
        let upstream = &self.config.upstream;
        let reveal = |secret: &Option<Secret>| secret.as_ref().map(|it| it.reveal().to_owned());
        json!({
            "address": self.address.to_string(),
            "data_dir": self.config.data_dir.to_string_lossy(),
            "demo": self.is_demo,
            "pid": std::process::id(),
            "safe_mode": self.engine.as_ref().err(),
            "token": reveal(&self.config.access.token),
            "upstream": self.upstream.to_string(),
            "upstream_api_key": reveal(&upstream.api_key),
            "upstream_ca_file": upstream.ca_file.as_ref().map(|it| it.to_string_lossy()),
            "version": crate::VERSION,
            "workspace": self.config.workspace.to_string_lossy(),
        })
    }

    fn act(&self, act: Act) -> Result<Vec<ActResult>, String> {
        let (results, position) = self.ask_engine(|answer| ToEngine::Act { act, answer })?;
        self.wait_for(position)?;
        Ok(results)
    }

    fn adopt(&self, targets: &[String], is_wanted: &dyn Fn() -> bool) -> Result<Value, String> {
        let root = &self.config.workspace;
        let targets = targets.iter().map(|it| target::find_target(it, root, root));
        let targets: Result<Vec<NamedTarget>, _> = targets.collect();
        let targets = targets.map_err(|error| error.to_string())?;
        let names = targets.iter().map(ToString::to_string).collect();
        let (is_agents, _) = self.ask_engine(|answer| ToEngine::AdoptAsked {
            targets: names,
            answer,
        })?;
        if is_agents {
            return Err(AdoptError::AgentsCall.to_string());
        }
        let mut last = None;
        let adopted = adopt::adopt_through(&self.config, &targets, |file| {
            if !is_wanted() {
                let gone = "nobody waits for it any more: what was adopted so far is kept";
                return Err(AdoptError::Writer(gone.into()));
            }
            let file = Box::new(file);
            let decided = self.ask_engine(|answer| ToEngine::AdoptFile { file, answer });
            let (summary, position) = decided.map_err(AdoptError::Writer)?;
            last = position.or(last);
            Ok(summary)
        });
        self.wait_for(last)?;
        let summary = adopted.map_err(|error| error.to_string())?;
        let mode = AdoptMode::Append;
        Ok(json!({ "lines": summary.text_lines(mode), "summary": summary.json(mode) }))
    }

    fn no_longer_held(&self) -> bool {
        if self.config.until_unused {
            tracing::info!("stopping: nobody uses this proxy any more");
            self.handle.shutdown();
        }
        self.config.until_unused
    }
}
