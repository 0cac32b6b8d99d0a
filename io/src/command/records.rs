//! `tslp records`: what the user keeps for the project, read from the ledger.

use serde_json::json;
use tslp_projections::records::RecordRow;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::ActArgs;
use crate::diagnostics::records;
use crate::exit::Exit;

pub(super) fn run_records(of: &ActArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&of.flags.0)?;
    let records: Vec<(RecordRow, bool)> = match has_ledger(&config)? {
        true => records::read_records(&diagnosed_subject(&config).readers.open()?)?,
        false => Vec::new(),
    };
    let lines = || match records.is_empty() {
        true => vec!["Nothing is noted.".to_owned()],
        false => records.iter().map(line).collect(),
    };
    let page = || json!({ "records": records::records_json(&records) }).to_string();
    print_page(of.output, page, lines)?;
    Ok(Exit::Ok)
}

fn line((row, is_grounded): &(RecordRow, bool)) -> String {
    let head = format!("{} #{}: {}", row.kind, row.key, row.statement);
    let gone = match is_grounded {
        true => "",
        false => " (not shown: the file doesn't hold that now)",
    };
    match row.path.as_str() {
        "" => head,
        path => format!("{head} `{}` [{path}]{gone}", row.quotation),
    }
}
