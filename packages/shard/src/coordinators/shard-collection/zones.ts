/** Server: create_collection_coordinator.cpp, validateShardKeyAgainstExistingZones. */
import { BsonType, CommandError, compareDocuments, fieldsOf, findField } from '@shardlab/bson'
import { formatDocument } from '@shardlab/query'
import { isHashedBound, type Behaviours, type ShardKeyPattern } from '@shardlab/sharding'

/** `max` is exclusive. */
export interface ZoneRange {
  readonly min: Uint8Array
  readonly max: Uint8Array
  readonly zone: string
}

/** @param documents of config.tags. @returns sorted by lower bound */
export function parseZones(documents: readonly Uint8Array[]): ZoneRange[] {
  return documents
    .map((document) => ({
      min: findField(document, 'min')!.slice(),
      max: findField(document, 'max')!.slice(),
      zone: findField(document, 'tag')!.asString(),
    }))
    .sort((a, b) => compareDocuments(a.min, b.min))
}

/** @throws CommandError 72 InvalidOptions for bounds that do not match this key */
export function checkZonesFitKey(behaviours: Behaviours, zones: readonly ZoneRange[], shardKey: ShardKeyPattern): void {
  for (const { min, max } of zones) {
    const range = `${formatDocument(min)} -->> ${formatDocument(max)}`
    const mins = fieldsOf(min)
    const maxs = fieldsOf(max)
    const key = formatDocument(shardKey.document)
    for (const [i, [name, low]] of mins.entries()) {
      const field = shardKey.fields[i]
      if (field === undefined) break
      const high = maxs[i]
      if (high === undefined || high[0] !== name)
        throw new CommandError('InvalidOptions', `the min and max of the existing zone ${range} have non-matching keys`)
      const lastOfBoth = i === mins.length - 1 && i === shardKey.fields.length - 1
      const lastOfOne = i === mins.length - 1 || i === shardKey.fields.length - 1
      if (field.path !== name || lastOfBoth !== lastOfOne)
        throw new CommandError(
          'InvalidOptions',
          `the proposed shard key ${key} does not match with the shard key of the existing zone ${range}`,
        )
      const fits = behaviours.hashedZonesMayBeOpen
        ? isHashedBound
        : ({ type }: { type: number }) => type === BsonType.int64
      if (field.hashed && !(fits(low) && fits(high[1])))
        throw new CommandError(
          'InvalidOptions',
          `cannot do hash sharding with the proposed key ${key} because there exists a zone ${range} whose boundaries are not of type NumberLong${behaviours.hashedZonesMayBeOpen ? ', MinKey or MaxKey' : ''}`,
        )
    }
  }
}
