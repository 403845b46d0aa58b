-- trigger.sql - messages from SQL: whoever updates a row sends one, in whatever
-- language and by whatever tool, in the transaction of the update.
--
--     pawl schema apply --store URL      makes the function pawl_send
--     psql URL -f trigger.sql            this file
--     psql URL -c "update enlist_orders set is_paid = true where id = 1"
--     enlist URL                         says: arrived: order 1 is paid
--
-- By hand the same:
--
--     begin;
--     select pawl_send('enlist', 'order_paid', '{"order_id": 1}');
--     commit;                            or rollback, and nothing was sent
--
-- The parameters of pawl_send, by name or in this order:
--
--     queue           text          of the endpoint that handles it
--     type            text          name of the record
--     body            text          JSON
--     due             timestamptz   not before; default: now()
--     message_id      text          an id that is in the queue already changes
--                                   nothing; default: a new uuid
--     headers         text          a JSON object of strings; default: none
--     correlation_id  text          default: the message id
--
-- It returns the message id. With another prefix than pawl_ the function has that
-- one. A role that sends needs no more than
--
--     grant insert, select ("Queue", "MessageId") on pawl_queue to NAME;
--     grant usage on sequence "pawl_queue_Seq_seq" to NAME;
--
-- SPDX-License-Identifier: Apache-2.0

begin;

-- The same table as in main.c.
create table if not exists enlist_orders (
    id bigint generated always as identity primary key,
    total_cents bigint not null,
    is_paid boolean not null default false
);

create or replace function enlist_tell_paid() returns trigger language plpgsql as $$
begin
    perform pawl_send(
        queue => 'enlist',
        type => 'order_paid',
        body => json_build_object('order_id', new.id)::text,
        -- Each order is paid once, however often somebody says so.
        message_id => 'paid-' || new.id
    );
    return null; -- after the update nobody looks at it
end
$$;

create or replace trigger enlist_paid after update of is_paid on enlist_orders
    for each row when (new.is_paid and not old.is_paid)
    execute function enlist_tell_paid();

commit;
