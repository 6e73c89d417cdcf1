//! `watchtap explain -`: each form of a line, and lines of no log.

mod reading;

mod audit;
mod client_log;
mod etcd_log;
mod server_log;

mod input;
