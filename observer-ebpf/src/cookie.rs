//! What a program is told of the place where it is attached: the attach cookie.

/// So many files are probed at most in one run: as many as the map `CALLS` counts the calls of.
pub const MAX_FILES: u16 = 4_096;

/// The cookie of all programs at places of files, 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachCookie {
    /// Which file it is: a number that it has in this run, below [`MAX_FILES`].
    pub file: u16,
    /// For the programs at the entry of `SSL_read` and its like.
    pub descriptor: DescriptorOffsets,
}

/// Where `SSL *` leads to the number of a socket.
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
    /// Where nothing is known.
    pub const UNKNOWN: Self = Self { bio: 0, method: 0, number: 0 };

    /// Those of OpenSSL 3.0 where pointers have eight bytes (`ssl/ssl_local.h`, `crypto/bio/bio_local.h`, openssl-3.0.19).
    pub const OPENSSL_3_0: Self = Self { bio: 0x10, method: 0x08, number: 0x38 };
}

impl AttachCookie {
    /// As the kernel keeps it, 16 bits each from the lowest on.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        let DescriptorOffsets { bio, method, number } = self.descriptor;
        let [b0, b1] = bio.to_le_bytes();
        let [m0, m1] = method.to_le_bytes();
        let [n0, n1] = number.to_le_bytes();
        let [f0, f1] = self.file.to_le_bytes();
        u64::from_le_bytes([b0, b1, m0, m1, n0, n1, f0, f1])
    }

    /// What the kernel kept.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        let [b0, b1, m0, m1, n0, n1, f0, f1] = bits.to_le_bytes();
        let descriptor = DescriptorOffsets {
            bio: i16::from_le_bytes([b0, b1]),
            method: i16::from_le_bytes([m0, m1]),
            number: i16::from_le_bytes([n0, n1]),
        };
        Self { file: u16::from_le_bytes([f0, f1]), descriptor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_told_again_as_it_was() {
        for (file, descriptor) in [
            (0, DescriptorOffsets::UNKNOWN),
            (MAX_FILES - 1, DescriptorOffsets::OPENSSL_3_0),
            (u16::MAX, DescriptorOffsets { bio: -1, method: i16::MIN, number: i16::MAX }),
        ] {
            let cookie = AttachCookie { file, descriptor };
            assert_eq!(AttachCookie::from_bits(cookie.to_bits()), cookie);
        }
    }
}
