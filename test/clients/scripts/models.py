"""models.py URI DATABASE: the script of the clients on MongoEngine, with models and a shard key in one of them."""
import sys

import mongoengine
from mongoengine import Document, IntField, NotUniqueError, ReferenceField, StringField, ValidationError

uri, name = sys.argv[1:3]
client = mongoengine.connect(name, host=uri)
client.drop_database(name)
client.admin.command('shardCollection', name + '.thing', key={'customer': 1})


class Customer(Document):
    email = StringField(required=True, unique=True)


class Thing(Document):
    meta = {'shard_key': ('customer',), 'indexes': ['n'], 'ordering': ['n']}
    customer = IntField(required=True)
    n = IntField(max_value=1000)
    owner = ReferenceField(Customer)


owner = Customer(email='a@example.org').save()
try:
    Customer(email='a@example.org').save()
    raise AssertionError('the duplicate was saved')
except NotUniqueError:
    pass
try:
    Thing(customer=1, n=2000).save()
    raise AssertionError('the wrong value was saved')
except ValidationError:
    pass

Thing.objects.insert([Thing(customer=i % 10, n=i, owner=owner) for i in range(250)])
assert Thing.objects.count() == 250
assert [each.n for each in Thing.objects(customer=3).order_by('-n').limit(3)] == [243, 233, 223]
assert sum(1 for _ in Thing.objects.batch_size(10)) == 250
first = Thing.objects(customer=3, n=3).get()
assert first.owner.email == 'a@example.org'
first.n = 1000
first.save()
assert Thing.objects(customer=3, n=1000).modify(new=True, inc__n=-1).n == 999
assert Thing.objects(customer=4).update(inc__n=1) == 25
assert Thing.objects(customer=4).sum('n') == sum(range(4, 250, 10)) + 25
assert sorted(Thing.objects.distinct('customer')) == list(range(10))
assert list(Thing.objects.aggregate([{'$group': {'_id': '$customer'}}, {'$count': 'groups'}])) == [{'groups': 10}]
first.delete()
assert Thing.objects(customer=5).delete() == 25
assert Thing.objects.count() == 224
Thing.drop_collection()
client.drop_database(name)
print('fine')
