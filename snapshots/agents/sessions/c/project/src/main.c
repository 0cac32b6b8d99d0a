#include "token.h"

#include <stdio.h>
#include <string.h>

static void usage(FILE *out)
{
    fprintf(out, "usage: lex TEXT\n");
}

static int report(const struct lexer *lexer, const struct token_list *list)
{
    for (size_t i = 0; i < list->length; i++) {
        token_print(&list->items[i], stdout);
    }
    printf("%zu tokens\n", list->length);
    return lexer->errors == 0 ? 0 : 1;
}

int main(int count, char **arguments)
{
    if (count != 2) {
        usage(stderr);
        return 2;
    }
    struct lexer lexer;
    if (!lexer_open(&lexer, 4096)) {
        return 2;
    }
    struct token_list list;
    token_list_open(&list);
    lexer_feed(&lexer, arguments[1]);
    lexer_all(&lexer, &list);
    int code = report(&lexer, &list);
    token_list_close(&list);
    lexer_close(&lexer);
    return code;
}
