//! One test per fault, so that they run in parallel and fail by name.

use anyhow::Result;

use super::fault::Fault;
use super::run::check;

#[test]
fn server_killed() -> Result<()> {
    check(Fault::ServerKilled)
}

#[test]
fn server_terminated() -> Result<()> {
    check(Fault::ServerTerminated)
}

#[test]
fn server_stopped() -> Result<()> {
    check(Fault::ServerStopped)
}

#[test]
fn etcd_stopped() -> Result<()> {
    check(Fault::EtcdStopped)
}

#[test]
fn refused() -> Result<()> {
    check(Fault::Refused)
}

#[test]
fn reset() -> Result<()> {
    check(Fault::Reset)
}

#[test]
fn reset_at_once() -> Result<()> {
    check(Fault::ResetAtOnce)
}

#[test]
fn half_close() -> Result<()> {
    check(Fault::HalfClose)
}

#[test]
fn silence() -> Result<()> {
    check(Fault::Silence)
}

#[test]
fn go_away() -> Result<()> {
    check(Fault::GoAway)
}

#[test]
fn go_away_to_all() -> Result<()> {
    check(Fault::GoAwayToAll)
}

#[test]
fn stream_reset() -> Result<()> {
    check(Fault::StreamReset)
}

#[test]
fn too_many_requests() -> Result<()> {
    check(Fault::TooManyRequests)
}

#[test]
fn internal_error() -> Result<()> {
    check(Fault::InternalError)
}

#[test]
fn expired() -> Result<()> {
    check(Fault::Expired)
}

#[test]
fn too_large() -> Result<()> {
    check(Fault::TooLarge)
}

#[test]
fn slow_reader() -> Result<()> {
    check(Fault::SlowReader)
}

#[test]
fn client_gone() -> Result<()> {
    check(Fault::ClientGone)
}

#[test]
fn watchtap_terminated() -> Result<()> {
    check(Fault::WatchtapTerminated)
}

#[test]
fn watchtap_killed() -> Result<()> {
    check(Fault::WatchtapKilled)
}
