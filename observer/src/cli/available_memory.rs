//! The memory that a run may use, and the line about a limit that reduces it.

use crate::memory_budget::{Cgroup, MemoryBudget};
use crate::memory_limit::{self, MemoryLimit, NoMemoryLimit};
use crate::printable::print_message;

/// The memory of the parts of this run: at most `most`. Prints a line if the cgroup's limit reduces it, or if an error hides the limit.
pub(super) fn announced(most: &MemoryBudget) -> MemoryBudget {
    match memory_limit::of_this_process() {
        Ok(limit) => {
            let memory = most.within(MemoryBudget::for_observing(limit.bytes, Cgroup::Own));
            if memory != *most {
                print_message(reduced(&limit, &memory));
            }
            memory
        }
        Err(why) => {
            if !why.is_usual() {
                print_message(unknown(&why));
            }
            *most
        }
    }
}

/// The same for a run whose command is in the same cgroup. The command's stderr gets no line: the report counts what had no room.
pub(super) fn beside_a_command(most: &MemoryBudget) -> MemoryBudget {
    let limit = memory_limit::of_this_process();
    limit.map_or(*most, |limit| most.within(MemoryBudget::for_observing(limit.bytes, Cgroup::WithCommand)))
}

fn reduced(limit: &MemoryLimit, memory: &MemoryBudget) -> String {
    let (limit, observing) = (limit.bytes >> 20, memory.bytes() >> 20);
    format!(
        "memory limit {limit} MiB: observing keeps at most {observing} MiB, then drops data and counts it; traffic is not affected"
    )
}

fn unknown(why: &NoMemoryLimit) -> String {
    format!("memory limit unknown ({why}): observing does not keep within it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_limit_and_share_of_observing() {
        let limit = MemoryLimit { bytes: 128 << 20, file: "memory.max".into() };
        let memory = MemoryBudget::default().within(MemoryBudget::for_observing(limit.bytes, Cgroup::Own));
        let line = reduced(&limit, &memory);
        assert!(line.starts_with("memory limit 128 MiB: observing keeps at most 5"), "{line}");
    }

    #[test]
    fn line_names_why_the_limit_is_unknown() {
        let why = NoMemoryLimit::Unreadable { file: "/proc/self/mountinfo".into(), why: "the file is too large".to_owned() };
        assert_eq!(
            unknown(&why),
            "memory limit unknown (cannot read /proc/self/mountinfo: the file is too large): observing does not keep within it"
        );
    }
}
