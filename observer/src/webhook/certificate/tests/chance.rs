//! Properties of replicas that meet faults, operators and each other by chance.

use std::time::Duration;

use proptest::prelude::*;

use super::super::bundle::Bundle;
use super::super::pace::Pace;
use super::model::{Model, bundle_of, new_authority};

const REPLICAS: usize = 3;

/// A turn of a replica, or an act of others.
#[derive(Clone, Debug)]
enum Event {
    Turn { replica: usize, fails: bool },
    Restart(usize),
    Pass(Duration),
    DeleteSecret,
    DamageSecret,
    StoreAnotherAuthority,
    WipeBundle,
    DeleteConfiguration,
}

/// Events that leave `caBundle` to the replicas.
fn event_around_the_bundle() -> impl Strategy<Value = Event> {
    let turn = (0..REPLICAS, prop::bool::weighted(0.1)).prop_map(|(replica, fails)| Event::Turn { replica, fails });
    prop_oneof![
        40 => turn,
        3 => (0..REPLICAS).prop_map(Event::Restart),
        6 => (0_u64..40).prop_map(|seconds| Event::Pass(Duration::from_secs(seconds))),
        1 => Just(Event::DeleteSecret),
        1 => Just(Event::DamageSecret),
        1 => Just(Event::StoreAnotherAuthority),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        52 => event_around_the_bundle(),
        1 => Just(Event::WipeBundle),
        1 => Just(Event::DeleteConfiguration),
    ]
}

fn happen(model: &mut Model, event: &Event) {
    match event {
        Event::Turn { replica, fails } => model.turn(*replica, *fails),
        Event::Restart(replica) => model.restart(*replica),
        // Certificates leave the bundle after a longer time, whether or not a replica has checked meanwhile.
        Event::Pass(time) if model.now.running + *time >= Pace::USUAL.keep => {}
        Event::Pass(time) => model.pass(*time),
        Event::DeleteSecret => model.secret = None,
        Event::DamageSecret => model.store(b"damaged"),
        Event::StoreAnotherAuthority => model.store(new_authority(model.now.clock).to_pem().as_bytes()),
        Event::WipeBundle => model.bundle(Bundle::default()),
        Event::DeleteConfiguration => model.delete_configuration(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replicas_deceive_none_of_themselves_and_agree_in_the_end(
        late in prop::collection::vec(any::<bool>(), REPLICAS),
        events in prop::collection::vec(event(), 0..120),
    ) {
        let mut model = Model::new(&late);
        for event in &events {
            let deceived_before = model.deceived();
            happen(&mut model, event);
            for number in model.deceived() {
                let is_excused = deceived_before.contains(&number) || model.replicas[number].is_misled;
                prop_assert!(is_excused, "replica {number} after {event:?}");
            }
        }
        if model.configuration.is_none() {
            model.bundle(Bundle::default());
        }
        for _ in 0..3 {
            model.pass(Pace::USUAL.settle);
            model.check_all();
            prop_assert_eq!(model.deceived(), Vec::<usize>::new());
        }
        model.assert_agreed();
        model.pass(Pace::USUAL.keep);
        model.check_all();
        prop_assert!(model.carried().has_same(&bundle_of(&[&model.authority()])), "all others have left");
        let writes = model.writes;
        for _ in 0..4 {
            model.pass(Pace::USUAL.check);
            model.check_all();
        }
        prop_assert_eq!(model.writes, writes, "replicas that agree change nothing");
        model.assert_agreed();
    }

    #[test]
    fn api_servers_with_a_late_watch_refuse_no_replica_that_counts_as_accepted(
        late in prop::collection::vec(any::<bool>(), REPLICAS),
        events in prop::collection::vec(event_around_the_bundle(), 0..120),
    ) {
        let mut model = Model::new(&late);
        for event in &events {
            happen(&mut model, event);
            prop_assert_eq!(model.refused_by_late_servers(), Vec::<usize>::new(), "after {:?}", event);
        }
    }
}
