//! How well a request fits the history of a reflector.

use super::form::Form;
use super::state::{Reflector, State};
use crate::k8s::{Continue, ListOptions, ResourceVersion};

/// How well a request fits the history of a reflector. Greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// The request retries a failed list, asks for an announced page, or is a watch after another watch.
    is_expected: bool,
    names_its_revision: bool,
    /// The reflector never watched, and its last list had the same form.
    is_poller: bool,
    likely: u8,
}

pub(super) fn fit_of_list(reflector: &Reflector, options: &ListOptions, same_connection: bool) -> Option<Fit> {
    let is_page = options.continue_token != Continue::Unset;
    let names_its_revision =
        matches!(options.resource_version, ResourceVersion::At(revision) if reflector.revision == Some(revision));
    let is_poller = !options.watch && !reflector.has_watched() && reflector.last_form == Some(Form::of(options));
    // A watch without a revision does not belong to a polling loop of the same client.
    let is_anothers = options.watch && !options.ends_state_with_bookmark() && reflector.polls.again();
    let fit = |is_expected, likely| Some(Fit { is_expected, names_its_revision, is_poller, likely });
    match &reflector.state {
        State::Listing(listing, _) if is_page => {
            (listing.expects_page() && listing.announces(&options.continue_token)).then(|| fit(true, 4))?
        }
        _ if is_page => None,
        State::Listing(listing, _) if listing.failure.is_some() => fit(listing.options == *options, 3),
        State::Waiting if reflector.client_may_be_gone() => fit(false, 1),
        State::Waiting => fit(false, 2),
        State::Listed if is_anothers => None,
        State::Listed => fit(false, 1),
        // The client does not request the remaining pages, and starts a new list.
        State::Listing(..) if is_poller && same_connection => fit(false, 0),
        State::Listing(..) | State::Watching(_) => None,
    }
}

pub(super) fn fit_of_watch(reflector: &Reflector, options: &ListOptions) -> Option<Fit> {
    let is_waiting = matches!(reflector.state, State::Waiting);
    if !is_waiting && !matches!(reflector.state, State::Listed) {
        return None;
    }
    let (names_its_revision, likely) = match (options.resource_version, reflector.revision) {
        (ResourceVersion::At(from), Some(own)) if from == own => (true, 3),
        // Events under way when the watch broke did not reach the client.
        (ResourceVersion::At(from), Some(own)) if from < own => (false, 2),
        // Revisions that are not numbers cannot be compared.
        (ResourceVersion::At(_), _) | (ResourceVersion::Invalid, None) => (false, 1),
        // The client has no list.
        (ResourceVersion::Unset | ResourceVersion::Any | ResourceVersion::Invalid, _) => {
            if is_waiting {
                (false, 1)
            } else {
                return None;
            }
        }
    };
    let gone = u8::from(reflector.client_may_be_gone());
    Some(Fit { is_expected: is_waiting, names_its_revision, is_poller: false, likely: 2 * likely - gone })
}
