/** Server: reshard_collection.idl, configsvr_reshard_collection_cmd.cpp. */
import { CommandArguments, type ReshardingProvenance } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  compareDocuments,
  documentsOf,
  findField,
  typeName,
  type RawValue,
} from '@shardlab/bson'
import { compileCollation, formatDocument } from '@shardlab/query'
import { reshardCollectionFields, ShardKeyPattern, type Behaviours } from '@shardlab/sharding'
import { checkStorableKey } from '../store/storable-key.js'

/** With the name of a zone or shard. */
export interface NamedRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly name: string
}

/** A shard that receives documents; without bounds, an equal share of them. */
export interface DistributionEntry {
  readonly shard: string
  readonly min: Uint8Array | null
  readonly max: Uint8Array | null
}

export interface ReshardingRequest {
  readonly provenance: ReshardingProvenance
  readonly shardKey: ShardKeyPattern
  /** Null: the version's default. */
  readonly numInitialChunks: number | null
  /** Ordered by lower bound; null: not given. */
  readonly zones: readonly NamedRange[] | null
  readonly forceRedistribution: boolean
  readonly shardDistribution: readonly DistributionEntry[] | null
  /** Ordered by lower bound; null: not given. */
  readonly presetChunks: readonly NamedRange[] | null
}

/**
 * @param hasZones whether the collection has zones now
 * @throws CommandError 2 BadValue, 72 InvalidOptions; 40414, 14 for a zone or chunk with a missing
 *   field or a wrong type
 */
export function parseReshardingRequest(
  behaviours: Behaviours,
  request: Uint8Array,
  hasZones: boolean,
): ReshardingRequest {
  const args = CommandArguments.parse(request, { ...reshardCollectionFields, provenance: 'string' }, [], 'ignored')
  if (args.bool('unique') === true) throw new CommandError('BadValue', 'The unique field must be false')
  const collation = args.document('collation')
  if (collation !== undefined && compileCollation(collation) !== null)
    throw new CommandError(
      'BadValue',
      `The collation for reshardCollection must be {locale: 'simple'}, but found: ${formatDocument(collation)}`,
    )
  const forceRedistribution = behaviours.reshardingCanForceRedistribution && args.bool('forceRedistribution') === true
  const zones = rangesOf(args.value('zones'), 'zones', 'zone')
  if (hasZones && zones === null && !forceRedistribution)
    throw new CommandError('BadValue', 'Must specify value for zones field')
  const presetChunks = rangesOf(args.value('_presetReshardedChunks'), '_presetReshardedChunks', 'recipientShardId')
  const numInitialChunks = args.number('numInitialChunks') ?? null
  if (presetChunks !== null && numInitialChunks !== null)
    throw new CommandError('BadValue', 'Must specify only one of _presetReshardedChunks or numInitialChunks')
  const shardKey = ShardKeyPattern.parse(args.document('key')!, { compoundHashed: behaviours.compoundHashedShardKeys })
  const shardDistribution = behaviours.reshardingCanForceRedistribution
    ? distributionOf(args.value('shardDistribution'))
    : null
  if (shardDistribution !== null) checkDistribution(shardKey, shardDistribution)
  if (zones !== null) checkZones(zones)
  const provenance = provenanceOf(request)
  return { provenance, shardKey, numInitialChunks, zones, forceRedistribution, shardDistribution, presetChunks }
}

/** Routers write the field; clients cannot set it. */
export function provenanceOf(request: Uint8Array): ReshardingProvenance {
  return (findField(request, 'provenance')?.asString() ?? null) as ReshardingProvenance
}

function checkZones(zones: readonly NamedRange[]): void {
  zones.forEach(({ min, max }, i) => {
    if (i > 0 && compareDocuments(zones[i - 1]!.max, min) > 0)
      throw new CommandError('BadValue', 'Zone ranges must not overlap')
    checkStorableKey(min)
    checkStorableKey(max)
  })
}

function checkDistribution(shardKey: ShardKeyPattern, entries: readonly DistributionEntry[]): void {
  const invalid = (message: string) => new CommandError('InvalidOptions', message)
  const explicit = entries[0] !== undefined && entries[0].max !== null
  const seen = new Set<string>()
  entries.forEach(({ shard, min, max }, i) => {
    if ((min === null) !== (max === null)) throw invalid('ShardKeyRange should have a pair of min/max or none of them')
    if (min !== null && shardKey.keyStringOfBound(min) === undefined)
      throw invalid("ShardKeyRange min should follow shard key's keyPattern")
    if (max !== null && shardKey.keyStringOfBound(max) === undefined)
      throw invalid("ShardKeyRange max should follow shard key's keyPattern")
    if (i > 0 && !explicit && seen.has(shard))
      throw invalid('Non-explicit shardDistribution should have unique shardIds')
    if (explicit !== (max !== null)) throw invalid('All ShardKeyRanges should have the same min/max pattern')
    seen.add(shard)
  })
  if (!explicit) return
  const sorted = [...entries].sort((a, b) => compareDocuments(a.min!, b.min!))
  if (compareDocuments(sorted[0]!.min!, shardKey.globalMin) !== 0)
    throw invalid('ShardKeyRange must start at global min for the new shard key')
  if (compareDocuments(sorted.at(-1)!.max!, shardKey.globalMax) !== 0)
    throw invalid('ShardKeyRange must end at global max for the new shard key')
  sorted.forEach(({ min }, i) => {
    if (i > 0 && compareDocuments(sorted[i - 1]!.max!, min!) !== 0) throw invalid('ShardKeyRanges must be continuous')
  })
}

function distributionOf(value: RawValue | undefined): DistributionEntry[] | null {
  if (value === undefined) return null
  return documentsOf(value).map((document) => ({
    shard: stringIn(document, 'shardDistribution', 'shard'),
    min: findField(document, 'min')?.slice() ?? null,
    max: findField(document, 'max')?.slice() ?? null,
  }))
}

function rangesOf(value: RawValue | undefined, argument: string, nameField: string): NamedRange[] | null {
  if (value === undefined) return null
  const ranges = documentsOf(value).map((document) => ({
    name: stringIn(document, argument, nameField),
    min: documentIn(document, argument, 'min'),
    max: documentIn(document, argument, 'max'),
  }))
  return ranges.sort((a, b) => compareDocuments(a.min, b.min))
}

function stringIn(document: Uint8Array, argument: string, name: string): string {
  return fieldIn(document, argument, name, BsonType.string).asString()
}

function documentIn(document: Uint8Array, argument: string, name: string): Uint8Array {
  return fieldIn(document, argument, name, BsonType.object).slice()
}

/** @throws CommandError 40414, 14 TypeMismatch */
function fieldIn(document: Uint8Array, argument: string, name: string, type: number): RawValue {
  const value = findField(document, name)
  const path = `reshardCollection.${argument}.${name}`
  if (value === undefined) throw new CommandError(40414, `BSON field '${path}' is missing but a required field`)
  if (value.type !== type)
    throw new CommandError(
      'TypeMismatch',
      `BSON field '${path}' is the wrong type '${typeName(value.type)}', expected type '${typeName(type)}'`,
    )
  return value
}
