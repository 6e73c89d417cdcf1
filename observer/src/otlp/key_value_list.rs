//! Lists of keys and values in environment variables: `key=value,other=value`, with values in percent encoding.
//!
//! Upstream: open-telemetry/opentelemetry-specification `specification/resource/sdk.md` and `specification/protocol/exporter.md`.

use percent_encoding::percent_decode_str;

/// The list is not a sequence of `key=value`, or a value is not UTF-8. It is never quoted, since it may contain a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAList;

/// The values of a list as they are written, in percent encoding. The list may be wrong.
pub(super) fn written_values(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter_map(|entry| entry.split_once('=')).map(|(_, value)| value.trim())
}

/// Parses a list. Spaces around keys and values, and empty entries, are ignored.
pub(super) fn parse(list: &str) -> Result<Vec<(String, String)>, NotAList> {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(entry).collect()
}

fn entry(entry: &str) -> Result<(String, String), NotAList> {
    let (key, value) = entry.split_once('=').ok_or(NotAList)?;
    let decode = |text: &str| percent_decode_str(text.trim()).decode_utf8().map(String::from).or(Err(NotAList));
    let key = decode(key)?;
    if key.is_empty() { Err(NotAList) } else { Ok((key, decode(value)?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_decoded_and_trimmed() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(parse(" a = b , c=d%20e=f,, g="), Ok(vec![pair("a", "b"), pair("c", "d e=f"), pair("g", "")]));
        assert_eq!(parse(""), Ok(Vec::new()));
    }

    #[test]
    fn other_text_is_no_list() {
        for list in ["token", "a=b,token", "=x", "a=%ff"] {
            assert_eq!(parse(list), Err(NotAList), "{list}");
        }
    }
}
