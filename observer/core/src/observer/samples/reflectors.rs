//! Numbers of reflectors: their states, objects and revisions, stalls, findings, and the cost of a restart.

use crate::exchange::ValueNumber;
use crate::observer::finding::{Exposure, Finding};
use crate::observer::observe::Observer;
use crate::reflector::{ReflectorRow, ReflectorState};
use crate::series::{ExposureWord, Family, Label, LabelSet, Series, StateWord};
use crate::time::Timestamp;

impl Observer {
    pub(super) fn add_reflectors(&self, rows: &[ReflectorRow], series: &mut Series) {
        for row in rows {
            let labels = LabelSet::from(self.following.labels(row.reflector));
            let in_state = labels.with(Label::State, StateWord::of(row.state).number());
            series.add(Family::Reflectors, &in_state, 1);
            series.reduce_to(Family::ReflectorStateSince, &in_state, micros(row.since));
            let is_informer = row.is_watching() || row.relisting.is_some();
            if is_informer && !row.client_left {
                series.add(Family::ReflectorObjects, &labels, row.objects.or_zero());
            }
            let is_served = row.is_watching() || row.state == ReflectorState::Stuck;
            if let Some(behind) = row.behind.filter(|_| is_served && !row.client_left) {
                series.raise_to(Family::ReflectorBehind, &labels, behind);
            }
            if let Some(bookmark) = row.last_bookmark {
                series.reduce_to(Family::ReflectorLastBookmark, &labels, micros(bookmark));
            }
        }
        for (labels, by, lasted_us) in self.following.present_stalls(self.now()) {
            series.add_stall(&labels.into(), by, lasted_us);
        }
        let Exposure { reflectors, perhaps, items, bytes, .. } = Exposure::of(rows, 0);
        for (word, number) in [(ExposureWord::Certain, reflectors), (ExposureWord::Perhaps, perhaps)] {
            series.add(Family::ExposureReflectors, &LabelSet::of(Label::Exposure, word.number()), number);
        }
        series.add(Family::ExposureItems, &LabelSet::default(), items.or_zero());
        series.add(Family::ExposureBytes, &LabelSet::default(), bytes.or_zero());
    }

    pub(super) fn add_findings(&self, findings: &[Finding], series: &mut Series) {
        for finding in findings {
            let number = ValueNumber::from(finding.kind);
            series.add(Family::Findings, &LabelSet::of(Label::Finding, number), 1);
            for reflector in &finding.reflectors {
                let labels = LabelSet::from(self.following.labels(*reflector));
                series.add(Family::ReflectorFindings, &labels.with(Label::Finding, number), 1);
            }
        }
    }
}

/// Microseconds since the epoch, by the wall clock of that moment.
const fn micros(at: Timestamp) -> u64 {
    at.wall_nanos() / 1_000
}
