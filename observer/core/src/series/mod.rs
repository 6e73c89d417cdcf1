//! Numbers for programs that collect metrics: counters, gauges and histograms by label set.
//!
//! A counter never falls, and advances while a watch is open. The number of label sets is bounded: the first ones have counters of
//! their own, later ones share the label value `other`, and are counted. Label sets are never discarded, because a counter that
//! vanishes and comes back looks like a restart.
//!
//! All names and label values are in the tables of [`Family`], [`Label`] and `words`. A new family is a row of these tables, and a
//! call where its numbers arise.

mod client_labels;
mod connections;
mod exchanges;
mod family;
mod first_come;
mod histogram;
mod label;
mod label_sets;
mod label_values;
mod limits;
mod reflectors;
mod sample;
mod samples;
mod shell;
mod store;
mod words;

#[cfg(test)]
mod tests;

pub use client_labels::{ClientLabel, ClientLabels};
pub use family::{FAMILIES, Family, FamilyRow, Kind, Unit};
pub use histogram::Histogram;
pub(crate) use label::LabelSet;
pub use label::{LABELS, Label, LabelRow, Values};
pub use limits::SeriesLimits;
pub use sample::{Sample, Value};
pub use samples::Samples;
pub use shell::{Build, ProbeAddresses, ProbeFiles, ProcessNumbers, ShellNumbers};
pub(crate) use store::Series;
pub use words::{
    AddressWord, BlockageWord, CauseWord, CertaintyWord, DirectionWord, EndWord, EventWord, ExposureWord, LayerWord, ListKindWord,
    LostBytesWord, LostCallWord, LostConnectionWord, LostRecordWord, MissedWord, ProtocolWord, ScopeWord, SeenWord, SenderWord,
    SliceWord, SourceWord, StateWord, StormKindWord, TapWord, TriggerWord, UnreadWord, VerbWord,
};
