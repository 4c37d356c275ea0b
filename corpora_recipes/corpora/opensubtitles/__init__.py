"""Subtitles of films and series, from the OPUS corpus OpenSubtitles v2018."""
