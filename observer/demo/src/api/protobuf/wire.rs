//! Protobuf's wire format: splits a message into its fields.
//!
//! <https://protobuf.dev/programming-guides/encoding>. No message of Kubernetes has groups or fixed-width numbers, so they count as
//! malformed here. Nothing is copied.

/// The fields of a message, in order.
#[derive(Clone, Debug)]
pub(super) struct Fields<'b> {
    rest: &'b [u8],
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wire<'b> {
    /// A number or a boolean.
    Varint(u64),
    /// A text, bytes, or a message.
    Bytes(&'b [u8]),
}

/// Why the rest of the message cannot be read.
pub(super) type Malformed = &'static str;

impl<'b> Fields<'b> {
    pub(super) fn of(message: &'b [u8]) -> Self {
        Self { rest: message }
    }

    fn field(&mut self) -> Result<(u32, Wire<'b>), Malformed> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0).ok_or("a field has no valid number")?;
        let value = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            2 => {
                let length = self.varint()?;
                let length = usize::try_from(length).map_err(|_overflow| "a length is too large")?;
                let (value, rest) = self.rest.split_at_checked(length).ok_or("it ends within a field")?;
                self.rest = rest;
                Wire::Bytes(value)
            }
            _other => return Err("a field is neither a varint nor has a length"),
        };
        Ok((number, value))
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or("it ends within a number")?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number is longer than 64 bits")
    }
}

impl<'b> Iterator for Fields<'b> {
    type Item = Result<(u32, Wire<'b>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_with_number_and_value() {
        let fields: Vec<_> = Fields::of(b"\x0a\x02ab\x08\x96\x01\xa2\x01\x00").collect();
        assert_eq!(fields, [Ok((1, Wire::Bytes(b"ab"))), Ok((1, Wire::Varint(150))), Ok((20, Wire::Bytes(b"")))]);
    }

    #[test]
    fn ten_byte_varints_are_decoded() {
        let fields: Vec<_> = Fields::of(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").collect();
        assert_eq!(fields, [Ok((1, Wire::Varint(u64::MAX)))]);
    }

    #[test]
    fn malformed_protobuf_yields_one_error() {
        for bytes in [
            &b"\x0a"[..],
            b"\x0a\x05ab",
            b"\x00",
            b"\x0b",
            b"\x0d1234",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
            b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01",
        ] {
            let fields: Vec<_> = Fields::of(bytes).collect();
            assert!(matches!(fields.as_slice(), [Err(_)]), "{bytes:?}: {fields:?}");
        }
    }
}
