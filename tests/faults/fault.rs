//! What breaks, and how it is mended.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{Act, Answer, Break, CacheClient, Metrics, Of, Scripted, Signal};
use rustix::process::Signal as ToClient;

use super::stage::{Needs, Stage, Way};

/// How long nobody serves.
const AWAY: Duration = Duration::from_secs(5);

/// Something that breaks.
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
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ServerKilled => "API server: SIGKILL, started again",
            Self::ServerTerminated => "API server: SIGTERM, drains for 10 s, started again",
            Self::ServerStopped => "API server: SIGSTOP for 20 s",
            Self::EtcdStopped => "etcd: SIGSTOP for 5 s",
            Self::Refused => "connections reset, then refused for 10 s",
            Self::Reset => "connections reset in the middle of a watch",
            Self::ResetAtOnce => "connection reset 0.3 s after the watch began",
            Self::HalfClose => "FIN of the server, which still listens",
            Self::Silence => "no byte passes for 20 s",
            Self::GoAway => "GOAWAY (--goaway-chance), 400 requests a client",
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
        // How long an API server that drains lets watches run on: a minute, unless told otherwise.
        const SOON: &[&str] = &["--request-timeout=10s"];
        let usual = Needs::default();
        match self {
            Self::ServerKilled
            | Self::ServerStopped
            | Self::EtcdStopped
            | Self::SlowReader
            | Self::ClientGone
            | Self::WatchtapKilled => usual,
            Self::ServerTerminated => Needs { api_server_arguments: SOON, ..usual },
            Self::WatchtapTerminated => Needs { api_server_arguments: SOON, watchtap_arguments: &["--grace", "10s"], ..usual },
            Self::Refused | Self::Reset | Self::HalfClose | Self::Silence | Self::Expired => Needs { tcp_hops: true, ..usual },
            // The highest that the API server takes; the hops count connections.
            Self::GoAway => Needs { api_server_arguments: &["--goaway-chance=0.02"], tcp_hops: true, ..usual },
            Self::ResetAtOnce | Self::StreamReset | Self::TooManyRequests | Self::InternalError | Self::TooLarge => {
                Needs { http_hop: true, ..usual }
            }
        }
    }

    /// Breaks it, mends it if it can be mended, and sees to it that all clients have had of it what they will.
    pub(crate) fn happen(self, stage: &mut Stage) -> Result<()> {
        let before = stage.requests()?;
        match self {
            Self::ServerKilled => restart(stage, Signal::Kill)?,
            Self::ServerTerminated => restart(stage, Signal::Terminate)?,
            Self::ServerStopped => {
                stage.cluster.stop_api_server(Signal::Stop)?;
                sleep(SILENT);
                stage.cluster.stop_api_server(Signal::Continue)?;
            }
            Self::EtcdStopped => {
                stage.cluster.signal_etcd(Signal::Stop)?;
                sleep(AWAY);
                stage.cluster.signal_etcd(Signal::Continue)?;
            }
            Self::Refused => {
                refuse(stage);
                sleep(Duration::from_secs(10));
                stage.on_both_ways(|hop| hop.refuse(false));
            }
            Self::Reset => stage.on_both_ways(|hop| hop.break_all(Break::Reset)),
            Self::HalfClose => stage.on_both_ways(|hop| hop.break_all(Break::HalfClose)),
            Self::Silence => {
                stage.on_both_ways(|hop| hop.silence(true));
                sleep(SILENT);
                stage.on_both_ways(|hop| hop.silence(false));
            }
            Self::GoAway => go_away(stage)?,
            Self::StreamReset => stage.http_hop()?.happen(Act::BreakWatches),
            Self::ResetAtOnce => {
                const AT_ONCE: Duration = Duration::from_millis(300);
                answer_instead(stage, Act::EndWatches, Of::Watches, Answer::ResetAfter(AT_ONCE), 1)?;
            }
            Self::TooManyRequests => answer_instead(stage, Act::EndWatches, Of::Watches, Answer::TooManyRequests, 3)?,
            Self::InternalError => answer_instead(stage, Act::EndWatches, Of::Watches, Answer::InternalError, 2)?,
            // client-go asks ten times by itself, a second apart, before it tells its reflector.
            Self::TooLarge => answer_instead(stage, Act::ExpireWatches, Of::ListsAtVersion, Answer::TooLargeResourceVersion, 12)?,
            Self::Expired => {
                refuse(stage);
                stage.cluster.create_configmaps("elsewhere", 5)?;
                stage.cluster.compact_etcd()?;
                stage.cluster.stop_api_server(Signal::Kill)?;
                stage.cluster.wait_stopped()?;
                stage.cluster.start_api_server()?;
                stage.on_both_ways(|hop| hop.refuse(false));
            }
            Self::SlowReader => slow_reader(stage)?,
            Self::ClientGone => {
                stage.players.iter().try_for_each(|player| player.running.signal(ToClient::KILL))?;
                stage.players.iter_mut().for_each(|player| player.running.read_to_end());
                return stage.all_watches_end().context("the API server still has watches of clients that are gone");
            }
            Self::WatchtapTerminated => return end_for_good(stage, Signal::Terminate),
            Self::WatchtapKilled => return end_for_good(stage, Signal::Kill),
        }
        // The first may come with a list, the second comes with the watch behind it.
        stage.all_have_the_next_write()?;
        stage.all_have_the_next_write()?;
        stage.all_ask_again(&before, 1, |client| self.is_noticed_by(client))
    }

    /// Whether something that listens dies. Whether a client that dials at once is then refused (and resumes), or still let in and reset (and
    /// lists), is chance: a matter of the order in which the kernel closes the sockets of the dead.
    pub(crate) fn is_a_race(self) -> bool {
        matches!(self, Self::ServerKilled | Self::ServerTerminated | Self::WatchtapTerminated | Self::WatchtapKilled)
    }

    /// Whether it makes this client ask again.
    fn is_noticed_by(self, client: CacheClient) -> bool {
        match self {
            // What waits for a hung etcd comes when it is back, and a GOAWAY lets watches live.
            Self::EtcdStopped | Self::GoAway => false,
            Self::ServerStopped | Self::Silence => client.pings(),
            Self::ServerKilled
            | Self::ServerTerminated
            | Self::Refused
            | Self::Reset
            | Self::ResetAtOnce
            | Self::HalfClose
            | Self::StreamReset
            | Self::TooManyRequests
            | Self::InternalError
            | Self::Expired
            | Self::TooLarge
            | Self::SlowReader
            | Self::ClientGone
            | Self::WatchtapTerminated
            | Self::WatchtapKilled => client.begins_anew(),
        }
    }
}

