#!/bin/sh
# A search of the web with curl, and what it cost. Only the Gateway searches.
set -eu
curl --silent --show-error --fail-with-body "$FAREBOX_URL/search" \
  -H "Authorization: Bearer $FAREBOX_KEY" -H "Content-Type: application/json" \
  -d '{"query": "css grid layout", "max_results": 3}'
echo
