//! Whether tools can run: the sandbox is tried once in a while, and not at every question.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use tslp_tools::guardian::ToolScope;

use crate::config::settings::Settings;
use crate::tool_loop::{self, test_enforcement};

/// Age after which an answer is checked again.
const HOLDS: Duration = Duration::from_secs(24 * 60 * 60);

/// Tests the sandbox, and keeps the last result.
#[derive(Debug, Default)]
pub struct ToolCheck {
    /// `None` if tools are off.
    scope: Option<ToolScope>,
    last: Mutex<Option<(Instant, Result<String, String>)>>,
}

impl ToolCheck {
    /// Nothing is tried yet.
    #[must_use]
    pub fn for_config(config: &Settings) -> Self {
        Self {
            scope: tool_loop::scope_of_replies(config).filter(|_| config.tools.runs()),
            last: Mutex::default(),
        }
    }

    /// The kernel's enforcement.
    ///
    /// # Errors
    /// Exactly why tools are off.
    pub fn check_now(&self) -> Result<String, String> {
        let Some(scope) = &self.scope else {
            return Ok("off (`tools.run`)".to_owned());
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, said)) = &*last
            && at.elapsed() < HOLDS
        {
            return said.clone();
        }
        let said = test_enforcement(scope).map_err(|why| format!("off: {why}"));
        *last = Some((Instant::now(), said.clone()));
        said
    }
}
