import { configAddress, type CommandRow } from '@shardlab/actor'
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { qualifiedNamespace } from '../chunks/sharded-collection.js'
import { secondaryThrottleOf } from '../chunks/secondary-throttle.js'
import type { MongosInvocation } from '../host/mongos-host.js'
import { raise } from '../remote/command-reply.js'
import { onNamedNamespace } from '@shardlab/member'

/** Server: cluster_move_range_cmd.cpp. */
export const moveRange: CommandRow<MongosInvocation> = {
  name: 'moveRange',
  routing: 'config-server',
  access: 'admin',
  privileges: onNamedNamespace('moveChunk'),
  adminOnly: true,
  manual: 'reference/command/moveRange',
  status: 'partial',
  deviations: ['D831', 'D832', 'D854'],
  behaviour: 'moveRangeCommand',
  summary: 'Moves a part of a chunk to another shard; without max or min, as much as the chunk size.',
  fields: {
    toShard: 'string!',
    min: 'object',
    max: 'object',
    forceJumbo: 'strictBool',
    secondaryThrottle: 'strictBool',
    _secondaryThrottle: 'strictBool',
    waitForDelete: 'strictBool',
    _waitForDelete: 'strictBool',
  },
  unknownFields: 'ignored',
  async run({ args, host, operation }) {
    args.targetString()
    const ns = qualifiedNamespace(args)
    const min = args.document('min') ?? null
    const max = args.document('max') ?? null
    if (min === null && (max === null || !host.behaviours.moveRangeBackwards)) {
      const what = host.behaviours.moveRangeBackwards ? "'min' or 'max'" : "'min'"
      throw new CommandError('InvalidOptions', `Missing required parameter ${what}`)
    }
    const known = host.catalog.peekCollection(ns)
    const { error } = await host.remote.request(
      configAddress,
      'config.move-range',
      {
        ns,
        min,
        max,
        to: args.string('toShard')!,
        forceJumbo: args.bool('forceJumbo') === true,
        waitForDelete: args.bool('waitForDelete') === true || args.bool('_waitForDelete') === true,
        secondaryThrottle: secondaryThrottleOf(args),
      },
      operation,
    )
    host.catalog.markCollectionStale(ns, known)
    raise(error)
    return new DocumentWriter(192)
  },
}
