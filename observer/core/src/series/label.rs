//! The table of all labels: their names and their values.
//!
//! Names and values that kube-apiserver's own metrics have are theirs (kubernetes/apiserver pkg/endpoints/metrics/metrics.go,
//! 0.31.14, 0.34.4 and 0.37.0), so that queries can join both.

use super::family::Family;
use super::words::{
    AddressWord, BlockageWord, CauseWord, CertaintyWord, DirectionWord, EndWord, EventWord, ExposureWord, LayerWord, ListKindWord,
    LostBytesWord, LostCallWord, LostConnectionWord, LostRecordWord, MissedWord, ProtocolWord, ScopeWord, SeenWord, SenderWord,
    SliceWord, SourceWord, StateWord, StormKindWord, TapWord, TriggerWord, UnreadWord, VerbWord,
};
use crate::exchange::{RequestLabels, ValueNumber};
use crate::finding_kind::FindingKind;

/// A label. Values that only have a meaning together are one label, with several names: a resource and its group, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// The program that made a request, and its `ServiceAccount`.
    Client,
    /// Group and resource; both are empty for a path that is not a resource.
    Resource,
    /// Such as `LIST`; the values are words of kube-apiserver.
    Verb,
    /// Such as `status`; empty for the object itself.
    Subresource,
    /// The objects that a request is for.
    Scope,
    /// The status of a response; empty when it is unknown.
    Code,
    /// The layer of an answer.
    ServedFrom,
    /// The rule of a verdict.
    Rule,
    /// Whether an answer proved the layer of a verdict.
    Certainty,
    /// How a watch ended.
    End,
    /// The type of a watch event.
    Type,
    /// The state of a reflector.
    State,
    /// Why a reflector began with a list.
    ListKind,
    /// The cause of a relist.
    Cause,
    /// The reason why a server could not send.
    Blockage,
    /// The event that set off a storm.
    Trigger,
    /// Whether one client or several take part in a storm.
    StormKind,
    /// Whether a reflector would relist if the API server restarted.
    Exposure,
    /// The kind of a finding.
    Finding,
    /// The name of an API server.
    Upstream,
    /// The version of an API server; empty when it is unknown.
    ServerVersion,
    /// The source of that version.
    Source,
    /// The protocol of a connection.
    Protocol,
    /// The sender of a GOAWAY.
    Sender,
    /// The direction of bytes.
    Direction,
    /// The kind of a loss.
    What,
    /// Why a body was not read.
    Unread,
    /// Why a probe lost a record.
    LostRecord,
    /// Why a probe lost bytes.
    LostBytes,
    /// Why a probe lost a call.
    LostCall,
    /// Why a probe lost a connection.
    LostConnection,
    /// How much of a file's calls a probe sees.
    Seen,
    /// Whether a probe follows an address.
    Address,
    /// The result of a request for the EndpointSlice.
    Slice,
    /// The name of a family.
    OfFamily,
    /// The version of watchtap.
    Version,
    /// The revision of its sources.
    Revision,
    /// The tap of a run.
    Tap,
}

/// The values that a label can have, apart from `other`.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Those that come first; [`super::SeriesLimits`] has their number.
    FirstCome,
    /// The identifiers of all rules of `routing`.
    Rules,
    /// These words.
    Words(&'static [&'static str]),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct LabelRow {
    /// The label in code.
    pub label: Label,
    /// In the output, one for each part of a value.
    pub names: &'static [&'static str],
    /// All that it can have.
    pub values: Values,
}

/// The value of all labels for which there was no room.
pub(super) const OTHER: &str = "other";

