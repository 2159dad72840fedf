"""`python3 watch.py URI DATABASE COLLECTION SECONDS INCREMENT`: prints the events of the collection since this
cluster time as Extended JSON, one per line, up to the insert of the document `end`."""
import sys

from bson import Timestamp, json_util
from pymongo import MongoClient

uri, database, collection, seconds, increment = sys.argv[1:]
start = Timestamp(int(seconds), int(increment))
with MongoClient(uri)[database][collection].watch(start_at_operation_time=start, max_await_time_ms=100) as stream:
    for event in stream:
        print(json_util.dumps(event, json_options=json_util.CANONICAL_JSON_OPTIONS), flush=True)
        if event["operationType"] == "insert" and event["documentKey"]["_id"] == "end":
            break
