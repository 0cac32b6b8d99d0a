//! `tslp scope`: which files are off and which are locked, read from the ledger.

use serde_json::{Value, json};
use tslp_core::ids::SessionId;
use tslp_projections::scope::ScopeRow;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::CommandArgs;
use crate::evidence::moments::utc_moment;
use crate::exit::Exit;

pub(super) fn run_scope(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&of.flags.0)?;
    let rules: Vec<ScopeRow> = match has_ledger(&config)? {
        true => diagnosed_subject(&config).readers.open()?.rows()?,
        false => Vec::new(),
    };
    let lines = || match rules.is_empty() {
        true => vec!["Nothing is off, and nothing is locked.".to_owned()],
        false => rules.iter().map(line).collect(),
    };
    let page = || json!({ "rules": rules.iter().map(rule_json).collect::<Vec<_>>() }).to_string();
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}

fn line(row: &ScopeRow) -> String {
    let place = |session: SessionId, of_none: &str| match session {
        SessionId(0) => of_none.to_owned(),
        session => format!(" in session {}", session.0),
    };
    let (place, by) = (place(row.session, ""), place(row.said_in, " at a terminal"));
    let at = utc_moment(row.at_ms.0);
    format!("{} {}{place}, said {at}{by}", row.rule, row.pattern)
}

fn rule_json(row: &ScopeRow) -> Value {
    let number = |session: SessionId| (session.0 > 0).then_some(session.0);
    json!({
        "at": utc_moment(row.at_ms.0),
        "pattern": row.pattern,
        "rule": row.rule.as_str(),
        "said_in": number(row.said_in),
        "session": number(row.session),
    })
}
