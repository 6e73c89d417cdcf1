//! The capabilities of this process, from `/proc/PID/status` (capabilities(7)).

/// A capability, by its bit number in Linux `include/uapi/linux/capability.h`, 6.18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capability {
    DacReadSearch = 2,
    SysPtrace = 19,
    SysAdmin = 21,
    SysResource = 24,
    Perfmon = 38,
    Bpf = 39,
    CheckpointRestore = 40,
}

/// A set of capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Capabilities(u64);

impl Capabilities {
    /// The effective set in the text of a status file; `None` if the text lacks it.
    pub(super) fn effective(status: &str) -> Option<Self> {
        let digits = field(status, "CapEff:")?;
        u64::from_str_radix(digits, 16).ok().map(Self)
    }

    pub(super) const fn has(self, capability: Capability) -> bool {
        self.0 & (1 << capability as u32) != 0
    }
}

/// The effective user ID in the text of a status file.
pub(super) fn effective_user(status: &str) -> Option<u32> {
    field(status, "Uid:")?.split_whitespace().nth(1)?.parse().ok()
}

fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effective_capabilities_are_distinguished_from_the_others() {
        let status =
            "Name:\tx\nUid:\t0\t1000\t0\t0\nCapPrm:\t000001ffffffffff\nCapEff:\t0000008000080000\nCapBnd:\t000001ffffffffff\n";
        let effective = Capabilities::effective(status).unwrap();
        let all = [
            (Capability::DacReadSearch, false),
            (Capability::SysPtrace, true),
            (Capability::SysAdmin, false),
            (Capability::Perfmon, false),
            (Capability::Bpf, true),
            (Capability::CheckpointRestore, false),
        ];
        for (capability, expected) in all {
            assert_eq!(effective.has(capability), expected, "{capability:?}");
        }
        assert_eq!(effective_user(status), Some(1_000));
    }

    #[test]
    fn missing_capability_line_is_not_an_empty_set() {
        for status in ["", "CapEff:\t\n", "CapEff:\tx\n", "CapPrm:\t0000000000000000\n"] {
            assert_eq!(Capabilities::effective(status), None, "{status}");
        }
    }
}
