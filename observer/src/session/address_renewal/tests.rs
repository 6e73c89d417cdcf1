//! Tests of renewals, with a scripted resolver, a scripted API server and chosen times.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use observer_core::series::ProbeAddresses;

use super::renewal::{Renewal, Renewing};
use super::{KnownAddresses, Listeners, Renewed, Resolver};
use crate::api_server::{EndpointSliceReader, Reply, ScriptedServer, UpstreamEndpoint, UpstreamId};
use crate::intake::{Intake, IntakeLimits, IntakeReceiver};
use crate::tap::probe::{MAX_ADDRESSES, ServerAddresses};

const SERVER: UpstreamId = UpstreamId(0);
const MINUTE: Duration = Duration::from_mins(1);

/// The present addresses of the name; none is a failure.
#[derive(Clone, Default)]
struct Name(Arc<Mutex<Option<Vec<SocketAddr>>>>);

impl Name {
    fn is_at(&self, addresses: Option<Vec<SocketAddr>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
    }
}

impl Resolver for Name {
    fn look_up<'a>(&'a self, _: &'a UpstreamEndpoint) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such host")) })
    }
}

/// The ports on which processes of this machine listen; at first all of them.
type Listened = Arc<Mutex<Option<BTreeSet<u16>>>>;

/// A renewal for one server with a name, whose probe follows each address at once.
struct Stage {
    name: Name,
    addresses: ServerAddresses,
    follow: Box<dyn FnMut()>,
    renewing: Renewing,
    listened: Listened,
    receiver: IntakeReceiver,
    now: Duration,
}

impl Stage {
    fn begin(server: Option<&ScriptedServer>) -> Self {
        Self::begin_at(vec![address(1)], server)
    }

    /// Begins with these addresses of the name.
    fn begin_at(at_first: Vec<SocketAddr>, server: Option<&ScriptedServer>) -> Self {
        let name = Name::default();
        name.is_at(Some(at_first.clone()));
        let mut known = KnownAddresses::default();
        known.add(SERVER, UpstreamEndpoint { host: "api.example".to_owned(), port: 6443 }, at_first);
        let (addresses, follow) = ServerAddresses::without_a_probe(known.servers());
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let listened = Listened::default();
        let ports = Arc::clone(&listened);
        let is_listened_on = move |asked: &BTreeSet<u16>| {
            ports.lock().unwrap_or_else(PoisonError::into_inner).as_ref().is_none_or(|ports| !ports.is_disjoint(asked))
        };
        let renewal = Renewal {
            known,
            names: BTreeMap::from([(SERVER, "api.example:6443".to_owned())]),
            slice: server.map(|server| (SERVER, EndpointSliceReader::of(server.service()))),
            resolver: Box::new(name.clone()),
            listeners: Some(Listeners::by(is_listened_on)),
            addresses: addresses.clone(),
            intake,
        };
        let renewing = Renewing::begin(renewal, 0);
        Self { name, addresses, follow: Box::new(follow), renewing, listened, receiver, now: Duration::ZERO }
    }

    /// Does what is due now, and then each half minute until this time has passed; returns all messages.
    async fn pass(&mut self, time: Duration) -> Vec<String> {
        let until = self.now + time;
        let mut messages = self.turn().await;
        while self.now + MINUTE / 2 <= until {
            self.now += MINUTE / 2;
            messages.extend(self.turn().await);
        }
        messages
    }

    async fn turn(&mut self) -> Vec<String> {
        let mut messages = self.renewing.turn(self.now, 0).await;
        (self.follow)();
        messages.extend(self.renewing.look());
        messages.extend(self.renewing.check_listeners().await);
        messages
    }

    /// From now on, processes of this machine listen on these ports only.
    fn listened_ports_are<const N: usize>(&self, ports: [u16; N]) {
        *self.listened.lock().unwrap_or_else(PoisonError::into_inner) = Some(ports.into());
    }

    fn followed(&self) -> Vec<SocketAddr> {
        self.addresses.followed().borrow().addresses()
    }

    fn numbers(&self) -> ProbeAddresses {
        self.receiver.waker().probe_addresses().unwrap()
    }
}

fn address(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, u8::try_from(number).unwrap()], 6443))
}

#[tokio::test]
async fn moved_name_is_followed_within_a_minute() {
    let mut stage = Stage::begin(None);
    assert_eq!(stage.pass(MINUTE).await, [""; 0]);
    stage.name.is_at(Some(vec![address(2)]));
    assert_eq!(stage.pass(MINUTE).await, ["api.example:6443 is at 10.0.0.2:6443, too; connections to it are observed from now on"]);
    assert_eq!(stage.followed(), [address(1), address(2)]);
    assert_eq!(stage.numbers(), ProbeAddresses { current: 1, former: 1, ..ProbeAddresses::default() });
    // Names that alternate between addresses are no news.
    stage.name.is_at(Some(vec![address(1)]));
    assert_eq!(stage.pass(MINUTE).await, [""; 0]);
    assert_eq!(stage.renewing.end(), Renewed(vec![]));
}

#[tokio::test]
async fn failed_lookups_are_reported_once_and_keep_the_addresses() {
    let mut stage = Stage::begin(None);
    stage.name.is_at(None);
    let messages = stage.pass(5 * MINUTE).await;
    assert!(matches!(&messages[..], [one] if one.contains("no such host; its last addresses stay")), "{messages:?}");
    assert_eq!(stage.followed(), [address(1)]);
    stage.name.is_at(Some(vec![address(1)]));
    assert_eq!(stage.pass(MINUTE).await, ["api.example:6443 can be looked up again"]);
}

