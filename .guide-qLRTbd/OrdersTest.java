// OrdersTest.java
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.MongoClient;
import com.mongodb.MongoClientURI;
import com.mongodb.client.MongoCollection;
import org.bson.Document;
import org.junit.jupiter.api.*;

class OrdersTest {
    static Shardlab shardlab;
    static MongoClient client;
    static MongoCollection<Document> orders;

    @BeforeAll
    static void fill() throws Exception {
        shardlab = new Shardlab(2);
        client = new MongoClient(new MongoClientURI(shardlab.uri)); // since driver 3.7: MongoClients.create(shardlab.uri)
        client.getDatabase("admin").runCommand(
            Document.parse("{ shardCollection: 'shop.orders', key: { customer: 'hashed' } }"));
        orders = client.getDatabase("shop").getCollection("orders");
        orders.insertOne(Document.parse("{ _id: 1, customer: 'ada' }"));
        shardlab.call("POST", "keep");
    }

    @BeforeEach
    void reset() throws Exception {
        shardlab.call("POST", "reset");
    }

    @AfterAll
    static void close() {
        client.close();
    }

    @RepeatedTest(3)
    void eachTestWritesTheSameKey() {
        orders.insertOne(Document.parse("{ _id: 2, customer: 'bob' }"));
        assertEquals(2, orders.count(new Document()));
    }

    @Test
    void anOrderIsFoundOnOneShard() throws Exception {
        String mark = Shardlab.field(shardlab.call("POST", "marks"), "mark");
        orders.find(new Document("customer", "ada")).first();
        assertEquals("targeted", Shardlab.field(shardlab.call("GET", "routed?since=" + mark), "kind"));
    }
}
