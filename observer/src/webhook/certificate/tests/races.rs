//! Two replicas in every order of their requests, from every state in which an operator or a fault may leave the objects.

use super::super::authority::Authority;
use super::super::pace::Pace;
use super::model::{Model, YEAR, bundle_of, new_authority, start};

/// The turns of two replicas that are tried in every order. One check takes up to five requests.
const TURNS: u32 = 8;

/// Runs every order of turns, with answers that arrive at once and with late ones, and calls `check` after both have come to rest.
#[track_caller]
fn in_every_order(prepare: impl Fn(&mut Model), check: impl Fn(&Model)) {
    for late in [[false, false], [false, true], [true, true]] {
        for order in 0..1_u32 << TURNS {
            let mut model = Model::new(&late);
            prepare(&mut model);
            for turn in 0..TURNS {
                model.turn(usize::from(order >> turn & 1 == 1), false);
                assert!(model.deceived().is_empty(), "order {order:b}, turn {turn}");
            }
            model.check_all();
            check(&model);
            for _ in 0..3 {
                model.pass(Pace::USUAL.settle);
                model.check_all();
                assert!(model.deceived().is_empty(), "order {order:b}");
            }
            model.assert_agreed();
        }
    }
}

#[test]
fn replicas_that_start_at_once_agree_on_one_authority() {
    in_every_order(
        |_model| {},
        |model| {
            model.assert_agreed();
            assert!(model.carried().has_same(&bundle_of(&[&model.authority()])), "there was never another one");
        },
    );
}

#[test]
fn damaged_secret_is_replaced_once() {
    in_every_order(|model| model.store(b"damaged"), Model::assert_agreed);
}

#[test]
fn authority_that_ends_soon_is_replaced_and_stays_in_the_bundle_until_all_have_changed() {
    let old = Authority::generate(start() - 10 * YEAR + YEAR / 2).unwrap();
    in_every_order(
        |model| {
            model.store(old.to_pem().as_bytes());
            model.bundle(bundle_of(&[&old]));
        },
        |model| {
            assert!(model.carried().has_same(&bundle_of(&[&model.authority(), &old])));
            assert!(model.refused_by_late_servers().is_empty());
        },
    );
}

#[test]
fn deleted_secret_is_made_again_with_the_same_authority_or_with_that_of_a_new_replica() {
    let former = new_authority(start());
    in_every_order(
        |model| {
            model.store(former.to_pem().as_bytes());
            model.check_all();
            assert_eq!(model.authority(), former);
            model.secret = None;
            model.restart(1);
        },
        |model| assert!(model.deceived().is_empty()),
    );
}

#[test]
fn new_replica_with_a_new_authority_is_accepted_only_after_every_api_server_knows_it() {
    let mut model = Model::new(&[false, false]);
    model.check_all();
    model.assert_agreed();
    let is_accepted = |model: &Model| [0, 1].map(|number| model.is_accepted(number));
    model.restart(0);
    model.check_all();
    assert_eq!(is_accepted(&model), [true, true], "every API server knows its authority");
    model.secret = None;
    model.restart(0);
    model.check_all();
    assert_eq!(is_accepted(&model), [false, true], "a late API server trusts the former authority alone");
    model.pass(Pace::USUAL.settle);
    model.check_all();
    model.assert_agreed();
}

#[test]
fn replica_without_contact_during_a_change_is_not_accepted_when_others_drop_its_authority() {
    let mut model = Model::new(&[false, false]);
    model.check_all();
    let former = model.authority();
    model.store(new_authority(start()).to_pem().as_bytes());
    model.check_all();
    // From now on, the second replica reaches no API server.
    model.pass(Pace::USUAL.settle);
    model.check(0);
    assert!(model.is_accepted(0) && model.is_accepted(1));
    while model.carried().contains(former.certificate()) {
        model.pass(Pace::USUAL.check);
        model.check(0);
        assert_eq!(model.deceived(), Vec::<usize>::new(), "{:?}", model.now);
    }
    assert!(model.is_accepted(0) && !model.is_accepted(1));
    model.check_all();
    model.pass(Pace::USUAL.settle);
    model.check_all();
    model.assert_agreed();
}

