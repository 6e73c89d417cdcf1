//! A complete capture holds exactly the observations that were recorded.

use observer_core::observation::{
    Body, ConnectionId, ExchangeId, ExchangeObservation, Observation, RunObservation, Subject, TapObservation,
};
use observer_core::time::Timestamp;
use observer_core::wire::ObjectRef;
use proptest::prelude::*;

use super::observations::observations;
use super::rig::{Read, file, files, observed};

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_and_its_replay_end_in_the_same_state(
        observations in observations(60),
        block in 1_usize..20,
        sizes in prop::collection::vec(1_usize..700, 1..20),
    ) {
        let read = Read::of(&[file(&observations, block)], &sizes);
        prop_assert_eq!(&read.observations, &observations);
        prop_assert!(read.lost.is_empty() && read.refused.is_empty());
        prop_assert_eq!(observed(&read.observations), observed(&observations));
    }

    #[test]
    fn capture_in_parts_equals_a_single_file(observations in observations(60), each in 1_usize..30) {
        let read = Read::of(&files(&observations, each), &[usize::MAX]);
        prop_assert_eq!(&read.observations, &observations);
        prop_assert!(read.lost.is_empty() && read.refused.is_empty());
    }
}

#[test]
fn a_batch_that_is_too_long_for_a_line_is_cut() {
    let text = "\u{1}".repeat(ObjectRef::MAX_TEXT);
    let item = ObjectRef { namespace: text.clone(), name: text.clone(), uid: text.clone(), resource_version: text };
    let exchange = ExchangeId { connection: ConnectionId(1), stream: observer_core::http::StreamId(1) };
    let items = vec![item; 1024];
    let subject = Subject::Exchange(exchange, ExchangeObservation::BodyRead { body: Body::Items(items.clone()) });
    let read = Read::complete(&file(&[Observation { at: Timestamp::from_nanos(9), subject }], 1));
    assert!(read.lost.is_empty(), "{:?}", read.lost);
    let mut found = Vec::new();
    for observation in read.observations {
        let Subject::Exchange(_, ExchangeObservation::BodyRead { body: Body::Items(some), .. }) = observation.subject else {
            panic!("{observation:?}")
        };
        found.extend(some);
    }
    assert!(found == items);
}

#[test]
fn only_the_overlong_observation_is_lost() {
    let short = Observation { at: Timestamp::from_nanos(9), subject: Subject::Run(RunObservation::Tick) };
    let long = Observation {
        at: Timestamp::from_nanos(10),
        subject: Subject::Tap(TapObservation::ConnectFailed { why: "x".repeat(1 << 20) }),
    };
    let read = Read::complete(&file(&[short.clone(), long, short.clone()], 3));
    assert_eq!(read.recorded(), [short.clone(), short]);
    assert_eq!(read.lost.iter().map(|lost| lost.observations).collect::<Vec<_>>(), [Some(1)]);
}
