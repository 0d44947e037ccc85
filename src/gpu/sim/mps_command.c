/* SPDX-License-Identifier: Apache-2.0 */
/* mps_command.c - the commands of the simulated nvidia-cuda-mps-control. */
#include <signal.h>
#include <string.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/text.h"
#include "gpu/sim/mps_daemon.h"
#include "gpu/sim/words.h"

struct mps_call {
    struct mps_daemon *daemon;
    struct words *words;
    struct mps_server *server; /* where the command names one */
    uint32_t at;               /* of the first word after the command and its server */
    struct text *out;
};

static const char *word(const struct mps_call *call, uint32_t i)
{
    return call->at + i < call->words->plain_count ? call->words->plain[call->at + i] : NULL;
}

static void get_server_list(struct mps_call *call)
{
    for (uint32_t i = 0; i < MPS_SERVERS_MAX; i++)
        if (call->daemon->servers[i].used)
            text_addf(call->out, "%d\n", (int)call->daemon->servers[i].pid);
}

static void get_server_status(struct mps_call *call)
{
    text_add(call->out, call->server->fault ? "FAULT\n" : "ACTIVE\n");
}

/* start_server -uid UID */
static void start_server(struct mps_call *call)
{
    uint32_t uid;

    if (word(call, 0) == NULL || strcmp(word(call, 0), "-uid") != 0 || word(call, 1) == NULL ||
        scan_u32(word(call, 1), &uid) < 0 || mps_start_server(call->daemon, uid) == NULL)
        text_add(call->out, "cannot start a server\n");
}

static bool is_of(const struct mps_call *call, const struct mps_client *client)
{
    return client->used &&
           (call->server == NULL || &call->daemon->servers[client->server] == call->server);
}

static void get_client_list(struct mps_call *call)
{
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
        if (is_of(call, &call->daemon->clients[i]))
            text_addf(call->out, "%d\n", (int)call->daemon->clients[i].pid);
}

static void ps(struct mps_call *call)
{
    text_add(call->out, "PID       ID    SERVER    DEVICE             NAMESPACE      COMMAND\n");
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++) {
        const struct mps_client *client = &call->daemon->clients[i];

        if (client->used)
            text_addf(call->out, "%-9d %-5u %-9d %-18s %-14d %s\n", (int)client->pid, i + 1,
                      (int)call->daemon->servers[client->server].pid, "GPU", 0, "client");
    }
}

/* terminate_client SERVER_PID CLIENT_PID */
static void terminate_client(struct mps_call *call)
{
    uint32_t pid;

    if (word(call, 0) != NULL && scan_u32(word(call, 0), &pid) == 0)
        for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
            if (is_of(call, &call->daemon->clients[i]) &&
                (uint32_t)call->daemon->clients[i].pid == pid) {
                mps_drop_client(&call->daemon->clients[i]);
                return;
            }
    text_add(call->out, "no such client\n");
}

/* What a command sets or shows is the daemon's default, or a server's. */
static void set_percent(struct mps_call *call)
{
    uint32_t *percent =
        call->server != NULL ? &call->server->percent : &call->daemon->default_percent;
    uint32_t value;
    const char *text = word(call, 0);
    char whole[16] = "";

    /* The real one takes and prints decimals. */
    if (text != NULL && strcspn(text, ".") < sizeof whole)
        memcpy(whole, text, strcspn(text, "."));
    if (scan_u32(whole, &value) < 0 || value < 1 || value > 100) {
        text_add(call->out, "invalid percentage\n");
        return;
    }
    *percent = value;
    text_addf(call->out, "%u.0\n", value);
}

static void get_percent(struct mps_call *call)
{
    text_addf(call->out, "%u.0\n",
              call->server != NULL ? call->server->percent : call->daemon->default_percent);
}

/* DEVICE VALUE; one limit for all devices. */
static void set_limit(struct mps_call *call)
{
    uint64_t *limit =
        call->server != NULL ? &call->server->limit_bytes : &call->daemon->default_limit_bytes;
    const char *text = word(call, 1);
    int64_t bytes;

    if (text == NULL || scan_bytes(text, &bytes) < 0 || strpbrk(text, "GM") == NULL)
        text_add(call->out, "invalid limit: a whole number with G or M\n");
    else
        *limit = (uint64_t)bytes;
}

/* As some real ones do, whole gigabytes once there is one: a reader must not compare texts. */
static void get_limit(struct mps_call *call)
{
    const uint64_t mib =
        (call->server != NULL ? call->server->limit_bytes : call->daemon->default_limit_bytes) >>
        20;

    if (mib == 0)
        text_add(call->out, "no limit\n");
    else if (mib >= 1024)
        text_addf(call->out, "%lluG\n", (unsigned long long)(mib / 1024));
    else
        text_addf(call->out, "%lluM\n", (unsigned long long)mib);
}

static void set_priority(struct mps_call *call)
{
    if (word(call, 0) == NULL || scan_u32(word(call, 0), &call->daemon->default_priority) < 0)
        text_add(call->out, "invalid priority\n");
}

static void get_priority(struct mps_call *call)
{
    text_addf(call->out, "%u\n", call->daemon->default_priority);
}

static void quit(struct mps_call *call)
{
    call->daemon->quits = true;
}

/* Of the simulation: a client did something fatal, and all clients of the server pay. */
static void sim_fault(struct mps_call *call)
{
    call->server->fault = true;
    for (uint32_t i = 0; i < MPS_CLIENTS_MAX; i++)
        if (is_of(call, &call->daemon->clients[i]))
            mps_drop_client(&call->daemon->clients[i]);
}

struct mps_verb {
    const char *name;
    bool of_server; /* its first word is a server's pid */
    void (*run)(struct mps_call *call);
};

static const struct mps_verb verbs[] = {
    {"get_server_list", false, get_server_list},
    {"get_server_status", true, get_server_status},
    {"start_server", false, start_server},
    {"get_client_list", true, get_client_list},
    {"get_device_client_list", false, get_client_list},
    {"ps", false, ps},
    {"terminate_client", true, terminate_client},
    {"set_default_active_thread_percentage", false, set_percent},
    {"get_default_active_thread_percentage", false, get_percent},
    {"set_active_thread_percentage", true, set_percent},
    {"get_active_thread_percentage", true, get_percent},
    {"set_default_device_pinned_mem_limit", false, set_limit},
    {"get_default_device_pinned_mem_limit", false, get_limit},
    {"set_device_pinned_mem_limit", true, set_limit},
    {"get_device_pinned_mem_limit", true, get_limit},
    {"set_default_client_priority", false, set_priority},
    {"get_default_client_priority", false, get_priority},
    {"quit", false, quit},
    {"sim_fault", true, sim_fault},
};

void mps_command(struct mps_daemon *daemon, char *line, struct text *out)
{
    struct words words;
    struct mps_call call = {.daemon = daemon, .words = &words, .at = 1, .out = out};

    if (words_split(&words, line, (uint32_t)strlen(line), NULL) < 0 || words.plain_count == 0)
        return;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, words.plain[0]) != 0)
            continue;
        if (verbs[i].of_server) {
            call.server = mps_find_server(daemon, words.plain_count > 1 ? words.plain[1] : NULL);
            call.at = 2;
            if (call.server == NULL) {
                text_add(out, "no such server\n");
                return;
            }
        }
        verbs[i].run(&call);
        return;
    }
    text_addf(out, "unknown command: %s\n", words.plain[0]);
}
