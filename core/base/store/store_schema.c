/*
** store_schema.c - see store_schema.h. Times are in seconds, samples are
** little-endian doubles. References are checked at commit, so that the rows of
** one turn may be added in any order within its transaction.
*/
#include "base/store/store_schema.h"

#include <stddef.h>

#define JSON(name) name " TEXT CHECK (" name " IS NULL OR json_valid(" name "))"
#define FLAG(name) name " INTEGER CHECK (" name " IN (0, 1))"
#define DOUBLES(name) name " BLOB CHECK (length(" name ") % 8 = 0)"
#define RUN "run TEXT NOT NULL REFERENCES runs(id) DEFERRABLE INITIALLY DEFERRED"
#define SUITE "suite TEXT NOT NULL REFERENCES suites(id) DEFERRABLE INITIALLY DEFERRED"
#define SYNTH "synth TEXT NOT NULL REFERENCES synth_sets(id) DEFERRABLE INITIALLY DEFERRED"
#define TURN "turn INTEGER NOT NULL"
#define LATER " DEFERRABLE INITIALLY DEFERRED"
#define OF_TURN "FOREIGN KEY (run, turn) REFERENCES turns(run, number)" LATER
#define OF_EVALUATION \
  "FOREIGN KEY (run, turn, evaluation) REFERENCES evaluations(run, turn, number)" LATER

const cawb_store_table cawb_store_tables[] = {
  { .name = "environments",
    .columns = "hash TEXT NOT NULL PRIMARY KEY, " JSON("json") " NOT NULL",
    .key = "hash = NEW.hash", .content = 1 },

  { .name = "runs",
    .columns = "id TEXT NOT NULL PRIMARY KEY, started REAL NOT NULL, strategy TEXT,"
               " task TEXT, task_hash TEXT, device TEXT, " FLAG("modelled") ","
               " seed TEXT, environment TEXT REFERENCES environments(hash)" LATER ", "
               JSON("options"),
    .key = "id = NEW.id" },

  { .name = "candidates",
    .columns = "hash TEXT NOT NULL PRIMARY KEY, kind TEXT, " JSON("files") " NOT NULL",
    .key = "hash = NEW.hash", .content = 1 },

  { .name = "turns",
    .columns = RUN ", number INTEGER NOT NULL, started REAL,"
               " candidate TEXT REFERENCES candidates(hash)" LATER ", note TEXT, "
               FLAG("ok") ", stage TEXT, reason TEXT, reward REAL, " JSON("result") ","
               " PRIMARY KEY (run, number)",
    .key = "run = NEW.run AND number = NEW.number" },

  { .name = "evaluations",
    .columns = RUN ", " TURN ", number INTEGER NOT NULL, " JSON("defines") ", "
               FLAG("ok") ", stage TEXT, reason TEXT, " JSON("facts") ","
               " PRIMARY KEY (run, turn, number), " OF_TURN,
    .key = "run = NEW.run AND turn = NEW.turn AND number = NEW.number" },

  { .name = "samples",
    .columns = RUN ", " TURN ", evaluation INTEGER, subject TEXT NOT NULL,"
               " unit TEXT NOT NULL, " DOUBLES("data") " NOT NULL, " OF_TURN ", "
               OF_EVALUATION,
    .index = "run, turn" },

  { .name = "verdicts",
    .columns = RUN ", " TURN ", evaluation INTEGER, rule TEXT NOT NULL, "
               FLAG("pass") " NOT NULL, reason TEXT, " JSON("evidence") ", " OF_TURN ", "
               OF_EVALUATION,
    .index = "run, turn" },

  /* What a strategy wants remembered: messages, results of tools, ... in order. */
  { .name = "events",
    .columns = RUN ", number INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,"
               " turn INTEGER, " JSON("data") " NOT NULL, PRIMARY KEY (run, number)",
    .key = "run = NEW.run AND number = NEW.number" },

  { .name = "baselines",
    .columns = RUN ", subject TEXT NOT NULL, " FLAG("modelled") ", median REAL, lo REAL,"
               " hi REAL, " DOUBLES("samples") ", " JSON("json"),
    .index = "run" },

  { .name = "run_ends",
    .columns = "run TEXT NOT NULL PRIMARY KEY REFERENCES runs(id)" LATER ", ended REAL NOT NULL,"
               " status TEXT NOT NULL CHECK (status IN ('passed', 'failed', 'interrupted', 'error')),"
               " best_turn INTEGER, " JSON("summary") ","
               " FOREIGN KEY (run, best_turn) REFERENCES turns(run, number)" LATER,
    .key = "run = NEW.run" },

  /* A strategy with its options on a kind of device, whatever tasks it met. */
  { .name = "suites",
    .columns = "id TEXT NOT NULL PRIMARY KEY, " JSON("json") " NOT NULL",
    .key = "id = NEW.id", .content = 1 },

  /* What one process set out to do for it. */
  { .name = "suite_sessions",
    .columns = SUITE ", started REAL NOT NULL, " JSON("json") " NOT NULL",
    .index = "suite" },

  /* What became of a task; the last attempt counts. `run` may never have begun. */
  { .name = "suite_tasks",
    .columns = SUITE ", task TEXT NOT NULL, attempt INTEGER NOT NULL, level INTEGER,"
               " problem_id INTEGER, name TEXT NOT NULL, code TEXT NOT NULL,"
               " status TEXT NOT NULL, reason TEXT, run TEXT, started REAL NOT NULL,"
               " ended REAL NOT NULL, " JSON("json") ", PRIMARY KEY (suite, task, attempt)",
    .key = "suite = NEW.suite AND task = NEW.task AND attempt = NEW.attempt" },

  /* Synthesised tasks: a set by what it is drawn from, a row for each draw, times of what was kept, texts that teach it. */
  { .name = "synth_sets",
    .columns = "id TEXT NOT NULL PRIMARY KEY, " JSON("json") " NOT NULL",
    .key = "id = NEW.id", .content = 1 },

  { .name = "synth_draws",
    .columns = SYNTH ", number INTEGER NOT NULL, status TEXT NOT NULL, reason TEXT, graph TEXT,"
               " code TEXT, " JSON("json") ", PRIMARY KEY (synth, number)",
    .key = "synth = NEW.synth AND number = NEW.number" },

  { .name = "synth_times",
    .columns = SYNTH ", number INTEGER NOT NULL, device TEXT NOT NULL, started REAL NOT NULL, "
               JSON("json") " NOT NULL, PRIMARY KEY (synth, number, device)",
    .key = "synth = NEW.synth AND number = NEW.number AND device = NEW.device" },

  { .name = "synth_texts",
    .columns = SYNTH ", number INTEGER NOT NULL, " JSON("json") " NOT NULL, PRIMARY KEY (synth, number)",
    .key = "synth = NEW.synth AND number = NEW.number" },

  { .name = NULL }
};
