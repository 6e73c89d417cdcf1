//! Tests of pages: their ends, their costs, and the starts of the next pages.

use std::sync::Arc;

use serde_json::json;

use super::page::{Cost, PageRequest};
use crate::api::find;
use crate::options::Token;
use crate::select::{FieldSelector, LabelSelector, Selection};
use crate::store::{Entry, Object};
use crate::token;

const PREFIX: &str = "/registry/pods/n/";

#[test]
fn cache_page_ends_at_limit_and_counts_remaining_items() {
    let selection = selection("");
    let page = request(&selection, 3).page_of_cache(&entries(10));
    assert_eq!((page.items.len(), page.remaining), (3, Some(7)));
    let next = token::decode(&page.next.unwrap()).unwrap();
    assert_eq!(next, Token { revision: Some(50), start: "02\0".to_owned() });
    let whole = request(&selection, 10).page_of_cache(&entries(10));
    assert_eq!((whole.items.len(), whole.next, whole.remaining), (10, None, None));
}

#[test]
fn remaining_count_is_unknown_with_a_selector() {
    let selection = selection("half=even");
    let page = request(&selection, 3).page_of_cache(&entries(10));
    assert_eq!((page.items.len(), page.next.is_some(), page.remaining), (3, true, None));
    let (page, _) = request(&selection, 3).page_of_store(&entries(10));
    assert_eq!((page.items.len(), page.next.is_some(), page.remaining), (3, true, None));
}

#[test]
fn selective_store_page_doubles_its_range_reads() {
    let selection = selection("half=never");
    let (page, cost) = request(&selection, 10).page_of_store(&entries(100));
    assert_eq!((page.items.len(), page.next), (0, None));
    // 10 + 20 + 40, and the rest.
    assert_eq!(cost, Cost { ranges: 4, fetched: 100, evaluated: 100 });
}

#[test]
fn store_page_without_selector_reads_one_range() {
    let selection = selection("");
    let (page, cost) = request(&selection, 3).page_of_store(&entries(10));
    assert_eq!((page.items.len(), page.remaining, cost), (3, Some(7), Cost { ranges: 1, fetched: 3, evaluated: 3 }));
    let (whole, cost) = request(&selection, 0).page_of_store(&entries(10));
    assert_eq!((whole.items.len(), whole.next, cost.ranges), (10, None, 1));
    let (empty, cost) = request(&selection, 3).page_of_store(&[]);
    assert_eq!((empty.items.len(), empty.next, cost.ranges), (0, None, 1));
}

fn request(selection: &Selection, limit: usize) -> PageRequest<'_> {
    PageRequest { selection, prefix: PREFIX, limit, revision: 50 }
}

fn selection(labels: &str) -> Selection {
    Selection {
        resource: find("", "v1", "pods").unwrap(),
        namespace: "n".to_owned(),
        labels: LabelSelector::parse(labels).unwrap(),
        fields: FieldSelector::default(),
    }
}

fn entries(count: u64) -> Vec<Entry> {
    let object = |number: u64| {
        let half = if number.is_multiple_of(2) { "even" } else { "odd" };
        json!({"metadata": {"name": format!("{number:02}"), "namespace": "n", "labels": {"half": half}}})
    };
    let entry = |number: u64| Entry {
        key: Arc::from(format!("{PREFIX}{number:02}")),
        object: Arc::new(Object::at_revision(object(number), number + 1)),
    };
    (0..count).map(entry).collect()
}
