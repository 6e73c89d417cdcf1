//! The faults of the soak test: causes each of them and repairs it.

use std::num::NonZero;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;
use std::{fmt, hint};

use anyhow::{Context, Result, ensure};
use fastrand::Rng;
use observer_tests::{Break, Signal};
use rustix::process::Signal as ToClient;

use super::rough_clients::{relist_together, talk_nonsense};
use super::testbed::{Side, Testbed, configmaps};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Server(Signal),
    EtcdStopped,
    Compacted,
    Broken(Break, Side),
    Silence(Side),
    Refused,
    ClientKilled,
    ClientStopped,
    Relists,
    ObserverStarved,
    Nonsense,
}

impl Fault {
    const ALL: [Self; 19] = [
        Self::Server(Signal::Kill),
        Self::Server(Signal::Terminate),
        Self::Server(Signal::Stop),
        Self::EtcdStopped,
        Self::Compacted,
        Self::Broken(Break::Reset, Side::Clients),
        Self::Broken(Break::Reset, Side::Server),
        Self::Broken(Break::Close, Side::Clients),
        Self::Broken(Break::Close, Side::Server),
        Self::Broken(Break::HalfClose, Side::Clients),
        Self::Broken(Break::HalfClose, Side::Server),
        Self::Silence(Side::Clients),
        Self::Silence(Side::Server),
        Self::Refused,
        Self::ClientKilled,
        Self::ClientStopped,
        Self::Relists,
        Self::ObserverStarved,
        Self::Nonsense,
    ];

    /// Each fault once in random order, and then random faults forever.
    pub(crate) fn by_chance(mut random: Rng) -> impl Iterator<Item = Self> {
        let mut each = Self::ALL;
        random.shuffle(&mut each);
        each.into_iter().chain(std::iter::repeat_with(move || random.choice(Self::ALL).unwrap_or(Self::Relists)))
    }

    /// Causes the fault and repairs it.
    pub(crate) fn happen(self, testbed: &mut Testbed, random: &mut Rng) -> Result<()> {
        let a_while = Duration::from_millis(random.u64(500..6000));
        match self {
            Self::Server(Signal::Stop | Signal::Continue) => {
                testbed.cluster.stop_api_server(Signal::Stop)?;
                sleep(a_while);
                testbed.cluster.stop_api_server(Signal::Continue)?;
            }
            Self::Server(signal @ (Signal::Kill | Signal::Terminate)) => {
                testbed.cluster.stop_api_server(signal)?;
                testbed.cluster.wait_stopped()?;
                testbed.cluster.start_api_server()?;
            }
            Self::EtcdStopped => {
                testbed.cluster.signal_etcd(Signal::Stop)?;
                sleep(a_while);
                testbed.cluster.signal_etcd(Signal::Continue)?;
            }
            Self::Compacted => {
                testbed.refuse_upstream(true);
                sleep(a_while);
                testbed.cluster.compact_etcd()?;
                // The watch cache of a surviving server would still have the compacted revisions.
                testbed.cluster.stop_api_server(Signal::Kill)?;
                testbed.cluster.wait_stopped()?;
                testbed.cluster.start_api_server()?;
                testbed.refuse_upstream(false);
            }
            Self::Broken(how, side) => {
                testbed.hops.while_breaking(|| testbed.network(side).break_all(how));
            }
            Self::Silence(side) => {
                testbed.network(side).silence(true);
                sleep(a_while);
                testbed.network(side).silence(false);
            }
            Self::Refused => {
                testbed.refuse_upstream(true);
                sleep(a_while);
                testbed.refuse_upstream(false);
            }
            Self::ClientKilled => {
                let index = random.usize(..testbed.clients.len());
                testbed.clients.remove(index);
                let restarted = testbed.start_client(index)?;
                testbed.clients.insert(index, restarted);
            }
            Self::ClientStopped => {
                let index = random.usize(..testbed.clients.len());
                testbed.clients[index].signal(ToClient::STOP)?;
                sleep(a_while);
                testbed.clients[index].signal(ToClient::CONT)?;
            }
            Self::Relists => {
                let client = testbed.client()?;
                relist_together(&client, &configmaps())?;
            }
            Self::ObserverStarved => starve_observer(testbed)?,
            Self::Nonsense => {
                const TIMES: usize = 10;
                (0..TIMES).try_for_each(|_| talk_nonsense(&testbed.front, random))?;
            }
        }
        Ok(())
    }
}

/// All clients list at once while busy loops take all processors from the observing thread.
fn starve_observer(testbed: &Testbed) -> Result<()> {
    let client = testbed.client()?;
    let observing = testbed.watchtap().thread("observing")?;
    schedule(observing, "--idle")?;
    testbed.hops.while_breaking(|| testbed.network(Side::Server).break_all(Break::Reset));
    let is_over = AtomicBool::new(false);
    let listed = thread::scope(|scope| {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        for _ in 0..processors {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let listed = relist_together(&client, &configmaps());
        is_over.store(true, Ordering::Relaxed);
        listed
    });
    // Without permission to leave that policy (sched(7)), the thread keeps it, and runs on spare processor time.
    schedule(observing, "--other").ok();
    listed
}

/// Sets a thread's scheduling policy (sched(7)).
fn schedule(thread: u32, policy: &str) -> Result<()> {
    let status = Command::new("chrt").args([policy, "--pid", "0", &thread.to_string()]).status().context("chrt (util-linux)")?;
    ensure!(status.success(), "chrt {policy}: {status}");
    Ok(())
}

impl Testbed {
    /// Starts or stops refusing watchtap's connections to the API server. At the start it also resets all open ones.
    fn refuse_upstream(&self, refuses: bool) {
        let network = self.network(Side::Server);
        network.refuse(refuses);
        if refuses {
            self.hops.while_breaking(|| network.break_all(Break::Reset));
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |side: &Side| match side {
            Side::Clients => "between clients and watchtap",
            Side::Server => "between watchtap and the API server",
        };
        match self {
            Self::Server(Signal::Kill) => write!(formatter, "API server killed, and started again"),
            Self::Server(Signal::Terminate) => write!(formatter, "API server drained, and started again"),
            Self::Server(Signal::Stop | Signal::Continue) => write!(formatter, "API server stopped for a while"),
            Self::EtcdStopped => write!(formatter, "etcd stopped for a while"),
            Self::Compacted => write!(formatter, "API server refuses, etcd is compacted, API server started again"),
            Self::Broken(Break::Reset, side) => write!(formatter, "connections reset {}", of(side)),
            Self::Broken(Break::Close, side) => write!(formatter, "connections closed {}", of(side)),
            Self::Broken(Break::HalfClose, side) => write!(formatter, "connections half-closed {}", of(side)),
            Self::Silence(side) => write!(formatter, "silence for a while {}", of(side)),
            Self::Refused => write!(formatter, "connections reset, then refused for a while {}", of(&Side::Server)),
            Self::ClientKilled => write!(formatter, "a client killed, and started again"),
            Self::ClientStopped => write!(formatter, "a client stopped for a while"),
            Self::Relists => write!(formatter, "many lists at once"),
            Self::ObserverStarved => write!(formatter, "many lists at once, and no processor for the thread that observes"),
            Self::Nonsense => write!(formatter, "clients that speak no HTTP"),
        }
    }
}
