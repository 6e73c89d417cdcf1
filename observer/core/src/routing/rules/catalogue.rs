//! The list of all rules, and the lookup of one by its identifier.

use super::rule::Rule;
use super::{elsewhere, get, list, refused, unknown, watch};

/// All rules: those for lists, gets, watches, refusals, resources without a watch cache, and unknown verdicts, in this order.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    [list::RULES, get::RULES, watch::RULES, refused::RULES, elsewhere::RULES, unknown::RULES].into_iter().flatten()
}

/// The rule with this identifier, such as `list-unset-etcd`; `None` if there is none.
pub fn rule(id: &str) -> Option<&'static Rule> {
    all_rules().find(|rule| rule.id.as_str() == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn identifiers_are_unique_and_lower_case_kebab() {
        let ids: BTreeSet<&str> = all_rules().map(|rule| rule.id.as_str()).collect();
        assert_eq!(ids.len(), all_rules().count());
        for id in ids {
            assert!(id.chars().all(|character| matches!(character, 'a'..='z' | '0'..='9' | '-')) && !id.starts_with('-'), "{id}");
        }
    }

    #[test]
    fn every_rule_has_a_sentence_and_its_sources() {
        for rule in all_rules() {
            assert!(rule.sentence.len() > 20 && !rule.sentence.ends_with('.'), "{}: {}", rule.id, rule.sentence);
            assert!(rule.section.starts_with('§') && !rule.upstream.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn rules_are_found_by_their_identifier() {
        assert_eq!(rule("list-unset-etcd").map(|rule| rule.id), Some(super::super::LIST_UNSET_ETCD));
        assert_eq!(rule("no-such-rule"), None);
    }
}
