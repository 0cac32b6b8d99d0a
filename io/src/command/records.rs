//! `tslp records`: what is kept for the project, read from the ledger.

use serde_json::{Value, json};

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::CommandArgs;
use crate::diagnostics::records::{RecordNow, read_records};
use crate::exit::Exit;

pub(super) fn run_records(of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&of.flags.0)?;
    let records = match has_ledger(&config)? {
        true => read_records(&diagnosed_subject(&config))?,
        false => Vec::new(),
    };
    let lines = || match records.is_empty() {
        true => vec!["Nothing is noted.".to_owned()],
        false => records.iter().map(RecordNow::line).collect(),
    };
    let page = || {
        let records: Vec<Value> = records.iter().map(RecordNow::json).collect();
        json!({ "records": records }).to_string()
    };
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}
