//! The faults of the matrix: causes each of them and repairs it.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{Act, Break, CacheClient, HttpVersion, Metrics, Of, Scripted, ScriptedReply, Signal};
use rustix::process::Signal as ToClient;

use super::testbed::{Needs, Testbed, Way};

/// Duration of an outage.
const AWAY: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    ServerKilled,
    ServerTerminated,
    ServerStopped,
    EtcdStopped,
    Refused,
    Reset,
    ResetAtOnce,
    HalfClose,
    Silence,
    GoAway,
    GoAwayToAll,
    StreamReset,
    TooManyRequests,
    InternalError,
    Expired,
    TooLarge,
    SlowReader,
    ClientGone,
    WatchtapTerminated,
    WatchtapKilled,
}

impl Fault {
    /// Number of faults.
    pub(crate) const COUNT: usize = Self::WatchtapKilled as usize + 1;

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ServerKilled => "API server: SIGKILL, started again",
            Self::ServerTerminated => "API server: SIGTERM, drains for 10 s, started again",
            Self::ServerStopped => "API server: SIGSTOP for 20 s",
            Self::EtcdStopped => "etcd: SIGSTOP for 5 s, connections reset meanwhile",
            Self::Refused => "connections reset, then refused for 10 s",
            Self::Reset => "connections reset in the middle of a watch",
            Self::ResetAtOnce => "connection reset 0.3 s after the watch began",
            Self::HalfClose => "FIN of the server, which still listens",
            Self::Silence => "no byte passes for 20 s",
            Self::GoAway => "GOAWAY (--goaway-chance), 400 requests a client",
            Self::GoAwayToAll => "GOAWAY to all (HTTP/1.1: Connection: close), then watches end",
            Self::StreamReset => "RST_STREAM; on HTTP/1.1 the end in the middle of the body",
            Self::TooManyRequests => "watch ends, then 429 with Retry-After, three times",
            Self::InternalError => "watch ends, then 500, twice",
            Self::Expired => "API server back with etcd compacted: 410",
            Self::TooLarge => "410 in the watch, then 504 too large resource version, 12 times",
            Self::SlowReader => "client: SIGSTOP until the server ends its watch",
            Self::ClientGone => "client: SIGKILL",
            Self::WatchtapTerminated => "for good: watchtap SIGTERM; directly, API server SIGTERM",
            Self::WatchtapKilled => "for good: watchtap SIGKILL; directly, API server SIGKILL",
        }
    }

    pub(crate) fn needs(self) -> Needs {
        // A draining API server lets watches run this long; the default is one minute.
        const SOON: &[&str] = &["--request-timeout=10s"];
        let usual = Needs::default();
        match self {
            Self::ServerKilled | Self::ServerStopped | Self::SlowReader | Self::ClientGone | Self::WatchtapKilled => usual,
            Self::ServerTerminated => Needs { api_server_arguments: SOON, ..usual },
            Self::WatchtapTerminated => Needs { api_server_arguments: SOON, watchtap_arguments: &["--grace", "10s"], ..usual },
            Self::EtcdStopped | Self::Refused | Self::Reset | Self::HalfClose | Self::Silence | Self::Expired => {
                Needs { tcp_hops: true, ..usual }
            }
            // The maximum that the API server accepts; the hops count connections.
            Self::GoAway => Needs { api_server_arguments: &["--goaway-chance=0.02"], tcp_hops: true, ..usual },
            Self::GoAwayToAll
            | Self::ResetAtOnce
            | Self::StreamReset
            | Self::TooManyRequests
            | Self::InternalError
            | Self::TooLarge => Needs { http_hop: true, ..usual },
        }
    }

    /// Causes the fault, repairs it if possible, and waits until all clients have reacted.
    pub(crate) fn happen(self, testbed: &mut Testbed) -> Result<()> {
        let before = testbed.requests()?;
        match self {
            Self::ServerKilled => restart(testbed, Signal::Kill)?,
            Self::ServerTerminated => restart(testbed, Signal::Terminate)?,
            Self::ServerStopped => {
                testbed.cluster.stop_api_server(Signal::Stop)?;
                sleep(SILENT);
                testbed.cluster.stop_api_server(Signal::Continue)?;
            }
            Self::EtcdStopped => {
                testbed.cluster.signal_etcd(Signal::Stop)?;
                testbed.on_both_ways(|hop| hop.break_all(Break::Reset));
                sleep(AWAY);
                testbed.cluster.signal_etcd(Signal::Continue)?;
            }
            Self::Refused => {
                refuse(testbed);
                sleep(Duration::from_secs(10));
                testbed.on_both_ways(|hop| hop.refuse(false));
            }
            Self::Reset => testbed.on_both_ways(|hop| hop.break_all(Break::Reset)),
            Self::HalfClose => testbed.on_both_ways(|hop| hop.break_all(Break::HalfClose)),
            Self::Silence => {
                testbed.on_both_ways(|hop| hop.silence(true));
                sleep(SILENT);
                testbed.on_both_ways(|hop| hop.silence(false));
            }
            Self::GoAway => go_away(testbed)?,
            Self::GoAwayToAll => {
                testbed.http_hop()?.happen(Act::GoAway);
                testbed.all_have_the_next_write().context("a watch lives through GOAWAY")?;
                testbed.http_hop()?.happen(Act::EndWatches);
            }
            Self::StreamReset => testbed.http_hop()?.happen(Act::BreakWatches),
            Self::ResetAtOnce => {
                const AT_ONCE: Duration = Duration::from_millis(300);
                answer_instead(testbed, Act::EndWatches, Of::Watches, ScriptedReply::ResetAfter(AT_ONCE), 1)?;
            }
            Self::TooManyRequests => answer_instead(testbed, Act::EndWatches, Of::Watches, ScriptedReply::TooManyRequests, 3)?,
            Self::InternalError => answer_instead(testbed, Act::EndWatches, Of::Watches, ScriptedReply::InternalError, 2)?,
            // client-go retries ten times by itself, one second apart, before its reflector gets the error.
            Self::TooLarge => {
                answer_instead(testbed, Act::ExpireWatches, Of::ListsAtVersion, ScriptedReply::TooLargeResourceVersion, 12)?;
            }
            Self::Expired => {
                refuse(testbed);
                testbed.cluster.create_configmaps("elsewhere", 5)?;
                testbed.cluster.compact_etcd()?;
                testbed.cluster.stop_api_server(Signal::Kill)?;
                testbed.cluster.wait_stopped()?;
                testbed.cluster.start_api_server()?;
                testbed.on_both_ways(|hop| hop.refuse(false));
            }
            Self::SlowReader => slow_reader(testbed)?,
            Self::ClientGone => {
                testbed.participants.iter().try_for_each(|participant| participant.process.signal(ToClient::KILL))?;
                testbed.participants.iter_mut().for_each(|participant| participant.process.read_to_end());
                return testbed.all_watches_end().context("the API server still has watches of clients that are gone");
            }
            Self::WatchtapTerminated => return end_for_good(testbed, Signal::Terminate),
            Self::WatchtapKilled => return end_for_good(testbed, Signal::Kill),
        }
        // The first write may arrive in a list; the second arrives on the watch that follows it.
        testbed.all_have_the_next_write()?;
        testbed.all_have_the_next_write()?;
        testbed.all_ask_again(&before, 1, |client| self.is_noticed_by(client))
    }

    /// Whether this client is affected at all.
    pub(crate) fn meets(self, client: CacheClient) -> bool {
        // kubernetes/apiserver `pkg/server/filters/goaway.go` applies to requests over HTTP/2 only. The other clients send no
        // request after their watch.
        self != Self::GoAway || (client.asks_on_signal() && client.http() == HttpVersion::Two)
    }

    /// Whether the fault makes this client send another request.
    fn is_noticed_by(self, client: CacheClient) -> bool {
        match self {
            // Its watches survive.
            Self::GoAway => false,
            Self::ServerStopped | Self::Silence => client.pings(),
            Self::ServerKilled
            | Self::ServerTerminated
            | Self::EtcdStopped
            | Self::Refused
            | Self::Reset
            | Self::ResetAtOnce
            | Self::HalfClose
            | Self::GoAwayToAll
            | Self::StreamReset
            | Self::TooManyRequests
            | Self::InternalError
            | Self::Expired
            | Self::TooLarge
            | Self::SlowReader
            | Self::ClientGone
            | Self::WatchtapTerminated
            | Self::WatchtapKilled => client.reopens_watches(),
        }
    }
}

