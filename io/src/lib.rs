//! The edge of TSLP: sockets, files, SQLite, threads, the command line. The `tslp` binary is a thin call into here.

#![deny(unsafe_code)]

pub mod channel;

/// The version of tslp, as the ledger names it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod main_loop;

pub mod guard;
pub mod page;
mod peer_user;
pub mod routes;
pub mod socket;
pub mod upstream;

pub mod attention;
pub mod auditor;
pub mod engine;
pub mod engine_thread;

mod connect;
pub mod memory;
pub mod metrics;

pub mod acts;
pub mod adopt;
pub mod door;
pub mod maintenance;
pub mod scrub_thread;
pub mod tool_loop;

pub mod deep;
pub mod diagnostics;
pub mod evidence;
pub mod json_client;
pub mod probe;
pub mod prompt_cost;
pub mod sent_prompts;
mod windows;

pub mod demo_model;
pub mod demo_tour;

pub mod cli;
pub mod command;
pub mod config;
mod disk_full;
pub mod exit;
pub mod logging;
pub mod out;
pub mod serve;
