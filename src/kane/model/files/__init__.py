"""Model files: YAML texts read into mechanisms, and mechanisms written as such texts."""
