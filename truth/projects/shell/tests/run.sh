#!/bin/sh
. tests/assert.sh
check "greets" "hello Ann" "$(sh app.sh Ann)"
check "greets two" "hello Ann
hello Bob" "$(sh app.sh Ann Bob)"
check "greets the world" "hello world" "$(sh app.sh)"
finish
