/* sql_tool.c - another program on a SQLite file, for the tests of the command.
 *
 *     sql FILE STATEMENT   runs it, prints the first column of each row
 *     sql FILE hold        takes the write lock, says "held", keeps it until
 *                          standard input ends
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static int print_row(void *context, int count, char **values, char **names)
{
    (void)context, (void)names;
    if (count > 0)
        puts(values[0] != NULL ? values[0] : "");
    return 0;
}

static int run(sqlite3 *database, const char *statement)
{
    char *text   = NULL;
    int   result = sqlite3_exec(database, statement, print_row, NULL, &text);
    if (result != SQLITE_OK)
        fprintf(stderr, "sql: %s\n", text != NULL ? text : sqlite3_errmsg(database));
    sqlite3_free(text);
    return result;
}

static int hold(sqlite3 *database)
{
    int result = run(database, "BEGIN IMMEDIATE");
    if (result != SQLITE_OK)
        return result;
    puts("held");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return run(database, "ROLLBACK");
}

int main(int argc, char **argv)
{
    sqlite3 *database = NULL;
    if (argc != 3 ||
        sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
        fprintf(stderr, "sql: cannot open the file\n");
        sqlite3_close(database);
        return 2;
    }
    sqlite3_busy_timeout(database, 10000);
    int result = strcmp(argv[2], "hold") == 0 ? hold(database) : run(database, argv[2]);
    sqlite3_close(database);
    return result == SQLITE_OK ? 0 : 1;
}
