"""The stage `fetch`: raw files from servers, mirrors or the user's folder."""
