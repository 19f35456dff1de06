#include "join.h"
#include <stdio.h>

int main(int count, char **words) {
    char line[256] = "";
    if (count < 2)
        return 2;
    if (join(line, sizeof line, words[1], count - 2, words + 2) < 0)
        return 1;
    puts(line);
    return 0;
}