/// Longer than it takes two pings to be missed.
const SILENT: Duration = Duration::from_secs(20);

fn restart(stage: &mut Stage, signal: Signal) -> Result<()> {
    stage.cluster.stop_api_server(signal)?;
    stage.cluster.wait_stopped()?;
    sleep(AWAY);
    stage.cluster.start_api_server().context("the API server does not start again")
}

fn refuse(stage: &Stage) {
    stage.on_both_ways(|hop| hop.refuse(true));
    stage.on_both_ways(|hop| hop.break_all(Break::Reset));
}

/// Ends all watches, and answers what each client asks for then, so many `times`; waits until all who live on have asked beyond that.
fn answer_instead(stage: &Stage, act: Act, of: Of, answer: Answer, times: usize) -> Result<()> {
    let before = stage.requests()?;
    let hop = stage.http_hop()?;
    hop.script(Some(Scripted { of, answer, times }));
    hop.happen(act);
    match of {
        Of::Watches => stage.all_ask_again(&before, times + 1, CacheClient::begins_anew),
        // Some ask for no version, or for none again that was too large.
        Of::ListsAtVersion => Ok(()),
    }
}

fn go_away(stage: &mut Stage) -> Result<()> {
    let before = stage.connections();
    for player in stage.players.iter_mut().filter(|player| player.client.asks_when_told()) {
        player.running.signal(ToClient::USR1)?;
    }
    for player in stage.players.iter_mut().filter(|player| player.client.asks_when_told()) {
        player.running.says(1, |line| line.contains("\"asked\""))?;
    }
    stage.shared_connections_are_made_anew(&before)
}

/// All clients stand still until the API server has given up each of them.
fn slow_reader(stage: &mut Stage) -> Result<()> {
    const SIZE: usize = 300 * 1024;
    const TIMES: usize = 300;
    let given_up = || -> Result<f64> {
        let metrics: Metrics = stage.cluster.metrics()?;
        Ok(metrics.value("apiserver_terminated_watchers_total", &[("resource", "configmaps")]))
    };
    let before = given_up()?;
    stage.players.iter().try_for_each(|player| player.running.signal(ToClient::STOP))?;
    let clients = f64::from(u32::try_from(stage.players.len())?);
    let written = stage.write_much(SIZE, TIMES, || Ok(given_up()? - before >= clients));
    stage.players.iter().try_for_each(|player| player.running.signal(ToClient::CONT))?;
    written.context("the API server does not give up all clients that do not read")
}

/// What each client connects to is gone for good: of the one half the API server, of the other watchtap.
fn end_for_good(stage: &mut Stage, signal: Signal) -> Result<()> {
    const TRIES: usize = 4;
    match signal {
        Signal::Terminate => {
            stage.watchtap.terminate()?;
            // Nobody is let in any more, and who is in goes on.
            stage.front_refuses()?;
            stage.all_have_the_next_write().context("while watchtap drains")?;
            stage.watchtap.wait()?;
        }
        Signal::Kill => stage.watchtap.kill()?,
        Signal::Stop | Signal::Continue => anyhow::bail!("{signal:?} ends nothing"),
    }
    stage.cluster.stop_api_server(signal)?;
    stage.cluster.wait_stopped()?;
    let failed = |line: &str| line.contains("failed\"");
    for player in &mut stage.players {
        let said = player.running.says(TRIES, failed);
        ensure!(said.is_ok() == player.client.begins_anew(), "{}, {:?}: {said:?}", player.client, player.way);
    }
    ensure!(stage.players.iter().any(|player| player.way == Way::Watchtap), "nobody is behind watchtap");
    Ok(())
}
