//! The input of the region `follow`: connections with reflectors that have listed and watch, and the events for them.

use anyhow::Result;
use observer_core::http::{Direction, Protocol};
use observer_core::observation::{ConnectionDecoder, ConnectionId, ConnectionObservation, Observation, Subject, UpstreamName};
use observer_core::observer::{Limits, Observer};
use observer_core::time::Timestamp;

use crate::frames::{END_STREAM, data, request, response, settings};

/// Watches per connection, as in one process with many informers.
const EACH: u32 = 100;
/// Objects of each reflector.
const OBJECTS: u32 = 20;
/// Decoders, their Observer, and the streams of the watches.
pub struct Stage {
    observer: Observer,
    connections: Vec<ConnectionDecoder>,
    now: Timestamp,
    revision: u64,
    /// Watches per connection.
    each: u32,
    /// Custom resources that are watched in turn; 0 for the pods of many namespaces.
    resources: u32,
}

impl Stage {
    /// Creates `reflectors` reflectors that have listed and watch.
    pub fn set(reflectors: u32) -> Result<Self> {
        Self::with(reflectors.div_ceil(EACH), EACH, 0)
    }

    /// Creates `clients` clients with different user agents, each with `each` reflectors. These watch `resources` custom resources in
    /// turn.
    pub fn of_clients(clients: u32, each: u32, resources: u32) -> Result<Self> {
        Self::with(clients, each, resources)
    }

    fn with(connections: u32, each: u32, resources: u32) -> Result<Self> {
        let mut stage = Self {
            observer: Observer::new(Limits::default()),
            connections: Vec::new(),
            now: Timestamp::from_nanos(1),
            revision: 1_000,
            each,
            resources,
        };
        for number in 0..connections {
            stage.connect(number + 1)?;
        }
        Ok(stage)
    }

    /// The number of open watches.
    pub fn watches(&self) -> usize {
        self.connections.len() * self.each as usize
    }

    /// The Observer, for its counts and snapshots.
    pub const fn observer(&self) -> &Observer {
        &self.observer
    }

    /// Makes `events` events, one frame each, distributed over the watches in turn. Returns each frame with the index of its
    /// connection.
    pub fn frames(&mut self, events: usize) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut frames = Vec::with_capacity(events);
        for number in 0..events {
            let connection = number % self.connections.len();
            let watch = u32::try_from(number / self.connections.len() % self.each as usize)?;
            self.revision += 1;
            frames.push((connection, data(0, stream_of_watch(watch), event(number, self.revision).as_bytes())?));
        }
        Ok(frames)
    }

    /// The payload of a frame of [`Self::frames`].
    pub fn payload(frame: &[u8]) -> &[u8] {
        frame.get(9..).unwrap_or_default()
    }

    /// Decodes frames and passes the observations to the Observer.
    pub fn observe(&mut self, frames: &[(usize, Vec<u8>)]) {
        let Self { observer, connections, now, .. } = self;
        for (connection, frame) in frames {
            *now = now.plus(std::time::Duration::from_micros(20));
            if let Some(decoder) = connections.get_mut(*connection) {
                decoder.bytes(*now, Direction::Response, frame, &mut |observation| observer.observe(observation, &mut |_event| {}));
            }
        }
    }

    /// Decodes frames without observing.
    pub fn decode(&mut self, frames: &[(usize, Vec<u8>)]) -> usize {
        let mut told = 0;
        for (connection, frame) in frames {
            if let Some(decoder) = self.connections.get_mut(*connection) {
                decoder.bytes(self.now, Direction::Response, frame, &mut |_observation| told += 1);
            }
        }
        told
    }

    fn path(&self, client: u32, watch: u32) -> String {
        let number = client.wrapping_mul(self.each).wrapping_add(watch);
        match number.checked_rem(self.resources) {
            Some(resource) => format!("/apis/g{resource}.example.com/v1/things"),
            None => format!("/api/v1/namespaces/n{watch}/pods"),
        }
    }

    fn connect(&mut self, client: u32) -> Result<()> {
        let paths: Vec<String> = (0..self.each).map(|watch| self.path(client, watch)).collect();
        let number = u64::from(client);
        let (connection, protocol) = (ConnectionId(number), Some(Protocol::Http2));
        let subject = Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        );
        self.observer.observe(Observation { at: self.now, subject }, &mut |_event| {});
        let mut decoder = ConnectionDecoder::new(connection, protocol, "");
        let mut tell = |direction, bytes: &[u8]| {
            decoder.bytes(self.now, direction, bytes, &mut |observation| self.observer.observe(observation, &mut |_event| {}));
        };
        let (from_client, from_server) = settings()?;
        tell(Direction::Request, &from_client);
        tell(Direction::Response, &from_server);
        for (watch, path) in (0..).zip(paths) {
            let listed = request(stream_of_list(watch), number, &format!("{path}?resourceVersion=0&limit=500"))?;
            tell(Direction::Request, &listed);
            let answer = list(watch);
            let answer = [response(stream_of_list(watch))?, data(END_STREAM, stream_of_list(watch), answer.as_bytes())?];
            tell(Direction::Response, &answer.concat());
            let options = "watch=1&resourceVersion=1000&allowWatchBookmarks=true&timeoutSeconds=400";
            tell(Direction::Request, &request(stream_of_watch(watch), number, &format!("{path}?{options}"))?);
            tell(Direction::Response, &response(stream_of_watch(watch))?);
        }
        self.connections.push(decoder);
        Ok(())
    }
}

const fn stream_of_list(watch: u32) -> u32 {
    watch * 4 + 1
}

const fn stream_of_watch(watch: u32) -> u32 {
    watch * 4 + 3
}

fn list(watch: u32) -> String {
    let items: Vec<String> = (0..OBJECTS).map(|number| pod(&format!("p{watch}-{number}"), 900)).collect();
    format!(r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"1000"}},"items":[{}]}}"#, items.join(","))
}

fn event(number: usize, revision: u64) -> String {
    format!("{{\"type\":\"MODIFIED\",\"object\":{}}}\n", pod(&format!("p-{}", number % OBJECTS as usize), revision))
}

/// A small pod of about one kilobyte.
fn pod(name: &str, revision: u64) -> String {
    let environment: Vec<String> =
        (0..12).map(|number| format!(r#"{{"name":"SETTING_{number}","value":"value-{number}-of-the-container"}}"#)).collect();
    format!(
        r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"n","uid":"0c6ee2a1-{name}","resourceVersion":"{revision}","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"example.com/web:1","env":[{}]}}]}},"status":{{"phase":"Running","podIP":"10.0.0.1"}}}}"#,
        environment.join(",")
    )
}
