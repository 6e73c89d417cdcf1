//! Prints messages before a run about contexts that no listener serves, and about users with an `auth-provider`.

use std::collections::BTreeSet;

use super::TapSet;
use super::listener::Listener;
use crate::kubeconfig::{LeftOut, Selected};
use crate::printable::print_message;

/// Maximum number of names, and maximum number of reasons, in one message.
const MAX_NAMES: usize = 8;

/// Prints the contexts that no listener serves, with the reasons, and the users with an `auth-provider`, which stay in the user's
/// own file.
pub(super) fn announce(taps: &TapSet) {
    print_left_out(taps.left_out());
    let providers = users(taps.listeners(), |selected| selected.auth_provider);
    if providers.is_empty() {
        return;
    }
    let [_ours, theirs @ ..] = taps.kubeconfigs() else { return };
    if theirs.is_empty() {
        print_message(format!(
            "auth-provider of {providers}: refreshed tokens are written to the private kubeconfig only, and are lost at the end \
             of the run"
        ));
        return;
    }
    let theirs = theirs.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    print_message(format!(
        "auth-provider of {providers}: refreshed tokens are written to {theirs}, which KUBECONFIG lists after the private copy. \
         A client with the copy alone (--kubeconfig) lacks this user"
    ));
}

fn users(listeners: &[Listener], noticed: fn(&Selected) -> bool) -> String {
    let selected = listeners.iter().map(|listener| &listener.pair.selected).filter(|selected| noticed(selected));
    let users: BTreeSet<&str> = selected.filter_map(|selected| selected.user.as_deref()).collect();
    some_names(users.into_iter())
}

fn print_left_out(left_out: &[LeftOut]) {
    for LeftOut { contexts, why } in left_out.iter().take(MAX_NAMES) {
        print_message(format!("not covered, left unchanged: {}: {why}", some_names(contexts.iter().map(String::as_str))));
    }
    if left_out.len() > MAX_NAMES {
        let more: usize = left_out.iter().skip(MAX_NAMES).map(|left_out| left_out.contexts.len()).sum();
        print_message(format!("not covered, left unchanged: {more} more contexts"));
    }
}

fn some_names<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let shown = names.by_ref().take(MAX_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
