/* no licence line here, on purpose */
#include <stdlib.h>
#include <time.h>


static int calls;

char *impure(char *to)
{
    double seconds = (double)time(0);
    char *copy = malloc(8);

    calls++;
    strcpy(to, "copied");	// a tab
    return seconds > 1.0 ? copy : to;
}

/* This line is longer than one hundred columns, which is the most that fits beside another file. */ int far;
