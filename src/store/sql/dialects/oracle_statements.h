/* oracle_statements.h - the statements that Oracle needs in another form than the shared one; their numbers follow.
 *
 * Oracle does not allow a limit with `for update` (ORA-02014), and a limit by rownum counts before the lock. So
 * a claim is a block whose cursor locks rows as it fetches them, and fetches as many as are wanted. The block
 * then reads the rows again by their numbers, as they are under the lock, and returns them as implicit result.
 *
 * No `update ... from` and no `on conflict`: both are MERGE. No select without a table, and no `as` before the
 * other name of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_STORE_SQL_DIALECTS_ORACLE_STATEMENTS_H
#define PAWL_STORE_SQL_DIALECTS_ORACLE_STATEMENTS_H

#include "store/sql/row_statements.h"

#define PAWL__ORACLE_DUE "where [Queue] = ?1 and [Due] <= ?2 "
#define PAWL__ORACLE_SKIP "for update skip locked"

/* A collection has 32,767 rows at most. The limit comes as a text, by which least() would compare: '5' > '32767'. */
#define PAWL__ORACLE_FETCH(list, limit)                                \
    "n pls_integer := least(to_number(" limit "), 32767); m sys." list \
    "; r sys_refcursor; begin open c; "                                \
    "fetch c bulk collect into m limit n; close c; open r for "
#define PAWL__ORACLE_RETURN "; dbms_sql.return_result(r); end;"
/* Without the hint the planner expects 8,168 rows in a collection. */
#define PAWL__ORACLE_BY_NUMBER "select /*+ leading(k) use_nl(t) cardinality(k 10) */ "
#define PAWL__ORACLE_OF(table, key) \
    "from table(m) k join {" table "} t on t.[" key "] = k.column_value "

/* Names the index by its columns: by statistics of an empty table the planner would read the whole table. */
#define PAWL__ORACLE_BY_INDEX(columns) "select /*+ index(q (" columns ")) */ "
#define PAWL__ORACLE_BY_DUE PAWL__ORACLE_BY_INDEX("queue, due, seq")

#define PAWL__ORACLE_CLAIM(before, and)                                                            \
    "declare " before "cursor c is " PAWL__ORACLE_BY_DUE                                           \
    "[Seq] from {queue} q " PAWL__ORACLE_DUE and                                                   \
        "order by [Due], [Seq] " PAWL__ORACLE_SKIP "; " PAWL__ORACLE_FETCH("odcinumberlist", "?3") \
            PAWL__ORACLE_BY_NUMBER PAWL__SQL_QUEUE_COLUMNS " " PAWL__ORACLE_OF("queue", "Seq")     \
                PAWL__ORACLE_DUE "order by [Due], [Seq]" PAWL__ORACLE_RETURN

#define PAWL__ORACLE_TIMEOUTS(select, where, limit)                                               \
    "declare cursor c is " select "[Id] from {timeouts} q where " where                           \
    " order by [Due], [Id] " PAWL__ORACLE_SKIP "; " PAWL__ORACLE_FETCH("odcivarchar2list", limit) \
        PAWL__ORACLE_BY_NUMBER PAWL__SQL_TIMEOUT_COLUMNS PAWL__ORACLE_OF(                         \
            "timeouts", "Id") "where " where " order by [Due], [Id]" PAWL__ORACLE_RETURN
#define PAWL__ORACLE_FREE(now) "([LeaseExpires] is null or [LeaseExpires] <= " now ")"

/* Deletes the selected rows by their rowid. */
#define PAWL__ORACLE_AT_PLACE(table, select) \
    "delete from {" table "} where rowid in (select rowid from {" table "} " select ")"
#define PAWL__ORACLE_SUM(counter) "t." counter " = t." counter " + w." counter
#define PAWL__ORACLE_OF_SCHEMA(owner) owner " = sys_context('userenv', 'current_schema')"

/* OUTBOX_SAME: compares the first 32,000 bytes of the bodies; a parameter of a block cannot be longer.
 *
 * BODIES_CLEAR: an empty parameter is null, which only an insert replaces by the column's default (ORA-01407).
 *
 * TIMEOUT_FOREIGN: as the shared one; no name before the columns of a first timeout, which the limit of a
 * subquery would need.
 *
 * FOLD_SET: no MERGE, which takes no value of more than 4,000 bytes (ORA-01461); FOLD_ADD follows if there is no row.
 *
 * WORKER_KEEP: a row that exists is updated without a change, and so locked. */

