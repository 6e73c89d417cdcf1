//! Parts of a capture that are read alone, out of order, or together with parts of another.

use observer_core::capture::{LostReason, Refused};
use observer_core::observation::{Observation, RunObservation, Subject};
use observer_core::time::Timestamp;
use proptest::prelude::*;

use super::observations::observations;
use super::rig::{Read, files};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn missing_part_is_reported_with_its_span(observations in observations(60), each in 2_usize..12, gone in any::<prop::sample::Index>()) {
        let mut files = files(&observations, each);
        prop_assume!(files.len() > 2);
        let gone = gone.index(files.len());
        files.remove(gone);
        let read = Read::of(&files, &[usize::MAX]);
        prop_assert!(read.refused.is_empty());
        prop_assert_eq!(read.lost.len(), 1);
        let is_last = gone == files.len();
        prop_assert_eq!(read.lost[0].reason, if is_last { LostReason::NoLaterPart } else { LostReason::NoEarlierPart });
        prop_assert_eq!(read.lost[0].observations, if is_last { None } else { Some(each as u64) });
        prop_assert_eq!(read.unrecorded(), 1);
        // After the missing part, no observation is lost.
        let after = &observations[((gone + 1) * each).min(observations.len())..];
        prop_assert!(read.observations.ends_with(after));
    }
}

#[test]
fn repeated_or_foreign_part_is_refused() {
    let ticks: Vec<Observation> =
        (1..9).map(|at| Observation { at: Timestamp::from_nanos(at), subject: Subject::Run(RunObservation::Tick) }).collect();
    let parts = files(&ticks, 4);
    let twice = Read::of(&[&parts[0], &parts[0], &parts[1]], &[10]);
    assert_eq!((twice.refused, twice.observations.len()), (vec![Refused::OutOfOrder { part: 0 }], 8));

    let mut other = observer_core::capture::Writer::new(Timestamp::from_nanos(8));
    let mut file = Vec::new();
    other.begin_file(&mut file);
    other.record(&ticks[0], &mut file);
    other.flush(&mut file);
    let both = Read::of(&[&parts[0], &file, &parts[1]], &[10]);
    assert_eq!((both.refused, both.observations), (vec![Refused::OtherCapture { capture: Timestamp::from_nanos(8) }], ticks));
}
