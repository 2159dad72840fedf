// java Crud.java URI DATABASE: the script of the clients on the Java driver.
import com.mongodb.MongoClient;
import com.mongodb.MongoClientURI;
import com.mongodb.MongoWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.ReturnDocument;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.bson.Document;

public class Crud {
    static void check(boolean holds, Object what) {
        if (holds) return;
        System.err.println(what);
        System.exit(1);
    }

    public static void main(String[] args) {
        Logger.getLogger("org.mongodb.driver").setLevel(Level.OFF);
        String name = args[1];
        MongoClient client = new MongoClient(new MongoClientURI(args[0]));
        MongoDatabase db = client.getDatabase(name);
        db.drop();
        client.getDatabase("admin")
            .runCommand(new Document("shardCollection", name + ".things").append("key", new Document("_id", "hashed")));
        MongoCollection<Document> things = db.getCollection("things");

        List<Document> documents = new ArrayList<>();
        for (int i = 0; i < 250; i++) documents.add(new Document("_id", i).append("n", i % 7).append("text", "grüße " + i));
        things.insertMany(documents);
        check(things.find(new Document("_id", 17)).first().getString("text").equals("grüße 17"), "find by _id");

        List<Document> found = things.find(new Document("n", 3)).sort(new Document("_id", -1)).limit(20).batchSize(5).into(new ArrayList<>());
        check(found.size() == 20 && found.get(0).getInteger("_id") == 248 && found.get(19).getInteger("_id") == 115, found);
        check(things.find().batchSize(10).into(new ArrayList<>()).size() == 250, "getMore");

        check(things.updateMany(new Document("n", 3), new Document("$inc", new Document("n", 100))).getModifiedCount() == 36, "updateMany");
        Document modified = things.findOneAndUpdate(new Document("_id", 5), new Document("$set", new Document("seen", true)),
            new FindOneAndUpdateOptions().returnDocument(ReturnDocument.AFTER));
        check(modified.getBoolean("seen"), modified);

        List<Document> groups = things.aggregate(List.of(
            new Document("$match", new Document("n", new Document("$lt", 7))),
            new Document("$group", new Document("_id", "$n").append("count", new Document("$sum", 1))),
            new Document("$sort", new Document("_id", 1)))).into(new ArrayList<>());
        check(groups.size() == 6 && groups.get(0).getInteger("count") == 36, groups);
        check(things.count(new Document("n", 0)) == 36, "count");
        check(things.distinct("n", Integer.class).into(new ArrayList<>()).size() == 7, "distinct");

        MongoCollection<Document> people = db.getCollection("people");
        people.createIndex(new Document("email", 1), new IndexOptions().unique(true));
        people.insertOne(new Document("email", "a@example.org"));
        try {
            people.insertOne(new Document("email", "a@example.org"));
            check(false, "the duplicate was inserted");
        } catch (MongoWriteException error) {
            check(error.getCode() == 11000, error);
        }

        check(things.deleteMany(new Document("n", 0)).getDeletedCount() == 36, "deleteMany");
        check(things.deleteOne(new Document("_id", 1)).getDeletedCount() == 1, "deleteOne");
        things.drop();
        List<String> names = db.listCollectionNames().into(new ArrayList<>());
        check(names.equals(List.of("people")), names);
        db.drop();
        client.close();
        System.out.println("fine");
    }
}
