"""crud.py URI DATABASE: the script of the clients on PyMongo."""
import sys

import pymongo
from pymongo.errors import DuplicateKeyError

uri, name = sys.argv[1:3]
client = pymongo.MongoClient(uri)
client.drop_database(name)
client.admin.command('shardCollection', name + '.things', key={'_id': 'hashed'})
db = client[name]
things = db.things

inserted = things.insert_many([{'_id': i, 'n': i % 7, 'text': 'grüße %d' % i} for i in range(250)])
assert len(inserted.inserted_ids) == 250
assert things.find_one({'_id': 17}) == {'_id': 17, 'n': 3, 'text': 'grüße 17'}

found = things.find({'n': 3}).sort('_id', -1).limit(20).batch_size(5)
assert [each['_id'] for each in found] == [248 - 7 * i for i in range(20)]
assert sum(1 for _ in things.find({}, batch_size=10)) == 250

assert things.update_many({'n': 3}, {'$inc': {'n': 100}}).modified_count == 36
modified = things.find_one_and_update({'_id': 5}, {'$set': {'seen': True}}, return_document=pymongo.ReturnDocument.AFTER)
assert modified['seen'] is True

groups = list(things.aggregate([
    {'$match': {'n': {'$lt': 7}}},
    {'$group': {'_id': '$n', 'count': {'$sum': 1}}},
    {'$sort': {'_id': 1}},
]))
assert groups[0] == {'_id': 0, 'count': 36} and len(groups) == 6, groups
assert things.count_documents({'n': 0}) == 36
assert things.estimated_document_count() == 250
assert sorted(things.distinct('n')) == [0, 1, 2, 4, 5, 6, 103]

db.people.create_index('email', unique=True)
db.people.insert_one({'email': 'a@example.org'})
try:
    db.people.insert_one({'email': 'a@example.org'})
    raise AssertionError('the duplicate was inserted')
except DuplicateKeyError as error:
    assert error.code == 11000

assert things.delete_many({'n': 0}).deleted_count == 36
assert things.delete_one({'_id': 1}).deleted_count == 1
things.drop()
assert db.list_collection_names() == ['people']
client.drop_database(name)
print('fine')