#[tokio::test]
async fn addresses_without_room_are_counted_and_reported_once() {
    let mut stage = Stage::begin(None);
    stage.name.is_at(Some((1..MAX_ADDRESSES + 3).map(address).collect()));
    let expected = "no room for 2 addresses of API servers: a probe follows 64 at most, and does not see connections to more";
    let messages = stage.pass(5 * MINUTE).await;
    assert_eq!(messages.iter().filter(|message| *message == expected).count(), 1, "{messages:?}");
    assert_eq!(stage.numbers(), ProbeAddresses { current: 64, no_room: 2, ..ProbeAddresses::default() });
    assert_eq!(stage.renewing.end(), Renewed(vec![expected.to_owned()]));
}

#[tokio::test]
async fn addresses_without_room_at_the_start_are_reported() {
    let mut stage = Stage::begin_at((1..MAX_ADDRESSES + 2).map(address).collect(), None);
    let messages = stage.pass(5 * MINUTE).await;
    assert!(matches!(&messages[..], [one] if one.starts_with("no room for 1 address of API servers")), "{messages:?}");
    assert_eq!(stage.followed().len(), MAX_ADDRESSES);
}

/// The port in the EndpointSlice differs from that of the Service, as in a cluster.
#[tokio::test]
async fn listeners_are_checked_at_the_ports_of_the_endpoint_slice() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&["10.0.0.7"])).await;
    let service = SocketAddr::from(([10, 96, 0, 1], 443));
    let mut stage = Stage::begin_at(vec![service], Some(&server));
    stage.listened_ports_are([6443]);
    assert_eq!(stage.renewing.check_listeners().await, None, "the EndpointSlice is not read yet");
    let messages = stage.pass(5 * MINUTE).await;
    assert!(matches!(&messages[..], [one] if one.contains("10.0.0.7:6443, too")), "{messages:?}");
    assert_eq!(stage.renewing.end(), Renewed(vec![]));
}

#[tokio::test]
async fn missing_listener_is_reported_until_a_process_listens() {
    let mut stage = Stage::begin(None);
    stage.listened_ports_are([]);
    let messages = stage.pass(5 * MINUTE).await;
    let expected = "no process on this machine is seen to listen on port 6443: no API server's end is seen until one does";
    assert_eq!(messages, [expected]);
    stage.listened_ports_are([6443]);
    let messages = stage.pass(5 * MINUTE).await;
    assert_eq!(messages, ["a process on this machine listens on port 6443: the API server's end is seen"]);
    // An API server that restarts does not listen for a moment.
    stage.listened_ports_are([]);
    assert_eq!(stage.pass(5 * MINUTE).await, [""; 0]);
    assert_eq!(stage.renewing.end(), Renewed(vec![]));
}

#[tokio::test]
async fn missing_listener_is_in_the_report() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::Answer(403, String::new())).await;
    let mut stage = Stage::begin(Some(&server));
    stage.listened_ports_are([]);
    let messages = stage.pass(MINUTE).await;
    assert!(matches!(&messages[..], [_, one] if one.contains("listen on port 6443")), "{messages:?}");
    assert!(stage.renewing.end().0.contains(&messages[1]));
}

#[tokio::test]
async fn endpoint_slice_is_read_at_the_start_and_after_ten_silent_minutes() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::slice(&["10.0.0.7"])).await;
    let mut stage = Stage::begin(Some(&server));
    let messages = stage.pass(Duration::ZERO).await;
    assert_eq!(messages, ["api.example:6443 is at 10.0.0.7:6443, too; connections to it are observed from now on"]);
    assert_eq!(stage.followed(), [address(1), address(7)]);
    // Something is seen each minute.
    for _ in 0..30 {
        stage.addresses.note_transfer(SERVER);
        stage.pass(MINUTE).await;
    }
    assert_eq!(server.received().len(), 1);
    server.reply(Reply::slice(&["10.0.0.8"]));
    stage.pass(8 * MINUTE).await;
    assert_eq!((server.received().len(), stage.followed().len()), (1, 2));
    stage.pass(2 * MINUTE).await;
    assert_eq!(server.received().len(), 2);
    assert_eq!(stage.followed(), [address(1), address(7), address(8)]);
    let expected = ProbeAddresses { current: 2, former: 1, slice_read: 2, ..ProbeAddresses::default() };
    assert_eq!(stage.numbers(), expected);
    assert_eq!(stage.renewing.end(), Renewed(vec![]));
}

#[tokio::test]
async fn refused_endpoint_slice_is_reported_once_and_not_requested_again_soon() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::Answer(403, String::new())).await;
    let mut stage = Stage::begin(Some(&server));
    let messages = stage.pass(21 * MINUTE).await;
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(message.contains("403") && message.contains("Clients are not seen if"), "{message}");
    assert_eq!(server.received().len(), 3, "at the start, and after each silence");
    assert_eq!(stage.numbers().slice_refused, 3);
    // The addresses of names are followed all the same.
    assert_eq!(stage.followed(), [address(1)]);
    assert_eq!(stage.renewing.end(), Renewed(messages));
}

#[tokio::test]
async fn failed_request_is_repeated_until_the_api_server_answers() {
    let server = ScriptedServer::start("127.0.0.1:0", Reply::Answer(500, String::new())).await;
    let mut stage = Stage::begin(Some(&server));
    assert_eq!(stage.pass(3 * MINUTE).await.len(), 1);
    let failed = server.received().len();
    assert!((2..6).contains(&failed), "{failed}");
    server.reply(Reply::slice(&["10.0.0.7"]));
    stage.pass(5 * MINUTE).await;
    assert_eq!(stage.followed(), [address(1), address(7)]);
    assert_eq!(server.received().len(), failed + 1);
    assert_eq!(stage.renewing.end(), Renewed(vec![]), "it was read in the end");
}
