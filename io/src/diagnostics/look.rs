//! A look at the disk, folded into a state that is thrown away: nothing is recorded.

use std::sync::Arc;
use std::time::Duration;

use tslp_core::ids::UnixMillis;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::EmptyStore;
use tslp_workspace::observer::{Observer, SystemClock, WallClock as _, WorkspaceObserver as _};

use crate::config::ServeConfig;
use crate::engine::new_engine;

/// Nobody waits for this look but the person who asked for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Looks at every tracked file and hands the state to `shown`, as it would be if that were recorded, with the moment.
pub(crate) fn look_at_disk<T>(
    config: &ServeConfig,
    state: State,
    shown: impl FnOnce(&State, UnixMillis) -> T,
) -> T {
    let now = SystemClock.now();
    let mut etv = config.etv;
    etv.timeout = etv.timeout.max(PATIENCE);
    let mut engine = new_engine(state, &config.policy, EmptyStore);
    let mut observer = Observer::new(
        &config.workspace,
        etv,
        Arc::new(TreeSitterGrammars),
        Arc::new(SystemClock),
    );
    let mut paths: Vec<_> = engine.state().state_map().paths().cloned().collect();
    paths.sort();
    for path in paths {
        let checks = engine.checks_of_tracked([path.clone()]);
        for finding in observer.check(checks) {
            engine.record_disk_changes(now, vec![(path.clone(), finding)]);
        }
    }
    shown(engine.state(), now)
}
