//! Ends watches as the lines of watch caches show.

use super::log_replay::LogReplay;
use super::record::observation;
use super::requests::ForcedMatch;
use super::served::{ENDS_WITHIN, ForcedClose, ResetCache};
use crate::logs::audit::{AuditEvent, AuditStage};
use crate::observation::{ExchangeId, ExchangeObservation, Observation};
use crate::time::Timestamp;

impl LogReplay {
    /// Notes that the API server closed a watch by force: the one that its line is about, if there is only one.
    pub(super) fn close_by_force(&mut self, at: Timestamp, forced: &ForcedClose, emit: &mut dyn FnMut(Observation)) {
        if self.closed_by_force.has(at, forced) {
            return;
        }
        let number = match self.requests.closed_by_force(forced, self.ends_after(at)) {
            ForcedMatch::Watch(audit_id) => {
                let Some(open) = self.requests.open_mut(&audit_id).filter(|open| !open.is_own) else { return };
                emit(observation(at, open.id, ExchangeObservation::ClosedByForce { waiting: forced.waiting }));
                self.closed_by_force.note(at, forced);
                &mut self.extent.closed_by_force
            }
            ForcedMatch::Ambiguous => &mut self.extent.ambiguous_closes,
            ForcedMatch::None => &mut self.extent.unmatched_closes,
        };
        *number = number.saturating_add(1);
    }

    /// Notes that the API server reset a watch cache, which ended the watches that it served: those that ended early then.
    pub(super) fn reset_cache(&mut self, at: Timestamp, reset: &ResetCache, emit: &mut dyn FnMut(Observation)) {
        let ended: Vec<ExchangeId> = self.ends_after(at).filter_map(|event| self.requests.ended_by_reset(reset, event)).collect();
        self.extent.cache_resets = self.extent.cache_resets.saturating_add(1);
        for id in ended {
            emit(observation(at, id, ExchangeObservation::CacheReset));
        }
    }

    /// The last events of requests that ended shortly after a line about watches.
    fn ends_after(&self, at: Timestamp) -> impl Iterator<Item = &AuditEvent> {
        /// Maximum number of later records that are searched.
        const MOST_LATER: usize = 16 << 10;
        let most = if self.has_later_records { MOST_LATER } else { 0 };
        let stages = self.window.until(at.plus(ENDS_WITHIN)).take(most).filter_map(|(_, record)| record.staged());
        let ends = stages.filter(|(_, stage, _)| matches!(stage, AuditStage::ResponseComplete | AuditStage::Panic));
        ends.map(|(_, _, event)| event)
    }
}
