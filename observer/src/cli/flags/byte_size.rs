//! Sizes in flags, as people write them.

use std::str::FromStr;

use anyhow::{Context, Result, bail};

/// A number of bytes, parsed from a number with an optional unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) u64);

/// With less, each file would hold only a few requests.
const LEAST: u64 = 64 << 10;

const UNITS: [(&str, u64); 8] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

impl FromStr for ByteSize {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = UNITS.iter().find_map(|(name, unit)| text.strip_suffix(name).map(|number| (number.trim_end(), *unit)));
        let (number, unit) = found.unwrap_or((text, 1));
        let number: u64 = number.parse().ok().context("a size is an integer with a unit, such as 64MiB or 500kB")?;
        let bytes = number.checked_mul(unit).context("a size above 16 EiB")?;
        if bytes < LEAST {
            bail!("a size below 64KiB");
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::ByteSize;

    #[test]
    fn sizes_have_a_unit_or_are_bytes() {
        for (text, bytes) in
            [("64MiB", Some(64 << 20)), ("500kB", Some(500_000)), ("70000", Some(70_000)), ("2 GB", Some(2_000_000_000))]
        {
            assert_eq!(text.parse::<ByteSize>().ok(), bytes.map(ByteSize), "{text}");
        }
        for text in ["", "MiB", "-1MiB", "1.5GB", "64mib", "1", "63KiB", "99999999999999999999", "99999999TiB"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
