//! The audit ID, by which the records of one request are joined.

/// The audit ID of a request, as far as all of its records have it: the header `Audit-Id` of the response, the audit event, the request log and
/// the traces. Two requests may have the same one, because clients may choose it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AuditId(Box<str>);

impl AuditId {
    /// Longest part of an audit ID that all records of a request have, in bytes. A client may send a longer one. The audit log has all of it,
    /// and the request log and the traces only this part (kubernetes/apiserver `pkg/audit/context.go`, `GetAuditIDTruncated`, v0.22 to v0.37).
    pub(super) const IN_ALL_RECORDS: usize = 64;

    /// The ID in the text of a header or of a record. `None` for an empty text.
    pub fn of(text: &str) -> Option<Self> {
        let kept = text.get(..text.floor_char_boundary(Self::IN_ALL_RECORDS)).unwrap_or_default();
        (!kept.is_empty()).then(|| Self(kept.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_as_far_as_all_records_have_them() {
        let long = "a".repeat(80);
        assert_eq!(AuditId::of(&long), AuditId::of(&long[..64]));
        assert_ne!(AuditId::of(&long), AuditId::of(&long[..63]));
        assert_eq!(AuditId::of(""), None);
        assert!(AuditId::of(&"ä".repeat(40)).is_some());
    }
}