/// All labels, in the order of [`Label`].
pub const LABELS: &[LabelRow] = &[
    LabelRow { label: Label::Client, names: &["client", "service_account"], values: Values::FirstCome },
    LabelRow { label: Label::Resource, names: &["group", "resource"], values: Values::FirstCome },
    LabelRow { label: Label::Verb, names: &["verb"], values: Values::Words(VerbWord::WORDS) },
    LabelRow { label: Label::Subresource, names: &["subresource"], values: Values::FirstCome },
    LabelRow { label: Label::Scope, names: &["scope"], values: Values::Words(ScopeWord::WORDS) },
    LabelRow { label: Label::Code, names: &["code"], values: Values::FirstCome },
    LabelRow { label: Label::ServedFrom, names: &["served_from"], values: Values::Words(LayerWord::WORDS) },
    LabelRow { label: Label::Rule, names: &["rule"], values: Values::Rules },
    LabelRow { label: Label::Certainty, names: &["certainty"], values: Values::Words(CertaintyWord::WORDS) },
    LabelRow { label: Label::End, names: &["end"], values: Values::Words(EndWord::WORDS) },
    LabelRow { label: Label::Type, names: &["type"], values: Values::Words(EventWord::WORDS) },
    LabelRow { label: Label::State, names: &["state"], values: Values::Words(StateWord::WORDS) },
    LabelRow { label: Label::ListKind, names: &["kind"], values: Values::Words(ListKindWord::WORDS) },
    LabelRow { label: Label::Cause, names: &["cause"], values: Values::Words(CauseWord::WORDS) },
    LabelRow { label: Label::Blockage, names: &["by"], values: Values::Words(BlockageWord::WORDS) },
    LabelRow { label: Label::Trigger, names: &["trigger"], values: Values::Words(TriggerWord::WORDS) },
    LabelRow { label: Label::StormKind, names: &["kind"], values: Values::Words(StormKindWord::WORDS) },
    LabelRow { label: Label::Exposure, names: &["certainty"], values: Values::Words(ExposureWord::WORDS) },
    LabelRow { label: Label::Finding, names: &["kind"], values: Values::Words(FindingKind::IDS) },
    LabelRow { label: Label::Upstream, names: &["upstream"], values: Values::FirstCome },
    LabelRow { label: Label::ServerVersion, names: &["server_version"], values: Values::FirstCome },
    LabelRow { label: Label::Source, names: &["source"], values: Values::Words(SourceWord::WORDS) },
    LabelRow { label: Label::Protocol, names: &["protocol"], values: Values::Words(ProtocolWord::WORDS) },
    LabelRow { label: Label::Sender, names: &["by"], values: Values::Words(SenderWord::WORDS) },
    LabelRow { label: Label::Direction, names: &["direction"], values: Values::Words(DirectionWord::WORDS) },
    LabelRow { label: Label::What, names: &["what"], values: Values::Words(MissedWord::WORDS) },
    LabelRow { label: Label::Unread, names: &["reason"], values: Values::Words(UnreadWord::WORDS) },
    LabelRow { label: Label::LostRecord, names: &["reason"], values: Values::Words(LostRecordWord::WORDS) },
    LabelRow { label: Label::LostBytes, names: &["reason"], values: Values::Words(LostBytesWord::WORDS) },
    LabelRow { label: Label::LostCall, names: &["reason"], values: Values::Words(LostCallWord::WORDS) },
    LabelRow { label: Label::LostConnection, names: &["reason"], values: Values::Words(LostConnectionWord::WORDS) },
    LabelRow { label: Label::Seen, names: &["seen"], values: Values::Words(SeenWord::WORDS) },
    LabelRow { label: Label::Address, names: &["state"], values: Values::Words(AddressWord::WORDS) },
    LabelRow { label: Label::Slice, names: &["result"], values: Values::Words(SliceWord::WORDS) },
    LabelRow { label: Label::OfFamily, names: &["family"], values: Values::Words(Family::NAMES) },
    LabelRow { label: Label::Version, names: &["version"], values: Values::FirstCome },
    LabelRow { label: Label::Revision, names: &["revision"], values: Values::FirstCome },
    LabelRow { label: Label::Tap, names: &["tap"], values: Values::Words(TapWord::WORDS) },
];

/// A value of each label, as its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelSet([ValueNumber; LABELS.len()]);

/// The largest number of labels of a family.
pub(super) const MOST_LABELS: usize = 8;

/// The values of a family's labels, in their order, as one number: the first label has the highest byte. A lookup compares many keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u64);

impl From<FindingKind> for ValueNumber {
    /// Its place among the identifiers of all kinds.
    fn from(kind: FindingKind) -> Self {
        Self(kind as u8)
    }
}

impl Default for LabelSet {
    fn default() -> Self {
        Self([ValueNumber::default(); LABELS.len()])
    }
}

impl From<RequestLabels> for LabelSet {
    fn from(labels: RequestLabels) -> Self {
        let RequestLabels { client, resource, verb, subresource, scope } = labels;
        Self::default()
            .with(Label::Client, client)
            .with(Label::Resource, resource)
            .with(Label::Verb, verb)
            .with(Label::Subresource, subresource)
            .with(Label::Scope, scope)
    }
}

impl LabelSet {
    /// The set that stands for all sets without room.
    pub(super) const OTHERS: Self = Self::others();

    /// The value `other` of verbs is a word, with a number of its own: no two label sets may have the same text.
    #[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
    const fn others() -> Self {
        let mut numbers = [ValueNumber::OTHER; LABELS.len()];
        numbers[Label::Verb as usize] = VerbWord::Other.number();
        Self(numbers)
    }

    /// The set with one value.
    pub(crate) fn of(label: Label, number: ValueNumber) -> Self {
        Self::default().with(label, number)
    }

    /// The set, with another value of `label`.
    #[must_use]
    pub(crate) fn with(mut self, label: Label, number: ValueNumber) -> Self {
        if let Some(place) = self.0.get_mut(label as usize) {
            *place = number;
        }
        self
    }

    /// The part that `labels` select.
    pub(super) fn key(&self, labels: &[Label]) -> Key {
        let mut key = [0; MOST_LABELS];
        for (place, label) in key.iter_mut().zip(labels) {
            *place = self.0.get(*label as usize).copied().unwrap_or_default().0;
        }
        Key(u64::from_be_bytes(key))
    }
}

impl Key {
    /// Whether a value had no room.
    pub(super) fn is_folded(self) -> bool {
        self.0.to_be_bytes().contains(&ValueNumber::OTHER.0)
    }

    /// Its values, in the order of the family's labels.
    pub(super) fn iter(self) -> impl Iterator<Item = ValueNumber> {
        self.0.to_be_bytes().into_iter().map(ValueNumber)
    }
}
