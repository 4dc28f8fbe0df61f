"""Mathematics without a word of physics."""
