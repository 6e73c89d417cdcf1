//! The names that `watchtap explain` takes, for completion in shells and for hints.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use observer_core::observer::FindingKind;
use observer_core::reflector::cause_names;
use observer_core::routing::{all_proofs, all_rules};

/// All names: rules, proofs, causes of relists, kinds of findings. Some causes and findings have the same name.
pub(super) fn names() -> impl Iterator<Item = String> {
    let rules = all_rules().map(|rule| rule.id.to_string());
    let proofs = all_proofs().map(|proof| proof.id.to_string());
    let findings = FindingKind::ALL.iter().map(ToString::to_string);
    rules.chain(proofs).chain(cause_names()).chain(findings)
}

/// Accepts any text. Shells complete the names.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnyWithNames;

impl TypedValueParser for AnyWithNames {
    type Value = String;

    fn parse_ref(&self, command: &Command, argument: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let mut all: Vec<String> = names().collect();
        all.sort();
        all.dedup();
        Some(Box::new(all.into_iter().map(PossibleValue::new)))
    }
}
