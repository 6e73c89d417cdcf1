//! Rule: the chart and the images of the guides have the version of the workspace. The chart has the same label, user, ports and path as
//! the sources.

use super::tree::Tree;
use super::violation::{Violation, assert_found, assert_none};
use crate::tidy::tree::SourceFile;

const CHART: &str = "deploy/chart/Chart.yaml";
const LAYOUT: &str = "observer/src/pod_layout.rs";
const ADMISSIONS: &str = "observer/src/webhook/admissions.rs";
const CONFIGURATION: &str = "deploy/chart/templates/webhook-configuration.yaml";
const DEPLOYMENT: &str = "deploy/chart/templates/webhook-deployment.yaml";
const MONITORS: &str = "deploy/chart/templates/pod-monitors.yaml";
const NETWORK_POLICY: &str = "deploy/chart/templates/webhook-network-policy.yaml";
const PROBES: &str = "deploy/chart/templates/_probes.tpl";
/// For each constant of a source, a file of the chart and the line that has its value in place of `VALUE`.
const SHARED: [(&str, &str, &str, &str); 15] = [
    (LAYOUT, "USER", DEPLOYMENT, "runAsUser: VALUE"),
    (LAYOUT, "USER", DEPLOYMENT, "runAsGroup: VALUE"),
    (LAYOUT, "METRICS_PORT", DEPLOYMENT, "containerPort: VALUE"),
    (LAYOUT, "METRICS_PORT", NETWORK_POLICY, "- port: VALUE"),
    (LAYOUT, "LABEL", CONFIGURATION, "VALUE: enabled"),
    (LAYOUT, "LABEL_VALUE", CONFIGURATION, "watchtap.dev/inject: VALUE"),
    (LAYOUT, "LABEL", MONITORS, "VALUE: enabled"),
    (LAYOUT, "LABEL_VALUE", MONITORS, "watchtap.dev/inject: VALUE"),
    (LAYOUT, "CONTAINER", MONITORS, "- port: VALUE"),
    (ADMISSIONS, "PATH", CONFIGURATION, "path: VALUE"),
    (LAYOUT, "CONTAINER", PROBES, "- name: VALUE"),
    (LAYOUT, "METRICS_PORT", PROBES, "containerPort: VALUE"),
    (LAYOUT, "METRICS_PORT", PROBES, "- --metrics=[::]:VALUE"),
    (LAYOUT, "OWN", PROBES, "mountPath: VALUE"),
    (LAYOUT, "OWN_VOLUME", PROBES, "- name: VALUE"),
];

/// The value of a constant without its quotes.
fn constant<'t>(source: &'t str, name: &str) -> Option<&'t str> {
    let definition = source.split(&format!("const {name}: ")).nth(1)?;
    Some(definition.split(';').next()?.split(" = ").nth(1)?.trim_matches('"'))
}

/// The constants whose value a file of the chart does not have.
fn differing(files: &[(&str, &str)]) -> Vec<Violation> {
    let text = |path: &str| files.iter().find(|(file, _)| *file == path).map_or("", |(_, text)| text);
    let lacks = |&(source, name, path, line): &(&str, &str, &str, &str)| {
        let value = constant(text(source), name).unwrap_or("(no such constant)");
        let expected = line.replace("VALUE", value);
        let has_it = text(path).lines().any(|line| line.trim() == expected);
        (!has_it).then(|| Violation::of(&SourceFile::new(path, ""), format!("no line `{expected}`, with the value of {name}")))
    };
    SHARED.iter().filter_map(lacks).collect()
}

/// Whether users copy commands from there, with the name of an image.
fn has_commands(path: &str) -> bool {
    path == "deploy/README.md" || path.starts_with("docs/") || path.starts_with("observer/src/cli/")
}

/// The images of watchtap with another version. A tag such as `1` is no version.
fn of_other_versions(file: &SourceFile, version: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (at, line) in file.text.lines().enumerate() {
        for rest in line.split("/watchtap:").skip(1) {
            let tag = rest.split(|letter: char| !letter.is_ascii_alphanumeric() && !['.', '-', '_'].contains(&letter)).next();
            let tag = tag.unwrap_or_default().trim_end_matches('.');
            if tag.starts_with(|first: char| first.is_ascii_digit()) && tag.matches('.').count() >= 2 && tag != version {
                violations.push(Violation::at(file, at + 1, format!("an image of {tag}")));
            }
        }
    }
    violations
}

fn version<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().trim_matches('"'))
}

#[test]
fn chart_has_the_version_of_the_workspace() {
    let tree = Tree::read();
    let workspace = version(&tree.file("Cargo.toml").text, "version =").unwrap();
    let chart = &tree.file(CHART).text;
    for key in ["version:", "appVersion:"] {
        assert_eq!(version(chart, key), Some(workspace), "{CHART}: `{key}` must be that of Cargo.toml");
    }
}

#[test]
fn commands_name_images_of_the_version_of_the_workspace() {
    let tree = Tree::read();
    let version = version(&tree.file("Cargo.toml").text, "version =").unwrap();
    let guides = tree.files().iter().filter(|file| has_commands(&file.path));
    let violations: Vec<Violation> = guides.flat_map(|file| of_other_versions(file, version)).collect();
    assert_none(&violations, "name the image of this version: users copy the command, and tests run it");
}

#[test]
fn image_of_another_version_is_caught() {
    let text = "a.example:5000/watchtap:1.2.3 b/watchtap:1.2.2,\nlocalhost/watchtap:1 c/watchtap:VERSION\nd/watchtap:1.2.3-rc.1`";
    let guide = SourceFile::new("deploy/README.md", text);
    assert_found(&of_other_versions(&guide, "1.2.3"), &["1: an image of 1.2.2", "3: an image of 1.2.3-rc.1"]);
    assert!(has_commands("observer/src/cli/webhook.rs") && !has_commands("tests/cluster/chart/value_sets.rs"));
}

#[test]
fn chart_has_the_constants_of_the_sources() {
    let tree = Tree::read();
    let files: Vec<(&str, &str)> = tree.files().iter().map(|file| (file.path.as_str(), file.text.as_str())).collect();
    assert_none(&differing(&files), "the chart and the sources must have the same values");
}

#[test]
fn another_value_is_caught() {
    let layout = "pub const USER: u32 = 5;\npub const METRICS_PORT: u16 = 7;\npub const LABEL: &str = \"watchtap.dev/inject\";\n\
                  pub const LABEL_VALUE: &str = \"enabled\";\npub const CONTAINER: &str = \"c\";\n\
                  pub const OWN: &str = \"/o\";\npub const OWN_VOLUME: &str = \"v\";\n";
    let files = [
        (LAYOUT, layout),
        (ADMISSIONS, "pub(super) const PATH: &str = \"/p\";\n"),
        (DEPLOYMENT, "  runAsUser: 5\n  runAsGroup: 6\n  containerPort: 7\n"),
        (NETWORK_POLICY, "  - port: 7\n"),
        (CONFIGURATION, "watchtap.dev/inject: enabled\npath: /q\n"),
        (MONITORS, "  - port: c\n  watchtap.dev/inject: enabled\n"),
        (PROBES, "- name: c\n- --metrics=[::]:7\n  containerPort: 8\n  - name: v\n  mountPath: /o\n"),
    ];
    let expected = [
        "no line `runAsGroup: 5`, with the value of USER",
        "no line `path: /p`, with the value of PATH",
        "no line `containerPort: 7`, with the value of METRICS_PORT",
    ];
    assert_found(&differing(&files), &expected);
}
