#!/bin/sh
# What a hook reads is JSON, and so is what it says: gemline help hooks.
cat >/dev/null
echo '{"systemMessage": "the hook of NAME has run"}'