/// Longer than two missed pings.
const SILENT: Duration = Duration::from_secs(20);

fn restart(testbed: &mut Testbed, signal: Signal) -> Result<()> {
    testbed.cluster.stop_api_server(signal)?;
    testbed.cluster.wait_stopped()?;
    sleep(AWAY);
    testbed.cluster.start_api_server().context("the API server does not start again")
}

fn refuse(testbed: &Testbed) {
    testbed.on_both_ways(|hop| hop.refuse(true));
    testbed.on_both_ways(|hop| hop.break_all(Break::Reset));
}

/// Ends all watches, and answers the next requests of each client `times` times. Waits until all surviving clients have sent one
/// more.
fn answer_instead(testbed: &Testbed, act: Act, of: Of, answer: ScriptedReply, times: usize) -> Result<()> {
    let before = testbed.requests()?;
    let hop = testbed.http_hop()?;
    hop.script(Some(Scripted { of, answer, times }));
    hop.happen(act);
    match of {
        Of::Watches => testbed.all_ask_again(&before, times + 1, CacheClient::reopens_watches),
        // Some clients list without a version, or stop using a version that was too large.
        Of::ListsAtVersion => Ok(()),
    }
}

fn go_away(testbed: &mut Testbed) -> Result<()> {
    let before = testbed.connections();
    for participant in testbed.participants.iter_mut().filter(|participant| participant.client.asks_on_signal()) {
        participant.process.signal(ToClient::USR1)?;
    }
    for participant in testbed.participants.iter_mut().filter(|participant| participant.client.asks_on_signal()) {
        participant.process.wait_for_lines(1, |line| line.contains("\"asked\""))?;
    }
    testbed.wait_for_new_shared_connections(&before)
}

