//! The attach cookie, by which a program knows where it is attached.

/// Maximum number of files that are probed at the same time, and number of entries of the map `CALLS`.
pub const MAX_FILES: u16 = 4_096;

/// The number in the programs that stands for a cookie. User space replaces it where a place cannot have a cookie of its own.
pub const COOKIE_MARK: u64 = 0x7761_7463_6874_6170;

/// The 64-bit cookie of all programs that are attached to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachCookie {
    /// Number of the file in this run, below [`MAX_FILES`].
    pub file: u16,
    /// Finds the socket's descriptor, for programs at the entry of `SSL_read` and similar functions.
    pub descriptor: DescriptorOffsets,
}

/// How to find the descriptor of the socket from an `SSL *`.
///
/// The descriptor is used only if the type of the BIO shows that it has one (`BIO_TYPE_DESCRIPTOR`, OpenSSL
/// `include/openssl/bio.h.in`). A BIO in memory, such as those of node and asyncio, has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorOffsets {
    /// Offset in the `SSL` of the pointer to the BIO that is read from (`rbio`), in bytes. If it is 0 or less, the descriptor is
    /// unknown.
    pub bio: i16,
    /// Offset in the BIO of the pointer to its method. The method begins with its type, an `int`.
    pub method: i16,
    /// Offset in the BIO of its number, an `int`.
    pub number: i16,
}

impl DescriptorOffsets {
    /// Offsets of a library that is unknown here.
    pub const UNKNOWN: Self = Self { bio: 0, method: 0, number: 0 };

    /// Offsets of OpenSSL 3.0 with pointers of eight bytes (`ssl/ssl_local.h`, `crypto/bio/bio_local.h`, openssl-3.0.19).
    pub const OPENSSL_3_0: Self = Self { bio: 0x10, method: 0x08, number: 0x38 };
}

impl AttachCookie {
    /// The cookie for the kernel: four numbers of 16 bits, from the lowest bits up.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        let DescriptorOffsets { bio, method, number } = self.descriptor;
        let [b0, b1] = bio.to_le_bytes();
        let [m0, m1] = method.to_le_bytes();
        let [n0, n1] = number.to_le_bytes();
        let [f0, f1] = self.file.to_le_bytes();
        u64::from_le_bytes([b0, b1, m0, m1, n0, n1, f0, f1])
    }

    /// The cookie from the kernel.
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
    fn cookie_survives_the_round_trip() {
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
