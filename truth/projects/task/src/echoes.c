#include "echoes.h"
#include <stdio.h>

void echoes(const char *word, int times) {
    (void)times;
    puts(word);
}
