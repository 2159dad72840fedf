"""copies.py URI: snapshots, forks and faults of a cluster, through commands."""
import sys
import threading

import pymongo
from pymongo.errors import OperationFailure

client = pymongo.MongoClient(sys.argv[1])
admin = client.admin
admin.command('enableSharding', 'shop', primaryShard='shard01')
admin.command('shardCollection', 'shop.orders', key={'customer': 1})
orders = client.shop.orders
orders.insert_many([{'_id': i, 'customer': i % 7} for i in range(50)])

filled = admin.command('shardlab', 'snapshot')
orders.delete_many({'customer': 3})
admin.command('shardlab', 'restore', id=filled['id'])
assert orders.count_documents({}) == 50

fork = admin.command('shardlab', 'fork', id=filled['id'])
with pymongo.MongoClient(fork['uri']) as other:
    other.shop.orders.drop()
assert orders.count_documents({}) == 50
admin.command('shardlab', 'discard', id=fork['id'])

held = admin.command('shardlab', 'apply', fault='hold at shard.migration.caught-up')
move = threading.Thread(target=lambda: admin.command('moveChunk', 'shop.orders', find={'customer': 1}, to='shard02'))
move.start()
reached = admin.command('shardlab', 'reached', id=held['id'])
assert (reached['member'], reached['step']) == ('shard01', 'shard.migration.caught-up')
admin.command('shardlab', 'heal', id=held['id'])
move.join()

try:
    admin.command('shardlab', 'restore', id='nothing')
    raise AssertionError('restored')
except OperationFailure as error:
    assert error.code == 2 and 'there is no snapshot nothing' in str(error)
print('fine')
