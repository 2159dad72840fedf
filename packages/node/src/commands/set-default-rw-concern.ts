import type { CommandRow } from '@shardlab/actor'
import { DocumentWriter, findField } from '@shardlab/bson'
import { concernDefaultsOf, setDefaultRWConcernSpec } from '@shardlab/member'
import { createCollection } from '../ddl/namespace.js'
import { configSettings, storedConcernDefaults } from '../replication/concerns/stored-defaults.js'
import { refuseOutsideSets, writeStoredDefaults } from './get-default-rw-concern.js'
import type { NodeInvocation } from '../host/node-host.js'

export const setDefaultRWConcern: CommandRow<NodeInvocation> = {
  ...setDefaultRWConcernSpec,
  routing: 'config-server',
  status: 'full',
  summary: 'Sets the default read and write concern of commands that are sent to routers.',
  async run({ args, host }) {
    refuseOutsideSets(host, 'setDefaultRWConcern')
    const document = concernDefaultsOf(args, storedConcernDefaults(host), host.behaviours, {
      time: host.clock.time,
      nowMs: host.context.now(),
    })
    const collection =
      host.collection(configSettings) ?? createCollection(host, configSettings, new DocumentWriter(16).finish())
    const id = findField(document, '_id')!
    const op = collection.findById(id) === undefined ? 'i' : 'u'
    host.apply({ op, ns: configSettings, uuid: collection.uuid, object: document, id, session: null })
    await host.flush()
    return writeStoredDefaults(host, false)
  },
}
