"""logins.py URI DATABASE: what PyMongo's own tests of authentication ask of a server.

URI has a user that may create others. The cases are those of PyMongo's test_auth.py for SCRAM.
"""
import sys
import threading
from urllib.parse import quote_plus

import pymongo
from pymongo import monitoring
from pymongo.errors import OperationFailure

uri, name = sys.argv[1:3]
hosts = uri.split('://')[1].split('@')[-1].split('/')[0]
host = hosts.split(',')[0]
# Those of TLS; each case names the database of its user.
given = [option for option in uri.partition('?')[2].split('&') if option and not option.startswith('authSource=')]
options = '?' + '&'.join(given) if given else ''
administrator, secret = uri.split('://')[1].split('@')[0].split(':')
# Another router may have the dropped users in its cache for 30 s.
client = pymongo.MongoClient(uri.replace(hosts, host))
db = client[name]
version = client.server_info()['versionArray'][:2]
skips = version >= [4, 4]


class Listener(monitoring.CommandListener):
    def __init__(self):
        self.names = []

    def started(self, event):
        if event.command_name.startswith('sasl'):
            self.names.append(event.command_name)

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


def create(user, password, roles, **more):
    db.command('createUser', user, pwd=password, roles=roles, **more)


def connect(at=hosts, **credentials):
    return pymongo.MongoClient('mongodb://' + at + '/' + options, **credentials)


def serves(client, database=name):
    assert client[database].command('dbstats')['ok'] == 1
    client.close()


def refuses(client, code, database=name):
    try:
        client[database].command('dbstats')
    except OperationFailure as error:
        assert error.code == code, error
    else:
        raise AssertionError('the command succeeded')
    finally:
        client.close()


def login(user, password, **more):
    return connect(username=user, password=password, authSource=name, **more)


def in_uri(user, password, database='', more=''):
    separator = '&' if options else '?'
    return pymongo.MongoClient(
        'mongodb://%s:%s@%s/%s%s%s' % (quote_plus(user), quote_plus(password), host, database, options, more and separator + more))


try:
    # SCRAM-SHA-1, named in the URI
    create('user', 'pass', ['userAdmin', 'readWrite'])
    serves(in_uri('user', 'pass', name, 'authMechanism=SCRAM-SHA-1'))

    # the database of the URI, and authSource
    first = in_uri('user', 'pass', name)
    refuses(first, 13, 'admin')
    serves(in_uri('user', 'pass', name))
    serves(in_uri('user', 'pass', 'other', 'authSource=' + name))
    refuses(in_uri('user', 'pass', 'other', 'authSource=' + name), 13, 'other')
    refuses(in_uri('user', 'pass'), 18)
    refuses(in_uri('user', 'wrong', name), 18)

    # negotiation of the mechanism
    create('sha1', 'pwd', ['dbOwner'], mechanisms=['SCRAM-SHA-1'])
    create('sha256', 'pwd', ['dbOwner'], mechanisms=['SCRAM-SHA-256'])
    create('both', 'pwd', ['dbOwner'], mechanisms=['SCRAM-SHA-1', 'SCRAM-SHA-256'])
    for user, mechanisms in (
        ('sha1', ['SCRAM-SHA-1']), ('sha256', ['SCRAM-SHA-256']), ('both', ['SCRAM-SHA-1', 'SCRAM-SHA-256']),
    ):
        serves(login(user, 'pwd'))
        for mechanism in mechanisms:
            serves(login(user, 'pwd', authMechanism=mechanism))
    create('a,b=c@d:e/f%', '@:/?,=%&#', ['dbOwner'])
    for mechanism in ('SCRAM-SHA-1', 'SCRAM-SHA-256'):
        serves(login('a,b=c@d:e/f%', '@:/?,=%&#', authMechanism=mechanism))
    serves(in_uri('a,b=c@d:e/f%', '@:/?,=%&#', name))
    refuses(login('sha1', 'pwd', authMechanism='SCRAM-SHA-256'), 18)
    refuses(login('sha256', 'pwd', authMechanism='SCRAM-SHA-1'), 18)
    refuses(login('not-a-user', 'pwd'), 18)
    refuses(login('both', 'wrong'), 18)

    # Passwords are prepared, names are not.
    for user, password in (('\u2168', '\u2163'), ('IX', 'IX')):
        create(user, password, ['dbOwner'], mechanisms=['SCRAM-SHA-256'])
    for user, password in (('\u2168', '\u2163'), ('\u2168', 'IV'), ('IX', 'I\u00ADX'), ('IX', 'IX')):
        serves(login(user, password))
        serves(login(user, password, authMechanism='SCRAM-SHA-256'))
        serves(in_uri(user, password, name))
    refuses(login('\u2168', 'IX'), 18)

    # The first message is in the handshake, and the empty exchange is left out.
    sensitive = monitoring._SENSITIVE_COMMANDS
    monitoring._SENSITIVE_COMMANDS = set()
    listener = Listener()
    serves(connect(at=host, username='sha256', password='pwd', authSource=name, event_listeners=[listener]))
    expected = ['saslContinue'] if skips else ['saslStart', 'saslContinue', 'saslContinue']
    assert listener.names == expected, listener.names
    monitoring._SENSITIVE_COMMANDS = sensitive

    # Each connection of a pool logs in.
    db.pool.insert_one({'_id': 1})
    first_router = connect(at=host, username=administrator, password=secret)
    first_router.admin.command(
        'configureFailPoint', 'failCommand', mode={'times': 4},
        data={'failCommands': ['find'], 'blockConnection': True, 'blockTimeMS': 50},
    )
    first_router.close()
    pooled = connect(at=host, username='both', password='pwd', authSource=name)
    found = []

    def find():
        found.append(pooled[name].pool.find_one({}) is not None)

    threads = [threading.Thread(target=find) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 4, found
    pooled.close()

    # A session is that of its user.
    with login('both', 'pwd') as owner, owner.start_session() as session:
        owner[name].pool.insert_one({'_id': 2}, session=session)
        assert owner[name].pool.count_documents({}, session=session) == 2
finally:
    db.command('dropAllUsersFromDatabase')
    client.drop_database(name)
refuses(connect(at=host, username='both', password='pwd', authSource=name), 18)
print('fine')
