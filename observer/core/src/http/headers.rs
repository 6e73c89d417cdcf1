//! The header fields that may leave the `http` module, and their values.

use super::Field;

/// Longest value kept of an allow-listed field, in bytes; the rest is cut off.
pub(super) const MAX_VALUE: usize = 1024;

macro_rules! allow_list {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The allow-list. Of any other field, at most the lengths of name and value are kept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HeaderName {
            $($(#[$doc])* $variant,)*
        }

        impl HeaderName {
            /// The allow-listed name that equals `name` in any case.
            pub fn of(name: &[u8]) -> Option<Self> {
                $(if name.eq_ignore_ascii_case($name.as_bytes()) { return Some(Self::$variant); })*
                None
            }

            /// Longest value that is kept, in bytes.
            pub const MAX_VALUE: usize = MAX_VALUE;

            /// The name in lower case.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

allow_list! {
    /// Media types that the client accepts; distinguishes Table, protobuf and metadata-only clients.
    Accept = "accept",
    /// The ID of the request in the audit log.
    AuditId = "audit-id",
    /// `close` announces the end of an HTTP/1.1 connection.
    Connection = "connection",
    /// Content coding of the body: `gzip`, or absent.
    ContentEncoding = "content-encoding",
    /// Declared length of a body, in bytes.
    ContentLength = "content-length",
    /// Media type of a body.
    ContentType = "content-type",
    /// `100-continue`.
    Expect = "expect",
    /// The kubectl subcommand (kubectl 1.21 and later).
    KubectlCommand = "kubectl-command",
    /// Seconds that the client should wait before it asks again.
    RetryAfter = "retry-after",
    /// Framing of an HTTP/1.1 body.
    TransferEncoding = "transfer-encoding",
    /// The protocol that an upgrade leads to.
    Upgrade = "upgrade",
    /// Name and version of the client program.
    UserAgent = "user-agent",
    /// A deprecation or another warning of the API server.
    Warning = "warning",
    /// The FlowSchema that classified the request (API Priority and Fairness).
    FlowSchemaUid = "x-kubernetes-pf-flowschema-uid",
    /// The `PriorityLevelConfiguration` to which the request was assigned.
    PriorityLevelUid = "x-kubernetes-pf-prioritylevel-uid",
}

/// The allow-listed fields of one message, each at most once (the first occurrence counts).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    fields: Vec<(HeaderName, Field<String>)>,
    complete: Completeness,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Completeness {
    #[default]
    Whole,
    /// At least one field has an unknown name, so an absent field may be present after all.
    NamesMissing,
}

impl Headers {
    /// The value of `name`. `Absent` only if the name of every field of the message is known.
    pub fn get(&self, name: HeaderName) -> Field<&str> {
        match self.fields.iter().find(|(found, _)| *found == name) {
            Some((_, Field::Known(value))) => Field::Known(value),
            Some((_, Field::Unknown)) => Field::Unknown,
            Some((_, Field::Absent)) | None => match self.complete {
                Completeness::Whole => Field::Absent,
                Completeness::NamesMissing => Field::Unknown,
            },
        }
    }

    /// Adds a field unless it is already present. Control and non-ASCII bytes become `?`.
    pub(super) fn insert(&mut self, name: HeaderName, value: Field<&[u8]>) {
        if self.fields.iter().any(|(found, _)| *found == name) {
            return;
        }
        let value = match value {
            Field::Absent => return,
            Field::Unknown => Field::Unknown,
            Field::Known(bytes) => Field::Known(printable(bytes)),
        };
        self.fields.push((name, value));
    }

    /// Notes that the message has a field with an unknown name.
    pub(super) fn note_unknown_name(&mut self) {
        self.complete = Completeness::NamesMissing;
    }
}

/// At most [`MAX_VALUE`] bytes of a field value as text that is safe to show.
pub(super) fn printable(bytes: &[u8]) -> String {
    bytes
        .iter()
        .take(MAX_VALUE)
        .map(|byte| match byte {
            b' '..=b'~' => char::from(*byte),
            _ => '?',
        })
        .collect()
}
