// crud URI DATABASE: the script of the clients on the Go driver.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

var ctx = context.Background()

func check(holds bool, what ...interface{}) {
	if !holds {
		log.Fatal(what...)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func all(cursor *mongo.Cursor, err error) (found []bson.M) {
	must(err)
	must(cursor.All(ctx, &found))
	return
}

func main() {
	name := os.Args[2]
	client, err := mongo.Connect(ctx, options.Client().ApplyURI(os.Args[1]))
	must(err)
	db := client.Database(name)
	must(db.Drop(ctx))
	must(client.Database("admin").RunCommand(ctx, bson.D{{"shardCollection", name + ".things"}, {"key", bson.D{{"_id", "hashed"}}}}).Err())
	things := db.Collection("things")

	var documents []interface{}
	for i := 0; i < 250; i++ {
		documents = append(documents, bson.D{{"_id", i}, {"n", i % 7}, {"text", fmt.Sprintf("grüße %d", i)}})
	}
	inserted, err := things.InsertMany(ctx, documents)
	must(err)
	check(len(inserted.InsertedIDs) == 250, "InsertMany")
	var one bson.M
	must(things.FindOne(ctx, bson.D{{"_id", 17}}).Decode(&one))
	check(one["text"] == "grüße 17", one)

	found := all(things.Find(ctx, bson.D{{"n", 3}}, options.Find().SetSort(bson.D{{"_id", -1}}).SetLimit(20).SetBatchSize(5)))
	check(len(found) == 20 && found[0]["_id"] == int32(248) && found[19]["_id"] == int32(115), found)
	check(len(all(things.Find(ctx, bson.D{}, options.Find().SetBatchSize(10)))) == 250, "getMore")

	updated, err := things.UpdateMany(ctx, bson.D{{"n", 3}}, bson.D{{"$inc", bson.D{{"n", 100}}}})
	must(err)
	check(updated.ModifiedCount == 36, updated)
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	must(things.FindOneAndUpdate(ctx, bson.D{{"_id", 5}}, bson.D{{"$set", bson.D{{"seen", true}}}}, after).Decode(&one))
	check(one["seen"] == true, one)

	groups := all(things.Aggregate(ctx, mongo.Pipeline{
		{{"$match", bson.D{{"n", bson.D{{"$lt", 7}}}}}},
		{{"$group", bson.D{{"_id", "$n"}, {"count", bson.D{{"$sum", 1}}}}}},
		{{"$sort", bson.D{{"_id", 1}}}},
	}))
	check(len(groups) == 6 && groups[0]["count"] == int32(36), groups)
	count, err := things.CountDocuments(ctx, bson.D{{"n", 0}})
	must(err)
	check(count == 36, count)
	values, err := things.Distinct(ctx, "n", bson.D{})
	must(err)
	check(len(values) == 7, values)

	people := db.Collection("people")
	_, err = people.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: bson.D{{"email", 1}}, Options: options.Index().SetUnique(true)})
	must(err)
	_, err = people.InsertOne(ctx, bson.D{{"email", "a@example.org"}})
	must(err)
	_, err = people.InsertOne(ctx, bson.D{{"email", "a@example.org"}})
	check(mongo.IsDuplicateKeyError(err), err)

	deleted, err := things.DeleteMany(ctx, bson.D{{"n", 0}})
	must(err)
	check(deleted.DeletedCount == 36, deleted)
	deleted, err = things.DeleteOne(ctx, bson.D{{"_id", 1}})
	must(err)
	check(deleted.DeletedCount == 1, deleted)
	must(things.Drop(ctx))
	names, err := db.ListCollectionNames(ctx, bson.D{})
	must(err)
	check(len(names) == 1 && names[0] == "people", names)
	must(db.Drop(ctx))
	must(client.Disconnect(ctx))
	fmt.Println("fine")
}
