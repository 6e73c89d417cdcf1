//! Random header lists.

use std::hash::{BuildHasher, RandomState};

use http::{HeaderMap, HeaderName, HeaderValue};

const NAMES: [&str; 14] = [
    "accept",
    "audit-id",
    "authorization",
    "content-type",
    "cookie",
    "date",
    "etag",
    "kubectl-command",
    "retry-after",
    "set-cookie",
    "user-agent",
    "warning",
    "x-kubernetes-pf-flowschema-uid",
    "x-kubernetes-pf-prioritylevel-uid",
];
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Random numbers from a seed: `SplitMix64`.
#[derive(Debug)]
pub(super) struct Random {
    state: u64,
    recent: Vec<HeaderValue>,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed, recent: Vec::new() }
    }

    pub(super) fn method(&mut self) -> &'static str {
        self.pick(&METHODS)
    }

    pub(super) fn status(&mut self) -> u16 {
        200 + u16::try_from(self.below(400)).unwrap()
    }

    pub(super) fn path(&mut self) -> String {
        let (path, token, continuation) = (self.text(30), self.text(10), self.length());
        format!("/api/v1/{path}?limit=500&token={token}&continue={}", self.text(continuation))
    }

    pub(super) fn headers(&mut self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for _ in 0..self.below(8) {
            let value = self.value();
            headers.append(self.name(), value);
        }
        headers
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(limit).unwrap()).unwrap()
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn name(&mut self) -> HeaderName {
        if self.below(6) > 0 {
            return HeaderName::from_static(self.pick(&NAMES));
        }
        let letters = self.text(40).replace(['/', '%', '.'], "");
        HeaderName::try_from(format!("x-{letters}")).unwrap()
    }

    fn value(&mut self) -> HeaderValue {
        if !self.recent.is_empty() && self.below(3) == 0 {
            let recent = self.below(self.recent.len());
            return self.recent[recent].clone();
        }
        let length = self.length();
        let mut value = match self.below(10) {
            0 => HeaderValue::from_static(""),
            // Values that are usually longer in Huffman code than without.
            1..4 => HeaderValue::from_bytes(&self.octets(length)).unwrap(),
            _ => HeaderValue::try_from(self.text(length)).unwrap(),
        };
        value.set_sensitive(self.below(8) == 0);
        if self.recent.len() < 64 {
            self.recent.push(value.clone());
        } else {
            let replaced = self.below(64);
            self.recent[replaced] = value.clone();
        }
        value
    }

    /// Mostly short; sometimes too long for the dynamic table.
    fn length(&mut self) -> usize {
        if self.below(40) == 0 { self.below(5000) } else { self.below(80) }
    }

    fn octets(&mut self, length: usize) -> Vec<u8> {
        // A field value may not contain 0x7f.
        (0..length).map(|_| 0x80 + u8::try_from(self.below(128)).unwrap()).collect()
    }

    fn text(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(self.pick(b"abcdefghijklmnopqrstuvwxyz0123456789-./_~%"))).collect()
    }
}

/// A different seed in each run; failures print it.
pub(super) fn seed() -> u64 {
    RandomState::new().hash_one(0)
}
