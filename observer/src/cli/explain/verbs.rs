//! Methods of HTTP, and verbs of Kubernetes as audit logs and roles write them.

/// A method or a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Action {
    /// In lower case.
    pub(super) word: &'static str,
    pub(super) method: &'static str,
    /// Whether the request is a watch.
    pub(super) watches: bool,
    pub(super) names: Names,
}

/// Whether a verb needs the name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Without a name, it is a list.
    Maybe,
    Always,
    Never,
}

const ACTIONS: &[Action] = &[
    action("get", "GET", Names::Maybe),
    action("head", "HEAD", Names::Maybe),
    action("list", "GET", Names::Maybe),
    Action { word: "watch", method: "GET", watches: true, names: Names::Maybe },
    action("post", "POST", Names::Never),
    action("create", "POST", Names::Never),
    action("put", "PUT", Names::Always),
    action("update", "PUT", Names::Always),
    action("patch", "PATCH", Names::Always),
    action("delete", "DELETE", Names::Always),
    action("deletecollection", "DELETE", Names::Never),
];

/// The action of a path without a verb.
pub(super) const GET: Action = action("get", "GET", Names::Maybe);

const fn action(word: &'static str, method: &'static str, names: Names) -> Action {
    Action { word, method, watches: false, names }
}

impl Action {
    /// The method or verb `word`, in any case.
    pub(super) fn named(word: &str) -> Option<Self> {
        ACTIONS.iter().copied().find(|action| action.word.eq_ignore_ascii_case(word))
    }

    /// The action of `kubectl VERB --raw`.
    pub(super) fn of_kubectl(verb: &str) -> Option<Self> {
        match verb {
            "get" | "create" | "delete" => Self::named(verb),
            "replace" => Self::named("update"),
            _other => None,
        }
    }

    /// Whether a name selects one object of a list or watch.
    pub(super) fn selects(self) -> bool {
        matches!(self.word, "list" | "watch")
    }

    /// All words, in upper case.
    pub(super) fn words() -> impl Iterator<Item = String> {
        ACTIONS.iter().map(|action| action.word.to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_and_methods_are_read_in_any_case() {
        let method = |word| Action::named(word).map(|action| (action.method, action.watches));
        assert_eq!(method("LIST"), Some(("GET", false)));
        assert_eq!(method("Watch"), Some(("GET", true)));
        assert_eq!(method("update"), Some(("PUT", false)));
        assert_eq!(method("FETCH"), None);
        assert_eq!(Action::of_kubectl("replace").map(|action| action.method), Some("PUT"));
        assert_eq!(Action::of_kubectl("list"), None);
    }
}
