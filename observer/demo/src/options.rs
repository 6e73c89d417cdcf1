//! The parameters of a list, watch or get: parsed, given defaults and validated as in the API server.
//!
//! kubernetes/apimachinery pkg/apis/meta/internalversion/{defaults.go, validation/validation.go} and kubernetes/apiserver
//! pkg/endpoints/handlers/get.go, pkg/storage/interfaces.go `ValidateListOptions` v0.34.

use observer_core::k8s::query;

use super::refusal::Refusal;
use super::select::{FieldSelector, LabelSelector};
use super::token;

/// The value of `resourceVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// Absent or empty.
    Unset,
    /// `0`.
    Any,
    /// Any other revision.
    At(u64),
}

/// The value of `resourceVersionMatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Absent or empty.
    Unset,
    /// `Exact`: this revision only.
    Exact,
    /// `NotOlderThan`: this revision or a later one.
    NotOlderThan,
}

/// A decoded continue token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The revision of the first page; `None` reads the current state.
    pub(crate) revision: Option<u64>,
    /// The first key of the page, relative to the prefix of the list.
    pub(crate) start: String,
}

/// The parts of a valid list request that determine which layer answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListRequest {
    pub(crate) revision: Revision,
    pub(crate) matching: Match,
    /// 0 means no limit.
    pub(crate) limit: usize,
    pub(crate) token: Option<Token>,
    /// Whether the list reads more than one key.
    pub(crate) recursive: bool,
    pub(crate) has_selector: bool,
}

impl ListRequest {
    /// The revision to read from the store, unless it is the current one.
    pub(crate) fn exact_revision(&self) -> Option<u64> {
        if let Some(token) = self.token.as_ref().filter(|_| self.recursive) {
            return token.revision;
        }
        match (self.matching, self.revision) {
            (Match::Exact, Revision::At(revision)) => Some(revision),
            (Match::Unset, Revision::At(revision)) if self.recursive && self.limit > 0 => Some(revision),
            (Match::Unset | Match::Exact | Match::NotOlderThan, _) => None,
        }
    }
}

/// The parameters as received.
#[derive(Clone, Debug)]
pub(crate) struct Parameters {
    pub(crate) watch: bool,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: FieldSelector,
    pub(crate) allow_bookmarks: bool,
    pub(crate) timeout_seconds: Option<u64>,
    pub(crate) send_initial_events: Option<bool>,
    resource_version: String,
    resource_version_match: String,
    limit: usize,
    token: String,
}

