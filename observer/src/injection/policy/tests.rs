//! The text of the policy. `tests/cluster/injection/policy` compares its pods with those of admission, on a real API server.

use expect_test::expect_file;

use super::policy;
use crate::injection::{Amount, Options};

/// The limit of the parser of cel-go, in code points (`parser/options.go`, `expressionSizeCodePointLimit`).
const LONGEST_EXPRESSION: usize = 100_000;

#[test]
fn policy_has_this_text() {
    // Another version changes nothing else.
    let text = policy(&Options::with_image("localhost/watchtap:1")).replace(env!("CARGO_PKG_VERSION"), "VERSION");
    expect_file!["policy.yaml"].assert_eq(&text);
}

#[test]
fn flags_shape_the_sidecar_of_the_policy() {
    let amount = |text: &str| vec![text.parse::<Amount>().unwrap()];
    let options = Options {
        image_pull_policy: Some("Never".to_owned()),
        requests: amount("memory=48Mi"),
        limits: amount("cpu=200m"),
        server_version: Some("1.36.3".to_owned()),
        openshift: true,
        ..Options::with_image("localhost/watchtap:2")
    };
    let text = policy(&options);
    for part in [
        r#""image": dyn("localhost/watchtap:2"), "imagePullPolicy": dyn("Never"),"#,
        r#""--metrics", "[::]:" + string(variables.metrics_ports[0]), "--server-version", "1.36.3"] +"#,
        "      true || variables.token_files",
        r#"variables.shared ? [dyn({"requests": dyn({"cpu": "200m", "memory": "48Mi"}), "limits": dyn({"cpu": "200m"})})] :"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("runAsUser"), "OpenShift assigns it");
}

#[test]
fn each_place_of_a_template_is_filled() {
    let text = policy(&Options::with_image("localhost/watchtap:1"));
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|character| character.is_ascii_uppercase() || character == '_');
    let names = text.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(name, _)| name);
    assert_eq!(names.filter(|name| is_name(name)).collect::<Vec<_>>(), Vec::<&str>::new());
    assert!(!text.contains(['⟦', '⟧']), "{text}");
    assert!(text.chars().count() < LONGEST_EXPRESSION, "one expression has a limit that not even all of them reach");
}
