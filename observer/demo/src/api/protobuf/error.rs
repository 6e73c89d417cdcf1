//! Why a protobuf body cannot be read.

/// The reason; its text becomes the message of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The body does not begin with the four bytes of Kubernetes' protobuf.
    #[error("the body does not begin with the four bytes of Kubernetes' protobuf, \"k8s\\0\"")]
    NoMagic,
    /// The body is not protobuf, or not of this message.
    #[error("the protobuf of {message} is malformed: {what}")]
    Malformed {
        /// The innermost message with the fault.
        message: &'static str,
        /// The fault.
        what: &'static str,
    },
    /// The body has a field that the demo would lose.
    #[error(
        "the demo's API server does not read field {number} of {message} from protobuf; send the object as JSON, as kubectl apply -f does"
    )]
    UnknownField {
        /// The message with this field.
        message: &'static str,
        /// The number of the field.
        number: u32,
    },
    /// The kind has no message here, or the envelope names another encoding of the object.
    #[error("the demo's API server does not read this from protobuf: {0}; send JSON, as kubectl apply -f does")]
    Unsupported(String),
}

impl Error {
    /// Whether the client can send the same object in another form.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::UnknownField { .. } | Self::Unsupported(_))
    }
}
