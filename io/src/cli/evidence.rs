//! The flags of `tslp log`.

use clap::Args;

/// The events to print, and their form.
#[derive(Clone, Debug, Default, Args)]
pub struct LogArgs {
    /// Only events of this episode; looks at the disk and stored content belong to none
    #[arg(long, value_name = "N")]
    pub episode: Option<u64>,
    /// Only events of this session's episodes
    #[arg(long, value_name = "N")]
    pub session: Option<u64>,
    /// Only events about this entity, or about anything in this file
    #[arg(long, value_name = "PATH[::SYMBOL]")]
    pub entity: Option<String>,
    /// Only events of this kind, such as `transitioned`; may be given several times
    #[arg(long, value_name = "KIND")]
    pub kind: Vec<String>,
    /// Only events that say this reason code, such as `symbols_lost`; may be given several times
    #[arg(long, value_name = "CODE")]
    pub reason: Vec<String>,
    /// Not before this moment: 2026-01-31T12:00:00Z, 2026-01-31 (UTC), or how long ago, such as 2h
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Not after this moment
    #[arg(long, value_name = "WHEN", conflicts_with = "follow")]
    pub until: Option<String>,
    /// Print only the last N matching events; 0 prints all
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Go on printing, until interrupted: a line for each reply, or for each event that matches if anything is asked of events
    #[arg(long)]
    pub follow: bool,
    /// Follow events, not replies
    #[arg(long, requires = "follow")]
    pub events: bool,
}
