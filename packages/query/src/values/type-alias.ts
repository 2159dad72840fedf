import { BsonType, typeName } from '@shardlab/bson'

/** The four types of the alias "number". */
export const numberTypes: readonly number[] = [BsonType.double, BsonType.int32, BsonType.int64, BsonType.decimal128]

const types = new Map<string, number>(Object.values(BsonType).map((type) => [typeName(type), type]))

/** The type byte of an alias such as "string" or "binData". */
export function typeOfAlias(alias: string): number | undefined {
  return types.get(alias)
}
