import { BsonType, typeName } from '@shardlab/bson'

/** The alias "number". */
export const numberTypes: readonly number[] = [BsonType.double, BsonType.int32, BsonType.int64, BsonType.decimal128]

const types = new Map<string, number>(Object.values(BsonType).map((type) => [typeName(type), type]))

export function typeOfAlias(alias: string): number | undefined {
  return types.get(alias)
}
