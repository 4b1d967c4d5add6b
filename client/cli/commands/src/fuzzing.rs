//! What must hold for every input of the parts that read what others wrote. Only with the feature `fuzzing`.

pub use crate::cli::{import_holds, recorded_holds, yaml_holds};
pub use crate::mcp::line_holds;
