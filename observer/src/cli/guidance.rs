//! Guidance for users of `run` and `demo`: how to lead clients here, and why none may have come.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};

use anyhow::Result;

use super::place::Place;
use crate::printable::{Printable, print_message, stderr};
use crate::session::{Listener, TapSet};
use crate::view::counted;

/// The guidance for one run.
#[derive(Debug)]
pub(super) struct Guidance {
    introduction: Vec<String>,
    /// How to lead clients here.
    pub(super) pointing: Vec<String>,
    /// For the report of a run without a client.
    pub(super) silence: Vec<String>,
    /// The private kubeconfig, which is removed at the end; `None` in a pod.
    kubeconfig: Option<PathBuf>,
}

impl Guidance {
    /// The guidance for clients that use the kubeconfig copy.
    pub(super) fn with_kubeconfig(subcommand: &str, taps: &TapSet) -> Result<Self> {
        let variable = taps.kubeconfig_variable()?;
        Ok(Self {
            introduction: reached(subcommand, taps),
            pointing: pointing(&variable, taps.kubeconfigs()),
            silence: vec![
                "No client connected through watchtap. Clients have to use the KUBECONFIG shown at the start.".to_owned(),
            ],
            kubeconfig: taps.kubeconfigs().first().cloned(),
        })
    }

    /// The guidance for a pod, whose manifest leads clients here.
    pub(super) fn in_pod(subcommand: &str, taps: &TapSet) -> Self {
        let observed = "Only clients are observed that use KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT of their container.";
        let silence = [
            "No client connected through watchtap. Usually the container",
            "  · has a kubeconfig, or a flag with the address of the API server",
            "  · connects to kubernetes.default.svc by its name",
            "  · sent no request, or failed before that",
        ];
        Self {
            introduction: reached(subcommand, taps),
            pointing: vec![observed.to_owned()],
            silence: silence.map(str::to_owned).into(),
            kubeconfig: None,
        }
    }

    /// Prints the first lines: what is observed, and how to lead clients here. `attach_hint` states how to see the live page, if it
    /// is not here.
    pub(super) fn introduce(&self, attach_hint: Option<&str>) -> Result<()> {
        let mut out = Printable::new();
        for line in self.introduction.iter().chain(&self.pointing) {
            out.push_line(line);
        }
        let end = match self.kubeconfig {
            Some(_) => "Ctrl-C drains open connections, then prints a report",
            None => "SIGTERM waits for open connections, then prints a report",
        };
        if let Some(hint) = attach_hint {
            out.push_line(hint);
        }
        out.push_line(format_args!("{end} · times are UTC · ~ means predicted"));
        out.end_line();
        Ok(stderr().print(&out)?)
    }

    /// Prints the last line. kubectl accepts a kubeconfig that has vanished, and then connects to localhost:8080.
    pub(super) fn print_last_line(&self) {
        let Some(kubeconfig) = &self.kubeconfig else { return };
        print_message(format!(
            "{} has been removed. Run `unset KUBECONFIG` in shells that still name it: until then, kubectl there connects to localhost:8080",
            kubeconfig.display()
        ));
    }

    /// The private kubeconfig; empty in a pod.
    #[cfg(feature = "demo")]
    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig.clone().unwrap_or_default()
    }
}

/// The command that shows the live page; `named` is its socket if `--attach-socket` gives one. `None` in a pod with another socket than
/// the one that `watchtap attach POD` knows.
pub(super) fn attach_hint(place: Place, named: Option<&Path>) -> Option<String> {
    match (place, named) {
        (Place::Machine, None) => Some("`watchtap attach` in another terminal shows the live page".to_owned()),
        (Place::Machine, Some(socket)) => {
            // The other terminal may be in another folder.
            let socket = path::absolute(socket).unwrap_or_else(|_error| socket.to_owned());
            let socket = quoted(&socket.to_string_lossy());
            Some(format!("`watchtap attach --socket {socket}` in another terminal shows the live page"))
        }
        (Place::Pod, named) => {
            let is_known = named.is_none_or(|socket| place.attach_socket().is_some_and(|known| known == socket));
            is_known.then(|| "`watchtap attach POD`, wherever kubectl works, shows the live page".to_owned())
        }
    }
}

/// The name of the run: its context or container if there is one only, otherwise their number.
pub(super) fn name(taps: &TapSet) -> String {
    let containers: Vec<&str> = taps.listeners().iter().filter_map(|listener| listener.container.as_deref()).collect();
    let contexts: Vec<&str> = taps.listeners().iter().flat_map(|listener| &listener.pair.contexts).map(String::as_str).collect();
    match (containers.as_slice(), contexts.as_slice()) {
        ([name], _) | ([], [name]) => (*name).to_owned(),
        ([], _) => counted(contexts.len() as u64, "context"),
        _ => counted(containers.len() as u64, "container"),
    }
}

/// The names of the API servers, each once.
pub(super) fn api_servers(taps: &TapSet) -> Vec<String> {
    let names: BTreeSet<String> = taps.listeners().iter().map(Listener::upstream_name).collect();
    names.into_iter().collect()
}

/// For each listener, a line with its clients, its address and the API server.
fn reached(subcommand: &str, taps: &TapSet) -> Vec<String> {
    let line = |listener: &Listener| {
        let clients = match (&listener.container, listener.pair.contexts.as_slice()) {
            (Some(container), _) => format!(" (container {container})"),
            (None, []) => String::new(),
            (None, [context]) => format!(" (context {context})"),
            (None, contexts) => format!(" (contexts {})", contexts.join(", ")),
        };
        let (name, address) = (listener.upstream_name(), listener.address);
        format!("watchtap {subcommand}: clients reach {name} through {address}{clients}")
    };
    taps.listeners().iter().map(line).collect()
}

/// Instructions that lead clients to the kubeconfig copy.
fn pointing(variable: &OsStr, kubeconfigs: &[PathBuf]) -> Vec<String> {
    let mut lines = vec![
        "Only clients with this kubeconfig are observed. In the shell of a client:".to_owned(),
        String::new(),
        format!("    export KUBECONFIG={}", quoted(&variable.to_string_lossy())),
        String::new(),
    ];
    if let [file] = kubeconfigs {
        lines.push(format!("or start the client with --kubeconfig {}", quoted(&file.to_string_lossy())));
    }
    lines
}

/// A word, quoted for a shell if necessary.
fn quoted(word: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "/._-:+@%,=".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_names_a_command_that_reaches_the_run() {
        for (place, socket, expected) in [
            (Place::Machine, None, Some("`watchtap attach` in")),
            (Place::Machine, Some("/run/a b.sock"), Some("`watchtap attach --socket '/run/a b.sock'` in")),
            (Place::Pod, None, Some("`watchtap attach POD`,")),
            (Place::Pod, Some("/var/run/secrets/watchtap/own/attach.sock"), Some("`watchtap attach POD`,")),
            (Place::Pod, Some("/tmp/other.sock"), None),
        ] {
            let hint = attach_hint(place, socket.map(Path::new));
            let begins = hint.as_deref().zip(expected).is_some_and(|(hint, start)| hint.starts_with(start));
            assert!(begins || (hint.is_none() && expected.is_none()), "{hint:?}");
        }
        assert!(attach_hint(Place::Machine, Some(Path::new("own.sock"))).unwrap().contains("--socket /"));
    }

    #[test]
    fn pasted_path_is_quoted_as_one_shell_word() {
        for (word, expected) in
            [("/run/user/0/kubeconfig", "/run/user/0/kubeconfig"), ("/a b/c", "'/a b/c'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(word), expected);
        }
    }
}
