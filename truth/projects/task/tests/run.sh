#!/bin/sh
set -eu
program=$1
[ "$("$program" hey 1)" = "hey" ]
[ "$("$program" ho 3 | wc -l)" -eq 3 ]
echo "all fine"