/// Stops all clients until the API server has terminated the watch of each.
fn slow_reader(testbed: &mut Testbed) -> Result<()> {
    const SIZE: usize = 300 * 1024;
    const TIMES: usize = 300;
    let given_up = || -> Result<f64> {
        let metrics: Metrics = testbed.cluster.metrics()?;
        Ok(metrics.value("apiserver_terminated_watchers_total", &[("resource", "configmaps")]))
    };
    let before = given_up()?;
    testbed.participants.iter().try_for_each(|participant| participant.process.signal(ToClient::STOP))?;
    let clients = f64::from(u32::try_from(testbed.participants.len())?);
    let written = testbed.write_much(SIZE, TIMES, || Ok(given_up()? - before >= clients));
    testbed.participants.iter().try_for_each(|participant| participant.process.signal(ToClient::CONT))?;
    written.context("the API server does not give up all clients that do not read")
}

/// Ends the upstream of each client for good: the API server for one half, watchtap for the other.
fn end_for_good(testbed: &mut Testbed, signal: Signal) -> Result<()> {
    const TRIES: usize = 4;
    match signal {
        Signal::Terminate => {
            testbed.watchtap.terminate()?;
            // watchtap accepts no new connection, and open ones continue.
            testbed.front_refuses()?;
            testbed.all_have_the_next_write().context("while watchtap drains")?;
            testbed.watchtap.wait()?;
        }
        Signal::Kill => testbed.watchtap.kill()?,
        Signal::Stop | Signal::Continue => anyhow::bail!("{signal:?} ends nothing"),
    }
    testbed.cluster.stop_api_server(signal)?;
    testbed.cluster.wait_stopped()?;
    let failed = |line: &str| line.contains("failed\"");
    for participant in &mut testbed.participants {
        let said = participant.process.wait_for_lines(TRIES, failed);
        ensure!(said.is_ok() == participant.client.reopens_watches(), "{}, {:?}: {said:?}", participant.client, participant.way);
    }
    ensure!(testbed.participants.iter().any(|participant| participant.way == Way::Watchtap), "nobody is behind watchtap");
    Ok(())
}
