//! Messages before a run: the contexts that it covers, and those that it does not.

use std::collections::BTreeSet;

use super::TapSet;
use super::listener::Listener;
use crate::kubeconfig::{LeftOut, Selected};
use crate::printable::print_message;

/// Maximum number of names, and of reasons, in one message.
const MAX_NAMES: usize = 8;

/// Reports the contexts that are not covered, and the users whose auth-provider works differently.
pub(super) fn announce(taps: &TapSet) {
    say_left_out(taps.left_out());
    let providers = users(taps.listeners(), |selected| selected.auth_provider);
    if providers.is_empty() {
        return;
    }
    let [_ours, theirs @ ..] = taps.kubeconfigs() else { return };
    if theirs.is_empty() {
        print_message(format!(
            "auth-provider of {providers}: a token that it refreshes is written to the private copy and lost at the end"
        ));
        return;
    }
    let theirs = theirs.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ");
    print_message(format!(
        "auth-provider of {providers}: it writes new tokens back to {theirs}, which KUBECONFIG names behind our copy; a client that is \
         given the copy alone, with --kubeconfig, has no such user"
    ));
}

fn users(listeners: &[Listener], noticed: fn(&Selected) -> bool) -> String {
    let selected = listeners.iter().map(|listener| &listener.pair.selected).filter(|selected| noticed(selected));
    let users: BTreeSet<&str> = selected.filter_map(|selected| selected.user.as_deref()).collect();
    some_names(users.into_iter())
}

fn say_left_out(left_out: &[LeftOut]) {
    for LeftOut { contexts, why } in left_out.iter().take(MAX_NAMES) {
        print_message(format!("not covered, and left as it is: {}: {why}", some_names(contexts.iter().map(String::as_str))));
    }
    if left_out.len() > MAX_NAMES {
        let more: usize = left_out.iter().skip(MAX_NAMES).map(|left_out| left_out.contexts.len()).sum();
        print_message(format!("not covered, and left as they are: {more} more contexts"));
    }
}

fn some_names<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let shown = names.by_ref().take(MAX_NAMES).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
