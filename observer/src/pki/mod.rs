//! The certificates of one run: an authority that lives as long as the run, what clients see, and what proves their admission.

mod authority;

pub use authority::{AuthorityError, ClientIdentity, PrivateAuthority};
