"""Networks that write programs: q0, the editor, beam search."""
