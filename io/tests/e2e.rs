//! Drives the real `tslp` executable: a scripted upstream in front, a client behind, its files looked at afterwards.
#![allow(
    clippy::unwrap_used,
    reason = "a test helper that fails is a test that fails"
)]

#[path = "e2e/harness.rs"]
mod harness;
#[path = "e2e/ledger_file.rs"]
mod ledger_file;
#[path = "e2e/readers.rs"]
mod readers;
#[path = "e2e/spoken.rs"]
mod spoken;
#[path = "e2e/upstream.rs"]
mod upstream;

#[path = "e2e/adopt.rs"]
mod adopt;
#[path = "e2e/agents.rs"]
mod agents;
#[path = "e2e/audit.rs"]
mod audit;
#[path = "e2e/authors.rs"]
mod authors;
#[path = "e2e/budgets.rs"]
mod budgets;
#[path = "e2e/clear.rs"]
mod clear;
#[path = "e2e/commands.rs"]
mod commands;
#[path = "e2e/deep.rs"]
mod deep;
#[path = "e2e/dialects.rs"]
mod dialects;
#[path = "e2e/door.rs"]
mod door;
#[path = "e2e/durability.rs"]
mod durability;
#[path = "e2e/evidence.rs"]
mod evidence;
#[path = "e2e/faults.rs"]
mod faults;
#[cfg(target_os = "linux")]
#[path = "e2e/full_disk.rs"]
mod full_disk;
#[path = "e2e/guardian.rs"]
mod guardian;
#[path = "e2e/hydration.rs"]
mod hydration;
#[path = "e2e/kills.rs"]
mod kills;
#[path = "e2e/lost_calls.rs"]
mod lost_calls;
#[path = "e2e/maintenance.rs"]
mod maintenance;
#[path = "e2e/mcp.rs"]
mod mcp;
#[path = "e2e/memory.rs"]
mod memory;
#[path = "e2e/oracle.rs"]
mod oracle;
#[path = "e2e/other_versions.rs"]
mod other_versions;
#[path = "e2e/page.rs"]
mod page;
#[path = "e2e/price.rs"]
mod price;
#[path = "e2e/projects.rs"]
mod projects;
#[path = "e2e/promotion.rs"]
mod promotion;
#[path = "e2e/recent_context.rs"]
mod recent_context;
#[path = "e2e/recorded.rs"]
mod recorded;
#[path = "e2e/records.rs"]
mod records;
#[path = "e2e/refusals.rs"]
mod refusals;
#[path = "e2e/relay.rs"]
mod relay;
#[path = "e2e/repair.rs"]
mod repair;
#[path = "e2e/replies.rs"]
mod replies;
#[path = "e2e/run.rs"]
mod run;
#[cfg(target_os = "linux")]
#[path = "e2e/sandbox.rs"]
mod sandbox;
#[path = "e2e/scenarios.rs"]
mod scenarios;
#[path = "e2e/scope.rs"]
mod scope;
#[path = "e2e/secrets.rs"]
mod secrets;
#[path = "e2e/sessions.rs"]
mod sessions;
#[path = "e2e/stale.rs"]
mod stale;
#[path = "e2e/starts.rs"]
mod starts;
#[path = "e2e/startup.rs"]
mod startup;
#[path = "e2e/status.rs"]
mod status;
#[path = "e2e/surface.rs"]
mod surface;
#[cfg(target_os = "linux")]
#[path = "e2e/tool_loop.rs"]
mod tool_loop;
#[cfg(target_os = "linux")]
#[path = "e2e/tools.rs"]
mod tools;
#[path = "e2e/under_way.rs"]
mod under_way;
#[path = "e2e/undo.rs"]
mod undo;

#[path = "e2e/windows.rs"]
mod windows;
