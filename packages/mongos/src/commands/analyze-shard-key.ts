import type { CommandRow } from '@shardlab/actor'
import { BsonType, CommandError } from '@shardlab/bson'
import { checkAnalysedNamespace, onNamedNamespace } from '@shardlab/member'
import { ShardKeyPattern } from '@shardlab/sharding'
import type { MongosInvocation } from '../host/mongos-host.js'
import type { AnalysisOptions } from '../query-analysis/analysis.js'
import { analyzeKey } from '../query-analysis/analyze-key.js'

/** Server: cluster_analyze_shard_key_cmd.cpp, analyze_shard_key_cmd.cpp. */
export const analyzeShardKey: CommandRow<MongosInvocation> = {
  name: 'analyzeShardKey',
  behaviour: 'queryAnalyzer',
  routing: 'all-shards',
  access: 'admin',
  privileges: onNamedNamespace('analyzeShardKey'),
  adminOnly: true,
  manual: 'reference/command/analyzeShardKey',
  status: 'partial',
  deviations: ['D862'],
  summary: 'Rates a shard key by the documents of the collection and by sampled queries.',
  fields: {
    key: 'object!',
    keyCharacteristics: 'strictBool',
    readWriteDistribution: 'strictBool',
    sampleRate: 'number',
    sampleSize: 'number',
  },
  unknownFields: 'ignored',
  run(invocation) {
    const { args } = invocation
    const ns = args.targetString()
    const shardKey = ShardKeyPattern.parse(args.document('key')!, { compoundHashed: true, refuseDollars: true })
    const options = optionsOf(invocation)
    const [db] = checkAnalysedNamespace(ns)
    if (!options.keyCharacteristics && !options.readWriteDistribution)
      throw new CommandError('InvalidOptions', 'Cannot skip analyzing all metrics')
    if (options.sampleRate !== null && options.sampleSize !== null)
      throw new CommandError('InvalidOptions', "Cannot specify both 'sampleRate' and 'sampleSize'")
    return analyzeKey({ ...invocation, db }, ns, shardKey, options)
  },
}

/** @throws CommandError 2 BadValue for numbers out of bounds */
function optionsOf({ args }: MongosInvocation): AnalysisOptions {
  const sampleRate = args.number('sampleRate') ?? null
  if (sampleRate !== null && !(sampleRate > 0)) throw outOfBounds('sampleRate', '>', 0, sampleRate)
  if (sampleRate !== null && sampleRate > 1) throw outOfBounds('sampleRate', '<=', 1, sampleRate)
  const given = args.number('sampleSize')
  const sampleSize =
    given === undefined ? null : args.value('sampleSize')!.type === BsonType.double ? Math.trunc(given) : given
  if (sampleSize !== null && !(sampleSize > 0)) throw outOfBounds('sampleSize', '>', 0, sampleSize)
  return {
    keyCharacteristics: args.bool('keyCharacteristics') ?? true,
    readWriteDistribution: args.bool('readWriteDistribution') ?? true,
    sampleRate,
    sampleSize,
  }
}

function outOfBounds(name: string, relation: string, bound: number, value: number): CommandError {
  return new CommandError(
    'BadValue',
    `BSON field '${name}' value must be ${relation} ${bound}, actual value '${value}'`,
  )
}
