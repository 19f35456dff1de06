//! What was said: markers in Markdown, the end of a transcript.