#[test]
fn replica_that_was_away_during_a_change_is_accepted_again_with_the_new_authority() {
    let mut model = Model::new(&[false, false]);
    model.check_all();
    model.store(new_authority(start()).to_pem().as_bytes());
    for _ in 0..=(Pace::USUAL.contact().as_secs() / Pace::USUAL.check.as_secs()) {
        model.check(0);
        model.pass(Pace::USUAL.check);
        assert!(model.is_accepted(1), "as it last saw, no other authority was there");
    }
    model.check(1);
    assert!(!model.is_accepted(1), "the others are about to drop its authority");
    model.pass(Pace::USUAL.settle);
    model.check_all();
    model.assert_agreed();
}

#[test]
fn wiped_bundle_is_written_again() {
    let former = new_authority(start());
    in_every_order(
        |model| model.store(former.to_pem().as_bytes()),
        |model| {
            assert_eq!(model.authority(), former);
            assert!(model.carried().has_same(&bundle_of(&[&former])));
        },
    );
}

#[test]
fn deleted_secret_is_made_again_with_the_authority_that_clients_trust() {
    let mut model = Model::new(&[false, false]);
    model.check_all();
    let former = model.authority();
    let writes = model.writes;
    model.secret = None;
    model.check_all();
    assert_eq!(model.authority(), former);
    assert_eq!(model.writes, writes + 1, "the bundle stays as it is");
    model.assert_agreed();
}

#[test]
fn new_authority_is_served_only_after_every_api_server_knows_it_and_the_old_one_leaves_later() {
    let mut model = Model::new(&[false, false]);
    model.check_all();
    let former = model.authority();
    let other = new_authority(start());
    model.store(other.to_pem().as_bytes());
    model.check_all();
    let both = bundle_of(&[&former, &other]);
    assert!(model.carried().has_same(&both));
    let serving = |model: &Model| model.replicas[0].agreement.serving().cloned();
    assert_eq!(serving(&model), Some(former.clone()), "an API server may not have seen the bundle yet");
    model.pass(Pace::USUAL.settle);
    model.check_all();
    assert_eq!(serving(&model), Some(other.clone()));
    // From now on, no replica needs the former one.
    model.check_all();
    model.pass(Pace::USUAL.keep.saturating_sub(Pace::USUAL.check));
    model.check_all();
    assert!(model.carried().has_same(&both), "a replica may not have changed yet");
    model.pass(Pace::USUAL.check);
    model.check_all();
    assert!(model.carried().has_same(&bundle_of(&[&other])));
    model.assert_agreed();
}

#[test]
fn authority_is_replaced_a_year_before_its_end_without_a_gap() {
    let mut model = Model::new(&[false, true]);
    model.check_all();
    let first = model.authority();
    model.pass((9 * YEAR).saturating_sub(Pace::USUAL.check));
    model.check_all();
    assert_eq!(model.authority(), first);
    model.pass(2 * Pace::USUAL.check);
    model.check_all();
    assert_ne!(model.authority(), first);
    assert!(model.deceived().is_empty());
    assert!(model.is_accepted(0) && model.is_accepted(1), "the old leaf is accepted meanwhile");
    model.pass(Pace::USUAL.settle);
    model.check_all();
    model.assert_agreed();
}

#[test]
fn certificates_of_strangers_leave_the_bundle() {
    let mut model = Model::new(&[false]);
    model.check_all();
    let strangers: Vec<_> = (0..9).map(|_| new_authority(start())).collect();
    model.bundle(bundle_of(&strangers.iter().collect::<Vec<_>>()));
    assert_eq!(model.deceived(), vec![0]);
    model.check_all();
    model.assert_agreed();
    model.pass(Pace::USUAL.keep);
    model.check_all();
    assert!(model.carried().has_same(&bundle_of(&[&model.authority()])));
}
