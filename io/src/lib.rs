//! The edge of TSLP: sockets, files, SQLite, threads, the command line. The `tslp` binary is a thin call into here.

pub mod channel;
pub mod demo_model;
pub mod guard;
pub mod http;
pub mod loop_config;
pub mod main_loop;
pub mod routes;
pub mod upstream;
