//! Where a TLS library keeps the descriptor of a connection's socket.

/// Where `SSL *` leads to the number of a socket: the attach cookie of the programs at the entry of `SSL_read` and its like.
///
/// The number is believed only where the type of the BIO says that it has one (`BIO_TYPE_DESCRIPTOR`, OpenSSL `include/openssl/bio.h.in`):
/// a BIO in memory, such as those of node and asyncio, has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorOffsets {
    /// Of the pointer to the BIO that is read from, in the `SSL` (`rbio`), in bytes. 0 or less: not known, and so the descriptor is not.
    pub bio: i16,
    /// Of the pointer to the BIO's method, in the BIO. The method begins with its type, an `int`.
    pub method: i16,
    /// Of the BIO's number, an `int`, in the BIO.
    pub number: i16,
}

impl DescriptorOffsets {
    /// Those of OpenSSL 3.0 where pointers have eight bytes (`ssl/ssl_local.h`, `crypto/bio/bio_local.h`, openssl-3.0.19).
    pub const OPENSSL_3_0: Self = Self { bio: 0x10, method: 0x08, number: 0x38 };

    /// The offsets as the cookie, 16 bits each from the lowest on. A cookie of 0 knows none.
    #[must_use]
    pub const fn to_cookie(self) -> u64 {
        let [b0, b1] = self.bio.to_le_bytes();
        let [m0, m1] = self.method.to_le_bytes();
        let [n0, n1] = self.number.to_le_bytes();
        u64::from_le_bytes([b0, b1, m0, m1, n0, n1, 0, 0])
    }

    /// The offsets that a cookie tells.
    #[must_use]
    pub const fn from_cookie(cookie: u64) -> Self {
        let [b0, b1, m0, m1, n0, n1, _, _] = cookie.to_le_bytes();
        Self { bio: i16::from_le_bytes([b0, b1]), method: i16::from_le_bytes([m0, m1]), number: i16::from_le_bytes([n0, n1]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_tells_the_offsets_again() {
        for offsets in [DescriptorOffsets::OPENSSL_3_0, DescriptorOffsets { bio: -1, method: i16::MIN, number: i16::MAX }] {
            assert_eq!(DescriptorOffsets::from_cookie(offsets.to_cookie()), offsets);
        }
    }

    #[test]
    fn no_cookie_knows_no_offsets() {
        assert_eq!(DescriptorOffsets::from_cookie(0).bio, 0);
    }
}
