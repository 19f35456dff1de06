#!/bin/bash
# A stop hook as many people write it: run the check, send the agent back while it fails.
input=$(cat)
[ "$(echo "$input" | jq -r .stop_hook_active)" = "true" ] && exit 0
cd "$CLAUDE_PROJECT_DIR" || exit 0
[ -f check.sh ] || exit 0
if output=$(bash check.sh 2>&1); then
  exit 0
fi
jq -n --arg reason "The check fails: $output" '{decision: "block", reason: $reason}'
