//! The offsets of members in the kernel's structures, from its own description (BTF).

use std::fs;

use btfparse::{ErrorKind, Offset, Readable, TypeInformation, TypeVariant};
use observer_ebpf::KernelMember;

use super::error::KernelError;

const DESCRIPTION: &str = "/sys/kernel/btf/vmlinux";

/// The offsets in the running kernel.
///
/// # Errors
///
/// The kernel does not describe itself, or lacks a member.
pub(in crate::tap::probe) fn kernel_offsets() -> Result<[u32; KernelMember::COUNT], KernelError> {
    let failed = |why: String| KernelError::Offsets { member: "its structures".to_owned(), why };
    let description = fs::read(DESCRIPTION).map_err(|error| failed(format!("{DESCRIPTION}: {error}")))?;
    let types = TypeInformation::new(&Description(description)).map_err(|error| failed(error.message().to_owned()))?;
    let structures = structures(&types);
    let mut offsets = [0; KernelMember::COUNT];
    for (offset, member) in offsets.iter_mut().zip(KernelMember::ALL) {
        *offset = self::offset(&types, &structures, member)?;
    }
    Ok(offsets)
}

fn offset(types: &TypeInformation, structures: &[(String, u32)], member: KernelMember) -> Result<u32, KernelError> {
    let (structure, path) = member.path();
    let mut named = structures.iter().filter(|(name, _)| name == structure);
    match named.find_map(|(_, id)| types.offset_of(*id, path).ok()) {
        Some((_, Offset::ByteOffset(offset))) => Ok(offset),
        None if member.is_optional() => Ok(0),
        found => Err(KernelError::Offsets {
            member: format!("struct {structure}.{path}"),
            why: if found.is_some() { "it is less than a byte" } else { "it is not described" }.to_owned(),
        }),
    }
}

/// The structures with wanted members, and their BTF IDs. Two structures in separate parts of the kernel may have the same name.
fn structures(types: &TypeInformation) -> Vec<(String, u32)> {
    let is_asked = |name: &str| KernelMember::ALL.iter().any(|member| member.path().0 == name);
    let named = types.get().iter().filter_map(|(id, found)| {
        let TypeVariant::Struct(found) = found else { return None };
        Some((found.name().clone()?, *id))
    });
    named.filter(|(name, _)| is_asked(name)).collect()
}

/// The complete BTF data; it is small compared with the parsed form.
struct Description(Vec<u8>);

impl Readable for Description {
    fn read(&self, offset: u64, buffer: &mut [u8]) -> btfparse::Result<()> {
        let begin = usize::try_from(offset).ok();
        let bytes = begin.and_then(|begin| self.0.get(begin..begin.checked_add(buffer.len())?));
        let bytes = bytes.ok_or_else(|| btfparse::Error::new(ErrorKind::IOError, "it ends too early"))?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_btf_is_refused() {
        assert!(TypeInformation::new(&Description(vec![0x9F, 0xEB, 1])).is_err());
    }

    #[test]
    fn member_offsets_of_this_kernel_are_plausible() {
        let offsets = kernel_offsets().unwrap();
        let at = |member: KernelMember| offsets[member as usize];
        assert_ne!(at(KernelMember::TaskFiles), at(KernelMember::TaskLeader));
        assert_eq!(at(KernelMember::SockLocal), at(KernelMember::SockRemote) + 4, "they are a pair in struct sock_common");
        assert_eq!(at(KernelMember::SockLocalPort), at(KernelMember::SockRemotePort) + 2, "as above");
    }
}
