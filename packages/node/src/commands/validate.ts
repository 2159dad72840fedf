import type { CommandRow } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { checkValidateOptions, validateSpec } from '@shardlab/member'
import { catchUpKeys } from '../read/catch-up-keys.js'
import { inTurns } from '../read/in-turns.js'
import { inspectCollection, writeInspection } from '../statistics/inspect-collection.js'
import { viewOf } from '../views/view-catalog.js'
import type { NodeInvocation } from '../host/node-host.js'

export const validate: CommandRow<NodeInvocation> = {
  ...validateSpec,
  routing: 'all-shards',
  status: 'partial',
  deviations: ['D708'],
  summary: 'Checks the documents and indexes of a collection.',
  async run(invocation) {
    const { args, db, host, operation } = invocation
    const ns = `${db}.${args.collectionName(db)}`
    await catchUpKeys(host, operation, host.collection(ns))
    await host.role.enter(ns, invocation)
    checkValidateOptions(args, host.behaviours)
    const collection = host.collection(ns)
    if (collection === undefined) {
      if (viewOf(host, ns) !== null) throw new CommandError('CommandNotSupportedOnView', 'Cannot validate a view')
      throw new CommandError('NamespaceNotFound', `Collection '${ns}' does not exist to validate.`)
    }
    const state = collection.snapshot()
    const inspection = await inTurns(host, operation, inspectCollection(host, state))
    return writeInspection(state, inspection, host.behaviours)
  },
}
