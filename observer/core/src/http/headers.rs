//! The header fields that may leave this floor.

use super::Field;

/// Longest value that is kept of an allow-listed field, in bytes; the rest is cut off.
pub(super) const MAX_VALUE: usize = 1024;

macro_rules! allow_list {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// The allow-list. A field that is not on it has a length and nothing else.
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
    /// Media types the client takes: tells Table, protobuf, metadata-only clients apart.
    Accept = "accept",
    /// Joins an exchange to the audit log.
    AuditId = "audit-id",
    /// `close` announces the end of an HTTP/1.1 connection.
    Connection = "connection",
    /// gzip or none.
    ContentEncoding = "content-encoding",
    /// Declared length of a body.
    ContentLength = "content-length",
    /// Encoding of a body.
    ContentType = "content-type",
    /// `100-continue`.
    Expect = "expect",
    /// The kubectl subcommand (kubectl 1.21 and later).
    KubectlCommand = "kubectl-command",
    /// Seconds after which the server wants to be asked again.
    RetryAfter = "retry-after",
    /// Framing of an HTTP/1.1 body.
    TransferEncoding = "transfer-encoding",
    /// The protocol that an upgrade leads to.
    Upgrade = "upgrade",
    /// Which client program.
    UserAgent = "user-agent",
    /// A deprecation or another warning of the API server.
    Warning = "warning",
    /// Which FlowSchema classified the request (API Priority and Fairness).
    FlowSchemaUid = "x-kubernetes-pf-flowschema-uid",
    /// Which `PriorityLevelConfiguration` it was assigned to.
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
    /// At least one field had a name that is not known, so an absent field may be there after all.
    NamesMissing,
}

impl Headers {
    /// What is known of `name`: `Absent` only when no field of the message has an unknown name.
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

    /// Adds a field unless it is there already. Control and non-ASCII bytes become `?`.
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

    /// Notes that a field was there whose name cannot be known.
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
