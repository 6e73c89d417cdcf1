//! A home directory with kubeconfigs, and certificates, for the tests.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use crate::kubeconfig::{Environment, Error, Kubeconfig, Selected};

/// A certificate and its private key, as PEM text.
pub(super) static PAIR: LazyLock<(String, String)> = LazyLock::new(|| {
    let pair = rcgen::generate_simple_self_signed(["kubernetes".to_owned()]).expect("a certificate can be made");
    (pair.cert.pem(), pair.signing_key.serialize_pem())
});

/// The certificate in the form that kubeconfigs contain.
pub(super) fn certificate_data() -> String {
    STANDARD.encode(&PAIR.0)
}

/// Its key in the form that kubeconfigs contain.
pub(super) fn key_data() -> String {
    STANDARD.encode(&PAIR.1)
}

/// A folder that is both home and working directory.
pub(super) struct Home(TempDir);

impl Home {
    pub(super) fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a temporary folder can be made"));
        home.write("pair.crt", &PAIR.0);
        home.write("pair.key", &PAIR.1);
        home
    }

    /// Makes a home directory with the file `config`, which `KUBECONFIG` names.
    pub(super) fn with_config(text: &str) -> Self {
        let home = Self::new();
        home.write("config", text);
        home
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(super) fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("the name is relative")).expect("the folder can be made");
        fs::write(&path, contents).expect("the file can be written");
        path
    }

    pub(super) fn forbid(&self, name: &str) {
        fs::set_permissions(self.path().join(name), fs::Permissions::from_mode(0o000)).expect("the mode can be set");
    }

    pub(super) fn environment(&self, kubeconfig: Option<&str>) -> Environment {
        Environment {
            kubeconfig: kubeconfig.map(OsString::from),
            home: Some(self.path().to_owned()),
            working_directory: self.path().to_owned(),
        }
    }

    pub(super) fn load(&self, kubeconfig: &str) -> Result<Kubeconfig, Error> {
        Kubeconfig::load(&self.environment(Some(kubeconfig)))
    }

    #[track_caller]
    pub(super) fn current(&self) -> Selected {
        self.load("config").and_then(|config| config.current()).expect("the kubeconfig is sound")
    }

    /// Replaces the random part of this folder's path in `text`.
    pub(super) fn anonymous(&self, text: &str) -> String {
        text.replace(&*self.path().to_string_lossy(), "~")
    }
}

/// A kubeconfig with one context, whose cluster and user have these contents, each in YAML's flow style.
pub(super) fn config(cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
current-context: dev
contexts: [{{name: dev, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{{cluster}}}}}]
users: [{{name: u, user: {{{user}}}}}]
"
    )
}

/// Checks the message for a kubeconfig that cannot be used.
#[track_caller]
pub(super) fn refuses(kubeconfig: &str, expected: &str) {
    fails(&Home::with_config(kubeconfig), "config", expected);
}

/// Checks the message for a value of `KUBECONFIG` that cannot be used.
#[track_caller]
pub(super) fn fails(home: &Home, variable: &str, expected: &str) {
    let message = home.load(variable).and_then(|loaded| loaded.current()).expect_err("it cannot be used").to_string();
    assert!(!message.contains("s3cret") && !message.contains("123456"), "a secret is shown: {message}");
    assert_eq!(home.anonymous(&message), expected);
}