impl Parameters {
    /// Parses a query string; a value that cannot be decoded gets 400.
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        let parameter = |name: &str| query::first(text, name);
        let string = |name| parameter(name).unwrap_or_default().into_owned();
        // A parameter that is present is true, unless it is `0` or `false`.
        let is_true = |value: &str| !(value == "0" || value.eq_ignore_ascii_case("false"));
        let number = |name: &str| match parameter(name) {
            None => Ok(None),
            Some(digits) => digits
                .parse::<i64>()
                .map(Some)
                .map_err(|_not_a_number| Refusal::bad_request(format!("strconv.ParseInt: parsing {digits:?}: invalid syntax"))),
        };
        Ok(Self {
            watch: parameter("watch").is_some_and(|value| is_true(&value)),
            labels: LabelSelector::parse(&string("labelSelector"))
                .map_err(|what| Refusal::bad_request(format!("unable to parse requirement: {what}")))?,
            fields: FieldSelector::parse(&string("fieldSelector")).map_err(Refusal::bad_request)?,
            allow_bookmarks: parameter("allowWatchBookmarks").is_some_and(|value| is_true(&value)),
            timeout_seconds: number("timeoutSeconds")?
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0),
            send_initial_events: parameter("sendInitialEvents").map(|value| is_true(&value)),
            resource_version: string("resourceVersion"),
            resource_version_match: string("resourceVersionMatch"),
            limit: number("limit")?.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(0),
            token: string("continue"),
        })
    }

    /// Whether the list continues another one.
    pub(crate) fn has_token(&self) -> bool {
        !self.token.is_empty()
    }

    /// Refuses parameters that are invalid for a list (422), and then those that the storage layer cannot read (400).
    pub(crate) fn list(&self, recursive: bool, has_selector: bool) -> Result<ListRequest, Refusal> {
        let matching = self.validate_list()?;
        let token = if self.token.is_empty() || !recursive { None } else { Some(self.token()?) };
        let revision = self.revision().map_err(|what| Refusal::bad_request(format!("invalid resource version: {what}")))?;
        Ok(ListRequest { revision, matching, limit: self.limit, token, recursive, has_selector })
    }

    /// Adds the default for initial events to a legacy watch, and refuses parameters that are invalid for a watch (422). Returns
    /// the revision to watch from.
    pub(crate) fn watch(&mut self, asked_by_parameter: bool) -> Result<Revision, Refusal> {
        let is_legacy = matches!(self.resource_version.as_str(), "" | "0");
        if asked_by_parameter && is_legacy && self.send_initial_events.is_none() && self.resource_version_match.is_empty() {
            self.send_initial_events = Some(true);
            "NotOlderThan".clone_into(&mut self.resource_version_match);
        }
        self.validate_watch()?;
        self.get()
    }

    /// The revision requested by a get.
    pub(crate) fn get(&self) -> Result<Revision, Refusal> {
        self.revision().map_err(|what| Refusal::unclassified(format!("resourceVersion: {what}")))
    }

    fn revision(&self) -> Result<Revision, String> {
        match self.resource_version.as_str() {
            "" => Ok(Revision::Unset),
            text => match text.parse() {
                Ok(0) => Ok(Revision::Any),
                Ok(revision) => Ok(Revision::At(revision)),
                Err(_) => Err(format!("Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax")),
            },
        }
    }

    fn token(&self) -> Result<Token, Refusal> {
        let token = token::decode(&self.token).map_err(|what| Refusal::bad_request(format!("invalid continue token: {what}")))?;
        if !matches!(self.resource_version.as_str(), "" | "0") {
            return Err(Refusal::bad_request("specifying resource version is not allowed when using continue"));
        }
        Ok(token)
    }

    fn validate_list(&self) -> Result<Match, Refusal> {
        const FIELD: &str = "resourceVersionMatch";
        let mut causes = Vec::new();
        let matching = match self.resource_version_match.as_str() {
            "Exact" => Match::Exact,
            "NotOlderThan" => Match::NotOlderThan,
            _other => Match::Unset,
        };
        if !self.resource_version_match.is_empty() {
            if self.resource_version.is_empty() {
                causes.push(forbidden(FIELD, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                causes.push(forbidden(FIELD, "resourceVersionMatch is forbidden when continue is provided"));
            }
            if matching == Match::Unset {
                causes.push(unsupported(&self.resource_version_match, "\"Exact\", \"NotOlderThan\", \"\""));
            }
            if matching == Match::Exact && self.resource_version == "0" {
                causes.push(forbidden(FIELD, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
            }
        }
        if self.send_initial_events.is_some() {
            causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        refuse(&causes).map_or(Ok(matching), Err)
    }

    fn validate_watch(&self) -> Result<(), Refusal> {
        const FIELD: &str = "resourceVersionMatch";
        let mut causes = Vec::new();
        let is_not_older = self.resource_version_match == "NotOlderThan";
        if self.send_initial_events.is_some() && !is_not_older {
            causes.push(forbidden(FIELD, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
        }
        if !self.resource_version_match.is_empty() {
            if self.send_initial_events.is_none() {
                causes.push(forbidden(FIELD, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
            }
            if !is_not_older {
                causes.push(unsupported(&self.resource_version_match, "\"NotOlderThan\""));
            }
            if !self.token.is_empty() {
                causes.push(forbidden(FIELD, "resourceVersionMatch is forbidden when continue is provided"));
            }
        }
        refuse(&causes).map_or(Ok(()), Err)
    }
}

type Cause = (&'static str, &'static str, String);

fn forbidden(field: &'static str, why: &str) -> Cause {
    (field, "FieldValueForbidden", format!("Forbidden: {why}"))
}

fn unsupported(value: &str, supported: &str) -> Cause {
    ("resourceVersionMatch", "FieldValueNotSupported", format!("Unsupported value: {value:?}: supported values: {supported}"))
}

fn refuse(causes: &[Cause]) -> Option<Refusal> {
    (!causes.is_empty()).then(|| Refusal::invalid("meta.k8s.io", "ListOptions", "", causes))
}
