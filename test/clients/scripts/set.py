"""set.py URI: PyMongo on a replica set of three members."""
import sys

import pymongo

client = pymongo.MongoClient(sys.argv[1])
members = client.admin.command('replSetGetStatus')['members']
assert sorted(member['stateStr'] for member in members) == ['PRIMARY', 'SECONDARY', 'SECONDARY'], members

rows = client.app.rows
rows.with_options(write_concern=pymongo.WriteConcern(w=3)).insert_one({'_id': 1})
secondary = rows.with_options(read_preference=pymongo.ReadPreference.SECONDARY)
assert list(secondary.find()) == [{'_id': 1}]
assert len(client.secondaries) == 2

with client.start_session(causal_consistency=True) as session:
    for i in range(2, 10):
        rows.with_options(write_concern=pymongo.WriteConcern('majority')).insert_one({'_id': i}, session=session)
        assert secondary.find_one({'_id': i}, session=session) == {'_id': i}
print('fine')
