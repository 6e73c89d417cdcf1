//! Header fields that a process told in plaintext, ahead of the header blocks that have them.

use std::fmt;

use super::held::HeldBytes;

/// Most fields of one piece of news; kube-apiserver's clients send a dozen.
const MAX_FIELDS: usize = 256;
/// Most bytes of their names and values: above the 1 MiB that kube-apiserver takes, nothing is asked of it.
const MAX_BYTES: usize = 1 << 20;

/// Names and values of header fields in their order, and which header blocks have them.
///
/// Credentials are among them: they are not shown, and overwritten when they are given back. What is kept of them, the decoder decides as it does for a
/// block that it can read itself.
#[derive(Clone, PartialEq, Eq)]
pub struct HeaderFields {
    blocks: Blocks,
    text: HeldBytes,
    /// Where each name and each value ends in the text.
    ends: Vec<(usize, usize)>,
}

/// Which header blocks fields are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// The next one of this HTTP/2 stream.
    OfStream(u32),
    /// All whose last byte is among the bytes that come next in the direction; none if a hole comes next.
    OfNextBytes,
}

/// There are more fields than anybody asks with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyFields;

impl HeaderFields {
    /// None yet.
    pub fn new(blocks: Blocks) -> Self {
        Self { blocks, text: HeldBytes::default(), ends: Vec::new() }
    }

    /// Adds the next field.
    ///
    /// # Errors
    ///
    /// When there are 256 already, or 1 MiB of text; then it is not added.
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

    /// The same fields as those of other blocks.
    #[must_use]
    pub fn with_blocks(self, blocks: Blocks) -> Self {
        Self { blocks, ..self }
    }

    /// Which blocks have them.
    pub const fn blocks(&self) -> Blocks {
        self.blocks
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all names and values.
    pub fn text_length(&self) -> usize {
        self.text.len()
    }

    /// Name and value of each.
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
    fn fields_come_back_in_their_order_and_are_not_shown() {
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
