//! Runs a probe, and collects its events and notices before they are decoded.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use observer_core::observation::Process;
use observer_core::series::ProbeFiles;
use observer_tests::patient;
use watchtap::api_server::UpstreamId;
use watchtap::intake::{ConnectionId, ConnectionInfo, Delivery, Intake, IntakeLimits, IntakeReceiver, Notice, TapEvent};
use watchtap::tap::Clock;
use watchtap::tap::probe::{FollowedAddresses, ProbeOptions, ProbeTap};

/// Limit of every wait.
const LIMIT: Duration = Duration::from_mins(1);

/// A running probe and the receiver of its events.
pub(crate) struct RunningProbe {
    tap: ProbeTap,
    receiver: IntakeReceiver,
    output: ProbeOutput,
}

/// All events and notices so far.
#[derive(Debug, Default)]
pub(crate) struct ProbeOutput {
    pub(crate) events: Vec<(ConnectionId, TapEvent)>,
    pub(crate) notices: Vec<Notice>,
    /// The files that it knew at the end.
    pub(crate) files: Option<ProbeFiles>,
}

impl RunningProbe {
    pub(crate) fn start(options: &ProbeOptions) -> Self {
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let tap = ProbeTap::start(options, intake, Clock::start()).unwrap();
        assert_eq!(tap.limits(), [""; 0]);
        Self { tap, receiver, output: ProbeOutput::default() }
    }

    /// Takes all waiting events and returns everything so far.
    pub(crate) fn output(&mut self) -> &ProbeOutput {
        self.output.take(&mut self.receiver);
        &self.output
    }

    /// Gives the API servers other addresses, and waits until they are followed.
    pub(crate) fn readdress(&self, servers: &BTreeMap<SocketAddr, UpstreamId>) {
        readdress(&self.tap, servers);
    }

    /// Waits until the events so far satisfy `is_enough`.
    pub(crate) fn until(&mut self, is_enough: impl Fn(&ProbeOutput) -> bool) -> &ProbeOutput {
        let begun = Instant::now();
        while !is_enough(&self.output) {
            assert!(begun.elapsed() < patient(LIMIT), "{:?}", self.output.notices);
            self.output.take_next(&mut self.receiver, Duration::from_secs(1));
        }
        &self.output
    }

    /// Stops the probe and returns everything.
    pub(crate) fn finish(mut self) -> ProbeOutput {
        self.tap.finish().unwrap();
        self.output.take(&mut self.receiver);
        self.output.files = self.receiver.waker().probe_files();
        self.output
    }
}

/// Gives the API servers other addresses, and waits until the probe follows these and no others as current ones.
pub(crate) fn readdress(tap: &ProbeTap, servers: &BTreeMap<SocketAddr, UpstreamId>) {
    let addresses = tap.addresses();
    let mut followed = addresses.followed();
    let are_followed = |followed: &FollowedAddresses| {
        let current = followed.addresses().len() - followed.former();
        servers.keys().all(|address| followed.is_followed(*address)) && current == servers.len() && followed.is_settled()
    };
    addresses.are(servers.clone());
    let awaited = async { followed.wait_for(|followed| are_followed(followed)).await.map(|_| ()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(patient(LIMIT), awaited).await }).unwrap().unwrap();
}

impl ProbeOutput {
    /// Runs a probe while `act` runs.
    pub(crate) fn during(options: &ProbeOptions, act: impl FnOnce()) -> Self {
        let probe = RunningProbe::start(options);
        act();
        probe.finish()
    }

    /// Files whose connections are not seen, with the reason.
    pub(crate) fn not_probed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.notices.iter().filter_map(|notice| {
            let Notice::NotProbed { file, why, .. } = notice else { return None };
            Some((file.as_str(), why.as_str()))
        })
    }

    /// The connections in order of their opening.
    pub(crate) fn opened(&self) -> Vec<ConnectionInfo> {
        let opened = self.events.iter().filter_map(|(_, event)| {
            let TapEvent::Opened { info, .. } = event else { return None };
            Some(info.clone())
        });
        opened.collect()
    }

    /// Adds the process of a connection, which may be found after the connection was opened.
    fn learn(&mut self, connection: ConnectionId, found: Option<Process>) {
        let mut of_connection = self.events.iter_mut().filter(|(id, _)| *id == connection);
        let Some((_, TapEvent::Opened { info, .. })) = of_connection.next() else { panic!("{connection:?} never began") };
        info.process = found;
    }

    fn take(&mut self, receiver: &mut IntakeReceiver) {
        while self.take_next(receiver, Duration::ZERO) {}
    }

    /// Returns false if nothing was delivered.
    fn take_next(&mut self, receiver: &mut IntakeReceiver, wait: Duration) -> bool {
        let mut is_any = false;
        for delivered in receiver.drain(wait) {
            is_any = true;
            match delivered.delivery {
                Delivery::Connection(id, event) => self.events.push((id, event)),
                Delivery::Notice(notice) => self.notices.push(notice),
                Delivery::Process(id, process) => self.learn(id, process),
            }
        }
        is_any
    }
}
