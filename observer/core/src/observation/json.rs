//! The JSON form of an observation: one flat object.
//!
//! Its first members are `at`, then `of`, the kind of subject, then the identity of the subject if it has one. The members of its
//! observation follow, with `observation` as their tag. In this order, a reader knows the types of the members that follow before
//! it reads them, so it does not buffer them. Members that this version does not know are skipped.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::subject::{
    CaptureObservation, ConnectionObservation, ExchangeObservation, Observation, RunObservation, Subject, TapObservation,
    UpstreamObservation,
};
use super::vocabulary::{ConnectionId, ExchangeId, UpstreamName};
use crate::time::{Timestamp, recorded};

/// All members of an observation, in their order.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten, serialize_with = "recorded::serialize")]
    at: Timestamp,
    #[serde(flatten)]
    subject: Written<'a>,
}

/// A [`Subject`] to write.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
enum Written<'a> {
    Connection {
        connection: ConnectionId,
        #[serde(flatten)]
        observed: &'a ConnectionObservation,
    },
    Exchange {
        exchange: ExchangeId,
        #[serde(flatten)]
        observed: &'a ExchangeObservation,
    },
    Upstream {
        upstream: &'a UpstreamName,
        #[serde(flatten)]
        observed: &'a UpstreamObservation,
    },
    Tap(&'a TapObservation),
    Capture(&'a CaptureObservation),
    Run(&'a RunObservation),
    Unknown,
}

impl Serialize for Observation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let subject = match &self.subject {
            Subject::Connection(connection, observed) => Written::Connection { connection: *connection, observed },
            Subject::Exchange(exchange, observed) => Written::Exchange { exchange: *exchange, observed },
            Subject::Upstream(upstream, observed) => Written::Upstream { upstream, observed },
            Subject::Tap(observed) => Written::Tap(observed),
            Subject::Capture(observed) => Written::Capture(observed),
            Subject::Run(observed) => Written::Run(observed),
            Subject::Unknown => Written::Unknown,
        };
        Line { at: self.at, subject }.serialize(serializer)
    }
}

/// The kind of a subject that is read.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Connection,
    Exchange,
    Upstream,
    Tap,
    Capture,
    Run,
    #[serde(other)]
    Unknown,
}

/// Name of a member before those of the subject's observation.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum Member {
    At,
    WallAheadNanos,
    Of,
    Connection,
    Exchange,
    Upstream,
    #[serde(other)]
    Unknown,
}

impl<'de> Deserialize<'de> for Observation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Observation;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an observation")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Observation, M::Error> {
        let at: Timestamp = value_of(Member::At, &mut map)?;
        let mut wall_ahead_nanos = 0;
        let kind = loop {
            match map.next_key()?.ok_or_else(|| M::Error::missing_field("of"))? {
                Member::Of => break map.next_value()?,
                Member::WallAheadNanos => wall_ahead_nanos = map.next_value()?,
                Member::At | Member::Connection | Member::Exchange | Member::Upstream | Member::Unknown => skip(&mut map)?,
            }
        };
        let subject = match kind {
            Kind::Connection => Subject::Connection(value_of(Member::Connection, &mut map)?, rest(map)?),
            Kind::Exchange => Subject::Exchange(value_of(Member::Exchange, &mut map)?, rest(map)?),
            Kind::Upstream => Subject::Upstream(value_of(Member::Upstream, &mut map)?, rest(map)?),
            Kind::Tap => Subject::Tap(rest(map)?),
            Kind::Capture => Subject::Capture(rest(map)?),
            Kind::Run => Subject::Run(rest(map)?),
            Kind::Unknown => rest(map).map(|IgnoredAny| Subject::Unknown)?,
        };
        Ok(Observation { at: at.with_wall_ahead(wall_ahead_nanos), subject })
    }
}

/// The value of the next member with this name; those before it are skipped.
fn value_of<'de, T: Deserialize<'de>, M: MapAccess<'de>>(member: Member, map: &mut M) -> Result<T, M::Error> {
    while let Some(next) = map.next_key::<Member>()? {
        if next == member {
            return map.next_value();
        }
        skip(map)?;
    }
    Err(M::Error::custom("a member of every observation is missing"))
}

fn skip<'de, M: MapAccess<'de>>(map: &mut M) -> Result<(), M::Error> {
    map.next_value().map(|IgnoredAny| ())
}

/// The remaining members: those of the subject's observation.
fn rest<'de, T: Deserialize<'de>, M: MapAccess<'de>>(map: M) -> Result<T, M::Error> {
    T::deserialize(MapAccessDeserializer::new(map))
}
