#include "join.h"
#include <string.h>

/* Joins words with a sign between them; the length, or -1 where there is no room. */
int join(char *to, int room, const char *sign, int count, char **words) {
    int used = 0;
    for (int at = 0; at < count; at++) {
        if (used + (int)strlen(words[at]) >= room)
            return -1;
        strcpy(to + used, words[at]);
        used += (int)strlen(words[at]);
    }
    return used;
}
