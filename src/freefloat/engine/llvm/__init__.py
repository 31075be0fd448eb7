"""A scalar graph as machine code of this host, through LLVM."""
