/* Serves the three functions of freefloat_software.h at a Unix socket: ./program /path/of/socket
   Build: cc -O2 -o program serve.c software.c. The machine is little-endian, as the messages are. */
#include "freefloat_software.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { HELLO = 1, WELCOME, REFUSED, BEGIN, READY, STEP, ANSWER, END, FAILED };
enum { MOST_BYTES = 1 << 20 };

struct header {
    char magic[4];
    uint16_t version, kind;
    uint64_t sequence, length;
};

static union { char text[MOST_BYTES + 1]; double numbers[MOST_BYTES / 8]; } body;
static double commands[MOST_BYTES / 8];

static int move_all(int line, void *content, size_t length, int out) {
    char *at = content;
    while (length) {
        ssize_t moved = out ? write(line, at, length) : read(line, at, length);
        if (moved <= 0) return -1;
        at += moved;
        length -= (size_t)moved;
    }
    return 0;
}

static int send_message(int line, int kind, uint64_t sequence, const void *content, size_t length) {
    struct header head = {{'F', 'F', 'S', 'W'}, 1, (uint16_t)kind, sequence, length};
    if (move_all(line, &head, sizeof head, 1)) return -1;
    return move_all(line, (void *)content, length, 1);
}

/* How many numbers the contract gives: the shapes of its lines "gives NAME SHAPE UNIT" and "tells ...". */
static size_t count_commands(const char *contract) {
    size_t count = 0;
    for (const char *line = contract; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "gives ", 6) && strncmp(line, "tells ", 6)) continue;
        const char *shape = strchr(line + 6, ' ');
        size_t size = 1;
        while (shape && (shape[1] >= '0' && shape[1] <= '9')) {
            char *rest;
            size *= strtoul(shape + 1, &rest, 10);
            shape = *rest == 'x' ? rest : NULL;
        }
        count += size;
    }
    return count;
}

int main(int arguments, char **words) {
    struct sockaddr_un where = {.sun_family = AF_UNIX};
    if (arguments != 2 || strlen(words[1]) >= sizeof where.sun_path) return 2;
    strcpy(where.sun_path, words[1]);
    int line = socket(AF_UNIX, SOCK_STREAM, 0);
    if (line < 0 || connect(line, (struct sockaddr *)&where, sizeof where)) return perror(words[1]), 2;
    const char *contract = software_contract();
    size_t width = count_commands(contract);
    if (width > MOST_BYTES / 8 || send_message(line, HELLO, 0, contract, strlen(contract))) return 2;
    for (;;) {
        struct header head;
        if (move_all(line, &head, sizeof head, 0) || memcmp(head.magic, "FFSW", 4) || head.version != 1) return 1;
        if (head.length > MOST_BYTES || move_all(line, &body, head.length, 0)) return 1;
        body.text[head.length] = 0;
        int status = 0;
        if (head.kind == END) return 0;
        if (head.kind == REFUSED) return fprintf(stderr, "%s\n", body.text), 3;
        if (head.kind == BEGIN) {
            status = software_begin(body.numbers);
            if (!status) status = send_message(line, READY, 0, NULL, 0);
        } else if (head.kind == STEP) {
            status = software_step(body.numbers, commands);
            if (!status) status = send_message(line, ANSWER, head.sequence, commands, 8 * width);
        }
        if (status) {
            snprintf(body.text, 60, "it returned %d", status);
            send_message(line, FAILED, head.sequence, body.text, strlen(body.text));
            return 1;
        }
    }
}
