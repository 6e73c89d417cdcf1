//! The addresses of API servers, which may change while a probe runs.

mod activity;
mod followed;
mod readdressing;
mod server_addresses;

pub(super) use activity::Activity;
pub(super) use followed::Change;
pub use followed::{FollowedAddresses, MAX_ADDRESSES};
pub(super) use readdressing::Readdressing;
pub use server_addresses::ServerAddresses;