/* name, template */
#define PAWL__ORACLE_STATEMENTS(X)                                                                                               \
    X(QUEUE_CLAIM, PAWL__ORACLE_CLAIM("", ""))                                                                                   \
    X(QUEUE_CLAIM_MORE, PAWL__ORACLE_CLAIM("l clob := ',' || ?4 || ','; ",                                                       \
                                           "and instr(l, ',' || [Seq] || ',') = 0 "))                                            \
    X(QUEUE_CLAIM_AGAIN, PAWL__SQL_QUEUE_ROW_TEXT                                                                                \
      "where [Seq] = ?1 and [Queue] = ?2 and [Due] <= ?3 " PAWL__ORACLE_SKIP)                                                    \
    X(QUEUE_COUNT_DUE, "select count(*) from (" PAWL__ORACLE_BY_DUE                                                              \
                       "1 from {queue} q " PAWL__ORACLE_DUE "{limit:?3})")                                                       \
    X(QUEUE_LOCK, "select [Seq] from {queue} where [Seq] = ?1 and [Due] = ?2 " PAWL__ORACLE_SKIP)                                \
    X(QUEUE_FIRST,                                                                                                               \
      "declare cursor c is " PAWL__ORACLE_BY_DUE "[Due] from {queue} q where [Queue] = ?1 "                                      \
      "order by [Due] " PAWL__ORACLE_SKIP                                                                                        \
      "; d timestamp(6); r sys_refcursor; begin open c; fetch c into d; close c; "                                               \
      "open r for select d from dual where d is not null" PAWL__ORACLE_RETURN)                                                   \
    X(OUTBOX_BLOCK_BEHIND, "update {outbox} set [State] = 'held' where [State] = 'pending' "                                     \
                           "and [Attempts] = 0 and [Id] > ?2 and [Source] = ?1")                                                 \
    X(OUTBOX_UNBLOCK, "update {outbox} set [State] = 'pending' where [HeldSource] = ?1")                                         \
    X(WORKER_FOLD,                                                                                                               \
      "merge into {workers} t using (select " PAWL__SQL_COUNTERS                                                                 \
      " from {workers} where [Id] = ?2) w on (t.[Id] = ?1) when matched then update "                                            \
      "set " PAWL__ORACLE_SUM("[Messages]") ", " PAWL__ORACLE_SUM("[Timeouts]") ", " PAWL__ORACLE_SUM(                           \
          "[Flushes]") ", " PAWL__ORACLE_SUM("[Failures]") ", " PAWL__ORACLE_SUM("[Conflicts]") ", " PAWL__ORACLE_SUM("[Dead]")) \
    X(WORKER_KEEP,                                                                                                               \
      "merge into {workers} t using (select ?1 id from dual) k on (t.[Id] = k.id) "                                              \
      "when matched then update set t.[Epoch] = t.[Epoch] when not matched then insert "                                         \
      "([Id], [Endpoint], [Types], [Epoch], [Process], [Pid], [Seen], " PAWL__SQL_COUNTERS                                       \
      ") values (k.id, '', '', 0, 0, 0, {epoch}, 0, 0, 0, 0, 0, 0)")                                                             \
    X(FLUSH_ADD,                                                                                                                 \
      "merge into {aggregator_flush} t using (select ?1 p from dual) k on (t.[Partition] = k.p) "                                \
      "when matched then update set t.[Attempts] = t.[Attempts] when not matched then insert "                                   \
      "([Partition], [Name], [Due], [Attempts], [Dead], [Error]) values (k.p, ?2, ?3, 0, 0, '') {ignore:[Partition]}")           \
    X(INBOX_SWEEP, PAWL__ORACLE_AT_PLACE("inbox", "where [At] < ?1 order by [At] {limit:?2}"))                                   \
    X(OUTBOX_SWEEP, PAWL__ORACLE_AT_PLACE("outbox", "where [DispatchedAt] < ?1 "                                                 \
                                                    "order by [DispatchedAt] {limit:?2}"))                                       \
    X(AGGREGATOR_DELETE_OLDEST,                                                                                                  \
      PAWL__ORACLE_AT_PLACE("aggregator", "where [Partition] = ?1 and [CorrelationId] = ?2 "                                     \
                                          "order by [At], [Id] {limit:1}"))                                                      \
    X(OUTBOX_SAME,                                                                                                               \
      "declare b blob := ?3; r sys_refcursor; begin open r for select 1 from {outbox} where "                                    \
      "[DispatchId] = ?1 and [Type] = ?2 and (dbms_lob.compare([Body], b, 32000) = 0 "                                           \
      "or b is null and dbms_lob.getlength([Body]) = 0)" PAWL__ORACLE_RETURN)                                                    \
    X(BODIES_CLEAR,                                                                                                              \
      "update {events} set [Body] = empty_blob(), [TypeVersion] = 2 where [Stream] > ?2 "                                        \
      "and [Stream] <= ?3 and [At] < ?4 and [TypeVersion] = 1 "                                                                  \
      "and [Type] in ('pawl.dead_edited', 'pawl.dead_discarded')")                                                               \
    X(TIMEOUT_CLAIM, PAWL__ORACLE_TIMEOUTS(                                                                                      \
                         PAWL__ORACLE_BY_INDEX("destination, due, id"),                                                          \
                         "[Destination] = ?1 and [Due] <= ?2 and " PAWL__ORACLE_FREE("?3"), "?4"))                               \
    X(TIMEOUT_CLAIM_ANY,                                                                                                         \
      PAWL__ORACLE_TIMEOUTS("select ", "[Due] <= ?1 and " PAWL__ORACLE_FREE("?2"), "?3"))                                        \
    X(TIMEOUT_FOREIGN,                                                                                                           \
      "with d (name) as (select min([Destination]) from {timeouts} union all select "                                            \
      "(select min(t.[Destination]) from {timeouts} t where t.[Destination] > d.name) from d "                                   \
      "where d.name is not null), f (name, due) as (select d.name, (select min(t.[Due]) from "                                   \
      "{timeouts} t where t.[Destination] = d.name and (t.[LeaseExpires] is null or "                                            \
      "t.[LeaseExpires] <= ?2)) from d where d.name is not null and (d.name = ?1 or not exists "                                 \
      "(select 1 from {subscriptions} s where s.[Queue] = d.name))) "                                                            \
      "select name, due from f where due is not null order by name")                                                             \
    X(FOLD_SET, "update {folds} set [Version] = ?2, [TypeVersion] = ?3, [State] = ?4, "                                          \
                "[Dispatches] = ?5, [At] = ?6 where [Stream] = ?1 and [Version] < ?2")                                           \
    X(NEWS, "select coalesce((select max([Seq]) from {queue}), 0), "                                                             \
            "coalesce((select max([Id]) from {outbox}), 0), "                                                                    \
            "coalesce((select max([Seq]) from {events}), 0), "                                                                   \
            "coalesce((select max([Id]) from {aggregator}), 0) from dual")                                                       \
    /* The catalog of one table. */                                                                                              \
    X(SCHEMA_COLUMNS,                                                                                                            \
      "select table_name, column_name, data_type || case when data_type like '%CHAR2' then "                                     \
      "'(' || case char_used when 'C' then char_length else data_length end || ')' "                                             \
      "when data_type = 'NUMBER' then '(' || data_precision || ')' end, 'none', "                                                \
      "case nullable when 'N' then 1 else 0 end, case when default_length is null then 0 "                                       \
      "else 1 end from all_tab_columns where " PAWL__ORACLE_OF_SCHEMA(                                                           \
          "owner") " and table_name = upper(?1) order by column_id")                                                             \
    X(SCHEMA_INDEXES,                                                                                                            \
      "select i.table_name, i.index_name, (select listagg('\"' || c.column_name || '\"', ', ') "                                 \
      "within group (order by c.column_position) from all_ind_columns c "                                                        \
      "where c.index_owner = i.owner and c.index_name = i.index_name), (select count(*) from "                                   \
      "all_constraints p where p.owner = i.table_owner and p.constraint_type = 'P' "                                             \
      "and p.index_owner = i.owner and p.index_name = i.index_name), "                                                           \
      "case i.uniqueness when 'UNIQUE' then 1 else 0 end, "                                                                      \
      "case when i.status = 'VALID' and i.visibility = 'VISIBLE' then 1 else 0 end, 0 "                                          \
      "from all_indexes i where " PAWL__ORACLE_OF_SCHEMA(                                                                        \
          "i.table_owner") " and i.table_name = upper(?1) and i.index_type <> 'LOB' order by i.index_name")

#define PAWL__ORACLE_NAME_OF(name, text) PAWL__ORACLE_##name,
enum {
    PAWL__ORACLE_BEFORE = PAWL__SQL_ROW_STATEMENT_END - 1,
    PAWL__ORACLE_STATEMENTS(PAWL__ORACLE_NAME_OF) PAWL__ORACLE_STATEMENT_COUNT
};

/* Begins a transaction that has a number. */
#define PAWL__ORACLE_BEGIN \
    "declare i varchar2(100); begin i := dbms_transaction.local_transaction_id(true); end;"

/* As those of mysql_statements.h (oracle_family.c). */
extern const int         pawl__oracle_overrides[];
extern const char *const pawl__oracle_templates[];

#endif
