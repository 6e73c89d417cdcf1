//! Injecting again: the flags of the earlier injection count, unless they are given again.

use super::check::{deployment, inject, inject_with, injected_with, options, uninject};
use crate::injection::options::Amount;
use crate::injection::{EarlierFlags, Options, Outcome};

const PODS: &str = "containers:\n- {name: app, image: a}\n- {name: other, image: a}\n";

fn amounts(text: &str) -> Vec<Amount> {
    text.split(',').map(|amount| amount.parse().unwrap()).collect()
}

pub(super) fn all_flags() -> Options {
    Options {
        image_pull_policy: Some("Never".to_owned()),
        requests: amounts("memory=64Mi,cpu=50m,cpu=60m"),
        limits: amounts("memory=256Mi,cpu=0"),
        server_version: Some("1.34.2".to_owned()),
        containers: ["other", "app", "absent", "app", "c0", "first"].map(str::to_owned).to_vec(),
        service_account_token: true,
        openshift: true,
        ..options()
    }
}

fn newer() -> Options {
    Options { image: "localhost/watchtap:2".to_owned(), ..options() }
}

#[test]
fn flags_are_recorded_and_used_again() {
    let text = deployment(PODS);
    let first = injected_with(&text, &all_flags());
    let recorded = r#""flags":{"image_pull_policy":"Never","requests":"cpu=60m,memory=64Mi","limits":"cpu=0,memory=256Mi","server_version":"1.34.2","containers":["app","other"],"service_account_token":true,"openshift":true}}'"#;
    assert!(first.contains(recorded), "{first}");
    let again = inject(&first);
    assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
    assert_eq!(again.text, first);
    let updated = inject_with(&first, &newer());
    let Outcome::Updated { led, .. } = &updated.objects[0].outcome else { panic!("{:?}", updated.objects) };
    assert_eq!(led.len(), 2);
    let expected = inject_with(&text, &Options { image: newer().image, ..all_flags() });
    assert_eq!(updated.text, expected.text, "nothing but the image changes");
    assert_eq!(uninject(&updated.text).text, text);
}

#[test]
fn given_flag_replaces_the_recorded_one() {
    let first = injected_with(&deployment(PODS), &all_flags());
    for (given, expected) in [
        (
            Options { image_pull_policy: Some("Always".to_owned()), ..newer() },
            Options { image_pull_policy: Some("Always".to_owned()), ..all_flags() },
        ),
        (Options { limits: amounts("memory=512Mi"), ..newer() }, Options { limits: amounts("memory=512Mi"), ..all_flags() }),
        (Options { requests: amounts("cpu=70m"), ..newer() }, Options { requests: amounts("cpu=70m"), ..all_flags() }),
        (
            Options { server_version: Some("1.35".to_owned()), ..newer() },
            Options { server_version: Some("1.35".to_owned()), ..all_flags() },
        ),
        (Options { containers: vec!["app".to_owned()], ..newer() }, Options { containers: vec!["app".to_owned()], ..all_flags() }),
        (Options { earlier_flags: EarlierFlags::Forget, openshift: true, ..newer() }, Options { openshift: true, ..newer() }),
        (Options { earlier_flags: EarlierFlags::Forget, ..newer() }, newer()),
    ] {
        let edited = inject_with(&first, &given);
        assert!(matches!(edited.objects[0].outcome, Outcome::Updated { .. }), "{:?}", edited.objects);
        let expected = inject_with(&deployment(PODS), &Options { image: newer().image, ..expected });
        assert_eq!(edited.text, expected.text, "{given:?}");
    }
}

#[test]
fn given_and_recorded_flags_must_fit() {
    let limited = injected_with(&deployment(PODS), &Options { limits: amounts("memory=64Mi"), ..options() });
    let edited = inject_with(&limited, &Options { requests: amounts("memory=65Mi"), ..options() });
    let Outcome::Refused(refusal) = &edited.objects[0].outcome else { panic!("{:?}", edited.objects) };
    assert!(refusal.reason.starts_with("--requests has more memory than --limits allows; "), "{refusal:?}");
    assert_eq!(edited.text, limited, "the sidecar stays");
    let both = Options { requests: amounts("memory=65Mi"), limits: amounts("memory=65Mi"), ..options() };
    assert_eq!(inject_with(&limited, &both).text, injected_with(&deployment(PODS), &both));
}

#[test]
fn workloads_with_different_flags_are_updated_at_once() {
    let text = deployment(PODS);
    let flags = [Options { openshift: true, ..options() }, Options { containers: vec!["app".to_owned()], ..options() }];
    let before = flags.each_ref().map(|flags| injected_with(&text, flags)).join("---\n");
    let edited = inject_with(&format!("{before}---\n{text}"), &newer());
    let [first, second, third] = edited.objects.as_slice() else { panic!("{:?}", edited.objects) };
    assert!(matches!(first.outcome, Outcome::Updated { .. }) && matches!(second.outcome, Outcome::Updated { .. }));
    assert!(matches!(third.outcome, Outcome::Injected { .. }));
    let after = flags.map(|flags| inject_with(&text, &Options { image: newer().image, ..flags }).text).join("---\n");
    assert!(edited.text.starts_with(&after), "{}", edited.text);
}

/// Records of earlier versions have none.
#[test]
fn record_without_flags_has_none() {
    let first = injected_with(&deployment(PODS), &options());
    assert!(!first.contains("\"flags\""));
    assert!(matches!(inject(&first).objects[0].outcome, Outcome::UpToDate { .. }));
}
