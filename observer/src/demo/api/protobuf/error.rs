//! Why a body in protobuf is not read.

/// What is wrong with it; the texts become messages of a `Status`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It does not begin as Kubernetes' protobuf does.
    #[error("the body does not begin with the four bytes of Kubernetes' protobuf, \"k8s\\0\"")]
    NoMagic,
    /// It is not protobuf, or not of this message.
    #[error("the protobuf of {message} is malformed: {what}")]
    Malformed {
        /// The innermost message.
        message: &'static str,
        /// What is wrong in it.
        what: &'static str,
    },
    /// Something is there that the demo would lose.
    #[error(
        "the demo's API server does not read field {number} of {message} from protobuf; send the object as JSON, as kubectl apply -f does"
    )]
    UnknownField {
        /// The message that has the field.
        message: &'static str,
        /// The field's number.
        number: u32,
    },
    /// The kind has no message here, or the envelope says that the object is encoded otherwise.
    #[error("the demo's API server does not read this from protobuf: {0}; send JSON, as kubectl apply -f does")]
    Unsupported(String),
}

impl Error {
    /// Whether the same object can be sent in another form.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self, Self::UnknownField { .. } | Self::Unsupported(_))
    }
}
