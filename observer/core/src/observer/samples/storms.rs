//! Numbers of storms.

use crate::observer::observe::Observer;
use crate::series::{Family, Label, LabelSet, Series, StormKindWord, TriggerWord};
use crate::storm::StormCost;

impl Observer {
    pub(super) fn add_storms(&self, series: &mut Series) {
        let ((storms, members), totals) = self.following.storms_in_all();
        series.add(Family::StormsActive, &LabelSet::default(), storms);
        series.add(Family::StormMembers, &LabelSet::default(), members);
        for ((trigger, kind), number) in &totals.declared {
            let labels = LabelSet::of(Label::Trigger, TriggerWord::of(*trigger).number());
            series.add(Family::Storms, &labels.with(Label::StormKind, StormKindWord::of(*kind).number()), *number);
        }
        for (trigger, StormCost { relists, items, repeated, bytes }) in &totals.costs {
            let labels = LabelSet::of(Label::Trigger, TriggerWord::of(*trigger).number());
            for (family, number) in [
                (Family::StormRelists, relists),
                (Family::StormItems, items),
                (Family::StormRepeatedItems, repeated),
                (Family::StormBytes, bytes),
            ] {
                series.add(family, &labels, *number);
            }
        }
    }
}
