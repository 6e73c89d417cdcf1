//! Counts the lists, relists, resumes and stalls of reflectors.

use std::time::Duration;

use super::family::Family;
use super::label::{Label, LabelSet};
use super::store::Series;
use super::words::{BlockageWord, CauseWord, ListKindWord};
use crate::exchange::RequestLabels;
use crate::observation::Blockage;
use crate::reflector::{ListEvent, ReflectorEvent};

impl Series {
    /// Counts a report of a reflector. `labels` are those of its first request; for an own write that arrived, those of the
    /// request that was observed.
    pub(crate) fn count_report(&mut self, labels: RequestLabels, event: &ReflectorEvent) {
        let labels = LabelSet::from(labels);
        match event {
            ReflectorEvent::InitialList(list) | ReflectorEvent::Relist(list) => self.count_list(&labels, list),
            ReflectorEvent::RelistBegan(began) => {
                if let Some(cause) = CauseWord::of(began.cause) {
                    self.add(Family::Relists, &labels.with(Label::Cause, cause.number()), 1);
                }
            }
            ReflectorEvent::Resumed(_) => self.add(Family::Resumes, &labels, 1),
            ReflectorEvent::FellBack { .. } => self.add(Family::StreamingListFallbacks, &labels, 1),
            ReflectorEvent::WentBack { .. } => self.add(Family::RevisionsWentBack, &labels, 1),
            ReflectorEvent::Stalled(stall) => {
                self.add(Family::Stalls, &labels.with(Label::Blockage, BlockageWord::of(stall.by).number()), 1);
            }
            ReflectorEvent::StallEnded(stall) => self.add_stall(&labels, stall.by, stall.lasted_us),
            // A write that arrives before its answer counts as no delay.
            ReflectorEvent::WriteArrived { after } => self.observe(Family::WritePropagation, &labels, after.unwrap_or_default()),
            ReflectorEvent::Stuck(_) | ReflectorEvent::TroubleBegan(_) | ReflectorEvent::TroubleEnded(_) => {}
        }
    }

    /// Adds the length of a stall, in microseconds.
    pub(crate) fn add_stall(&mut self, labels: &LabelSet, by: Blockage, lasted_us: u64) {
        self.add(Family::StallSeconds, &labels.with(Label::Blockage, BlockageWord::of(by).number()), lasted_us);
    }

    fn count_list(&mut self, labels: &LabelSet, list: &ListEvent) {
        if let Some(kind) = ListKindWord::of(list.cause) {
            return self.add(Family::InitialLists, &labels.with(Label::ListKind, kind.number()), 1);
        }
        for (family, more) in [
            (Family::RelistItems, list.items),
            (Family::RelistRepeatedItems, list.repeats.repeated),
            (Family::RelistBytes, list.bytes),
        ] {
            self.add(family, labels, more.or_zero());
        }
        self.observe(Family::RelistDuration, labels, Duration::from_micros(list.took_us));
    }
}
