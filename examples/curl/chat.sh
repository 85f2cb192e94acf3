#!/bin/sh
# Farebox with curl: the models, an answer, the same as a stream, and what is left of the balance.
set -eu
model=${FAREBOX_MODEL:-farebox-guide}

ask() { # ask METHOD PATH [BODY]
  curl --silent --show-error --fail-with-body --no-buffer -X "$1" "$FAREBOX_URL$2" \
    -H "Authorization: Bearer $FAREBOX_KEY" -H "Content-Type: application/json" ${3:+-d "$3"}
  echo
}

messages='[{"role": "user", "content": "What is a hold?"}]'
ask GET /models
ask POST /chat/completions "{\"model\": \"$model\", \"messages\": $messages}"
ask POST /chat/completions "{\"model\": \"$model\", \"messages\": $messages, \"stream\": true}"
# Only the Gateway tells the balance.
case $FAREBOX_URL in */api/v1) ;; *) ask GET /me ;; esac
