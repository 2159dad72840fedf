import type { CommandRow } from '@shardlab/actor'
import { dropDatabaseSpec } from '@shardlab/member'
import { DocumentWriter } from '@shardlab/bson'
import { dropLocalDatabase } from '../ddl/drop.js'
import { refuseDatabaseDrop } from '../ddl/refuse-oplog.js'
import type { NodeInvocation } from '../host/node-host.js'

export const dropDatabase: CommandRow<NodeInvocation> = {
  ...dropDatabaseSpec,
  routing: 'primary-shard',
  status: 'full',
  summary: 'Drops a database.',
  async run(invocation) {
    refuseDatabaseDrop(invocation.db, invocation.host.behaviours)
    invocation.host.requireRoom()
    const { host, db } = invocation
    await host.role.enter(db, invocation)
    const existed = host.engine.databases().includes(db)
    dropLocalDatabase(host, db)
    await host.flush()
    return existed ? new DocumentWriter(128).string('dropped', db) : new DocumentWriter(128)
  },
}
