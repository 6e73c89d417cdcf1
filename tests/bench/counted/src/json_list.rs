//! Makes JSON lists that repeat one object.

use anyhow::{Context, Result};
use serde_json::Value;

/// The placeholder of an item's number in the objects, with a fixed number of digits, so that all items have the same length.
const NUMBER: &str = "#######";

/// A list of about `size` bytes between `head` and `tail`, with at least one item, and the number of its items. `object` is readable
/// JSON.
///
/// # Errors
///
/// If `object` is no JSON.
pub fn json_list(object: &str, head: &str, tail: &str, size: usize) -> Result<(String, usize)> {
    let object: Value = serde_json::from_str(object).context("the object of the list is no JSON")?;
    let item = object.to_string();
    let items = (size / (item.len() + 1)).max(1);
    let mut text = String::with_capacity(head.len() + items * (item.len() + 1) + tail.len());
    text.push_str(head);
    for number in 0..items {
        if number > 0 {
            text.push(',');
        }
        text.push_str(&item.replace(NUMBER, &format!("{number:07}")));
    }
    text.push_str(tail);
    Ok((text, items))
}
