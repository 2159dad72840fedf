/* crud URI DATABASE: the script of the clients on libmongoc. */
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>

static bson_error_t error;

#define CHECK(holds, what) \
   do { \
      if (!(holds)) { \
         fprintf (stderr, "%s: %s\n", what, error.message); \
         exit (1); \
      } \
   } while (0)

static int64_t number (const bson_t *reply, const char *field) {
   bson_iter_t iter;
   CHECK (bson_iter_init_find (&iter, reply, field), field);
   return bson_iter_as_int64 (&iter);
}

static int64_t drain (mongoc_cursor_t *cursor) {
   const bson_t *document;
   int64_t count = 0;
   while (mongoc_cursor_next (cursor, &document)) count++;
   CHECK (!mongoc_cursor_error (cursor, &error), "cursor");
   mongoc_cursor_destroy (cursor);
   return count;
}

int main (int argc, char **argv) {
   const char *name = argv[argc - 1];
   char ns[200];
   bson_t reply;
   mongoc_init ();
   mongoc_client_t *client = mongoc_client_new (argv[1]);
   mongoc_client_set_error_api (client, MONGOC_ERROR_API_VERSION_2);
   mongoc_database_t *db = mongoc_client_get_database (client, name);
   mongoc_collection_t *things = mongoc_client_get_collection (client, name, "things");
   mongoc_collection_t *people = mongoc_client_get_collection (client, name, "people");
   CHECK (mongoc_database_drop (db, &error), "dropDatabase");
   snprintf (ns, sizeof ns, "%s.things", name);
   bson_t *shard = BCON_NEW ("shardCollection", BCON_UTF8 (ns), "key", "{", "_id", "hashed", "}");
   CHECK (mongoc_client_command_simple (client, "admin", shard, NULL, NULL, &error), "shardCollection");

   bson_t *documents[250];
   for (int i = 0; i < 250; i++) documents[i] = BCON_NEW ("_id", BCON_INT32 (i), "n", BCON_INT32 (i % 7), "text", "gr\xc3\xbc\xc3\x9f" "e");
   CHECK (mongoc_collection_insert_many (things, (const bson_t **) documents, 250, NULL, &reply, &error), "insert_many");
   CHECK (number (&reply, "insertedCount") == 250, "insertedCount");

   bson_t *options = BCON_NEW ("sort", "{", "_id", BCON_INT32 (-1), "}", "limit", BCON_INT64 (20), "batchSize", BCON_INT32 (5));
   CHECK (drain (mongoc_collection_find_with_opts (things, BCON_NEW ("n", BCON_INT32 (3)), options, NULL)) == 20, "sort and limit");
   CHECK (drain (mongoc_collection_find_with_opts (things, bson_new (), BCON_NEW ("batchSize", BCON_INT32 (10)), NULL)) == 250, "getMore");

   CHECK (mongoc_collection_update_many (things, BCON_NEW ("n", BCON_INT32 (3)), BCON_NEW ("$inc", "{", "n", BCON_INT32 (100), "}"), NULL,
                                         &reply, &error),
          "update_many");
   CHECK (number (&reply, "modifiedCount") == 36, "modifiedCount");
   mongoc_find_and_modify_opts_t *modify = mongoc_find_and_modify_opts_new ();
   mongoc_find_and_modify_opts_set_update (modify, BCON_NEW ("$set", "{", "seen", BCON_BOOL (true), "}"));
   mongoc_find_and_modify_opts_set_flags (modify, MONGOC_FIND_AND_MODIFY_RETURN_NEW);
   CHECK (mongoc_collection_find_and_modify_with_opts (things, BCON_NEW ("_id", BCON_INT32 (5)), modify, &reply, &error), "find_and_modify");
   bson_iter_t iter, seen;
   CHECK (bson_iter_init (&iter, &reply) && bson_iter_find_descendant (&iter, "value.seen", &seen) && bson_iter_bool (&seen), "value.seen");

   bson_t *pipeline = BCON_NEW ("pipeline", "[", "{", "$match", "{", "n", "{", "$lt", BCON_INT32 (7), "}", "}", "}",
                                "{", "$group", "{", "_id", "$n", "count", "{", "$sum", BCON_INT32 (1), "}", "}", "}", "]");
   CHECK (drain (mongoc_collection_aggregate (things, MONGOC_QUERY_NONE, pipeline, NULL, NULL)) == 6, "aggregate");
   CHECK (mongoc_collection_count_documents (things, BCON_NEW ("n", BCON_INT32 (0)), NULL, NULL, NULL, &error) == 36, "count");
   CHECK (mongoc_collection_command_simple (things, BCON_NEW ("distinct", "things", "key", "n"), NULL, &reply, &error), "distinct");
   CHECK (bson_iter_init_find (&iter, &reply, "values") && bson_iter_recurse (&iter, &seen), "values");
   int values = 0;
   while (bson_iter_next (&seen)) values++;
   CHECK (values == 7, "distinct values");

   bson_t *index = BCON_NEW ("createIndexes", "people", "indexes", "[", "{", "key", "{", "email", BCON_INT32 (1), "}", "name", "email_1",
                             "unique", BCON_BOOL (true), "}", "]");
   CHECK (mongoc_database_write_command_with_opts (db, index, NULL, &reply, &error), "createIndexes");
   bson_t *person = BCON_NEW ("email", "a@example.org");
   CHECK (mongoc_collection_insert_one (people, person, NULL, NULL, &error), "insert_one");
   CHECK (!mongoc_collection_insert_one (people, person, NULL, NULL, &error) && error.code == 11000, "duplicate key");

   CHECK (mongoc_collection_delete_many (things, BCON_NEW ("n", BCON_INT32 (0)), NULL, &reply, &error), "delete_many");
   CHECK (number (&reply, "deletedCount") == 36, "deletedCount");
   CHECK (mongoc_collection_delete_one (things, BCON_NEW ("_id", BCON_INT32 (1)), NULL, &reply, &error), "delete_one");
   CHECK (mongoc_collection_drop (things, &error), "drop");
   char **names = mongoc_database_get_collection_names_with_opts (db, NULL, &error);
   CHECK (names != NULL && names[0] != NULL && strcmp (names[0], "people") == 0 && names[1] == NULL, "collection names");
   CHECK (mongoc_database_drop (db, &error), "dropDatabase");
   puts ("fine");
   return 0;
}
