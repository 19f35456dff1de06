#!/bin/sh
# Greets people: app.sh NAME…
here=$(dirname "$0")
. "$here/lib/greet.sh"
for name in "$@"; do
    greet "$name"
done
