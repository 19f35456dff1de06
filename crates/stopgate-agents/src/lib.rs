//! How each agent asks to stop, and how it wants to be answered.
