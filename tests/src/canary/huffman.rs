//! Encoder for HPACK's Huffman code (RFC 7541 appendix B).

use observer_core::http::hpack::CODE_LENGTHS;

/// The code of a text, first bit first, without padding.
pub(super) fn bits(text: &[u8]) -> Vec<bool> {
    text.iter().flat_map(|symbol| code(*symbol)).collect()
}

/// The octets of a string literal: the code of a text, padded with ones (RFC 7541 §5.2).
pub fn huffman(text: &[u8]) -> Vec<u8> {
    let mut bits = bits(text);
    bits.resize(bits.len().next_multiple_of(8), true);
    octets(&bits)
}

/// Packs bits into complete octets; leftover bits are dropped.
pub(super) fn octets(bits: &[bool]) -> Vec<u8> {
    bits.chunks_exact(8).map(|octet| octet.iter().fold(0, |octet, bit| octet << 1 | u8::from(*bit))).collect()
}

/// The code is canonical: codes of one length are consecutive in the order of their symbols. Each length starts after the last code
/// of the shorter ones.
fn code(wanted: u8) -> impl Iterator<Item = bool> {
    let length = CODE_LENGTHS[usize::from(wanted)];
    let mut code = 0_u32;
    for shorter in 1..length {
        code = (code + count(&CODE_LENGTHS, shorter)) << 1;
    }
    code += count(&CODE_LENGTHS[..usize::from(wanted)], length);
    (0..length).rev().map(move |bit| code >> bit & 1 == 1)
}

/// The number of codes of this length.
fn count(lengths: &[u8], length: u8) -> u32 {
    lengths.iter().map(|other| u32::from(*other == length)).sum()
}

#[cfg(test)]
mod tests {
    use super::huffman;

    #[test]
    fn rfc_7541_huffman_examples_are_encoded() {
        for (text, octets) in [
            ("www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"),
            ("no-cache", "a8eb10649cbf"),
            ("custom-value", "25a849e95bb8e8b4bf"),
            ("Mon, 21 Oct 2013 20:13:21 GMT", "d07abe941054d444a8200595040b8166e082a62d1bff"),
        ] {
            let encoded: Vec<String> = huffman(text.as_bytes()).iter().map(|octet| format!("{octet:02x}")).collect();
            assert_eq!(encoded.concat(), octets, "{text}");
        }
    }
}
