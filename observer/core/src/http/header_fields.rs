//! Header fields that a tap read in plaintext from a process, ahead of the header blocks that carry them.

use std::fmt;

use super::held::HeldBytes;

/// Maximum number of fields in one call; clients of kube-apiserver send about a dozen per request.
const MAX_FIELDS: usize = 256;
/// Maximum length of all names and values, in bytes: kube-apiserver accepts no more than 1 MiB of header fields.
const MAX_BYTES: usize = 1 << 20;

/// Names and values of header fields in order, and the header blocks that carry them.
///
/// They may include credentials: `Debug` does not show them, and they are overwritten before their memory is freed. The decoder
/// keeps no more of them than of a header block that it decodes itself.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderFields {
    blocks: Blocks,
    text: HeldBytes,
    /// The end of each name and of each value in `text`.
    ends: Vec<(usize, usize)>,
}

/// The header blocks that carry the fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The next header block of this HTTP/2 stream.
    OfStream(u32),
    /// All header blocks whose last byte is among the next bytes of the direction; none if a gap comes next.
    OfNextBytes,
}

/// More header fields than any real request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFields;

impl HeaderFields {
    /// No fields yet, for `blocks`.
    pub fn new(blocks: Blocks) -> Self {
        Self { blocks, text: HeldBytes::default(), ends: Vec::new() }
    }

    /// Adds the next field.
    ///
    /// # Errors
    ///
    /// When there are 256 fields already, or the text would exceed 1 MiB. The field is not added then.
    pub fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), TooManyFields> {
        let begin = self.text.len();
        let name_end = begin.saturating_add(name.len());
        let value_end = name_end.saturating_add(value.len());
        if self.ends.len() >= MAX_FIELDS || value_end > MAX_BYTES {
            return Err(TooManyFields);
        }
        self.text.extend(name);
        self.text.extend(value);
        self.ends.push((name_end, value_end));
        Ok(())
    }

    /// The same fields, for other blocks.
    #[must_use]
    pub fn with_blocks(self, blocks: Blocks) -> Self {
        Self { blocks, ..self }
    }

    /// The blocks that carry the fields.
    pub const fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Length of all names and values, in bytes.
    pub fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Name and value of each field, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let begins = std::iter::once(0).chain(self.ends.iter().map(|(_, value_end)| *value_end));
        begins.zip(&self.ends).filter_map(|(begin, (name_end, value_end))| {
            let text = self.text.as_slice();
            Some((text.get(begin..*name_end)?, text.get(*name_end..*value_end)?))
        })
    }
}

impl fmt::Debug for HeaderFields {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HeaderFields").field("blocks", &self.blocks).field("text", &self.text).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_order_and_debug_hides_them() {
        let mut fields = HeaderFields::new(Blocks::OfStream(7));
        fields.push(b":path", b"/api").unwrap();
        fields.push(b"", b"").unwrap();
        fields.push(b"authorization", b"Bearer c4n4ry").unwrap();
        let all: Vec<_> = fields.iter().collect();
        assert_eq!(all, [(&b":path"[..], &b"/api"[..]), (b"", b""), (b"authorization", b"Bearer c4n4ry")]);
        assert_eq!((fields.len(), fields.text_length()), (3, 35));
        let debug = format!("{:?}", fields.clone());
        assert!(debug.contains("OfStream(7)") && debug.contains("HeldBytes(35)") && !debug.contains("c4n4ry"), "{debug}");
    }

    #[test]
    fn fields_beyond_the_bounds_are_refused() {
        let mut fields = HeaderFields::new(Blocks::OfNextBytes);
        assert_eq!(fields.push(b"a", &vec![0; MAX_BYTES]), Err(TooManyFields));
        for _ in 0..MAX_FIELDS {
            fields.push(b"a", b"b").unwrap();
        }
        assert_eq!(fields.push(b"a", b"b"), Err(TooManyFields));
        assert_eq!(fields.len(), MAX_FIELDS);
    }
}
