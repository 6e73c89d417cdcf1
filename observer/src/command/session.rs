//! One run of observing, from the first listener to the last observation.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::runtime::Runtime;

use super::coverage;
use super::descriptor_limit::DescriptorLimit;
use super::profiles::Profiles;
use super::tap_set::TapSet;
use super::upstream_flags::UpstreamFlags;
use crate::client_process::ProcessFinder;
use crate::intake::{Intake, IntakeLimits, IntakeReceiver, Notice};
use crate::kubeconfig::{Kubeconfig, Pairs};
use crate::pipeline::{Observing, Outcome, Outputs};
use crate::tap::Clock;
use crate::tap::proxy::{Descriptors, ProxyCounts};
use crate::view::counted;

/// The listeners are bound. Clients may connect and wait; none is served yet.
#[derive(Debug)]
pub(super) struct Bound {
    taps: TapSet,
    descriptor_limit: DescriptorLimit,
    intake: Intake,
    receiver: IntakeReceiver,
    clock: Clock,
}

/// Clients are served and observed.
#[derive(Debug)]
pub(super) struct Session {
    taps: TapSet,
    descriptor_limit: DescriptorLimit,
    observing: Observing,
    intake: Intake,
    clock: Clock,
}

/// The runtime of the forwarding threads.
pub(super) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("forwarding")
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

impl Bound {
    /// Binds a listener for each of `pairs`, those of `kubeconfig`, according to `flags`. Reports the contexts that are not
    /// covered.
    pub(super) fn new(kubeconfig: &Kubeconfig, pairs: Pairs, flags: &UpstreamFlags) -> Result<Self> {
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let processes = ProcessFinder::start().context("cannot start the thread that finds the processes of clients")?;
        let intake = intake.with_processes(processes);
        let descriptor_limit = DescriptorLimit::raise();
        let descriptors = Descriptors::within(descriptor_limit.count());
        let taps = TapSet::bind(kubeconfig, pairs, flags, &intake, clock, &descriptors)?;
        coverage::announce(&taps);
        Ok(Self { taps, descriptor_limit, intake, receiver, clock })
    }

    pub(super) fn taps(&self) -> &TapSet {
        &self.taps
    }

    /// Learns the server profiles, then serves.
    pub(super) async fn serve(self, profiles: &Profiles, outputs: Outputs) -> Result<Session> {
        let Self { mut taps, descriptor_limit, intake, receiver, clock } = self;
        let upstreams = taps.upstreams(profiles).await;
        taps.check_unanswering(&upstreams, profiles);
        let observing = Observing::start(receiver, clock.now(), upstreams, outputs).context("cannot start the observing thread")?;
        taps.serve(profiles, &intake, clock);
        Ok(Session { taps, descriptor_limit, observing, intake, clock })
    }
}

impl Session {
    pub(super) fn taps(&self) -> &TapSet {
        &self.taps
    }

    /// Starts a command with the descriptor limit that we were started with.
    pub(super) fn start<T>(&self, start: impl FnOnce() -> T) -> T {
        self.descriptor_limit.as_before(start)
    }

    /// Notes that shutdown was requested: the report shows reflectors as they are now, before their connections close.
    pub(super) fn note_shutdown(&self) {
        self.intake.notice(Notice::ShutdownRequested { at: self.clock.now() });
    }

    /// Stops accepting clients. Waits until all connections have ended or `grace` has passed, and until everything is decoded.
    pub(super) async fn end(self, grace: Duration) -> Result<Outcome> {
        self.note_shutdown();
        let Self { taps, descriptor_limit: _, observing, intake, clock: _ } = self;
        // Observing ends when the intake is dropped; from here on only the listeners hold it.
        drop(intake);
        let counts = taps.stop(grace).await?;
        let mut outcome = tokio::task::spawn_blocking(|| observing.finish()).await??;
        outcome.troubles.extend(troubles(&counts));
        Ok(outcome)
    }
}

/// Facts that the proxy has and no observation contains.
fn troubles(counts: &ProxyCounts) -> Vec<String> {
    let mut troubles = Vec::new();
    if counts.client_handshakes_failed > 0 {
        troubles.push(format!(
            "{} client connections ended in the TLS handshake with us: a client that does not trust the CA of its kubeconfig, shows \
             another client certificate than the one in it, or does not speak TLS",
            counts.client_handshakes_failed
        ));
    }
    if counts.certificates_refused > 0 {
        troubles.push(format!(
            "{} refused with the TLS alert access_denied: the client showed a client certificate, which cannot be passed on, at the listener \
             of another user; choose a context of the certificate's user instead of --user or --client-certificate",
            counted(counts.certificates_refused, "client connection")
        ));
    }
    if counts.certificates_missing > 0 {
        troubles.push(format!(
            "{} refused with the TLS alert certificate_required: the client showed no client certificate, at the listener of a user who has \
             one; choose a context of the client's own user instead of --user",
            counted(counts.certificates_missing, "client connection")
        ));
    }
    if counts.hellos_given_up > 0 {
        troubles.push(format!(
            "{} reset before the TLS ClientHello was complete, to make room for others: more clients than can be greeted at a time, or \
             something that connects and does not speak TLS",
            counted(counts.hellos_given_up, "client connection")
        ));
    }
    if counts.asked_elsewhere > 0 {
        troubles.push(format!(
            "{} connections asked us, as a proxy, for something else than the API server, and were closed: a client that sends all its \
             traffic to the proxy-url of its kubeconfig",
            counts.asked_elsewhere
        ));
    }
    if counts.waits_for_descriptors > 0 {
        troubles.push(format!(
            "{} had to wait for a free descriptor: each connection takes two; raise the limit with `ulimit -n` before the start",
            counted(counts.waits_for_descriptors, "client")
        ));
    }
    if counts.waits_for_system > 0 {
        troubles.push(format!(
            "{} had to wait until the system let it in: it was short of files or memory, or its network failed",
            counted(counts.waits_for_system, "client")
        ));
    }
    if counts.faults > 0 {
        troubles.push(format!("{} connections were reset for a fault of ours; please report it", counts.faults));
    }
    troubles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_refused_client_has_its_own_remedy() {
        let none = ProxyCounts::default();
        check(ProxyCounts { certificates_refused: 1, ..none }, "choose a context of the certificate's user");
        check(ProxyCounts { certificates_missing: 1, ..none }, "choose a context of the client's own user");
        check(ProxyCounts { client_handshakes_failed: 1, ..none }, "does not trust the CA of its kubeconfig");
        assert!(troubles(&none).is_empty());
    }

    #[track_caller]
    fn check(counts: ProxyCounts, remedy: &str) {
        let troubles = troubles(&counts);
        assert!(matches!(&troubles[..], [one] if one.contains(remedy)), "{troubles:?}");
    }
}
