//! `tslp records`: what the user keeps for the project, read from the ledger.

use serde_json::{Value, json};
use tslp_core::ids::SessionId;
use tslp_projections::records::RecordRow;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::ActArgs;
use crate::evidence::moments::utc_moment;
use crate::exit::Exit;

pub(super) fn run_records(of: &ActArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&of.flags.0)?;
    let records: Vec<RecordRow> = match has_ledger(&config)? {
        true => diagnosed_subject(&config).readers.open()?.rows()?,
        false => Vec::new(),
    };
    let lines = || match records.is_empty() {
        true => vec!["Nothing is noted.".to_owned()],
        false => records.iter().map(line).collect(),
    };
    let page =
        || json!({ "records": records.iter().map(record_json).collect::<Vec<_>>() }).to_string();
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}

fn line(row: &RecordRow) -> String {
    let head = format!("{} #{}: {}", row.kind, row.key, row.statement);
    match row.path.as_str() {
        "" => head,
        path => format!("{head} `{}` [{path}]", row.quotation),
    }
}

fn record_json(row: &RecordRow) -> Value {
    json!({
        "at": utc_moment(row.at_ms.0),
        "key": row.key,
        "kind": row.kind.as_str(),
        "path": (!row.path.is_empty()).then_some(&row.path),
        "quotation": (!row.path.is_empty()).then_some(&row.quotation),
        "said_in": (row.said_in != SessionId(0)).then_some(row.said_in.0),
        "statement": row.statement,
    })
}
