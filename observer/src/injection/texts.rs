//! Injection from text to text, without a report: for the fuzz target and for tests, which call it from outside of this crate.

use serde_json::Value;

use super::{Admission, Amount, Edits, Manifest, Options, Referenced, admit};

const IMAGE: &str = "localhost/watchtap:1";

/// The flags of `inject` that [`admit_text`] has beside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleOptions {
    /// The image alone.
    Image,
    /// All that shape a sidecar at admission.
    All,
}

/// The manifest with the sidecar in every pod that can have it; `None` if the text is not YAML.
pub fn inject_text(text: &str) -> Option<String> {
    let mut referenced = Referenced::default();
    let manifest = Manifest::read(text, &mut referenced).ok()?;
    Some(manifest.inject(&Options { assume_token: true, ..Options::with_image(IMAGE) }, &referenced).text)
}

/// The manifest without the sidecars that were injected; `None` if the text is not YAML.
pub fn uninject_text(text: &str) -> Option<String> {
    Some(Manifest::read(text, &mut Referenced::default()).ok()?.uninject(Edits::Keep).text)
}

/// The JSON Patch of admission for a pod, both as JSON: empty if the pod passes unchanged. `None` if the text is not JSON.
pub fn admit_text(pod: &str, namespace: &str, options: SampleOptions) -> Option<String> {
    let mut pod: Value = serde_json::from_str(pod).ok()?;
    let patch = match admit(&mut pod, namespace, &options.options()) {
        Admission::Injected { patch, .. } | Admission::Refused { patch, .. } => patch,
        Admission::Unchanged(_) => Vec::new(),
    };
    Some(Value::from(patch).to_string())
}

impl SampleOptions {
    /// The flags of `inject` that stand for these options.
    pub const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Image => &["--image", IMAGE],
            Self::All => &[
                "--image",
                IMAGE,
                "--image-pull-policy",
                "Never",
                "--requests",
                "memory=48Mi",
                "--limits",
                "cpu=200m,ephemeral-storage=1Gi",
                "--server-version",
                "1.36.3",
                "--openshift",
            ],
        }
    }

    fn options(self) -> Options {
        let options = Options::with_image(IMAGE);
        let amounts = |texts: &[&str]| texts.iter().filter_map(|text| text.parse::<Amount>().ok()).collect();
        match self {
            Self::Image => options,
            Self::All => Options {
                image_pull_policy: Some("Never".to_owned()),
                requests: amounts(&["memory=48Mi"]),
                limits: amounts(&["cpu=200m", "ephemeral-storage=1Gi"]),
                server_version: Some("1.36.3".to_owned()),
                openshift: true,
                ..options
            },
        }
    }
}
