//! `tslp usage`: what models read and wrote, by day, model and conversation.

use std::collections::BTreeMap;

use serde_json::json;
use tslp_core::budget::{Counter, Prices};
use tslp_core::ids::UnixMillis;
use tslp_projections::usage::UsageRow;

use super::{CommandFailure, diagnosed_subject, has_ledger, print_page, read_config};
use crate::cli::CommandArgs;
use crate::diagnostics::guardian::{policy_in_force, usage_json};
use crate::evidence::moments::utc_day;
use crate::exit::Exit;

/// Conversations of a model and day that people are shown; the JSON has all.
const CONVERSATIONS_SHOWN: usize = 5;

pub(super) fn run_usage(days: usize, of: &CommandArgs) -> Result<Exit, CommandFailure> {
    let (config, _) = read_config(&of.flags.0)?;
    let (mut rows, mut prices) = (Vec::new(), Prices::default());
    if has_ledger(&config)? {
        let reader = diagnosed_subject(&config).readers.open()?;
        rows = reader.rows::<UsageRow>()?;
        prices = policy_in_force(&reader)?.prices;
    }
    let mut of_days: Vec<UnixMillis> = rows.iter().map(|row| row.day).collect();
    of_days.dedup();
    let first = of_days.len().saturating_sub(days);
    let from = of_days.get(first).copied().unwrap_or(UnixMillis(i64::MAX));
    rows.retain(|row| row.day >= from);
    print_page(
        of.output,
        || json!({ "usage": usage_json(&rows, &prices) }).to_string(),
        || usage_lines(&rows, &prices),
    )?;
    Ok(Exit::Ok)
}

fn usage_lines(rows: &[UsageRow], prices: &Prices) -> Vec<String> {
    let mut of_models: BTreeMap<(UnixMillis, &str), Vec<&UsageRow>> = BTreeMap::new();
    for row in rows {
        let of_model = of_models.entry((row.day, &row.model)).or_default();
        of_model.push(row);
    }
    let mut lines = Vec::new();
    for ((day, model), mut own) in of_models.into_iter().rev() {
        own.sort_by_key(|row| std::cmp::Reverse(row.read + row.written));
        let mut sum = own[0].clone();
        own[1..].iter().for_each(|row| sum.add(row));
        let model = match model {
            "" => "(no model named)",
            model => model,
        };
        let day = utc_day(day.0);
        lines.push(format!("{day} {model}: {}", figures(&sum, prices)));
        for row in own.iter().take(CONVERSATIONS_SHOWN) {
            let whose = match row.session.0 {
                0 => "outside of conversations".to_owned(),
                _ => format!("conversation {}", row.session),
            };
            lines.push(format!("  {whose}: {}", figures(row, prices)));
        }
        if let Some(more @ 1..) = own.len().checked_sub(CONVERSATIONS_SHOWN) {
            lines.push(format!("  and {more} more conversations"));
        }
    }
    if lines.is_empty() {
        lines.push("nothing was used yet".to_owned());
    }
    lines
}

fn figures(row: &UsageRow, prices: &Prices) -> String {
    let requests = if row.requests == 1 {
        "request"
    } else {
        "requests"
    };
    let mut text = format!(
        "{} {requests}, {} tokens read ({} from the cache), {} written",
        row.requests, row.read, row.cached, row.written
    );
    if row.estimated > 0 {
        text += &format!(", {} of them estimated", row.estimated);
    }
    if *prices != Prices::default() {
        text += &format!(", cost {}", Counter::Money.shown(row.cost(prices)));
    }
    text
}
