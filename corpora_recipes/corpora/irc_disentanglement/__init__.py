"""The corpus of disentangled chats of the Ubuntu channel."""
